"""Where Batfish's answer cannot be what a switch does: commands that it skips, or reads and does not follow.

The routing is computed twice, from what the switches hold and from what Batfish takes of it. An item that comes out
otherwise the second time hangs on what Batfish lacks, and is not seen by it; every other one is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from nodrop.analyses._computed import computed
from nodrop.fabric.fabric import Device, Fabric
from nodrop.fabric.index import Index
from nodrop.fabric.reading import Reading
from nodrop.fabric.routing import Bgp
from nodrop.fabric.states import Unknown
from nodrop.fabric.subject import FABRIC, Subject
from nodrop.fabric.values import changed
from nodrop.platforms import frr
from nodrop.routing.observation import Check, Observation
from nodrop.validate.batfish.lines import Skipped, harmless
from nodrop.validate.batfish.names import Exported, Names

_IGNORED: Final[tuple[tuple[str, str, int | bool], ...]] = (
    ("Batfish follows all equal paths, whatever maximum-paths says", "maximum_paths", 1 << 16),
    ("Batfish does not model ebgp-requires-policy", "requires_policy", False),
    ("Batfish announces networks that no route leads to", "import_check", False),
)
"""What it reads and does not follow: what is said of it, the field of BGP, and what it takes that for."""
UNSEEN_IPV6: Final = "Batfish drops addresses, sessions and routes of IPv6"
_HANGING: Final[tuple[Check, ...]] = ("sessions", "routes", "reach")
_START: Final = "frr "


class Part(NamedTuple):
    """FRR's part of a file of a snapshot: its text, and how many lines of the file stand above it."""

    text: str
    above: int


def part(text: str) -> Part:
    """What FRR reads of a file; all of it, but for one that has the interfaces before it."""
    lines = text.splitlines(keepends=True)
    above = next((number for number, line in enumerate(lines) if line.startswith(_START)), 0)
    return Part("".join(lines[above:]), above)


class Followed:
    """Which lines nodrop reads, so that it is known what hangs on them."""

    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self._unread: dict[str, frozenset[int]] = {}

    def __call__(self, file: str, line: int) -> bool:
        """Whether a line of a file of the snapshot is among FRR's, and nodrop reads it."""
        found = part(self._exported.files[file])
        if line <= found.above:
            return False
        if file not in self._unread:
            unread = frr.read(found.text).not_understood
            self._unread[file] = frozenset(one.line + found.above for one in unread)
        return line not in self._unread[file]


def unseen(
    reading: Reading, seen: Observation, exported: Exported, lines: Skipped, followed: Callable[[str, int], bool]
) -> Mapping[Check, Mapping[Subject, str]]:
    """The items that come out otherwise from what Batfish takes of the configurations, with what it lacks."""
    changes = dict(_changes(reading, exported, lines, followed))
    if not changes:
        return {}
    found = _differing(seen, _made(reading.fabric, changes.values()))
    for reason, change in changes.items() if any(found.values()) else ():
        alone = _differing(seen, _made(reading.fabric, [change])) if len(changes) > 1 else found
        for check, items in alone.items():
            found[check] |= {item: reason for item in items if item in found[check]}
    rest = _told(changes)
    return {check: {item: said or rest for item, said in items.items()} for check, items in found.items()}


def left_out(exported: Exported, seen: Observation) -> Mapping[Check, Mapping[Subject, str]]:
    """The items of what is not in the snapshot; all routes where a device or its BGP is not: they may lead there."""
    found: dict[Check, dict[Subject, str]] = {check: {} for check in seen.seen}
    for part, reason in exported.unseen.items():
        for check, items in found.items():
            own = seen.seen[check]
            if part in own:
                items[part] = reason
            elif len(part) == 1 or part[1:] == ("@bgp",):
                if check in ("routes", "reach", "failures"):
                    items[()] = f"{part[0]}: {reason}"
                elif check == "sessions" or len(part) == 1:
                    items.update((item, reason) for item in own if item[0] == part[0] or _ends_at(item, *part))
            elif check == "packets" and part[-1] == "mtu_bytes":
                items.update((item, reason) for item in own if f"{part[0]}:{part[1]}" in item[-1].split("--"))
    return found


