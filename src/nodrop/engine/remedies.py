"""The changes of a fix: the differences between a part now and as wanted, and the settings of sound siblings.

A rule sets parts (`set:`), an analysis names changes (`Hit.changes`), or a part is made like that of most siblings of
the port or switch without a finding of the rule (`as_siblings:`); of a reader's remark, only the part remarked
on. An unknown value is no change.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass, replace
from itertools import islice

from nodrop.analyses._kinship import PortFamily, port_family, switch_family
from nodrop.engine.finding import Finding
from nodrop.engine.nodes import ModelPath
from nodrop.engine.rule import Rule
from nodrop.model.change import FILE_SETTING_AREA, Change
from nodrop.model.edit import ABSENT, find_part, find_value, set_part
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact, is_known_off
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key
from nodrop.model.types import key_of

MAX_SIBLINGS_ASKED = 64
"""How many switches of a kind are asked, at most, for the usual value among them; they are built alike."""
_MIN_MAP_ENTRIES = 8
"""From how many entries on a list of numbers is a map: no port has that many of anything else that is one by one."""

EACH_ROW = "*"
"""In a path of `as_siblings`: each row that the port or switch has, of which only the field that follows is set."""

PartChange = tuple[Subject, object, object]

_CABLE_FIELDS = frozenset({"cable_length_m"})
"""What is of each port's own cable: siblings give it where a port has nothing, and never another thing than it has."""


def part_changes_between(old_value: object, new_value: object) -> Iterator[PartChange]:
    """Yield the required changes, part by part: its path, the old and the new value; nothing for unknown parts.

    A part that is there on one side only is a change as a whole, and so is a list except maps and rows.
    """
    if new_value is UNKNOWN or old_value is new_value:
        return
    if type(old_value) is not type(new_value):
        yield (), old_value, new_value
    elif is_dataclass(old_value):
        for name in old_value.__dataclass_fields__:
            for below, a, b in part_changes_between(getattr(old_value, name), getattr(new_value, name)):
                yield (name, *below), a, b
    elif isinstance(old_value, tuple) and isinstance(new_value, tuple) and _is_compared_by_entry(old_value, new_value):
        rows, new_rows = ({key_of(row, at): row for at, row in enumerate(side)} for side in (old_value, new_value))
        for key in dict.fromkeys((*rows, *new_rows)):
            for below, a, b in part_changes_between(rows.get(key), new_rows.get(key)):
                yield (key, *below), a, b
    elif old_value != new_value:
        yield (), old_value, new_value


def _is_compared_by_entry(old: tuple[object, ...], new: tuple[object, ...]) -> bool:
    """Whether two lists are compared entry by entry: rows with names, or maps of one length."""
    if hasattr(old, "_fields"):
        return False
    every = (*old, *new)
    if any(map(is_dataclass, every)):
        return all(map(is_dataclass, every))
    return len(old) == len(new) >= _MIN_MAP_ENTRIES


def changes_making_part(index: Index, subject: Subject, new: object) -> Iterator[Change]:
    """Yield the changes that make a part of the fabric `new`; a missing part is None, and is added."""
    old = _value_at(index, subject)
    for below, was, new_value in part_changes_between(None if old is ABSENT else old, new):
        yield Change(subject=(*subject, *below), old=was, new=new_value)


def add_sibling_changes(
    rule: Rule, findings: Sequence[Finding], index: Index, faulty: Sequence[Finding], options: Mapping[str, object]
) -> Iterator[Finding]:
    """Yield the findings of a rule, each with what its siblings have: if the rule itself sets nothing, or first.

    `sick` are all that the rule finds in the fabric. What siblings have and would leave the finding is no fix: they
    may be free of it for another reason, as a port without PFC is. Neither is what makes `as_siblings_if` false.
    """
    siblings = _SiblingSettings(index, faulty)
    trial = _PortChangeTrial(rule, index, options)
    for finding in findings:
        if finding.fix is None or (finding.fix.changes and not rule.siblings_first):
            yield finding
            continue
        asked = finding.parts or (_part_to_align(rule, finding, path) for path in rule.as_siblings)
        rows = (row for place in asked if place for row in siblings.expand_rows(place))
        places = dict.fromkeys(siblings.part_to_give_whole(row) for row in rows)
        changes = tuple(change for place in places for change in siblings.changes_to_value_of_most_siblings(place))
        corrections = tuple(change for change in finding.fix.changes if change.subject[1] == FILE_SETTING_AREA)
        fix = finding.fix.or_default()
        if changes and trial.changes_end_finding(finding, changes):
            fix = replace(finding.fix, safe=rule.fix_safe, changes=(*corrections, *changes))
        yield replace(finding, fix=fix)


