"""Which settings are read, which change nothing and why; any other is unknown.

What NVUE itself has, as far as it is known, is in schema.yaml. Sources: NVUE command lists of 5.4, QoS reference of
5.17, exported configurations of 5.13.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final

from nodrop.model.reading import Note
from nodrop.platforms.kit.unknown_lines import note_unknown_command, note_unknown_line
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_unread import generalize_names, is_off
from nodrop.platforms.nvue.read_values import NvueConfigFile, render_path
from nodrop.platforms.nvue.tree import Node, Path
from nodrop.syntax.places import quote_text

_MAX_NOTES = 1000

UNREAD_SETTING: Final = object()
"""What decides sessions, routes, forwarding or queues and is not in the model: unknown where it is on."""
UNREAD_SETTING_ON_BY_DEFAULT: Final = object()
"""What is not in the model and on by default: unknown where it is off."""
_KnownSettings = Mapping[str, object]
"""By key, `*` for any other: what may be below it, `UNREAD_SETTING`, `UNREAD_SETTING_ON_BY_DEFAULT`, a reason why
nothing below changes anything, or None where all is read."""

_OTHER_BRIDGING_UNREAD_REASON = "of bridging, VLANs and bonds are read, and who is in them"
_OTHER_OVERLAYS_UNREAD_REASON = "of overlays, MLAG, Ethernet segments and what VXLAN does to the DSCP are read"
_NO_FORWARDING_REASON = "it is not about the forwarding of packets"
_HASHING_ONLY_REASON = "it changes which flows go over which of equal paths, not which paths there are"
_LOGIN_ONLY_REASON = "who may log in"
_TELEMETRY_ONLY_REASON = "what the switch counts and reports"
_LINK_STARTUP_ONLY_REASON = "how a link starts, and what it reports"
_OTHER_SERVERS_ONLY_REASON = "servers of other kinds"
_ADAPTIVE_ROUTING_SETTINGS: _KnownSettings = {
    **dict.fromkeys(("enable", "state", "link-utilization-threshold")),
    **dict.fromkeys(("profile", "buffer-mode"), "how the switch weighs load by itself"),
}
_UNREAD_PROTOCOLS: _KnownSettings = dict.fromkeys(
    ("ospf", "ospf6", "pim", "pbr", "igmp", "vrrp", "vrr", "segment-routing"), UNREAD_SETTING
)
_IP_FORWARDING_SETTINGS: _KnownSettings = {"forward": UNREAD_SETTING_ON_BY_DEFAULT, "*": None}
_INTERFACE_SETTINGS: _KnownSettings = {
    **dict.fromkeys(("type", "description", "vrf"), None),
    "link": {
        **dict.fromkeys(("state", "speed", "fec", "auto-negotiate", "mtu", "breakout")),
        **dict.fromkeys(
            ("lanes", "mac-address", "duplex", "flap-protection", "flap-protect"), _LINK_STARTUP_ONLY_REASON
        ),
        **dict.fromkeys(("fast-linkup", "profile", "diag", "traffic", "stats"), _LINK_STARTUP_ONLY_REASON),
        **dict.fromkeys(("protodown", "dot1x"), UNREAD_SETTING),
    },
    "ip": {**dict.fromkeys(("ipv4", "ipv6"), _IP_FORWARDING_SETTINGS), "*": None},
    **dict.fromkeys(("ipv4", "ipv6"), _IP_FORWARDING_SETTINGS),
    "qos": None,
    "packet-trim": None,
    "acl": None,
    "router": {"adaptive-routing": _ADAPTIVE_ROUTING_SETTINGS, **_UNREAD_PROTOCOLS},
    "lldp": "what LLDP tells the neighbor",
    **dict.fromkeys(("bond", "bridge", "vlan", "base-interface", "mlag", "parent"), _OTHER_BRIDGING_UNREAD_REASON),
    **dict.fromkeys(("stp", "storm-control", "dot1x", "port-security", "security", "link-tracking"), UNREAD_SETTING),
    "evpn": _OTHER_OVERLAYS_UNREAD_REASON,
    "tunnel": UNREAD_SETTING,
    "neighbor": UNREAD_SETTING,
    **dict.fromkeys(("telemetry", "counters", "sflow", "histogram", "latency-measurement"), _TELEMETRY_ONLY_REASON),
    **dict.fromkeys(("ptp", "synce", "pluggable", "device-power"), _NO_FORWARDING_REASON),
}
_NEXT_HOP_SETTINGS: Mapping[str, object] = {"*": {"vrf": UNREAD_SETTING, "*": None}}
_STATIC_ROUTE_SETTINGS: Mapping[str, object] = {
    "*": {"distance": {"*": {"via": _NEXT_HOP_SETTINGS, "*": None}}, "via": _NEXT_HOP_SETTINGS, "*": None}
}
"""Static routes: next hops in another VRF are not in the model."""
_SNIPPET_SETTINGS: _KnownSettings = {
    **dict.fromkeys(("snmp-config", "sshd_config"), _LOGIN_ONLY_REASON),
    "*": UNREAD_SETTING,
}
"""Snippets: text that NVUE adds to another program's file, by the name of the file or of the snippet."""
TOP_LEVEL_SETTINGS: _KnownSettings = {
    "qos": {
        **dict.fromkeys(("roce", "mapping", "remark", "pfc", "link-pause", "pfc-watchdog", "congestion-control")),
        **dict.fromkeys(("egress-queue-mapping", "egress-scheduler", "egress-shaper", "traffic-pool")),
        "advance-buffer-config": None,
        "lldp-tlv": "what LLDP tells the neighbor",
    },
    "interface": {"eth0": {**_INTERFACE_SETTINGS, **dict.fromkeys(("ip", "ipv4", "ipv6"))}, "*": _INTERFACE_SETTINGS},
    "acl": None,
    "bridge": _OTHER_BRIDGING_UNREAD_REASON,
    "mlag": _OTHER_BRIDGING_UNREAD_REASON,
    "evpn": UNREAD_SETTING,
    "nve": _OTHER_OVERLAYS_UNREAD_REASON,
    "maintenance": UNREAD_SETTING,
    "platform": "fans, sensors and similar",
    "service": {
        **dict.fromkeys(("ntp", "syslog", "dns", "snmp-server"), None),
        **dict.fromkeys(("dhcp-relay", "dhcp-relay6", "dhcp-server", "dhcp-server6"), _OTHER_SERVERS_ONLY_REASON),
        **dict.fromkeys(("lldp", "ptp", "synce", "telemetry"), _TELEMETRY_ONLY_REASON),
    },
    "router": {
        "bgp": None,
        "policy": None,
        **_UNREAD_PROTOCOLS,
        **dict.fromkeys(("ptm", "nexthop"), UNREAD_SETTING),
        "adaptive-routing": _ADAPTIVE_ROUTING_SETTINGS,
        "bfd": "how soon BFD notices, and where it runs",
        "password-obfuscation": _LOGIN_ONLY_REASON,
    },
    "system": {
        **dict.fromkeys(("hostname", "ntp", "syslog", "dns", "gnmi-server", "snmp-server"), None),
        "forwarding": {
            **dict.fromkeys(("hash-seed", "ecmp-hash", "packet-trim")),
            **dict.fromkeys(("lag-hash", "ecmp-weight-normalization", "programming"), _HASHING_ONLY_REASON),
        },
        **dict.fromkeys(
            ("aaa", "ssh-server", "security", "api", "message", "banner", "cli", "serial-console"), _LOGIN_ONLY_REASON
        ),
        **dict.fromkeys(
            ("telemetry", "wjh", "counter", "lldp", "sflow", "health", "log", "stats", "events"), _TELEMETRY_ONLY_REASON
        ),
        "config": {"snippet": _SNIPPET_SETTINGS, "*": _NO_FORWARDING_REASON},
        **dict.fromkeys(("reboot", "timezone", "date-time", "contact", "location", "time"), _NO_FORWARDING_REASON),
        **dict.fromkeys(("port-mirror", "docker", "ztp", "packages", "image", "usb", "profile"), _NO_FORWARDING_REASON),
        **dict.fromkeys(
            ("power", "ptp", "synce", "dhcp", "tech-support", "grpc-tunnel", "global"), _NO_FORWARDING_REASON
        ),
        **dict.fromkeys(
            ("fabric", "cert", "certificate", "watchdog", "interface", "led", "cpu"), _NO_FORWARDING_REASON
        ),
        **dict.fromkeys(("acl", "nat", "dot1x", "link", "link-tracking", "do-spx"), UNREAD_SETTING),
        "control-plane": {"acl": None, **dict.fromkeys(("policer", "trap"), UNREAD_SETTING)},
    },
    "vrf": {
        "*": {
            "loopback": None,
            "router": {
                "bgp": None,
                "static": _STATIC_ROUTE_SETTINGS,
                **_UNREAD_PROTOCOLS,
                **dict.fromkeys(("rib", "fib", "nexthop-tracking"), UNREAD_SETTING),
                "bfd": "how soon BFD notices, and where it runs",
            },
            "table": "which number of table the kernel has for it",
            "ptp": _NO_FORWARDING_REASON,
            **dict.fromkeys(("dhcp-server-v4", "dhcp-server-v6"), _OTHER_SERVERS_ONLY_REASON),
            **dict.fromkeys(("evpn", "policy"), UNREAD_SETTING),
        }
    },
}


