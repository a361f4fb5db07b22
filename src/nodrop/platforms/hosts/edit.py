"""Changes of NIC settings in the files of hosts: the value in the text is replaced, and the files are read again.

A value may be on the line that uses it or in a variable of the script, and has several spellings, so each place with
the old one is tried; the one that counts is where the files then set the new value and nothing else is different. What
a command printed is not changed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from nodrop.model.change import Change, EditResult, ManualChange
from nodrop.model.edit import set_part
from nodrop.model.nics import Nic
from nodrop.model.reading import HostReading
from nodrop.model.subject import subject_text as subject_text
from nodrop.platforms.hosts import is_command_output, read_host
from nodrop.platforms.hosts.facts import PRIORITY_COUNT
from nodrop.platforms.kit.editing import sources_of_files

_MOST_TRIED_PLACES = 16
"""Places with the old value that are tried, of each form."""
_OFF_AND_ON_WORDS = (
    ("off", "auto"), ("0", "auto"), ("rx off tx off", "rx on tx on"), ("0", "1"), ("false", "true")
)  # fmt: skip
"""How files of hosts say that a setting is off and on; `auto` is the guard of mlx5 against pause storms."""


def edit(config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "") -> EditResult:
    """Change the files of a host, given by canonical name; what cannot be changed is `by_hand`, with the reason."""
    files = dict(config_files)
    reading = read_host(name, sources_of_files(files))
    by_hand = []
    for change in changes:
        for candidate in _try_rewrites(files, change):
            new_reading = read_host(name, sources_of_files(candidate))
            if _differs_only_by(reading, new_reading, change):
                files, reading = candidate, new_reading
                break
        else:
            line = f"{subject_text(change.subject)}: no value in the file sets this alone"
            by_hand.append(ManualChange(change=change, line=line))
    changed = {file: raw for file, raw in files.items() if raw != config_files[file]}
    return EditResult(files=changed, by_hand=tuple(by_hand))


def _try_rewrites(files: Mapping[str, bytes], change: Change) -> Iterator[dict[str, bytes]]:
    """Yield the files with one place changed that has the old value, later places first: a later setting counts."""
    file = change.subject[1]
    if file not in files or is_command_output(files[file]):
        return
    text = files[file].decode("utf-8", "surrogateescape")
    for old, new in _spell_old_and_new_value(change.old, change.new):
        places = list(re.finditer(rf"(?<![\w.]){re.escape(old)}(?![\w.])", text))
        for place in places[: -_MOST_TRIED_PLACES - 1 : -1]:
            new_text = text[: place.start()] + new + text[place.end() :]
            yield {**files, file: new_text.encode("utf-8", "surrogateescape")}


def _spell_old_and_new_value(old: object, new: object) -> Iterator[tuple[str, str]]:
    """Yield two values as files of hosts may have them.

    Priorities are eight switches, or a switch each; a table of numbers has the one number that differs.
    """
    if isinstance(old, bool) and isinstance(new, bool):
        yield from (words if new else words[::-1] for words in _OFF_AND_ON_WORDS)
    elif isinstance(old, int | str) and type(old) is type(new):
        yield str(old), str(new)
    elif _is_numbers(old) and _is_numbers(new):
        yield _format_priority_on_off_list(old), _format_priority_on_off_list(new)
        if len(new) > len(old):
            yield from (("0", "1"), ("false", "true"))
        different = {pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]}
        if len(old) == len(new) and len(different) == 1:
            yield from ((str(before), str(after)) for before, after in different)


def _is_numbers(value: object) -> TypeGuard[tuple[int, ...]]:
    return isinstance(value, tuple) and all(isinstance(number, int) for number in value)


def _format_priority_on_off_list(priorities: tuple[int, ...]) -> str:
    return ",".join("1" if priority in priorities else "0" for priority in range(PRIORITY_COUNT))


def _differs_only_by(old: HostReading, new: HostReading, change: Change) -> bool:
    """Whether new files make the requested change, and no other."""
    wanted = tuple(_with_change(nic, change) for nic in old.nics)
    return new.nics == wanted and len(new.remarks) <= len(old.remarks) and not new.problems


def _with_change(nic: Nic, change: Change) -> Nic:
    """Return a NIC with a change of it: of a field, or of a number in a table."""
    subject, place = change.subject[: len(nic.subject)], change.subject[len(nic.subject) :]
    if subject != nic.subject or place[0] not in nic.__dataclass_fields__:
        return nic
    new: Nic = set_part(nic, place, change.new)
    return new
