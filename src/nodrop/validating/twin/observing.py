"""What a twin of a fabric shows, held in the shape in which all validators tell what they see."""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from nodrop.errors import ServiceUnavailable
from nodrop.model.index import Index
from nodrop.model.reading import Place, Reading
from nodrop.routing.legs import unsaid
from nodrop.routing.observation import CHECKS, Check, Observation, Refused, address_item
from nodrop.validating import compute_observation
from nodrop.validating.twin import box, looking
from nodrop.validating.twin.acts import act
from nodrop.validating.twin.daemons import FRR, Said
from nodrop.validating.twin.lab import Lab
from nodrop.validating.twin.links import links
from nodrop.validating.twin.sampling import DEVICE_PROCESSES, computed_of, of_the_whole, room, sample
from nodrop.validating.twin.starting import Start, start
from nodrop.validating.twin.waiting import FIRST_S, MOVING, Settled, settle
from nodrop.validating.twin.work import NOT_ASKED, Options, Part, Work

BY: Final = "real FRR"

Act = Callable[[Lab, Work, box.Tell], Part]
"""Something that is done with a twin that has come to rest, and leaves it as it was; what is seen of it is returned."""

ACTS: Final[tuple[Act, ...]] = (act,)
"""What is done with it, in this order."""

_THROUGHOUT: Final[tuple[Check, ...]] = ("routes", "reach", "failures", "recoveries")
"""What hangs on every interface and route of a fabric."""

UNSTEADY: Final = "going up and down"
"""What is seen of a session that never settles."""

_PAUSE_S: Final = 0.5
"""Between two looks at the routes of all devices."""

_OLDER: Final = "Older Path"
"""FRR's word for why it prefers one of two paths that are equal in all else (bgpd/bgp_route.c, bgp_path_info_cmp)."""
BY_AGE: Final = "of equal paths the one that came first is used, which is another each time"

_HARMLESS = re.compile(
    r"\s*(?:no )?(?:fpm |log |hostname |domainname |password |enable password |service |agentx|username |line vty|"
    r"zebra nexthop-group |zebra route-map |mgmt |debug |banner |frr version|frr defaults|bgp no-rib|"
    r"neighbor \S+ capability software-version|bgp suppress-fib-pending|ip nht resolve-via-default|"
    r"ipv6 nht resolve-via-default|exec-timeout|netns)"
)
"""Lines about logs, names, the ASIC and who may log in, which decide no session and no route. Releases of SONiC and of
Cumulus Linux have such lines that Debian's FRR does not take."""


_NEEDED: Final = {
    **dict.fromkeys(("vtysh", *(str(FRR / daemon) for daemon in ("zebra", "staticd", "bgpd", "bfdd"))), "frr"),
    **dict.fromkeys(("ip", "tc"), "iproute2"),
    "sysctl": "procps",
    "stdbuf": "coreutils",
}


def available() -> None:
    """See that a twin can be run here; ServiceUnavailable where FRR, `ip` or namespaces of one's own are missing."""
    box.programs(_NEEDED)
    box.spaces()


def observe(
    reading: Reading, index: Index, *, options: Options | None = None, progress: box.Tell | None = None
) -> Observation:
    """Run a fabric in real FRR daemons, and return what of the items that are computed is seen there.

    `index` is of the fabric of the reading. ServiceUnavailable where no twin can be run here; InputProblems where a
    file has changed since it was read.
    """
    available()
    begun, chosen = time.monotonic(), options or Options()
    taken = sample(index, chosen.devices or room())
    whole_observation = compute_observation(index)
    own_observation = whole_observation if taken.whole else computed_of(taken, whole_observation)
    if not taken.whole and progress is not None:
        progress(taken.why)
    what = start(replace(reading, fabric=taken.fabric))
    work = Work(
        fabric=taken.fabric,
        boots=what.boots,
        without=what.without,
        computed={check: dict(found) for check, found in own_observation.seen.items()},
        options=chosen,
    )
    part, refused, version = box.call(
        perform, work, progress=progress, processes=box.PROCESSES + DEVICE_PROCESSES * len(what.boots)
    )
    for device in taken.fabric.devices:
        if path := unsaid(device):
            for check in _THROUGHOUT:
                part.unseen.setdefault(check, {})[()] = (
                    f"{path} of {device.name} is not known, and the twin is without it"
                )
    for item, why in own_observation.unseen.get("sessions", {}).items():
        part.seen.get("sessions", {}).pop(item, None)
        part.unseen.setdefault("sessions", {})[item] = why
    if not taken.whole:
        part = of_the_whole(part, taken, own_observation, whole_observation)
    seconds = time.monotonic() - begun
    told = (
        f"FRR {version} ran on {len(what.boots)} devices for {seconds:.0f} s",
        *what.told,
        *part.told,
        *what.left_out,
    )
    return Observation(
        by=BY,
        seen=part.seen,
        said=part.said,
        unseen=part.unseen,
        refused=tuple(_list_refusals(what, refused)),
        told=told,
    )


