"""Which settings are read, which are left alone and why, and what is neither, which is noted.

What NVUE itself has, as far as it is known, is in schema.yaml. Sources: NVUE command lists of 5.4, QoS reference of
5.17, exported configurations of 5.13.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.formats.places import shown
from nodrop.model.reading import Note
from nodrop.platforms.nvue.names import names
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_values import Config, said
from nodrop.platforms.nvue.schema import knows
from nodrop.platforms.nvue.tree import Node, Path

_Known = Mapping[str, Any]
"""By key: what may be below it, a reason why nothing below is read, or None where all below is."""

_BRIDGED = "of bridging, VLANs and bonds are read, and who is in them"
_ACCESS = "access lists do not touch traffic classes"
_OVERLAY = "of overlays, MLAG, Ethernet segments and what VXLAN does to the DSCP are read"
_OUTSIDE = "not in the model"
_HASHED = "how flows are told apart is not in the model"
_LOGIN = "who may log in"
_OTHER_PROTOCOL = "routing by other protocols than BGP is not in the model"
_WATCHED = "what the switch counts and tells is not in the model"
_BALANCING: _Known = {
    **dict.fromkeys(("enable", "state", "link-utilization-threshold")),
    **dict.fromkeys(("profile", "buffer-mode"), "how load is told is left to the switch and not in the model"),
}
_INTERFACE: _Known = {
    **dict.fromkeys(("type", "description", "vrf"), None),
    "link": {
        **dict.fromkeys(("state", "speed", "fec", "auto-negotiate", "mtu", "breakout")),
        **dict.fromkeys(("lanes", "mac-address", "duplex", "protodown", "flap-protection"), _OUTSIDE),
        **dict.fromkeys(("dot1x", "fast-linkup", "profile", "diag", "traffic", "stats"), _OUTSIDE),
    },
    **dict.fromkeys(("ip", "ipv4", "ipv6"), None),
    "qos": None,
    "packet-trim": None,
    "acl": _ACCESS,
    "router": {
        "adaptive-routing": _BALANCING,
        **dict.fromkeys(("ospf", "ospf6", "pim", "pbr", "igmp", "vrrp"), _OTHER_PROTOCOL),
    },
    "lldp": "what LLDP tells the neighbor is not in the model",
    **dict.fromkeys(("bond", "bridge", "vlan", "base-interface", "stp", "mlag", "storm-control", "parent"), _BRIDGED),
    **dict.fromkeys(("evpn", "tunnel"), _OVERLAY),
    **dict.fromkeys(("telemetry", "counters", "sflow", "histogram"), _WATCHED),
    **dict.fromkeys(("ptp", "synce", "port-security", "neighbor", "pluggable", "device-power"), _OUTSIDE),
}
TOP: _Known = {
    "qos": None,
    "interface": {"*": _INTERFACE},
    "acl": _ACCESS,
    "bridge": _BRIDGED,
    "mlag": _BRIDGED,
    "evpn": _OVERLAY,
    "nve": _OVERLAY,
    "maintenance": "what an operator does for a time",
    "platform": "fans, sensors and the like",
    "service": {
        **dict.fromkeys(("ntp", "syslog", "dns", "snmp-server"), None),
        **dict.fromkeys(("dhcp-relay", "dhcp-relay6", "dhcp-server", "dhcp-server6"), "servers of other kinds"),
        **dict.fromkeys(("lldp", "ptp", "synce", "control-plane", "telemetry"), _WATCHED),
    },
    "router": {
        "bgp": None,
        "policy": None,
        **dict.fromkeys(
            ("ospf", "pim", "igmp", "vrrp", "vrr", "pbr", "ptm", "nexthop", "segment-routing"), _OTHER_PROTOCOL
        ),
        "adaptive-routing": _BALANCING,
        "bfd": "timers of BFD are not in the model",
    },
    "system": {
        **dict.fromkeys(("hostname", "ntp", "syslog", "dns", "gnmi-server", "snmp-server"), None),
        "forwarding": {
            **dict.fromkeys(("hash-seed", "ecmp-hash")),
            "packet-trim": None,
            **dict.fromkeys(("lag-hash", "ecmp-weight-normalization", "programming"), "how flows are told apart"),
        },
        **dict.fromkeys(("aaa", "ssh-server", "security", "api", "message", "banner", "cli"), _LOGIN),
        **dict.fromkeys(("telemetry", "wjh", "counter", "lldp", "sflow", "health", "log"), _WATCHED),
        **dict.fromkeys(("config", "control-plane", "global", "reboot", "timezone", "date-time"), _OUTSIDE),
        **dict.fromkeys(("acl", "nat", "port-mirror", "docker", "ztp", "packages", "image", "usb"), _OUTSIDE),
        **dict.fromkeys(("power", "ptp", "synce", "dhcp", "time", "tech-support", "events"), _OUTSIDE),
        **dict.fromkeys(("fabric", "cert", "certificate", "watchdog", "interface", "led", "cpu"), _OUTSIDE),
    },
    "vrf": {
        "*": {
            "loopback": None,
            "router": {
                "bgp": None,
                "static": None,
                **dict.fromkeys(("ospf", "pim", "rib", "nexthop-tracking", "igmp"), _OTHER_PROTOCOL),
            },
            **dict.fromkeys(("evpn", "table", "ptp", "policy"), _OVERLAY),
        }
    },
}


def check(config: Config, device: str, display: str | None) -> tuple[Note, ...]:
    """Return notes of the settings that are neither read nor left alone."""
    root = config.tree.root if config.tree else {}
    return tuple(_notes(config, root, device, display))


def _notes(config: Config, root: Node, device: str, display: str | None) -> Iterator[Note]:
    seen: set[Path] = set()
    told = {f"{one.facts['path']} {one.facts['word']}" for one in config.remarks if one.kind == "unknown-setting"}
    for path, _ in _unknown(root, TOP, ()):
        kind = ("interface", "*", *path[2:]) if path[0] == "interface" else path
        if kind not in seen and len(seen) < 100 and not knows(path):
            seen.add(kind)
            if (said(path) if path[1:] else f"NVUE {said(path)}") in told:
                continue
            place = config.place(path)
            line = place.span.line if place else None
            message = f"setting {shown(said(path))} is not understood and was not looked at"
            yield Note(kind="not-understood", message=message, device=device, file=display, line=line)
    ports = root.get("interface")
    for name, node in ports.items() if isinstance(ports, dict) else ():
        if isinstance(node, dict) and "qos" in node and not any(map(nvue_port, names(name))):
            place = config.place(("interface", name, "qos"))
            line = place.span.line if place else None
            message = f"QoS of {shown(name)} was not looked at: only that of switch ports is"
            yield Note(kind="not-understood", message=message, device=device, file=display, line=line)
    for line, text in config.tree.others[:20] if config.tree else ():
        message = f"command {shown(text)} is not understood and was not looked at"
        yield Note(kind="not-understood", message=message, device=device, file=display, line=line)


def _unknown(node: object, known: Any, above: Path) -> Iterator[tuple[Path, _Known]]:
    """Yield the path of each key that is not known, and the keys that are."""
    if not isinstance(known, Mapping) or not isinstance(node, dict):
        return
    if "*" in known:
        for key, inside in node.items():
            yield from _unknown(inside, known["*"], (*above, key))
        return
    for key, inside in node.items():
        if key in known:
            yield from _unknown(inside, known[key], (*above, key))
        elif known:
            yield (*above, key), known
