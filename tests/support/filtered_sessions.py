"""Two routers with a session between them, and access lists at either end."""

from collections.abc import Sequence
from typing import Any

from nodrop.model.access import AccessEntry, AccessList, AccessListStage, Binding, PortRange
from nodrop.model.fabric import Fabric
from nodrop.model.routing import BgpNeighbor, Ipv6Unicast
from nodrop.model.values import replace_fields
from support.wired_routers import fabric, port, router, to

CABLE = "r1 e0 - r2 e0"
BGP = (PortRange(179, 179),)
TO_BGP = AccessEntry(name="10", action="deny", protocol=6, destination_ports=BGP)
FROM_BGP = AccessEntry(name="20", action="deny", protocol=6, source_ports=BGP)
ALL = AccessEntry(name="99", action="deny")
SIX = Ipv6Unicast(active=True)
TCP6 = AccessEntry(name="5", family="ipv6", protocol=6)
REST6 = replace_fields(ALL, family="ipv6")


def site(
    *entries: AccessEntry, at: Sequence[str | None] = ("e0",), stage: AccessListStage = "ingress", **more: Any
) -> AccessList:
    bindings = tuple(Binding(interface=name, stage=stage) for name in at)
    return AccessList(name="SITE", entries=entries, bindings=bindings, **more)


def wired(
    *lists: AccessList,
    there: tuple[AccessList, ...] = (),
    one: BgpNeighbor | None = None,
    other: BgpNeighbor | None = None,
    ports: tuple[str, ...] = ("10.1.0.0/31", "10.1.0.1/31"),
    **more: Any,
) -> Fabric:
    """Two routers with a cable and a session between; `lists` act at r1, others `there` at r2."""
    first = router("r1", 65001, [port("e0", *ports[:1])], [one or to("10.1.0.1")], access_lists=lists, **more)
    second = router("r2", 65002, [port("e0", *ports[1:])], [other or to("10.1.0.0")], access_lists=there)
    return fabric(first, second, cables=(CABLE,))
