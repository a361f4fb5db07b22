from nodrop.errors import Problem
from nodrop.fabric.fabric import Device, Fabric, Interface
from nodrop.fabric.reading import Assumption, Note, Reading
from nodrop.formats.places import Span
from nodrop.lint.finding import Finding, Located, UnknownVerdict, Verdict
from nodrop.report.outcome import Outcome, Summary, groups, heads, summary

from .samples import at, finding, outcome

ASSUMED = (Assumption(fact="mode", value="lossless", because="PFC is on"),)
UNKNOWN_VERDICTS = (
    UnknownVerdict(rule="b", missing="x", subjects_count=2, devices=("leaf1",), settled_by=""),
    UnknownVerdict(rule="a", missing="y", subjects_count=2, devices=("leaf1",), settled_by=""),
)


def test_the_summary_counts_findings_by_severity() -> None:
    severities = ("error", "warning", "warning", "note")
    shown = outcome(*(finding(f"leaf{number}", severity=each) for number, each in enumerate(severities)))
    assert summary(shown) == Summary(
        devices=6, interfaces=192, rules=11, error=1, warning=2, note=1, unknown=0, suppressed=0, baseline=0
    )


def test_an_outcome_of_a_reading_and_its_verdict() -> None:
    leaf1 = Device(name="leaf1", platform="sonic", interfaces=(Interface(name="e1"), Interface(name="e2")))
    fabric = Fabric(name="pod1", mode="lossless", devices=(leaf1,))
    reading = Reading(
        fabric=fabric, notes=(Note(kind="a", message="1"),), problems=(Problem(path="b"),), assumed=ASSUMED
    )
    verdict = Verdict(
        findings=(finding("leaf1"),),
        unknown=UNKNOWN_VERDICTS,
        notes=(Note(kind="c", message="2"),),
        problems=(Problem(path="a"),),
        rules=7,
    )
    placed = (finding("leaf1", at("a.json", 1, 1, 2)),)
    shown = Outcome.of(reading, verdict, findings=placed, notes=(Note(kind="b", message="3"),))
    assert (shown.devices, shown.interfaces, shown.rules) == (1, 2, 7)
    assert shown.findings == placed
    assert [note.message for note in shown.notes] == ["1", "3", "2"]
    assert [problem.path for problem in shown.problems] == ["a", "b"]
    assert (shown.unknown, shown.assumed) == (UNKNOWN_VERDICTS[::-1], ASSUMED)
    assert Outcome.of(reading, verdict).findings == verdict.findings


def test_the_first_of_a_group_is_the_same_before_and_after_places_are_known() -> None:
    def group(places: bool) -> list[Finding]:
        return [
            finding(
                f"leaf{leaf}/Ethernet{port}",
                Located(file="a.json", span=Span(100 - port, 1, 100 - port, 2)) if places else None,
            )
            for leaf in (2, 1)
            for port in (16, 8)
        ]

    for places in (False, True):
        (only,) = groups(group(places))
        assert [each.subject for each in only] == [
            ("leaf1", "Ethernet8"),
            ("leaf1", "Ethernet16"),
            ("leaf2", "Ethernet8"),
            ("leaf2", "Ethernet16"),
        ]
        assert heads(group(places)) == only[:1]
