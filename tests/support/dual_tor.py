"""Leaves that share servers, with a tunnel between each two of them: before and after the cure of their deadlock."""

from dataclasses import replace
from random import Random
from typing import Any

from nodrop.model.fabric import Device, Fabric, Loopback
from nodrop.model.overlays import MuxCable, Tunnel
from nodrop.model.qos import NumberMap, QosProfile
from nodrop.model.states import Unknown
from nodrop.model.values import replace_fields
from support.lossless_fabrics import LOSSLESS
from support.wired_routers import fabric, port, router, to

BOUNCED = replace(
    LOSSLESS,
    dscp_to_tc=tuple({26: 3, 2: 2}.get(dscp, 0) for dscp in range(64)),
    pfc_rx_priorities=(2, 3),
    pfc_tx_priorities=(2, 3),
)
"""A port between leaves and spines after the cure: packets in a tunnel are in priority 2."""
REMAP: dict[str, Any] = {
    "dscp_mode": "pipe",
    "tc_to_dscp": tuple({3: 2}.get(tc, 0) for tc in range(16)),
    "tc_to_queue": tuple({3: 2}.get(tc, 0) for tc in range(16)),
    "dscp_to_tc": tuple({26: 3}.get(dscp, 0) for dscp in range(64)),
    "tc_to_priority_group": tuple({3: 2}.get(tc, 0) for tc in range(16)),
}


def loopback_of(number: int) -> str:
    """Return the address of a leaf to which tunnels go."""
    return f"10.9.1.{number}"


def tunnel(here: int, there: int, **more: Any) -> Tunnel:
    """Return a leaf's tunnel to another one."""
    ends = {"near": loopback_of(here), "far": loopback_of(there), "sender": loopback_of(there)}
    return Tunnel(name="MuxTunnel0", kind="ip-in-ip", **{"dscp_mode": "uniform", **ends, **more})


def dual_tor(
    pairs: int = 1,
    spines: int = 2,
    *,
    qos: QosProfile = LOSSLESS,
    maps: dict[str, Any] | None = None,
    states: tuple[str, str] = ("auto", "auto"),
) -> Fabric:
    """Return leaves in pairs, each pair with a subnet of servers, and a leaf alone with one of its own.

    `maps` are more fields of each tunnel, `states` those of the cables at the leaves of a pair.
    """
    leaves = [_leaf(number, spines, qos, maps or {}, states, pairs) for number in range(1, 2 * pairs + 2)]
    tops = []
    for at in range(1, spines + 1):
        ports = [port(f"e{number}", f"10.1.{number}.{2 * at}/31", qos=qos) for number in range(1, 2 * pairs + 2)]
        sessions = [to(f"10.1.{number}.{2 * at + 1}") for number in range(1, 2 * pairs + 2)]
        tops.append(router(f"t{at}", 64999, ports, sessions, bgp={"router_id": f"10.9.2.{at}", "maximum_paths": 8}))
    cables = [f"l{n} e{at} - t{at} e{n}" for n in range(1, 2 * pairs + 2) for at in range(1, spines + 1)]
    return fabric(*leaves, *tops, cables=cables)


def _leaf(
    number: int, spines: int, qos: QosProfile, maps: dict[str, Any], states: tuple[str, str], pairs: int
) -> Device:
    paired, subnet = number <= 2 * pairs, (number - 1) // 2
    host = port("e0", f"10.8.{subnet}.1/24", qos=qos, side="host")
    uplinks = [port(f"e{at}", f"10.1.{number}.{2 * at + 1}/31", qos=qos) for at in range(1, spines + 1)]
    peer = number + 1 if number % 2 else number - 1
    state: Any = states[(number - 1) % 2]
    cable = MuxCable(interface="e0", servers=(f"10.8.{subnet}.20/32",), state=state)
    more: dict[str, Any] = {
        "dual_tor": True,
        "mux_cables": (cable,),
        "tunnels": (tunnel(number, peer, **maps),),
    }
    return router(
        f"l{number}",
        65000 + number,
        [host, *uplinks],
        [to(f"10.1.{number}.{2 * at}") for at in range(1, spines + 1)],
        bgp={
            "router_id": f"10.9.1.{number}",
            "networks": (f"10.8.{subnet}.0/24", f"{loopback_of(number)}/32"),
            "maximum_paths": 8,
        },
        loopbacks=(Loopback(name="Loopback0", addresses=(f"{loopback_of(number)}/32",)),),
        **(more if paired else {}),
    )


def cured(pairs: int = 1, spines: int = 2) -> Fabric:
    """Return such a fabric after the cure."""
    return dual_tor(pairs, spines, qos=BOUNCED, maps=REMAP)


def with_random_tunnels(given: Fabric, chance: Random) -> Fabric:
    """Return a fabric in which some routers send packets to their own hosts through tunnels, with maps or without."""
    devices = []
    for number, device in enumerate(given.devices):
        own = f"{loopback_of(number)}/32"
        assert not isinstance(device.loopbacks, Unknown)
        loopbacks = (*device.loopbacks, Loopback(name="Loopback9", addresses=(own,)))
        bgp = device.bgp
        if bgp is not None and not isinstance(bgp, Unknown):
            bgp = replace_fields(bgp, networks=(*bgp.networks, own))
        cables: tuple[MuxCable, ...] = ()
        tunnels: tuple[Tunnel, ...] = ()
        if chance.random() < 0.6:
            far = chance.choice([other for other in range(len(given.devices)) if other != number])
            cables = (MuxCable(interface="e0", servers=("0.0.0.0/0", "::/0"), state="auto"),)
            tunnels = (tunnel(number, far, **random_maps(chance)),)
        devices.append(replace_fields(device, loopbacks=loopbacks, bgp=bgp, mux_cables=cables, tunnels=tunnels))
    return replace_fields(given, devices=tuple(devices))


def random_maps(chance: Random) -> dict[str, Any]:
    """Return the mode of a tunnel, and each of its maps or none."""

    def numbers(places: tuple[int, ...], count: int, values: tuple[int, ...]) -> NumberMap | None:
        found = {place: chance.choice(values) for place in places}
        return tuple(found.get(place, 0) for place in range(count)) if chance.random() < 0.5 else None

    classes = tuple(range(16))
    return {
        "dscp_mode": chance.choice(("uniform", "pipe", None)),
        "tc_to_dscp": numbers(classes, 16, (26, 34, 46, 0)),
        "tc_to_queue": numbers(classes, 16, (0, 3, 4)),
        "dscp_to_tc": numbers((0, 26, 34, 46), 64, (0, 3, 4)),
        "tc_to_priority_group": numbers(classes, 16, (0, 3, 4)),
    }
