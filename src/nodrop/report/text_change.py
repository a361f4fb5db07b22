"""The text to change for a finding: the old and new lines of a file, or else the change to make by hand."""

from collections.abc import Iterator
from difflib import unified_diff

from nodrop import platforms
from nodrop.engine.finding import Finding
from nodrop.errors import InputProblems
from nodrop.locate import load_unchanged_source
from nodrop.model import subject
from nodrop.model.change import Change
from nodrop.model.reading import Reading, Source
from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.report.explained import format_model_value

_DIFF_CONTEXT_LINES = 2


DiffLine = tuple[bool, str]
"""A line, and whether it is a file's own, which is not wrapped."""


def fix_diff_and_manual_steps(finding: Finding, reading: Reading) -> Iterator[DiffLine]:
    """Yield what ends a finding: a diff of each file that can be changed, and the rest in words."""
    if finding.fix is None:
        return
    yield False, finding.fix.text
    by_device: dict[str, list[Change]] = {}
    for change in finding.fix.changes:
        by_device.setdefault(change.subject[0], []).append(change)
    for device, wanted_changes in by_device.items():
        for change in wanted_changes:
            yield (
                False,
                f"{subject.subject_text(change.subject)}: {format_model_value(change.old)} "
                f"becomes {format_model_value(change.new)}",
            )
        if reading.decided is None and device in reading.sources:
            yield from _describe_file_edits(device, wanted_changes, reading)


def _describe_file_edits(device: str, wanted_changes: list[Change], reading: Reading) -> Iterator[DiffLine]:
    platform = next((switch.platform for switch in reading.fabric.devices if switch.name == device), "")
    editor = platforms.find_editor(platform) if platform in platforms.platform_names() else None
    if editor is None:
        return
    sources = reading.sources[device]
    try:
        bundle = {source.name: load_unchanged_source(source) for source in sources}
        edit = editor.edit(bundle, wanted_changes, name=device)
    except InputProblems as error:
        yield False, str(error.problems[0])
        return
    for source in sources:
        if source.name in edit.files:
            lines = _diff_without_secrets(device, source, bundle[source.name], edit.files[source.name], reading)
            yield from ((True, line) for line in lines)
    yield from ((False, f"by hand: {line}") for line in dict.fromkeys(hand_edit.line for hand_edit in edit.by_hand))
    for follow in edit.follows:
        yield (
            False,
            f"and so {subject.subject_text(follow.subject)}: {format_model_value(follow.old)} "
            f"becomes {format_model_value(follow.new)}",
        )


def diff_file_texts(display: str, old_content: bytes, new_content: bytes) -> Iterator[str]:
    """Yield a unified diff of a text."""
    before, after = old_content.decode(errors="replace").splitlines(), new_content.decode(errors="replace").splitlines()
    return unified_diff(before, after, display, display, n=_DIFF_CONTEXT_LINES, lineterm="")


def _diff_without_secrets(device: str, source: Source, old: bytes, new: bytes, reading: Reading) -> Iterator[str]:
    """Yield a diff that quotes no line with a secret."""
    before = old.decode(errors="replace").splitlines()
    secret = {before[line - 1] for name, file, line in reading.secret_lines if (name, file) == (device, source.name)}
    for line in diff_file_texts(source.display, old, new):
        yield f"{line[0]}(a secret)" if line[1:] in secret or looks_like_secret(line[1:]) else line
