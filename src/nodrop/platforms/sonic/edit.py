"""Changes of the model in a config_db.json that is given, whoever wrote it, and as a patch for `config apply-patch`.

The tables are changed as a draft, written into the text, and read again: what comes out must be the old device with
the changes and nothing else, or the change is left to be done by hand. What the switch works out from what was
changed (a computed headroom, the pools, the groups that buffermgrd adds) follows, and is told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodrop.errors import InputProblems
from nodrop.fabric.change import ByHand, Change, Edit
from nodrop.fabric.compare import Difference, differences
from nodrop.fabric.edit import get_value, set_value
from nodrop.fabric.fabric import Device, Fabric, Interface
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.reading import DeviceReading, Remark, Source
from nodrop.fabric.spelling import said
from nodrop.fabric.states import Unknown
from nodrop.fabric.subject import Subject
from nodrop.fabric.subject import text as spelt
from nodrop.fabric.values import changed
from nodrop.formats.json import parse
from nodrop.formats.json_edit import rewrite
from nodrop.hardware.dynamic import as_configured, resolve
from nodrop.platforms.sonic.config import FILE
from nodrop.platforms.sonic.draft import Draft
from nodrop.platforms.sonic.edit_profiles import same
from nodrop.platforms.sonic.edit_qos import change_qos
from nodrop.platforms.sonic.edit_rows import change_rows
from nodrop.platforms.sonic.gcu import judged
from nodrop.platforms.sonic.patch import operations
from nodrop.platforms.sonic.reader import read
from nodrop.platforms.sonic.tables import ALL_PRIORITIES, HASH_SEED_OF_TYPE, TYPE_OF_ROLE

_ROUTING = "the routing daemon's own file says it, which is not edited: change frr.conf and load it with `vtysh -b`"
_BY_HAND: Mapping[str, str] = {
    "@bgp": _ROUTING,
    "@neighbors": _ROUTING,
    "@static_routes": _ROUTING,
    "@extra": "it is no field of the model: change the table itself",
    "@extra_lines": _ROUTING,
    "@model": "it is the switch, not a setting",
    "@platform": "it is the switch, not a setting",
    "@version": "it is the release that is installed: `sonic-installer install`",
    "lanes": "ports get other lanes by `config interface breakout`, which makes them and their tables anew",
    "port": "it is where the port is, not a setting",
    "link_pause": "no table of SONiC says it",
    "side": "no file of a switch says it: state it in fabric.yaml",
}

_OF_A_DIALECT = frozenset({"bracket-reference", "comma-port-list", "ignored-table", "unknown-field", "unknown-table"})


def edit(bundle: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "") -> Edit:
    """Change a device's files, given by canonical name; `name` is the device's where they state no hostname.

    Raises InputProblems where config_db.json cannot be read. Changes are made together where that can be, else one
    by one, in their order; what cannot be made is `by_hand`, with the reason.
    """
    wanted = list(changes)
    name = name or (wanted[0].subject[0] if wanted else "")
    state = _State(bundle, name)
    by_hand = list(_made(state, wanted))
    left = {id(one.change) for one in by_hand}
    made = [change for change in wanted if id(change) not in left]
    new = state.bundle.get(FILE, b"")
    if new == bundle.get(FILE, b""):
        return Edit(by_hand=tuple(by_hand))
    old_data, new_data = parse(bundle[FILE], FILE), parse(new, FILE)
    faults = [remark.kind for remark in state.first.remarks]
    steps = operations(old_data, new_data)
    return Edit(
        files={FILE: new},
        steps=tuple(judged(steps, old_data, new_data, state.first.device.version, faults)),
        by_hand=tuple(by_hand),
        follows=tuple(_follows(state.first.device, state.reading.device, made)),
    )


class _State:
    """A device's files as far as they are changed, and what they say."""

    def __init__(self, bundle: Mapping[str, bytes], name: str) -> None:
        self.bundle, self._name = dict(bundle), name
        self.reading = self.first = self._read(self.bundle)
        if self.reading.problems:
            raise InputProblems(list(self.reading.problems))

    def _read(self, bundle: Mapping[str, bytes]) -> DeviceReading:
        return read(self._name, [(Source(name=file, display=file), raw) for file, raw in bundle.items()])

    def take(self, changes: Sequence[Change]) -> str | None:
        """Make the changes, all or none; return why they cannot be made."""
        old = self.reading.device
        try:
            new = _wanted(old, changes)
        except ValueError as error:
            return str(error).removeprefix(f"{spelt(changes[0].subject)}: ")
        if FILE not in self.bundle:
            return f"there is no {FILE}"
        names = ([one.name for one in device.interfaces] for device in (old, new))
        if len({tuple(each) for each in names}) > 1:
            return "ports come and go by `config interface breakout`, which makes their tables anew"
        draft = Draft(parse(self.bundle[FILE], FILE))
        change_rows(draft, old, new)
        change_qos(draft, old, new, self.reading.derived)
        bundle = self.bundle | {FILE: rewrite(self.bundle[FILE], draft.data)}
        reading = self._read(bundle)
        if why := self._unlike(reading, new, changes):
            return why
        self.bundle, self.reading = bundle, reading
        return None

    def _unlike(self, reading: DeviceReading, new: Device, changes: Sequence[Change]) -> str | None:
        """Say what the changed files would say that they should not; None where there is nothing."""
        if reading.problems:
            return f"the file could not be read any more: {reading.problems[0].found}"
        known = {_fault(remark) for remark in self.reading.remarks}
        for remark in reading.remarks:
            if _fault(remark) not in known:
                return f"the file would have a fault ({remark.kind}: {', '.join(remark.facts.values())})"
        derived = self.reading.derived.keys() | reading.derived.keys()
        subjects = [change.subject for change in changes]
        for found in differences(new, reading.device):
            at = _subject(new.name, found.path)
            if any(at[:5] == one[:5] for one in derived if one[2:4] == ("qos", "priority_groups")) and not any(
                _touch(at, one) for one in subjects
            ):
                continue
            return f"{spelt(at)} would be {said(found.b)}, not {said(found.a)}"
        return None


