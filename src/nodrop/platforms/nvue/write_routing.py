"""From a device to the statements about its routing: BGP, policies, static routes, the choice among equal paths."""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, RouteMapRule
from nodrop.model.states import known
from nodrop.model.subject import natural
from nodrop.platforms import frr
from nodrop.platforms.nvue.adaptive_routing import THRESHOLD
from nodrop.platforms.nvue.communities import spelt
from nodrop.platforms.nvue.limits_routing import MATCHES, SETS, via_type
from nodrop.platforms.nvue.spelling import Dialect, dialect
from nodrop.platforms.rendering import Quoted, template
from nodrop.platforms.sayable import refuse


def rendered(file: str, **names: Any) -> Quoted:
    """Return the statements that a template makes of what it is given."""
    return Quoted(template(f"nvue/{file}.nv.j2").render(**names))


_Prefixes = list[tuple[str, list[tuple[str, str]]]]
"""(prefix, its next hops and what they are), in the order of the model."""


def _by_vrf(device: Device) -> list[tuple[str, _Prefixes]]:
    """Return (VRF, its static routes) in the order of a file: the default one in any case, and those with BGP."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {"default": {}}
    found |= {bgp.key: {} for bgp in known(device.vrf_bgp)}
    for route in known(device.static_routes):
        prefixes = found.setdefault(route.vrf or "default", {})
        prefixes.setdefault(route.prefix, []).append((route.next_hop, via_type(route.next_hop)))
    return [(vrf, list(found[vrf].items())) for vrf in sorted(found, key=natural)]


def _balancing(device: Device, spoken: Dialect) -> list[tuple[str, str]]:
    """Return (key, value) of what a switch has of adaptive routing; that it has none is said where a port has it."""
    on = bool(device.adaptive_routing)
    word, _, value = (spoken.enabled if on else spoken.disabled).split(" ")
    said = [(word, value)] if on or any(port.adaptive_routing for port in device.interfaces) else []
    return sorted([*said, (THRESHOLD, spoken.on)] if device.weighs_utilization else said)


class _Routes:
    """The words that the templates of routing and services ask for."""

    def __init__(self, device: Device) -> None:
        spoken, self._release = dialect(device.version), device.version
        self.old, self.on, self.enabled, self.disabled = spoken.old, spoken.on, spoken.enabled, spoken.disabled
        self.vrfs = _by_vrf(device)
        self.balancing = _balancing(device, spoken)

    @staticmethod
    def carried(neighbor: BgpNeighbor) -> list[tuple[str, BgpNeighbor | Ipv6Unicast]]:
        """Return (family, what a session does with it), that of IPv6 where anything is said of it."""
        both: list[tuple[str, BgpNeighbor | Ipv6Unicast]] = [("ipv4", neighbor), ("ipv6", neighbor.ipv6)]
        return both[:1] if neighbor.ipv6 is frr.NOTHING or neighbor.ipv6 == frr.NOTHING else both

    def community(self, community: str) -> str:
        """Return a community as NVUE spells it."""
        return spelt(community, self._release)

    @staticmethod
    def matches(rule: RouteMapRule) -> list[tuple[str, str]]:
        """Return (key, value) of what a rule matches, the family of prefixes last."""
        found = [(_word(MATCHES, attribute, rule), value) for attribute, value in rule.matches]
        families = {"ip address prefix-list": "ipv4", "ipv6 address prefix-list": "ipv6"}
        return found + [("type", families[attribute]) for attribute, _ in rule.matches if attribute in families]

    def sets(self, rule: RouteMapRule) -> Iterator[tuple[str, Quoted, str]]:
        """Yield (key, what stands between, value) of what a rule sets."""
        for attribute, value in rule.sets:
            if attribute == "community":
                for community in value.split():
                    yield f"community {self.community(community)}", Quoted(), ""
            else:
                yield _word(SETS, attribute, rule), Quoted(" = "), value


def _word(words: Mapping[str, str], attribute: str, rule: RouteMapRule) -> str:
    """Return how NVUE spells what a rule matches or sets; raise Unsupported if it has no word for it."""
    if attribute not in words:
        raise refuse(("route_maps", "*", "rules", rule.sequence), f"NVUE has no word for {attribute}")
    return words[attribute]


def routing(device: Device) -> Iterator[str]:
    """Yield the statements about routing: those below `router`, those below `vrf`."""
    bgp, say = known(device.bgp), _Routes(device)
    running = () if bgp is None else (bgp, *known(device.vrf_bgp))
    processes = {vrf: Quoted() for vrf, _ in say.vrfs} | {one.key: _process(one, say) for one in running}
    bfd = any(session.bfd for one in running for session in known(one.neighbors))
    yield rendered("router", bgp=bgp, say=say, bfd=bfd)
    yield rendered("vrf", say=say, processes=processes)


def _process(bgp: Bgp, say: _Routes) -> Quoted:
    """Return the statements of a process; each template makes its own, for those of an included one are handed on."""
    process = f"vrf {bgp.key} router bgp "
    sessions = rendered("sessions", bgp=bgp, say=say, process=process)
    return rendered("bgp", bgp=bgp, say=say, process=process, families=list(frr.families(bgp)), sessions=sessions)
