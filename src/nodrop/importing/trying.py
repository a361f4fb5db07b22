"""What an imported intent comes to when it is built: the same fabric, or where it differs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from nodrop import platforms, stated
from nodrop.collect import read_artifacts
from nodrop.design import build
from nodrop.design.decisions import Aspect, keys_in_words
from nodrop.errors import InputProblems, Problem, Unsupported
from nodrop.importing.sight import Sight
from nodrop.intent.schema import Intent
from nodrop.model.assemble import assemble
from nodrop.model.compare import Difference, differences
from nodrop.model.fabric import Device, Fabric, Link, Policy
from nodrop.model.index import Index
from nodrop.model.intern import Interner
from nodrop.model.states import Unknown
from nodrop.model.types import KEYS, key_of
from nodrop.platforms.artifact import Artifact

_OF_SPELLING = ("platform", "version", "hwsku", "role")
"""What of a switch is another where it is written for another platform."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """A fact of one part that is not what the intent comes to."""

    device: str
    """The switch; empty for the fabric itself."""
    part: str
    """Which of its parts: a port, a neighbor, a pool …; empty for the switch itself."""
    path: str
    """The fact, by the model's path below that."""
    has: str
    """What the files say."""
    built: str
    """What the intent comes to."""
    key: str
    """The key of the intent that decides it; empty where none does."""


def built(intent: Intent) -> tuple[Fabric, dict[str, dict[str, bytes]]]:
    """Return what an intent's files say when they are read back, and the files of each switch.

    InputProblems where it cannot be built or written.
    """
    fabric = build(intent)
    index = Index(fabric)
    artifacts: list[Artifact] = []
    for device in fabric.devices:
        try:
            artifacts += platforms.writer(device.platform).write(device, index)
        except Unsupported as error:
            raise InputProblems([Problem(path=device.name, where=error.path, found=error.reason)]) from None
    readings = list(read_artifacts(artifacts, {one.name: one.platform for one in fabric.devices}, ""))
    declared = stated.loads(stated.spell(fabric).encode(), stated.FILE)
    files: dict[str, dict[str, bytes]] = {}
    for one in artifacts:
        files.setdefault(one.device, {})[one.path] = one.text.encode()
    return assemble(readings, declared).fabric, files


def unlike(sight: Sight, other: Fabric) -> tuple[Unlike, ...]:
    """Return every fact of a sight that a fabric has otherwise; what its files do not say is no fact.

    Nor is a text that is the same but for the names of switches, which are told by themselves.
    """
    return tuple(_unlike(sight, other))


def _unlike(sight: Sight, other: Fabric) -> Iterator[Unlike]:
    own, interner = sight.fabric, Interner()
    theirs = {device.name: interner.device(device) for device in other.devices}
    for device in map(interner.device, own.devices):
        there = theirs.get(device.name)
        if there is None:
            yield Unlike(device=device.name, part="", path="", has="there", built="missing", key="topology")
            continue
        if device.platform != there.platform:
            there = replace(there, **{name: getattr(device, name) for name in _OF_SPELLING})
        else:  # additions carry access lists as their files have them
            there = replace(there, access_lists=device.access_lists)
        yield from _of_device(device, there, sight)
    for name in sorted(theirs.keys() - {one.name for one in own.devices}):
        yield Unlike(device=name, part="", path="", has="missing", built="there", key="topology")
    yield from _of_fabric(own, other)


def _of_device(device: Device, there: Device, sight: Sight) -> Iterator[Unlike]:
    for found in differences(device, there):
        if not _says(found) or (isinstance(found.b, str) and found.a == sight.said(found.b)):
            continue
        of_port = found.path[:1] == ("interfaces",) and len(found.path) > 1
        rows = len(found.path) > 1 and isinstance(getattr(device, found.path[0], None), tuple)
        if of_port:
            part, path, aspect = found.path[1], found.path[2:], Aspect("port", found.path[2:])
        elif found.path[:2] == ("bgp", "neighbors"):
            part, path, aspect = (
                "/".join(found.path[2:3]),
                ("bgp", "neighbors", *found.path[3:]),
                Aspect("device", found.path[1:]),
            )
        elif rows:
            part, path, aspect = found.path[1], (found.path[0], *found.path[2:]), Aspect("device", found.path)
        else:
            part, path, aspect = "", found.path, Aspect("device", found.path)
        if of_port and not path:
            has, made = ("none" if one is None else "there" for one in (found.a, found.b))
            yield Unlike(device=device.name, part=part, path="", has=has, built=made, key=keys_in_words(aspect))
            continue
        made = "the name of the other end" if of_port and path == ("description",) and found.b else spelt(found.b)
        yield Unlike(
            device=device.name, part=part, path="/".join(path), has=spelt(found.a), built=made,
            key=keys_in_words(aspect),
        )  # fmt: skip


def _says(found: Difference) -> bool:
    """Whether a difference is one between facts: UNKNOWN is none, and nor is a row of nothing but that."""
    return not isinstance(found.a, Unknown) and not isinstance(found.b, Unknown)


def _of_fabric(own: Fabric, other: Fabric) -> Iterator[Unlike]:
    switches = {device.name for device in own.devices}
    links, theirs = own.links, other.links
    hosts = own.hosts
    if not hosts:  # nobody states hosts: those of the intent are a guess, and so are their cables
        links, theirs = (tuple(one for one in of if _between(one, switches)) for of in (links, theirs))
        theirs = theirs if links else ()  # no file says where cables lead
    classes = own.classes if any(isinstance(one.tc, int) for one in own.classes) else other.classes
    stated_policy = own.policy if own.policy != Policy() else other.policy
    mine = replace(own, links=links, hosts=hosts, classes=classes, policy=stated_policy)
    built_ = replace(other, links=theirs, hosts=other.hosts if hosts else ())
    mine, built_ = (replace(one, devices=(), nics=(), profile=None) for one in (mine, built_))
    for found in differences(mine, built_):
        if _says(found):
            heading, part, rest = found.path[0], "/".join(found.path[1:2]), found.path[2:]
            if heading == "policy":
                part, rest = "", found.path[1:]
            yield Unlike(
                device="", part=part, path="/".join((heading, *rest)), has=spelt(found.a), built=spelt(found.b),
                key=keys_in_words(Aspect("fabric", found.path)),
            )  # fmt: skip


def _between(link: Link, switches: set[str]) -> bool:
    return link.a.node in switches and link.b.node in switches


def spelt(value: Any) -> str:
    """Spell a value of the model in a few words."""
    if isinstance(value, Unknown):
        return "unknown"
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return ", ".join(map(spelt, value)) or "none"
    if is_dataclass(value) and not isinstance(value, type):
        return key_of(value, 0) if any(hasattr(value, key) for key in KEYS) else "there"
    return str(value)


def grouped(found: Iterable[Unlike]) -> dict[tuple[str, str, str, str], dict[str, list[str]]]:
    """Return facts that are unlike in the same way as one: by fact, values and key, the parts of each switch."""
    groups: dict[tuple[str, str, str, str], dict[str, list[str]]] = {}
    for one in found:
        of = groups.setdefault((one.path, one.has, one.built, one.key), {})
        of.setdefault(one.device, []).append(one.part)
    return groups
