"""Leaves whose VLAN of servers is on ports to other switches too: by hand, as in known deadlocks, and by chance."""

from random import Random
from typing import Any

from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.fabric import Fabric
from nodrop.model.qos import QosProfile
from nodrop.model.routing import Bgp
from nodrop.model.values import replace_fields
from support.lossless_fabrics import LOSSLESS
from support.wired_routers import fabric, port, router, to


def vlan(*members: str, number: int = 100, address: str = "", tagged: bool = True, **more: Any) -> Vlan:
    """Return a VLAN with members; ports to hosts, whose names begin with `h`, are untagged."""
    rows = tuple(VlanMember(interface=name, tagged=tagged and name[0] != "h") for name in members)
    return Vlan(id=number, members=rows, addresses=(address,) if address else (), **more)


def clos_with_vlans(
    leaves: int = 2,
    spines: int = 2,
    *,
    members: tuple[str, ...] | None = None,
    peers: int = 0,
    shared: bool = True,
    **qos: QosProfile | None,
) -> Fabric:
    """Return leaves l1, l2 … below spines s1, s2 …; each leaf has a VLAN of servers on a port h0 and on `members`.

    The default of `members` is all uplinks e1, e2 …: the known case. The first `peers` leaves are pairs with one subnet
    and a cable between e8 of both, which is in the VLAN too. Spines have one AS number or, not
    `shared`, one each. `qos` replaces that of ports, each named like l1_e2.
    """

    def named(switch: str, name: str, *addresses: str, **more: Any) -> Any:
        return port(name, *addresses, qos=qos.get(f"{switch}_{name}", LOSSLESS), **more)

    made, cables = [], []
    for number in range(1, leaves + 1):
        name, paired = f"l{number}", number <= peers
        subnet = (number - 1) // 2 if paired else number
        uplinks = [f"e{at}" for at in range(1, spines + 1)]
        flooded = ("h0", *(uplinks if members is None else members), *(("e8",) if paired else ()))
        ports = [named(name, f"e{at}", f"10.1.{number}.{2 * at + 1}/31") for at in range(1, spines + 1)]
        ports += [named(name, "h0", side="host"), *([named(name, "e8")] if paired else [])]
        made.append(
            router(
                name,
                65000 + number,
                ports,
                [to(f"10.1.{number}.{2 * at}") for at in range(1, spines + 1)],
                bgp={
                    "router_id": f"10.9.1.{number}",
                    "networks": (f"10.8.{subnet}.0/24",),
                    "import_check": False,
                    "maximum_paths": 8,
                },
                vlans=(vlan(*flooded, address=f"10.8.{subnet}.{number}/24"),),
            )
        )
        cables += [f"{name} e{at} - s{at} e{number}" for at in range(1, spines + 1)]
        if paired and number % 2:
            cables.append(f"{name} e8 - l{number + 1} e8")
    for at in range(1, spines + 1):
        ports = [named(f"s{at}", f"e{number}", f"10.1.{number}.{2 * at}/31") for number in range(1, leaves + 1)]
        sessions = [to(f"10.1.{number}.{2 * at + 1}") for number in range(1, leaves + 1)]
        made.append(
            router(
                f"s{at}",
                64900 if shared else 64900 + at,
                ports,
                sessions,
                bgp={"router_id": f"10.9.2.{at}", "maximum_paths": 8},
            )
        )
    return fabric(*made, cables=cables)


def with_random_vlans(given: Fabric, chance: Random) -> Fabric:
    """Return a fabric in which each router has hosts on a port h0, some of them in VLANs that cables to others are in.

    At many cables one end is in a VLAN alone, and cables with both make a loop now and then. A VLAN has the subnet of
    the router, another one, or no address; at some ends of cables it is untagged.
    """
    head = {device.name: device.name for device in given.devices}
    bridged: list[tuple[str, str]] = []
    for link in chance.sample(given.links, len(given.links)):
        ends = [end for end in (link.a, link.b) if chance.random() < 0.8]
        names = [_head_of(head, end.node) for end in ends]
        if len(ends) == 2 and names[0] == names[1] and chance.random() < 0.8:
            ends.pop(chance.randrange(2))
        elif len(ends) == 2:
            head[names[0]] = names[1]
        bridged += ends
    devices = []
    for number, device in enumerate(given.devices):
        ports = [name for node, name in bridged if node == device.name and chance.random() < 0.9]
        qos = device.interfaces[0].qos
        subnet = f"10.8.{number}.1/24"
        has_vlan = bool(ports) and chance.random() < 0.9
        host = port("h0", *(() if has_vlan else (subnet,)), qos=qos, side="host")
        vlans: tuple[Vlan, ...] = ()
        if has_vlan:
            vlans = (_random_vlan(chance, 100, ports, subnet if chance.random() < 0.85 else "", host=True),)
            if chance.random() < 0.3:
                vlans += (_random_vlan(chance, 200, ports, chance.choice(("", f"10.4.{number}.1/24")), host=False),)
        assert isinstance(device.bgp, Bgp)
        networks = dict.fromkeys((*device.bgp.networks, f"10.8.{number}.0/24"))
        bgp = replace_fields(device.bgp, networks=tuple(networks))
        devices.append(replace_fields(device, interfaces=(*device.interfaces, host), vlans=vlans, bgp=bgp))
    return replace_fields(given, devices=tuple(devices))


def random_clos_with_vlans(chance: Random) -> Fabric:
    """Return leaves and spines that route by shortest paths, with such VLANs; some ports are lossy."""
    leaves, spines = chance.randint(2, 4), chance.randint(2, 3)
    switches = [f"l{n}" for n in range(1, leaves + 1)] + [f"s{n}" for n in range(1, spines + 1)]
    lossy = replace_fields(LOSSLESS, pfc_tx_priorities=(), pfc_rx_priorities=())
    chosen = [f"{name}_e{n}" for name in switches for n in range(1, 5) if chance.random() < 0.08]
    peers, shared = chance.choice((0, 2)), chance.random() < 0.6
    given = clos_with_vlans(leaves, spines, members=(), peers=peers, shared=shared, **dict.fromkeys(chosen, lossy))
    bare = [
        replace_fields(device, vlans=(), interfaces=tuple(one for one in device.interfaces if one.name != "h0"))
        for device in given.devices
    ]
    return with_random_vlans(replace_fields(given, devices=tuple(bare)), chance)


def _head_of(head: dict[str, str], name: str) -> str:
    while head[name] != name:
        name = head[name]
    return name


def _random_vlan(chance: Random, number: int, ports: list[str], address: str, *, host: bool) -> Vlan:
    tags = chance.choice(((True,), (True,), (False,), (True, False)))
    members = [VlanMember(interface=name, tagged=chance.choice(tags)) for name in ports if chance.random() < 0.9]
    if host and chance.random() < 0.9:
        members.append(VlanMember(interface="h0", tagged=False))
    return Vlan(id=number, members=tuple(members), addresses=(address,) if address else ())
