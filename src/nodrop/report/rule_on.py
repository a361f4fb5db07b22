"""A rule's fault as the files of a platform have it: for `nodrop explain RULE --platform NAME`, and the rule book."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from typing import NamedTuple

from nodrop import context, platforms
from nodrop.engine.example_setup import (
    PlatformExamples,
    UnsupportedExample,
    build_port_name_table,
    rename_subject_ports,
)
from nodrop.engine.examples import build_example_views, run_rule
from nodrop.engine.finding import Finding
from nodrop.engine.rule import Rule, RuleExample
from nodrop.model.reading import Reading
from nodrop.model.subject import parse_subject
from nodrop.model.subject import subject_text as subject_text
from nodrop.platforms.kit.examples import TIER_CHANGES_BY_PLATFORM
from nodrop.report.document_text import render_lines
from nodrop.report.escape import fence_code_block, format_nodrop_text_as_markdown
from nodrop.report.names import format_count
from nodrop.report.rules import RULE_PAGE_WIDTH_CHARACTERS, format_yaml_value, message_of_rule, platforms_with_fault
from nodrop.report.settings_difference import diff_settings

_MAX_DIFF_LINES = 40
"""How much of an example's difference is shown."""
_DIFF_CONTEXT_LINES = 1
_MAX_RULE_BOOK_DIFF_LINES = 24
"""How much of a difference the rule book shows."""
CONFIGURATIONS_TITLE = "## As configurations"
_DIFF_INTRODUCTION = (
    "Lines with `-` are settings of a sound configuration, those with `+` of a faulty one. nodrop chooses the names of "
    "profiles and peer groups; that they change is no part of the fault."
)


class _ExampleOnPlatform(NamedTuple):
    """A bad example on a platform: its subjects with the platform's names of ports, its finding, and the files."""

    at: list[str]
    intent: str
    """What the intent of the sound fabric has, if that is not the fault itself."""
    finding: Finding | None
    before: dict[str, str]
    after: dict[str, str]


def render_rule_examples(rule: Rule, platform: str) -> str:
    """Return each bad example of a rule on a platform: the lines that go and come in the files of a sound fabric."""
    return render_lines(_page_lines(rule, platform))


def _page_lines(rule: Rule, platform: str) -> Iterator[str]:
    yield f"{rule.name} on {platform}"
    yield ""
    yield from textwrap.wrap(message_of_rule(rule), RULE_PAGE_WIDTH_CHARACTERS)
    if platform in rule.unseen:
        yield ""
        yield from textwrap.wrap(
            f"No configuration of {platform} has it: {rule.unseen[platform]}", RULE_PAGE_WIDTH_CHARACTERS
        )
        return
    for example in rule.examples:
        if example.kind == "bad":
            yield ""
            yield from _example_lines(rule, example, platform)


def _example_lines(rule: Rule, example: RuleExample, platform: str) -> Iterator[str]:
    if platform not in TIER_CHANGES_BY_PLATFORM:
        yield from _whole_file_lines(example, platform)
        return
    try:
        demonstration = _demonstrate_example(rule, example, platform)
    except (UnsupportedExample, ValueError) as reason:
        yield from textwrap.wrap(
            f"{example.name} of {rule.name} cannot be said by {platform}: {reason}", RULE_PAGE_WIDTH_CHARACTERS
        )
        return
    yield from textwrap.wrap(
        f"Found at {', '.join(demonstration.at)}, where a sound fabric{demonstration.intent} is changed so:",
        RULE_PAGE_WIDTH_CHARACTERS,
    )
    lines = [*_diff_lines(demonstration.before, demonstration.after)]
    lines = lines or ["no line of a file, but what is stated beside them"]
    yield from (f"  {line}" for line in lines[:_MAX_DIFF_LINES])
    if len(lines) > _MAX_DIFF_LINES:
        yield f"  … and {len(lines) - _MAX_DIFF_LINES} lines more"