def perform(tell: box.Tell, work: Work) -> tuple[Part, dict[str, tuple[Said, ...]], str]:
    """Start the twin and look at it; inside its own process tree. With it come the lines refused, and FRR's version."""
    lab = Lab(work.fabric, work.boots)
    tell(f"starting {len(work.boots)} devices")
    lab.start()
    if not lab.devices and work.boots:
        raise ServiceUnavailable(f"no daemon of FRR starts: {next(iter(lab.dead.values()))}")
    wanted_expected_sessions = work.expected_sessions
    settled = settle(
        lab,
        wanted_expected_sessions,
        patience_s=work.options.patience_s,
        told=lambda up: tell(f"{up} of {len(wanted_expected_sessions)} sessions are up"),
    )
    if not settled.moving:
        _follow(lab, work)
    part = Part(told=[*lab.plan.told, *lab.filters.rendered_notes])
    for check, look in _LOOKS.items():
        if check in work.options.checks:
            part.take(look(lab, work))
    asked = work
    if settled.moving:
        part.take(_unsettled(part, settled))
        asked = replace(work, options=replace(work.options, checks=work.options.checks - {*_THROUGHOUT}))
    for one in ACTS:
        part.take(one(lab, asked, tell))
    part.take(_unfiltered(lab))
    _rest(part, work, lab.dead)
    return part, lab.refused, _version(lab)


def _follow(lab: Lab, work: Work) -> None:
    """Wait until routes are as computed, or until none changes any more: a busy machine reports sessions first.

    For `MOVING` times the patience at most.
    """
    wanted, before = work.computed.get("routes", {}), None
    end = time.monotonic() + FIRST_S
    last = time.monotonic() + work.options.patience_s * MOVING
    while (now := _routes(lab, work).seen["routes"]) != wanted and time.monotonic() < min(end, last):
        if now != before:
            before, end = now, time.monotonic() + FIRST_S
        time.sleep(_PAUSE_S)


def _unsettled(part: Part, settled: Settled) -> Part:
    """Return what is not seen of a twin that never came to rest: sessions that go up and down are seen as that."""
    found = Part(seen={"sessions": {}})
    for item, times in settled.unsteady.items():
        found.seen["sessions"][item] = UNSTEADY
        found.said["sessions", item] = f"went down {times} times"
    why = "sessions go up and down" if settled.unsteady else "routes never stopped changing"
    for check in _THROUGHOUT:
        part.seen.pop(check, None)
        found.unseen[check] = {(): why}
    found.told.append(f"the twin did not come to rest: {why}")
    return found


def _unfiltered(lab: Lab) -> Part:
    """Return that nothing is held against what is seen where access lists act on switches and not in the twin."""
    found = Part()
    refused = [f"access lists of {name}, for the kernel refuses them: {why}" for name, why in lab.unfiltered.items()]
    found.told += [f"not applied in the twin: {one}" for one in refused]
    for why in (*lab.filters.lacking, *refused)[:1]:
        for check in ("sessions", *_THROUGHOUT):
            found.unseen[check] = {(): f"the twin does not apply {why}"}
    return found


def _version(lab: Lab) -> str:
    for name in lab.devices:
        match = re.search(r"FRRouting (\S+)", lab.vtysh(name, "show version", "zebra"))
        if match:
            return match[1]
    return "of unknown version"


