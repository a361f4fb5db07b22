"""The desk of the language server by itself: what it does once, and what it makes of rules that fail."""

from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from nodrop import platforms
from nodrop.engine import rules
from nodrop.engine.verdicts import _RuleRun
from nodrop.lsp.changes import find_text_changes, suppress_by_comment
from nodrop.lsp.desk import CRASH, EditorDiagnostic, TextChecker
from nodrop.lsp.diagnostics import MAX_FINDINGS_PER_FILE, worst_marks
from nodrop.platforms.sonic import reader


def test_a_look_reads_and_judges_once_and_loads_no_rule_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk, path = TextChecker(), site / "build/leaf1/config_db.json"
    (site / "nodrop.yaml").write_text("rules: [rules]\n")
    (site / "rules/pfc").mkdir(parents=True)
    held = {str(path): path.read_bytes()}
    desk.check_text(path, held)
    counted = {"read": 0, "rules": 0, "where": 0}

    def count(name: str, owner: object, attribute: str) -> None:
        real = getattr(owner, attribute)

        def counting(*args: object, **kwargs: object) -> object:
            counted[name] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, attribute, counting)

    count("read", reader, "read_device")
    count("rules", rules, "load_rules")
    count("where", platforms, "make_place_finder")
    before = desk.judged
    desk.check_text(path, held)
    assert (counted, desk.judged - before) == ({"read": 1, "rules": 0, "where": 0}, 1)


def test_rules_of_the_site_are_loaded_again_when_they_change(site: Path) -> None:
    desk, path = TextChecker(), site / "build/leaf1/config_db.json"
    (site / "nodrop.yaml").write_text("rules: [rules]\n")
    own = site / "rules/pfc/link-pause-of-ours.yaml"
    own.parent.mkdir(parents=True)
    held = {str(path): path.read_bytes()}
    known = {rule.name for rule in desk.check_text(path, held).site.every}
    shipped = next(one for one in rules.shipped_rules() if one.name == "link-pause-with-pfc")
    own.write_text(Path(shipped.path).read_text())
    assert {rule.name for rule in desk.check_text(path, held).site.every} - known == {"link-pause-of-ours"}
    own.write_text("severity: fatal\n")
    look = desk.check_text(path, held)
    assert {rule.name for rule in look.site.every} == known
    assert any("link-pause-of-ours.yaml" in line and "fatal" in line for line in look.log)


def test_a_rule_that_fails_is_a_mark_and_a_line_of_the_log(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = _RuleRun.judge

    def failing(self: _RuleRun, rule: rules.Rule, *args: object) -> None:
        if rule.name == "pfc-without-watchdog":
            self._record_rule_crash(rule, ("leaf1",), ZeroDivisionError("by design"))
        else:
            judge(self, rule, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(_RuleRun, "judge", failing)
    path = site / "build/leaf1/config_db.json"
    look = TextChecker().check_text(path, {str(path): path.read_bytes()})
    (mark,) = look.marks[str(path)]
    assert mark.code == CRASH
    assert "pfc-without-watchdog" in mark.message
    assert [line for line in look.log if "pfc-without-watchdog" in line]


@pytest.mark.parametrize("severity", ["note", '"off"'])
def test_no_comment_is_offered_that_leaves_its_finding(site: Path, severity: str) -> None:
    """A finding about a comment is suppressed by none, whether the second comment is found unused or that is off."""
    (site / "nodrop.yaml").write_text(f"severity:\n  unused-suppression: {severity}\n")
    path = site / "intent.yaml"
    text = path.read_text()
    text = f"# nodrop: alow[mtu-mismatch]: the spines are newer\n{text}".replace(
        "classes:", "hosts:\n  tos: 104\nclasses:", 1
    )
    held = {str(path): text.encode()}
    desk = TextChecker()
    look = desk.check_text(path, held)
    offered = {
        mark.code: suppress_by_comment(desk, look, mark.finding, path, mark.span.line - 1, held) is not None
        for mark in look.marks[str(path)]
        if mark.finding is not None and mark.span is not None
    }
    assert offered == {"malformed-suppression": False, "nic-tos-without-ecn": True}


def test_of_very_many_findings_the_worst_are_shown_and_the_rest_is_counted() -> None:
    marks = [
        EditorDiagnostic(severity="note", message=str(number), code="a") for number in range(MAX_FINDINGS_PER_FILE)
    ]
    assert worst_marks(marks) == marks
    bad = EditorDiagnostic(severity="error", message="bad", code="b")
    shown = worst_marks([*marks, bad])
    assert shown[:-1] == [bad, *marks[:-1]]
    assert shown[-1].message == "1 more, none worse than those that are shown; `nodrop lint` lists all"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "a\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nb\nc\n", "a\nx\nc\ny"),
        ("a\na\na\n", "a\na\n"),
        ("a", ""),
        ("1\n2\n3\n4\n5\n6\n", "1\nx\n3\n4\n5\ny\n"),
    ],
)
def test_pieces_make_the_new_text_of_the_old(old: str, new: str) -> None:
    made = old
    for piece in reversed(find_text_changes(old, new)):
        made = made[: piece.start] + piece.text + made[piece.end :]
    assert made == new
    assert len(find_text_changes("1\n2\n3\n", "1\nx\n3\n")) == 1
    assert find_text_changes(new, new) == []