def _fault(remark: Remark) -> tuple[str, ...]:
    """What makes two remarks the same fault; how the whole file is spelt is one, however often it is seen."""
    return (remark.kind,) if remark.kind in _OF_A_DIALECT else (remark.kind, *remark.facts.values())


def _made(state: _State, changes: Sequence[Change]) -> Iterator[ByHand]:
    """Make changes, together if they can be; yield those that cannot be made."""
    if not changes:
        return
    why = next((text for change in changes if (text := _impossible(change))), None) or state.take(changes)
    if why is None:
        return
    if len(changes) == 1:
        yield ByHand(change=changes[0], line=f"{spelt(changes[0].subject)}: {why}")
        return
    middle = len(changes) // 2
    yield from _made(state, changes[:middle])
    yield from _made(state, changes[middle:])


def _impossible(change: Change) -> str | None:
    """Say why no text of the device can be changed so; None where it may be."""
    area, *rest = (*change.subject[1:3], "")
    return _BY_HAND.get(area if area.startswith("@") else rest[0])


def _wanted(device: Device, changes: Sequence[Change]) -> Device:
    """The device with the changes, and with what its switch works out from them; ValueError where one does not fit."""
    fabric = Fabric(name="", mode="lossless", devices=(device,))
    for change in changes:
        _check_old(fabric, change)
        fabric = set_value(fabric, change.subject, change.new)
    subjects = [change.subject for change in changes]
    new = fabric.devices[0]
    old = {interface.name: interface for interface in device.interfaces}
    new = changed(
        new,
        interfaces=tuple(_together(old.get(one.name, one), one, device.name, subjects) for one in new.interfaces),
        ntp_servers=_in_order(new.ntp_servers),
        syslog_servers=_in_order(new.syslog_servers),
    )
    if not same(new.role, device.role) and (device.name, "@hash_seed") not in subjects:
        seed = HASH_SEED_OF_TYPE.get(TYPE_OF_ROLE.get(str(new.role), ""))
        new = changed(new, hash_seed=device.hash_seed if seed is None else seed)
    return resolve(as_configured(new))


def _in_order(names: Any) -> Any:
    return tuple(sorted(names)) if isinstance(names, tuple) else names


def _check_old(fabric: Fabric, change: Change) -> None:
    if isinstance(change.old, Unknown):
        return
    try:
        found = get_value(fabric, change.subject)
    except ValueError:
        found = None
    if not same(found, change.old):
        raise ValueError(f"it is {said(found)}, not {said(change.old)}, for which the change was made")


def _together(old: Interface, new: Interface, device: str, subjects: Sequence[Subject]) -> Interface:
    """A port with what stands in the same field as something that changed: both directions of pause, and the trust."""
    if same(old.qos, new.qos) or not isinstance(old.qos, QosProfile) or not isinstance(new.qos, QosProfile):
        return new
    qos, at = new.qos, (device, new.name, "qos")
    if old.qos.pfc_rx_priorities == old.qos.pfc_tx_priorities != ALL_PRIORITIES:
        directions = ("pfc_rx_priorities", "pfc_tx_priorities")
        for one, other in (directions, directions[::-1]):
            value = getattr(qos, one)
            moved = not same(getattr(old.qos, one), value)
            if moved and not any(subject[: len(at) + 1] == (*at, other) for subject in subjects):
                qos = changed(qos, **{other: value})
    if not any(subject[: len(at) + 1] == (*at, "trust") for subject in subjects):
        qos = changed(qos, trust=_trust(qos))
    return changed(new, qos=qos)


def _trust(qos: QosProfile) -> Any:
    if isinstance(qos.dscp_to_tc, Unknown) or isinstance(qos.pcp_to_tc, Unknown):
        return qos.trust
    by_dscp, by_pcp = qos.dscp_to_tc is not None, qos.pcp_to_tc is not None
    return {(True, True): "both", (True, False): "dscp", (False, True): "pcp"}.get((by_dscp, by_pcp))


def _follows(old: Device, new: Device, changes: Sequence[Change]) -> Iterator[Change]:
    for found in differences(old, new):
        at = _subject(old.name, found.path)
        if not any(_touch(at, change.subject) for change in changes):
            yield _as_change(at, found)


def _as_change(at: Subject, found: Difference) -> Change:
    return Change(subject=at, old=found.a, new=found.b)


def _touch(one: Subject, other: Subject) -> bool:
    """Whether one of two subjects is a part of the other."""
    length = min(len(one), len(other))
    return one[:length] == other[:length]


def _subject(device: str, path: Subject) -> Subject:
    """The subject of a path inside a device."""
    head, *rest = path or ("",)
    if head == "interfaces":
        return (device, *rest)
    if head == "bgp" and rest[:1] == ["neighbors"]:
        return (device, "@neighbors", *rest[1:])
    return (device, f"@{head}", *rest)