def _configuration(lab: Lab, work: Work) -> Part:
    configuration = Part(seen={"configuration": {}}, unseen={"configuration": {}})
    for device in work.fabric.devices:
        name = device.name
        if name in work.without:
            configuration.unseen["configuration"][name,] = work.without[name]
        elif name in lab.dead:
            configuration.seen["configuration"][name,] = "refused"
            configuration.said["configuration", (name,)] = lab.dead[name]
        else:
            bad = [one for one in lab.refused[name] if matters(one, work.boots[name].text)]
            configuration.seen["configuration"][name,] = "in part" if bad else "whole"
            if bad:
                configuration.said["configuration", (name,)] = bad[0].said
    return configuration


def _sessions(lab: Lab, work: Work) -> Part:
    part = Part(seen={"sessions": {}})
    for name in lab.devices:
        for item, session in looking.sessions(lab, name).items():
            part.seen["sessions"][item] = "up" if session.state == looking.UP else "down"
            part.said["sessions", item] = session.words
        for item in looking.configured_sessions(lab, name).values():
            if item not in part.seen["sessions"]:
                part.seen["sessions"][item] = "down"
                part.said["sessions", item] = "bgpd has no such neighbor"
    return part


def _routes(lab: Lab, work: Work) -> Part:
    route = Part(seen={"routes": {}})
    for found in lab.each(lambda name: looking.routes(lab, name), lab.devices):
        route.seen["routes"].update({item: hops for item, (_, hops) in found.items()})
    for item, hops in work.computed.get("routes", {}).items():
        other = route.seen["routes"].get(item)
        if isinstance(hops, frozenset) and isinstance(other, frozenset) and other != hops and len(other) == len(hops):
            name, _, vrf, prefix = item
            why = looking.reason(lab, name, prefix, vrf) if name in lab.devices else ""
            route.said["routes", item] = f"{', '.join(sorted(other))} ({why})" if why else ", ".join(sorted(other))
            if why == _OLDER:
                route.unseen.setdefault("routes", {})[item] = BY_AGE
    return route


def _addresses(lab: Lab, work: Work) -> Part:
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for name in (device.name for device in work.fabric.devices):
        for one, leg in looking.addresses(lab, name):
            owners[one].add(f"{name}:{leg}")
    for name in lab.devices:
        owners[f"router id {looking.router_id(lab, name)}"].add(name)
    items = work.computed.get("addresses", {})
    seen = {item: tuple(sorted(owners[owner])) for owner in owners if (item := address_item(owner)) in items}
    return Part(seen={"addresses": dict(seen)})


def _links(lab: Lab, work: Work) -> Part:
    return links(lab, work.computed.get("links", {}))


_LOOKS: Final[Mapping[Check, Callable[[Lab, Work], Part]]] = {
    "configuration": _configuration,
    "sessions": _sessions,
    "routes": _routes,
    "addresses": _addresses,
    "links": _links,
}
"""What is looked at without anything being done, one check each."""


def matters(said: Said, text: str) -> bool:
    """Whether a refused line may change what is checked."""
    lines = text.split("\n")
    return said.line is None or not _HARMLESS.match(lines[said.line - 1])


def _list_refusals(what: Start, rows: dict[str, tuple[Said, ...]]) -> Iterator[Refused]:
    for device, found in sorted(rows.items()):
        conf = what.confs[device]
        lines = conf.text.split("\n")
        for one in found:
            place: Place | None = conf.place(one.line) if one.line else None
            text = lines[one.line - 1].strip() if one.line else ""
            yield Refused(device=device, text=text, said=one.said, place=place, matters=matters(one, conf.text))


def _rest(part: Part, work: Work, dead: Mapping[str, str]) -> None:
    """Say why nothing is seen of what devices that run no daemons would have, and of checks that nobody made."""
    silent = {**work.without, **dead}
    for check in ("sessions", "routes"):
        for item in work.computed.get(check, {}):
            if item[0] in silent:
                part.unseen.setdefault(check, {})[item] = f"{item[0]} runs no daemons: {silent[item[0]]}"
    for check in CHECKS:
        if check not in part.seen and () not in part.unseen.get(check, {}):
            part.unseen.setdefault(check, {})[()] = NOT_ASKED
