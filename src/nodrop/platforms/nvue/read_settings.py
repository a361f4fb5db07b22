"""Which settings are read, which change nothing and why; any other is unknown.

What NVUE itself has, as far as it is known, is in schema.yaml. Sources: NVUE command lists of 5.4, QoS reference of
5.17, exported configurations of 5.13.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final

from nodrop.model.reading import Note
from nodrop.platforms.kit.unknown_lines import unknown_command, unknown_line
from nodrop.platforms.nvue.names import names
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_unread import generalized, is_off
from nodrop.platforms.nvue.read_values import Config, render_path
from nodrop.platforms.nvue.tree import Node, Path
from nodrop.syntax.places import quote_text

_MAX_NOTES = 1000

NOT_READ: Final = object()
"""What decides sessions, routes, forwarding or queues and is not in the model: unknown where it is on."""
FORWARDS: Final = object()
"""What is not in the model and on by default: unknown where it is off."""
_Known = Mapping[str, object]
"""By key, `*` for any other: what may be below it, `NOT_READ`, `FORWARDS`, a reason why nothing below changes anything,
or None where all is read."""

_BRIDGED = "of bridging, VLANs and bonds are read, and who is in them"
_OVERLAY = "of overlays, MLAG, Ethernet segments and what VXLAN does to the DSCP are read"
_ELSEWHERE = "it is not about the forwarding of packets"
_HASHED = "it changes which flows go over which of equal paths, not which paths there are"
_LOGIN = "who may log in"
_WATCHED = "what the switch counts and reports"
_LINK = "how a link comes up, and what is reported of it"
_SERVERS = "servers of other kinds"
_BALANCING: _Known = {
    **dict.fromkeys(("enable", "state", "link-utilization-threshold")),
    **dict.fromkeys(("profile", "buffer-mode"), "how the switch weighs load by itself"),
}
_PROTOCOLS: _Known = dict.fromkeys(("ospf", "ospf6", "pim", "pbr", "igmp", "vrrp", "vrr", "segment-routing"), NOT_READ)
_FORWARDING: _Known = {"forward": FORWARDS, "*": None}
_INTERFACE: _Known = {
    **dict.fromkeys(("type", "description", "vrf"), None),
    "link": {
        **dict.fromkeys(("state", "speed", "fec", "auto-negotiate", "mtu", "breakout")),
        **dict.fromkeys(("lanes", "mac-address", "duplex", "flap-protection", "flap-protect"), _LINK),
        **dict.fromkeys(("fast-linkup", "profile", "diag", "traffic", "stats"), _LINK),
        **dict.fromkeys(("protodown", "dot1x"), NOT_READ),
    },
    "ip": {**dict.fromkeys(("ipv4", "ipv6"), _FORWARDING), "*": None},
    **dict.fromkeys(("ipv4", "ipv6"), _FORWARDING),
    "qos": None,
    "packet-trim": None,
    "acl": None,
    "router": {"adaptive-routing": _BALANCING, **_PROTOCOLS},
    "lldp": "what LLDP tells the neighbor",
    **dict.fromkeys(("bond", "bridge", "vlan", "base-interface", "mlag", "parent"), _BRIDGED),
    **dict.fromkeys(("stp", "storm-control", "dot1x", "port-security", "security", "link-tracking"), NOT_READ),
    "evpn": _OVERLAY,
    "tunnel": NOT_READ,
    "neighbor": NOT_READ,
    **dict.fromkeys(("telemetry", "counters", "sflow", "histogram", "latency-measurement"), _WATCHED),
    **dict.fromkeys(("ptp", "synce", "pluggable", "device-power"), _ELSEWHERE),
}
_VIA: Mapping[str, object] = {"*": {"vrf": NOT_READ, "*": None}}
_STATIC: Mapping[str, object] = {"*": {"distance": {"*": {"via": _VIA, "*": None}}, "via": _VIA, "*": None}}
"""Static routes: next hops in another VRF are not in the model."""
TOP: _Known = {
    "qos": {
        **dict.fromkeys(("roce", "mapping", "remark", "pfc", "link-pause", "pfc-watchdog", "congestion-control")),
        **dict.fromkeys(("egress-queue-mapping", "egress-scheduler", "egress-shaper", "traffic-pool")),
        "advance-buffer-config": None,
        "lldp-tlv": "what LLDP tells the neighbor",
    },
    "interface": {"eth0": {**_INTERFACE, **dict.fromkeys(("ip", "ipv4", "ipv6"))}, "*": _INTERFACE},
    "acl": None,
    "bridge": _BRIDGED,
    "mlag": _BRIDGED,
    "evpn": NOT_READ,
    "nve": _OVERLAY,
    "maintenance": NOT_READ,
    "platform": "fans, sensors and similar",
    "service": {
        **dict.fromkeys(("ntp", "syslog", "dns", "snmp-server"), None),
        **dict.fromkeys(("dhcp-relay", "dhcp-relay6", "dhcp-server", "dhcp-server6"), _SERVERS),
        **dict.fromkeys(("lldp", "ptp", "synce", "telemetry"), _WATCHED),
    },
    "router": {
        "bgp": None,
        "policy": None,
        **_PROTOCOLS,
        **dict.fromkeys(("ptm", "nexthop"), NOT_READ),
        "adaptive-routing": _BALANCING,
        "bfd": "how soon BFD notices, and where it runs",
        "password-obfuscation": _LOGIN,
    },
    "system": {
        **dict.fromkeys(("hostname", "ntp", "syslog", "dns", "gnmi-server", "snmp-server"), None),
        "forwarding": {
            **dict.fromkeys(("hash-seed", "ecmp-hash", "packet-trim")),
            **dict.fromkeys(("lag-hash", "ecmp-weight-normalization", "programming"), _HASHED),
        },
        **dict.fromkeys(("aaa", "ssh-server", "security", "api", "message", "banner", "cli", "serial-console"), _LOGIN),
        **dict.fromkeys(("telemetry", "wjh", "counter", "lldp", "sflow", "health", "log", "stats", "events"), _WATCHED),
        **dict.fromkeys(("config", "reboot", "timezone", "date-time", "contact", "location", "time"), _ELSEWHERE),
        **dict.fromkeys(("port-mirror", "docker", "ztp", "packages", "image", "usb", "profile"), _ELSEWHERE),
        **dict.fromkeys(("power", "ptp", "synce", "dhcp", "tech-support", "grpc-tunnel", "global"), _ELSEWHERE),
        **dict.fromkeys(("fabric", "cert", "certificate", "watchdog", "interface", "led", "cpu"), _ELSEWHERE),
        **dict.fromkeys(("acl", "nat", "dot1x", "link", "link-tracking", "do-spx"), NOT_READ),
        "control-plane": {"acl": None, **dict.fromkeys(("policer", "trap"), NOT_READ)},
    },
    "vrf": {
        "*": {
            "loopback": None,
            "router": {
                "bgp": None,
                "static": _STATIC,
                **_PROTOCOLS,
                **dict.fromkeys(("rib", "fib", "nexthop-tracking"), NOT_READ),
                "bfd": "how soon BFD notices, and where it runs",
            },
            "table": "which number of table the kernel has for it",
            "ptp": _ELSEWHERE,
            **dict.fromkeys(("dhcp-server-v4", "dhcp-server-v6"), _SERVERS),
            **dict.fromkeys(("evpn", "policy"), NOT_READ),
        }
    },
}


def check(
    config: Config, device: str, display: str | None, unread: Iterable[Path], wrong: Iterable[Path]
) -> tuple[Note, ...]:
    """Return notes of settings whose effect is not known, `unread` ones of BGP among them.

    Settings that NVUE does not have are faults and get none: those that are remarked, and `wrong` ones, which are only
    counted.
    """
    root = config.tree.root if config.tree else {}
    unknown_paths = chain(_unknown_paths(root, TOP, (), ()), ((path, generalized(path)) for path in unread))
    return tuple(
        _unknown_setting_notes(config, root, device, display, unknown_paths, {generalized(path) for path in wrong})
    )


def _unknown_setting_notes(
    config: Config,
    root: Node,
    device: str,
    display: str | None,
    unknown: Iterable[tuple[Path, Path]],
    wrong: set[Path],
) -> Iterator[Note]:
    reported = wrong | {
        generalized((*remark.facts["path"].removeprefix("NVUE").split(), remark.facts["word"]))
        for remark in config.remarks
        if remark.kind == "unknown-setting"
    }
    for path, pattern in islice(unknown, _MAX_NOTES):
        if generalized(path) not in reported:
            place = config.place(path)
            yield unknown_line(
                render_path(path), render_path(pattern), device, display, place.span.line if place else None
            )
    ports = root.get("interface")
    for name, node in ports.items() if isinstance(ports, dict) else ():
        if isinstance(node, dict) and "qos" in node and not any(map(nvue_port, names(name))):
            place = config.place(("interface", name, "qos"))
            line = place.span.line if place else None
            message = f"QoS of {quote_text(name)} was not checked: only that of switch ports is"
            yield Note(kind="not-understood", message=message, device=device, file=display, line=line)
    for line, text in config.tree.others[:_MAX_NOTES] if config.tree else ():
        yield unknown_command(text, device, display, line)


def _unknown_paths(node: object, known_words: object, above: Path, pattern: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the path of each setting that is not known, and that path without names."""
    if known_words is NOT_READ:
        if not is_off(node):
            yield above, pattern
        return
    if known_words is FORWARDS:
        if node and is_off(node):
            yield above, pattern
        return
    if not isinstance(known_words, Mapping) or not isinstance(node, dict):
        return
    for key, inside in node.items():
        if key in known_words:
            yield from _unknown_paths(inside, known_words[key], (*above, key), (*pattern, key))
        elif "*" in known_words:
            yield from _unknown_paths(inside, known_words["*"], (*above, key), (*pattern, "..."))
        elif not is_off(inside):
            yield (*above, key), (*pattern, key)
