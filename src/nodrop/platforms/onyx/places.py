"""Where a subject stands in a running-config: the command that sets it, else the nearest that is about it."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from nodrop.errors import InputProblems
from nodrop.formats.places import Span, decode
from nodrop.model.reading import Place
from nodrop.model.subject import Subject
from nodrop.platforms.onyx.commands import Command, parse
from nodrop.platforms.onyx.read_access import entry_commands
from nodrop.platforms.onyx.read_values import FILE

Words = tuple[str, ...]

_PORT: Mapping[str, tuple[Words, ...]] = {
    "enabled": (("shutdown",),),
    "speed_mbps": (("speed",),),
    "autoneg": (("speed",),),
    "fec": (("fec-override",),),
    "mtu_bytes": (("mtu",),),
    "addresses": (("ip", "address"), ("ipv6", "address")),
    "vrf": (("vrf", "forwarding"),),
    "description": (("description",),),
    "link_pause": (("flowcontrol",),),
    "port": (("module-type",),),
}
_PFC: tuple[Words, ...] = (("dcb", "priority-flow-control"),)
_QOS: Mapping[str, tuple[Words, ...]] = {
    "trust": (("qos", "trust"),),
    "dscp_to_tc": (("qos", "map", "dscp"), ("qos", "trust")),
    "pcp_to_tc": (("qos", "map", "pcp"), ("qos", "trust")),
    "tc_to_dscp": (("qos", "rewrite"),),
    "pfc_rx_priorities": _PFC,
    "pfc_tx_priorities": _PFC,
    "pfc_priorities": _PFC,
    "pfc_watchdog": (("pfc-wd",), *_PFC),
    "priority_groups": (("ingress-buffer",), *_PFC),
    "tc_to_priority_group": (("ingress-buffer",), *_PFC),
    "pfc_to_priority_group": (("ingress-buffer",), *_PFC),
    "tc_to_queue": (("traffic-class",),),
    "pfc_to_queue": (("traffic-class",),),
}
_QUEUE = {"scheduler": "dcb", "wred": "congestion-control"}
_SWITCH: Mapping[str, tuple[Words, ...]] = {
    "pfc_rx_priorities": (("dcb", "priority-flow-control", "priority"), *_PFC, ("traffic", "pool")),
    "pfc_tx_priorities": (("dcb", "priority-flow-control", "priority"), *_PFC, ("traffic", "pool")),
    "pfc_priorities": (("dcb", "priority-flow-control", "priority"), *_PFC, ("traffic", "pool")),
    "pfc_watchdog": (("dcb", "priority-flow-control", "priority"), *_PFC),
    "priority_groups": (("traffic", "pool"), *_PFC),
}
_DEVICE: Mapping[str, tuple[Words, ...]] = {
    "@bgp": (("router", "bgp"),),
    "@neighbors": (("router", "bgp"),),
    "@vrf_bgp": (("router", "bgp"),),
    "@static_routes": (("ip", "route"),),
    "@buffer_pools": (("pool",), ("traffic", "pool")),
    "@ntp_servers": (("ntp", "server"),),
    "@dns_servers": (("ip", "name-server"),),
    "@syslog_servers": (("logging",),),
    "@vlans": (("vlan",),),
}
_BGP_WORDS = {
    "maximum_paths": "maximum-paths",
    "router_id": "router-id",
    "multipath_relax": "bestpath",
    "networks": "network",
    "remote_asn": "remote-as",
    "enabled": "shutdown",
    "import_policy": "route-map",
    "export_policy": "route-map",
}


def where(bundle: Mapping[str, bytes]) -> Callable[[Subject], Place | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    try:
        commands = parse(decode(bundle.get(FILE, b""), FILE)).commands
    except InputProblems:
        commands = ()

    def find(subject: Subject) -> Place | None:
        span = next(_spans(commands, subject[1:]), None)
        return Place(FILE, span) if span else None

    return find


def _spans(commands: Sequence[Command], subject: Subject) -> Iterator[Span]:
    """Yield the places of a subject below the device, the most exact first."""
    head, *rest = subject or ("",)
    if head.startswith("@"):
        yield from _of_device(commands, head, rest)
    elif head:
        yield from _of_port(commands, head, rest)
    yield from (one.span for one in commands if one.starts("hostname"))
    yield from (one.span for one in commands)


def _of_device(commands: Sequence[Command], head: str, rest: Sequence[str]) -> Iterator[Span]:
    found = [one for words in _DEVICE.get(head, ()) for one in commands if not one.kind and one.starts(*words)]
    if head == "@access_lists":
        name, _, number = (*rest, "", "", "")[:3]
        entry = entry_commands(commands).get((name, number))
        yield from () if entry is None else (entry.span,)
        yield from (one.span for one in commands if name in one.words)
    if head in ("@port_channels", "@loopbacks", "@vlans", "@management") and (rest or head == "@management"):
        name = {"@vlans": f"Vlan{rest[0]}" if rest else "", "@management": "mgmt0"}.get(head, rest[0] if rest else "")
        found = [one for one in commands if name in one.names] + found
    if head in ("@bgp", "@neighbors", "@vrf_bgp"):
        vrf = "".join(rest[:1]) if head == "@vrf_bgp" else "default"
        found = [one for one in found if _vrf(one) == vrf] or found
        rest = rest[1:] if head == "@vrf_bgp" else rest
        rest = rest[1:] if rest[:1] == ["neighbors"] else rest
    key = rest[0] if rest else ""
    last = _BGP_WORDS.get(rest[-1], "") if rest else ""
    exact = [one for one in found if key in one.words or _BGP_WORDS.get(key, key) in one.words]
    yield from (one.span for one in exact if last in one.words)
    yield from (one.span for one in (*exact, *found))


def _vrf(command: Command) -> str:
    """Return the VRF of a command of BGP."""
    return command.words[4] if command.words[3:4] == ("vrf",) and len(command.words) > 4 else "default"


def _of_port(commands: Sequence[Command], name: str, rest: Sequence[str]) -> Iterator[Span]:
    own = [one for one in commands if name in one.names]
    channels = {f"{'Mpo' if one.words[0][0] == 'm' else 'Po'}{one.words[1]}" for one in own if _joins(one)}
    own += [one for one in commands if channels & set(one.names)]
    field, *inner = rest or ("",)
    if field == "qos":
        yield from (one.span for one in _in_qos(own, commands, inner))
    else:
        yield from (one.span for words in _PORT.get(field, ()) for one in reversed(own) if one.starts(*words))
    yield from (one.span for one in own if one.words)
    yield from (one.span for one in own)


def _joins(command: Command) -> bool:
    return command.words[:1] in (("channel-group",), ("mlag-channel-group",)) and len(command.words) > 1


def _in_qos(own: Sequence[Command], every: Sequence[Command], inner: Sequence[str]) -> Iterator[Command]:
    part = inner[0] if inner else ""
    switch = [one for one in every if not one.kind]
    if part == "queues":
        index, what = (*inner[1:], "", "")[:2]
        of_class = [
            one for one in own if one.words[:1] == ("traffic-class",) and (not index or index in one.words[1:2])
        ]
        of_buffer = [one for one in own if one.starts("egress-buffer", f"ePort.tc{index}")]
        yield from of_buffer if what == "buffer" else ()
        yield from (one for one in of_class if _QUEUE.get(what, "") in one.words)
        yield from of_class
        yield from of_buffer
    elif part == "priority_groups" and len(inner) > 1:
        yield from (one for one in own if one.starts("ingress-buffer", f"iPort.pg{inner[1]}", "map"))
        yield from (one for one in switch if one.starts("traffic", "pool") and inner[1] in one.words)
    yield from (one for words in _QOS.get(part, ()) for one in reversed(own) if one.starts(*words))
    yield from (one for words in _SWITCH.get(part, ()) for one in switch if one.starts(*words))
    yield from (one for one in switch if one.starts("roce"))
    yield from (one for one in own if one.words[:1] in (("qos",), ("dcb",), ("traffic-class",)))