def _subject_of_path(finding: Finding, path: ModelPath) -> Subject:
    """Return the subject of a path of the item that a finding is about; of none, the part that it points at.

    Of a finding about cables or classes, the port and switch are those that it points at.
    """
    if not path:
        return finding.at
    root, *below = path
    if root in ("a", "b"):
        return (*_link_ends(finding.subject)[root == "b"], *below)
    about = finding.at if finding.subject[0] == FABRIC_HEAD else finding.subject
    if root == "device":
        return (about[0], f"@{below[0]}", *below[1:])
    return (*(about[:2] if root == "interface" else about), *below)


def _part_to_align(rule: Rule, finding: Finding, path: ModelPath) -> Subject:
    """Return the part to make like that of siblings: of what a reader remarks on in a part, only that.

    Nothing where the remark is on all of the part: what of it is at fault is not known.
    """
    place, at = _subject_of_path(finding, path), finding.at
    if not rule.remark or not path or at[: len(place)] != place:
        return place
    return at if len(at) > len(place) else ()


def _link_ends(subject: Subject) -> list[Subject]:
    """Return the ports that a link's subject names; none of another subject."""
    return [tuple(end) for end in ends_of_cable_key(subject[2])] if subject[:2] == (FABRIC_HEAD, "links") else []


class _PortChangeTrial:
    """Whether changes of a port end the finding of a rule there."""

    def __init__(self, rule: Rule, index: Index, options: Mapping[str, object]) -> None:
        self._rule, self._index, self._options = rule, index, options

    def changes_end_finding(self, finding: Finding, changes: Sequence[Change]) -> bool:
        """Whether the rule holds once the changes are made; true where it is about more than a part of one port."""
        place, row = finding.subject[:2], finding.subject[2:]
        if self._rule.claim is None or "interface" not in self._rule.scope.parts:
            return True
        port, device = self._index.interface(*place), self._index.devices.get(place[0])
        if port is None or device is None or any(change.subject[:2] != place for change in changes):
            return True
        for change in changes:
            port = set_part(port, change.subject[2:], change.new)
        item = (device, port, find_part(port, row)) if row else (device, port)
        if item[-1] is ABSENT:
            return True
        (outcome,) = self._rule.check_function([item], self._index.fabric, self._options, index=self._index)
        return outcome is not True and self._is_condition_met(item)

    def _is_condition_met(self, item: Sequence[object]) -> bool:
        """Whether the further condition of the rule is true of a changed port; true also where that is not known."""
        condition = self._rule.as_siblings_if
        if condition is None:
            return True
        is_met = self._rule.function_of_expression(condition)
        try:
            return bool(is_met(*item, self._index.fabric, self._options, index=self._index))
        except UnknownFact:
            return True


