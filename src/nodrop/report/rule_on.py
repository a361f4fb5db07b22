"""A rule's fault as the files of a platform have it: for `nodrop explain RULE --platform NAME`, and the rule book."""

import textwrap
from collections.abc import Iterable, Iterator
from difflib import unified_diff

from nodrop import platforms
from nodrop.engine.example_setup import Setting, UnsupportedExample, names, rename_subject_ports
from nodrop.engine.examples import build_example_views
from nodrop.engine.rule import Example, Rule
from nodrop.model.reading import Reading
from nodrop.model.subject import parse
from nodrop.model.subject import text as subject_text
from nodrop.platforms.kit.examples import TIERS
from nodrop.report.escape import fence_code_block, terminal
from nodrop.report.rules import RULE_PAGE_COLUMNS, finds, rule_platforms

_LINES = 40
"""How much of an example's difference is shown."""
_CONTEXT = 1
_SHORT_LINES = 24
"""The longest difference that the rule book shows."""
CONFIGURATIONS_TITLE = "## As configurations"


def render_rule_examples(rule: Rule, platform: str) -> str:
    """Return each bad example of a rule on a platform: the lines that go and come in the files of a sound fabric."""
    return "".join(f"{terminal(line).rstrip()}\n" for line in _page_lines(rule, platform))


def _page_lines(rule: Rule, platform: str) -> Iterator[str]:
    yield f"{rule.name} on {platform}"
    yield ""
    yield from textwrap.wrap(finds(rule), RULE_PAGE_COLUMNS)
    if platform in rule.unseen:
        yield ""
        yield from textwrap.wrap(f"No configuration of {platform} has it: {rule.unseen[platform]}", RULE_PAGE_COLUMNS)
        return
    for example in rule.examples:
        if example.kind == "bad":
            yield ""
            yield from _example_lines(rule, example, platform)


def _example_lines(rule: Rule, example: Example, platform: str) -> Iterator[str]:
    if platform not in TIERS:
        yield from _whole_file_lines(example, platform)
        return
    try:
        at, lines = _diff_example(example, platform)
    except (UnsupportedExample, ValueError) as reason:
        yield from textwrap.wrap(
            f"{example.name} of {rule.name} cannot be said by {platform}: {reason}", RULE_PAGE_COLUMNS
        )
        return
    yield from textwrap.wrap(f"Found at {', '.join(at)}, where a sound fabric is changed so:", RULE_PAGE_COLUMNS)
    lines = lines or ["no line of a file, but what is stated beside them"]
    yield from (f"  {line}" for line in lines[:_LINES])
    if len(lines) > _LINES:
        yield f"  … and {len(lines) - _LINES} lines more"


def render_configurations(rule: Rule) -> list[str]:
    """Return the section of a rule's page in the book: its shortest bad example, on each platform that is written.

    Examples that are given as files of a platform are on the page already.
    """
    lines: list[str] = []
    for platform in sorted({*platforms.writable_names()} & {*rule_platforms(rule)}):
        bad = [example for example in rule.examples if example.kind == "bad"]
        if any(platform in (example.artifact or {}) for example in bad):
            continue
        if shortest := _find_shortest_difference(bad, platform):
            at, difference = shortest
            lines += ["", f"On {platform}, reported at {', '.join(f'`{subject}`' for subject in at)}:", ""]
            if len(difference) <= _SHORT_LINES:
                lines += fence_code_block(difference, "diff")
            else:
                lines.append(f"{len(difference)} lines differ: `nodrop explain {rule.name} --platform {platform}`")
    intro = "A configuration without the fault has the lines with `-`, one with the fault those with `+`."
    return ["", CONFIGURATIONS_TITLE, "", intro, *lines] if lines else []


def _find_shortest_difference(examples: Iterable[Example], platform: str) -> tuple[list[str], list[str]] | None:
    """Return subjects and lines of the example that changes the fewest lines; None where no example changes any."""
    shortest: tuple[list[str], list[str]] | None = None
    for example in examples:
        try:
            at, lines = _diff_example(example, platform)
        except (UnsupportedExample, ValueError):
            continue
        if lines and (shortest is None or len(lines) < len(shortest[1])):
            shortest = at, lines
    return shortest


def _diff_example(example: Example, platform: str) -> tuple[list[str], list[str]]:
    """Return the subjects of an example with the platform's port names, and the lines in which it differs.

    UnsupportedExample or ValueError where the platform cannot have it.
    """
    setting = Setting(platform)
    setting.check_support(example)
    (view, *_) = build_example_views(example, setting.base, setting.views, setting.artifact)
    (sound,) = setting.views(setting.base({}))
    table = names(setting.base({}), platform)
    at = [subject_text(rename_subject_ports(parse(path), table)) for path in example.at]
    return at, list(_diff_lines(sound.reading, view.reading))


def _whole_file_lines(example: Example, platform: str) -> Iterator[str]:
    """Files of a platform that is read and not written: an example brings them along."""
    files = (example.artifact or {}).get(platform, {})
    if not files:
        yield f"{example.name} is of other platforms; files of {platform} are read, and none is written for it"
        return
    yield f"Found at {', '.join(example.at)}, where these are the files:"
    for name, file in files.items():
        yield f"  {name}"
        yield from (f"    {line}" for line in (file.splitlines() if isinstance(file, str) else map(str, file)))


def _diff_lines(before: Reading, after: Reading) -> Iterator[str]:
    old, new = _files(before), _files(after)
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            was, lines = ((old.get(name, "").splitlines()), (new.get(name, "").splitlines()))
            yield from unified_diff(was, lines, name, name, n=_CONTEXT, lineterm="")


def _files(reading: Reading) -> dict[str, str]:
    return {
        source.display: (source.held or b"").decode(errors="replace")
        for sources in reading.sources.values()
        for source in sources
    }
