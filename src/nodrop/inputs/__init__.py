"""The inputs at the paths of a command line: intents, the files of each device, and the statements next to them."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from nodrop import context
from nodrop.inputs.contents import NOT_READ_NOTE_KIND
from nodrop.inputs.disk import DiskWithHeldTexts, FolderEntry, find_named_intent
from nodrop.inputs.finder import PATCHES_FILE, InputFinder, find_fabric_file, is_fabric_file, is_intent
from nodrop.inputs.model import NAMED_FILE_PATH_EXPECTED, DeviceFiles, FabricInputs, FileText
from nodrop.model.reading import Note
from nodrop.syntax.json import MAX_JSON_BYTES

__all__ = [
    "NAMED_FILE_PATH_EXPECTED",
    "PATCHES_FILE",
    "STDIN_ARGUMENT",
    "DeviceFiles",
    "DiskWithHeldTexts",
    "FabricInputs",
    "FileText",
    "FolderEntry",
    "find_inputs",
    "find_named_intent",
    "is_intent",
    "note_on_fabric_file_of_intent",
    "read_standard_input",
]

STDIN_ARGUMENT = "-"
_STATEMENTS_ONLY_MESSAGE = "says what no switch file can; name configurations too, and it is read with them"


def find_inputs(
    paths: Sequence[str],
    platform: str | None = None,
    stdin: bytes | None = None,
    *,
    exclude: Callable[[Path], bool] | None = None,
    held: Mapping[str, bytes] | None = None,
    disk: DiskWithHeldTexts | None = None,
) -> FabricInputs:
    """Find the inputs at every path: an intent, a configuration, a folder of them, or `-` for standard input.

    All are one fabric, unless several fabric.yaml files lie next to them, and none was named: then each has its own.
    Files that match `exclude` are skipped in folders; a path that was named itself is read. Texts that are `held`
    replace the files at these paths, like an editor's unsaved texts. With another `disk`, the files on it are found.
    """
    disk = disk or DiskWithHeldTexts(held)
    finder = InputFinder(disk, platform, exclude)
    inputs = FabricInputs()
    groups: dict[str, FabricInputs] = {}
    for text in paths:
        if text == STDIN_ARGUMENT:
            finder.add_standard_input(
                groups.setdefault("", FabricInputs()), read_standard_input() if stdin is None else stdin
            )
        elif (wrong := disk.explain_missing_path(text)) is not None:
            inputs.problems.append(wrong)
        elif Path(text).name == context.FABRIC_FILE and is_fabric_file(disk, Path(text)):
            inputs.stated.append(disk.text(Path(text), text))
        else:
            beside = find_fabric_file(disk, Path(text))
            group = groups.setdefault(os.path.realpath(beside) if beside else "", FabricInputs())
            if beside is not None and not group.stated:
                group.stated.append(disk.text(beside))
            finder.add_named_path(group, Path(text))
    alone = inputs.stated[:1] if not groups else []
    inputs.notes += [Note(kind="nothing", message=_STATEMENTS_ONLY_MESSAGE, file=text.display) for text in alone]
    if inputs.stated or len(groups.keys() - {""}) <= 1:
        for group in groups.values():
            inputs.absorb_inputs(group)
    else:
        inputs.nested += groups.values()
    for own_inputs in inputs.with_all_nested_fabrics():
        if not (own_inputs.bundles or own_inputs.hosts):
            unread = (note_on_fabric_file_of_intent(intent, disk) for intent in own_inputs.intents)
            own_inputs.notes += dict.fromkeys(filter(None, unread))
    return inputs


def note_on_fabric_file_of_intent(intent: FileText, disk: DiskWithHeldTexts) -> Note | None:
    """Return the note that the fabric.yaml beside an intent is not read; None where there is none."""
    path = None if intent.path is None else intent.path.with_name(context.FABRIC_FILE)
    if path is None or path == intent.path or not is_fabric_file(disk, path):
        return None
    message = "beside an intent, which states all of its fabric itself: state the facts of this file there"
    display = str(Path(intent.display).with_name(context.FABRIC_FILE))
    return Note(kind=NOT_READ_NOTE_KIND, message=message, file=display)


def read_standard_input() -> bytes:
    """Return what stands on standard input; of too much, a little more than may be read."""
    return sys.stdin.buffer.read(MAX_JSON_BYTES + 1) if sys.stdin else b""