class _SiblingSettings:
    """The settings of ports and switches that are like those of a rule's findings, and are not among them."""

    def __init__(self, index: Index, findings: Iterable[Finding]) -> None:
        self._index = index
        self._sick = {
            subject
            for finding in findings
            for subject in (
                finding.subject[:2],
                finding.at[:2],
                *_link_ends(finding.subject),
                *(part[:2] for part in finding.parts),
            )
            if subject[0] != FABRIC_HEAD
        }
        self._sick_devices = {subject[0] for subject in self._sick}
        self._votes: dict[tuple[PortFamily, Subject], object] = {}
        self._devices: dict[PortFamily, list[Device]] = {}

    def expand_rows(self, place: Subject) -> Iterator[Subject]:
        """Yield a place for each row that a path names as `EACH_ROW`: its field, or a row that only siblings have."""
        if EACH_ROW not in place:
            yield place
            return
        at = place.index(EACH_ROW)
        table, field = place[:at], place[at + 1 :]
        own_rows, usual_rows = _value_at(self._index, table), self._value_of_most_siblings(table)
        own_keys = _keys_of_rows(own_rows)
        yield from ((*table, key, *field) for key in own_keys)
        yield from ((*table, key) for key in _keys_of_rows(usual_rows) if key not in own_keys)

    def part_to_give_whole(self, place: Subject) -> Subject:
        """Return the part that is None on the way to a place, and has to be given whole; else the place."""
        for end in range(2 if place[1:2] and place[1].startswith("@") else 3, len(place)):
            if _value_at(self._index, place[:end]) is None:
                return place[:end]
        return place

    def changes_to_value_of_most_siblings(self, place: Subject) -> Iterator[Change]:
        """Yield the changes that make a part as most siblings have it, where they agree and have it."""
        if place[0] != FABRIC_HEAD and len(place) > 1:
            for change in changes_making_part(self._index, place, self._value_of_most_siblings(place)):
                if change.subject[-1] not in _CABLE_FIELDS or not change.old:
                    yield change

    def _value_of_most_siblings(self, place: Subject) -> object:
        device = self._index.devices.get(place[0])
        if device is None:
            return UNKNOWN
        if place[1].startswith("@"):
            steps = (place[1][1:], *place[2:])
            key = (*switch_family(self._index, device), "device"), steps
            if key not in self._votes:
                other_devices = (
                    sibling for sibling in self._similar_devices(device) if sibling.name not in self._sick_devices
                )
                self._votes[key] = _most_common_value(islice(other_devices, MAX_SIBLINGS_ASKED), steps)
            return self._votes[key]
        port = self._index.interface(device.name, place[1])
        if port is None:
            return UNKNOWN
        kind = port_family(self._index, device, port)
        near = (device.name, *kind), place[2:]
        if near not in self._votes:
            self._votes[near] = _most_common_value(self._faultless_ports_of_family([device], kind), place[2:])
        far = (*switch_family(self._index, device), *kind), place[2:]
        if self._votes[near] is UNKNOWN and far not in self._votes:
            self._votes[far] = _most_common_value(
                self._faultless_ports_of_family(self._similar_devices(device)[:MAX_SIBLINGS_ASKED], kind), place[2:]
            )
        return self._votes[far] if self._votes[near] is UNKNOWN else self._votes[near]

    def _faultless_ports_of_family(self, devices: Iterable[Device], kind: PortFamily) -> Iterator[Interface]:
        for device in devices:
            for port in device.interfaces:
                sound = not {(device.name,), (device.name, port.name)} & self._sick
                if sound and not is_known_off(port.enabled) and port_family(self._index, device, port) == kind:
                    yield port

    def _similar_devices(self, device: Device) -> list[Device]:
        if not self._devices:
            for fabric_device in self._index.fabric.devices:
                self._devices.setdefault(switch_family(self._index, fabric_device), []).append(fabric_device)
        return self._devices[switch_family(self._index, device)]


def _most_common_value(siblings: Iterable[Device | Interface], steps: Subject) -> object:
    """Return what most of the parts have at the end of `steps`; UNKNOWN if nothing is most frequent."""
    votes: Counter[object] = Counter()
    for node in siblings:
        with suppress(UnknownFact):
            sibling_value = find_part(node, steps)
            if sibling_value is not ABSENT and not isinstance(sibling_value, Unknown):
                votes[sibling_value] += 1
    top_votes = votes.most_common(2)
    if not top_votes or (len(top_votes) == 2 and top_votes[0][1] == top_votes[1][1]):
        return UNKNOWN
    return top_votes[0][0]


def _keys_of_rows(rows: object) -> list[str]:
    return [key_of(row, at) for at, row in enumerate(rows)] if isinstance(rows, tuple) else []


def _value_at(index: Index, subject: Subject) -> object:
    """Return the value that a subject leads to; ABSENT where there is nothing."""
    device, area, *_ = (*subject, "")
    owner = index.devices.get(device)
    if owner is None:
        nic = next((nic for nic in index.nics_by_host.get(device, ()) if nic.subject == subject[:-1]), None)
        return find_value(index.fabric, subject) if nic is None else getattr(nic, subject[-1])
    if not area or area.startswith("@"):
        return find_value(index.fabric, subject)
    port = index.interface(device, area)
    return ABSENT if port is None else find_part(port, subject[2:])