def render_configurations_section(rule: Rule) -> list[str]:
    """Return the section of a rule's page in the book: its shortest bad example, on each platform that is written.

    It has the message of the finding, and the settings that differ unless the page shows the example as files.
    """
    lines: list[str] = []
    has_difference = False
    for platform in sorted({*platforms.writable_platforms()} & {*platforms_with_fault(rule)}):
        bad = [example for example in rule.examples if example.kind == "bad"]
        as_files = [example for example in bad if platform in (example.artifact or {})]
        if shown := _find_example_with_fewest_changes(rule, as_files or bad, platform):
            demonstration, changed = shown
            at = ", ".join(f"`{subject}`" for subject in demonstration.at)
            lines += ["", f"On {platform}, reported at {at}{demonstration.intent}"]
            lines += _finding_lines(rule, demonstration.finding)
            if not as_files:
                has_difference = True
                lines += ["", *fence_code_block(changed[:_MAX_RULE_BOOK_DIFF_LINES], "diff")]
                if len(changed) > _MAX_RULE_BOOK_DIFF_LINES:
                    more = format_count(len(changed) - _MAX_RULE_BOOK_DIFF_LINES, "more line")
                    lines += ["", f"and {more}: `nodrop explain {rule.name} --platform {platform}`"]
    intro = ["", _DIFF_INTRODUCTION] if has_difference else []
    return ["", CONFIGURATIONS_TITLE, *intro, *lines] if lines else []


def _finding_lines(rule: Rule, finding: Finding | None) -> Iterator[str]:
    """Yield the message of a finding, and its remedy if that differs from finding to finding."""
    if finding is None:
        return
    yield from ("", f"> {format_nodrop_text_as_markdown(finding.message)}")
    if finding.fix is not None and any(not isinstance(piece, str) for piece in rule.fix):
        yield from (">", f"> Fix: {format_nodrop_text_as_markdown(finding.fix.text)}")


def _find_example_with_fewest_changes(
    rule: Rule, examples: Iterable[RuleExample], platform: str
) -> tuple[_ExampleOnPlatform, list[str]] | None:
    """Return the example that changes the fewest settings, and these; None where no example changes any."""
    shortest: tuple[_ExampleOnPlatform, list[str]] | None = None
    for example in examples:
        try:
            demonstration = _demonstrate_example(rule, example, platform)
        except (UnsupportedExample, ValueError):
            continue
        changed = diff_settings(demonstration.before, demonstration.after, platform)
        if changed and (shortest is None or len(changed) < len(shortest[1])):
            shortest = demonstration, changed
    return shortest


def _demonstrate_example(rule: Rule, example: RuleExample, platform: str) -> _ExampleOnPlatform:
    """Return an example on a platform; UnsupportedExample or ValueError where the platform cannot have it."""
    setting = PlatformExamples(platform)
    setting.raise_if_example_unsupported(example)
    (view, *_) = build_example_views(
        example, setting.build_base_fabric, setting.read_fabric_from_platform_files, setting.views_of_edited_artifacts
    )
    if view.platform != platform:
        raise UnsupportedExample(f"its files are those of {view.platform}")
    overlay = (example.intent or {}) if example.model or example.artifact else {}
    sound_fabric = setting.build_base_fabric(overlay)
    (sound,) = setting.read_fabric_from_platform_files(sound_fabric)
    table = build_port_name_table(sound_fabric, platform)
    at = [subject_text(rename_subject_ports(parse_subject(path), table)) for path in example.at]
    intent = f" with `{format_yaml_value(overlay)}` in the intent" if overlay else ""
    findings = run_rule(rule, view.reading, view.observed, view.beside).findings
    first = next((finding for finding in findings if subject_text(finding.subject) == at[0]), None)
    return _ExampleOnPlatform(at, intent, first, _file_texts(sound.reading), _file_texts(view.reading))


def _whole_file_lines(example: RuleExample, platform: str) -> Iterator[str]:
    """Files of a platform that is read and not written: an example brings them along."""
    files = (example.artifact or {}).get(platform, {})
    if not files:
        yield f"{example.name} is of other platforms; files of {platform} are read, and none is written for it"
        return
    yield f"Found at {', '.join(example.at)}, where these are the files:"
    for name, file in files.items():
        yield f"  {name}"
        yield from (f"    {line}" for line in (file.splitlines() if isinstance(file, str) else map(str, file)))


def _diff_lines(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            was, lines = ((before.get(name, "").splitlines()), (after.get(name, "").splitlines()))
            yield from unified_diff(was, lines, name, name, n=_DIFF_CONTEXT_LINES, lineterm="")


def _file_texts(reading: Reading) -> dict[str, str]:
    files = {
        source.display: (source.held or b"").decode(errors="replace")
        for sources in reading.sources.values()
        for source in sources
    }
    return files | {context.FABRIC_FILE: context.format_fabric_file(reading.fabric)}
