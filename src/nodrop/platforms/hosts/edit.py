"""Changes of NIC settings in the files of hosts: the number in the text is replaced, and the files are read again.

A number may be on the line that uses it or in a variable of the script, so each place with the old number is tried;
the one that counts is where the files then set the new value and nothing else is different. What a command printed is
not changed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from nodrop.model.change import Change, Edit, ManualChange
from nodrop.model.nics import Nic
from nodrop.model.reading import HostReading
from nodrop.model.subject import subject_text as subject_text
from nodrop.model.values import replace_fields
from nodrop.platforms.hosts import is_command_output, read_host
from nodrop.platforms.hosts.facts import PRIORITY_COUNT
from nodrop.platforms.kit.editing import sources_of_files

_MOST_PLACES = 16
"""Places with the old number that are tried, of each change."""


def edit(config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "") -> Edit:
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
            line = f"{subject_text(change.subject)}: no number in the file sets this alone"
            by_hand.append(ManualChange(change=change, line=line))
    changed = {file: raw for file, raw in files.items() if raw != config_files[file]}
    return Edit(files=changed, by_hand=tuple(by_hand))


def _try_rewrites(files: Mapping[str, bytes], change: Change) -> Iterator[dict[str, bytes]]:
    """Yield the files with one place changed that has the old value, later places first: a later setting counts."""
    file, old, new = change.subject[1], _spell_value(change.old), _spell_value(change.new)
    if not old or not new or file not in files or is_command_output(files[file]):
        return
    text = files[file].decode("utf-8", "surrogateescape")
    places = list(re.finditer(rf"(?<![\w.,]){re.escape(old)}(?![\w.,])", text))
    for place in places[: -_MOST_PLACES - 1 : -1]:
        new_text = text[: place.start()] + new + text[place.end() :]
        yield {**files, file: new_text.encode("utf-8", "surrogateescape")}


def _spell_value(value: object) -> str:
    """Return a value as files of hosts have it: a number, or priorities as eight switches; else nothing."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, tuple) and all(isinstance(number, int) for number in value):
        return ",".join("1" if priority in value else "0" for priority in range(PRIORITY_COUNT))
    return ""


def _differs_only_by(old: HostReading, new: HostReading, change: Change) -> bool:
    """Whether new files make the requested change, and no other."""
    subject, field = change.subject[:-1], change.subject[-1]
    wanted = tuple(_with_value(nic, field, change.new) if nic.subject == subject else nic for nic in old.nics)
    return new.nics == wanted and len(new.remarks) <= len(old.remarks) and not new.problems


def _with_value(nic: Nic, field: str, value: object) -> Nic:
    return replace_fields(nic, **{field: value})