def _ends_at(item: Subject, device: str, *_: str) -> bool:
    """Whether an item is a link of a device."""
    return item[:2] == (FABRIC, "links") and any(end.startswith(f"{device}:") for end in item[-1].split("--"))


_Change = Mapping[str, Callable[[Device], Device]]
"""What Batfish lacks of devices, by their names."""


def _changes(
    reading: Reading, exported: Exported, lines: Skipped, followed: Callable[[str, int], bool]
) -> Iterator[tuple[str, _Change]]:
    """Yield what Batfish lacks, with what is said of it, where that changes what is held of a device."""
    names = Names(exported)
    devices = {device.name: device for device in reading.fabric.devices}
    skips: dict[str, Callable[[Device], Device]] = {}
    reasons: list[str] = []
    for file, comments in lines.items():
        name, _ = names.place(file, None)
        told = [one for one in sorted(comments) if followed(file, one) and not harmless(names.line(file, one))]
        if name not in devices or not told:
            continue
        skip = partial(_without, found=part(exported.files[file]), lines=told)
        if skip(devices[name]) != devices[name]:
            skips[name] = skip
            reasons += [f"`{names.line(file, one)}` of {name}" for one in told]
    if skips:
        yield f"Batfish skips {_told(reasons)}", skips
    for reason, field, value in _IGNORED:
        change = partial(_set, field=field, value=value)
        found = {name: change for name, device in devices.items() if change(device) != device}
        if found:
            yield reason, found


def _made(fabric: Fabric, changes: Iterable[_Change]) -> Fabric:
    devices = {device.name: device for device in fabric.devices}
    for change in changes:
        devices |= {name: made(devices[name]) for name, made in change.items()}
    return changed(fabric, devices=tuple(devices.values()))


def _told(reasons: Iterable[str]) -> str:
    """The reasons as one: the first few, each once."""
    once = list(dict.fromkeys(reasons))
    more = f", and {len(once) - 3} more" if len(once) > 3 else ""
    return "; ".join(once[:3]) + more


def _without(device: Device, found: Part, lines: Iterable[int]) -> Device:
    """A device as it is without some lines of FRR's configuration."""
    texts = found.text.splitlines()
    for line in lines:
        texts[line - found.above - 1] = "!"
    before, after = frr.read(found.text), frr.read("\n".join(texts) + "\n")
    changes = {
        field: getattr(after, field)
        for field in ("bgp", "vrf_bgp", "static_routes")
        if getattr(before, field) != getattr(after, field) and getattr(before, field) == getattr(device, field)
    }
    return changed(device, **changes) if changes else device


def _set(device: Device, field: str, value: int | bool) -> Device:
    """A device whose BGP has a field set as Batfish takes it, where it is not left to the daemon."""

    def process(bgp: Bgp) -> Bgp:
        return bgp if getattr(bgp, field) in (None, value) else changed(bgp, **{field: value})

    bgp = device.bgp
    own = bgp if bgp is None or isinstance(bgp, Unknown) else process(bgp)
    others = device.vrf_bgp if isinstance(device.vrf_bgp, Unknown) else tuple(map(process, device.vrf_bgp))
    return changed(device, bgp=own, vrf_bgp=others)


def _differing(seen: Observation, made: Fabric) -> dict[Check, dict[Subject, str]]:
    """The items that come out otherwise in another fabric."""
    other = computed(Index(made))
    return {check: dict.fromkeys(_items(seen, other, check), "") for check in _HANGING}


def _items(seen: Observation, other: Observation, check: Check) -> Iterator[Subject]:
    mine, there = seen.seen.get(check, {}), other.seen.get(check, {})
    return (item for item in {**mine, **there} if mine.get(item) != there.get(item))