def find_unknown_settings(
    config: NvueConfigFile, device: str, display: str | None, unread: Iterable[Path], wrong: Iterable[Path]
) -> tuple[Note, ...]:
    """Return notes of settings whose effect is not known, `unread` ones of BGP among them.

    Settings that NVUE does not have are faults and get none: those that are remarked, and `wrong` ones, which are only
    counted.
    """
    root = config.tree.root if config.tree else {}
    unknown_paths = chain(
        _unknown_paths(root, TOP_LEVEL_SETTINGS, (), ()), ((path, generalize_names(path)) for path in unread)
    )
    return tuple(
        _unknown_setting_notes(config, root, device, display, unknown_paths, {generalize_names(path) for path in wrong})
    )


def _unknown_setting_notes(
    config: NvueConfigFile,
    root: Node,
    device: str,
    display: str | None,
    unknown: Iterable[tuple[Path, Path]],
    wrong: set[Path],
) -> Iterator[Note]:
    reported = wrong | {
        generalize_names((*remark.facts["path"].removeprefix("NVUE").split(), remark.facts["word"]))
        for remark in config.remarks
        if remark.kind == "unknown-setting"
    }
    for path, pattern in islice(unknown, _MAX_NOTES):
        if generalize_names(path) not in reported:
            place = config.place(path)
            yield note_unknown_line(
                render_path(path), render_path(pattern), device, display, place.span.line if place else None
            )
    ports = root.get("interface")
    for name, node in ports.items() if isinstance(ports, dict) else ():
        if isinstance(node, dict) and "qos" in node and not any(map(nvue_port, expand_names(name))):
            place = config.place(("interface", name, "qos"))
            line = place.span.line if place else None
            message = f"QoS of {quote_text(name)} was not checked: only that of switch ports is"
            yield Note(kind="not-understood", message=message, device=device, file=display, line=line)
    for line, text in config.tree.others[:_MAX_NOTES] if config.tree else ():
        yield note_unknown_command(text, device, display, line)


def _unknown_paths(node: object, known_words: object, above: Path, pattern: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the path of each setting that is not known, and that path without names."""
    if known_words is UNREAD_SETTING:
        if not is_off(node):
            yield above, pattern
        return
    if known_words is UNREAD_SETTING_ON_BY_DEFAULT:
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
