"""Fabrics whose ports are lossless, by hand and by chance: what proofs about buffers are tried with."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from clos import TOP
from nodrop.model.fabric import Device, End, Fabric, Interface, Link
from nodrop.model.qos import QosProfile
from nodrop.model.values import replace_fields
from support.small_fabrics import LOSSLESS as _PORT
from support.wired_routers import fabric, port, router, to

ONE_TO_ONE = tuple(range(8))
LOSSLESS = replace(_PORT, tc_to_queue=ONE_TO_ONE, tc_to_priority_group=ONE_TO_ONE)
"""DSCP 26 in priority 3, which pauses and is paused."""


def lossless(given: Fabric, qos: QosProfile | None = LOSSLESS) -> Fabric:
    """A fabric with the same QoS on all ports."""
    return replace_fields(
        given,
        devices=tuple(
            replace_fields(device, interfaces=tuple(replace_fields(port, qos=qos) for port in device.interfaces))
            for device in given.devices
        ),
    )


def ring(count: int, prefix: str = "r") -> Fabric:
    """Lossless switches in a ring, each with a block and an AS number: no roles, no host ports."""
    made = []
    for number in range(count):
        before = (number - 1) % count
        ports = [port("e0", f"10.1.{number}.0/31", qos=LOSSLESS), port("e1", f"10.1.{before}.1/31", qos=LOSSLESS)]
        sessions = [to(f"10.1.{number}.1"), to(f"10.1.{before}.0")]
        process = {"networks": (f"10.8.{number}.0/24",), "import_check": False, "maximum_paths": 8}
        made.append(router(f"{prefix}{number + 1}", 65001 + number, ports, sessions, bgp=process))
    names = [device.name for device in made]
    return fabric(
        *made, cables=[f"{one} e0 - {far} e1" for one, far in zip(names, (*names[1:], names[0]), strict=True)]
    )


def fat_tree(k: int, *, shared: bool) -> Fabric:
    """A k-ary fat tree with a block at each edge switch, routed by eBGP over interfaces.

    With `shared`, the core has one AS number and the aggregation switches of a pod have one (RFC 7938), else each
    switch has its own, and paths are the shortest.
    """
    half = k // 2
    pairs = [
        pair
        for pod in range(k)
        for place in range(half)
        for other in range(half)
        for pair in (
            (f"edge{pod}-{other}", f"aggr{pod}-{place}"),
            (f"aggr{pod}-{place}", f"core{place * half + other}"),
        )
    ]
    names = sorted({name for pair in pairs for name in pair})
    asns = {name: TOP + 1000 + number for number, name in enumerate(names)}
    if shared:
        asns |= {
            name: TOP + int(name[4:].partition("-")[0]) if name[0] == "a" else TOP + 500
            for name in names
            if name[0] in "ac"
        }
    ports: dict[str, list[str]] = {name: [] for name in names}
    cables, far = [], {}
    for one, other in pairs:
        ends = []
        for name, peer in ((one, other), (other, one)):
            ports[name].append(f"e{len(ports[name])}")
            far[name, ports[name][-1]] = peer
            ends.append(f"{name} {ports[name][-1]}")
        cables.append(" - ".join(ends))
    devices = [
        router(
            name,
            asns[name],
            [port(own, qos=LOSSLESS) for own in ports[name]],
            [to(own, asns[far[name, own]]) for own in ports[name]],
            bgp={
                "router_id": f"10.9.{number >> 8}.{number & 255}",
                "networks": (f"10.8.{number}.0/24",) if name[0] == "e" else (),
                "import_check": False,
                "maximum_paths": 64,
                "default_ipv4_unicast": True,
            },
        )
        for number, name in enumerate(names)
    ]
    return fabric(*devices, cables=cables)


def ends_of(links: tuple[Link, ...]) -> frozenset[End]:
    """Both ends of some cables."""
    return frozenset(end for link in links for end in (link.a, link.b))


def links_between(given: Fabric, pairs: str) -> frozenset[End]:
    """The ends of the cables between pairs of switches: `l1-s1 l2-s2`."""
    wanted = [set(pair.split("-")) for pair in pairs.split()]
    return ends_of(tuple(link for link in given.links if {link.a.node, link.b.node} in wanted))


def random_qos(chance: Random) -> QosProfile:
    """A port with random maps: classes, groups and priorities that differ from each other, and rewritten DSCPs."""

    def numbers(count: int, most: int) -> tuple[int, ...]:
        return tuple(chance.randrange(most) for _ in range(count))

    straight = chance.random() < 0.5
    return replace(
        LOSSLESS,
        dscp_to_tc=tuple(chance.choice((3, 3, 4, 0)) if dscp in (26, 34, 46) else 0 for dscp in range(64)),
        tc_to_queue=ONE_TO_ONE if straight else numbers(8, 5),
        tc_to_priority_group=ONE_TO_ONE if straight else numbers(8, 5),
        pfc_to_queue=None if straight else numbers(8, 5),
        pfc_to_priority_group=None if straight else numbers(8, 5),
        tc_to_dscp=chance.choice((None, None, (0, 0, 0, 34, 26, 0, 0, 0), (0, 0, 0, 26, 46, 0, 0, 0))),
        pfc_rx_priorities=chance.choice(((3, 4), (3, 4), (3,), (4,))),
        pfc_tx_priorities=chance.choice(((3, 4), (3, 4), (3,), (4,))),
    )


def with_random_qos(given: Fabric, chance: Random) -> Fabric:
    """A fabric whose ports have a few random profiles."""
    profiles = [random_qos(chance) for _ in range(chance.choice((1, 2, 3)))]

    def changed(port: Interface) -> Interface:
        return replace_fields(port, qos=chance.choice(profiles))

    def redone(device: Device) -> Device:
        return replace_fields(device, interfaces=tuple(map(changed, device.interfaces)))

    return replace_fields(given, devices=tuple(map(redone, given.devices)))


def sampled_failures(given: Fabric, share: float, chance: Random) -> frozenset[End]:
    """The ends of random cables, each of which fails with the same chance."""
    return ends_of(tuple(link for link in given.links if chance.random() < share))


def seeds(count: int) -> Iterator[Random]:
    """Sources of chance, each the same in every run."""
    return map(Random, range(count))
