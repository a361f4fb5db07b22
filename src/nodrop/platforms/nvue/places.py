"""Where a subject stands in an NVUE file: the reverse of the reader, for findings only."""

from collections.abc import Callable, Iterator, Mapping

from nodrop.errors import InputProblems
from nodrop.model.qos import COLORS
from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject
from nodrop.platforms.kit.bindings import places_of_field
from nodrop.platforms.nvue import adaptive_routing, ageing, conditions, hashing
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.places_bridging import NAME_PREFIX_BY_BRIDGING_PART, bond_and_vlan_paths
from nodrop.platforms.nvue.places_routing import ROUTING_DEVICE_PARTS, routing_paths, row_at_position
from nodrop.platforms.nvue.read_access import paths_of_access_list_part
from nodrop.platforms.nvue.read_overlays import OVERLAY_DEVICE_PARTS, overlay_paths
from nodrop.platforms.nvue.read_ports import FileInterfaces, may_be_address
from nodrop.platforms.nvue.read_qos import GLOBAL_PROFILE
from nodrop.platforms.nvue.read_services import LOOPBACK, PACKET_TRIM_PATH, SNMP_PATHS, server_paths
from nodrop.platforms.nvue.read_values import STARTUP_FILE, NvueConfigFile
from nodrop.platforms.nvue.tree import NvueFileTree, Path
from nodrop.syntax.places import Span

_NVUE_LINK_KEY_BY_FIELD = {
    "enabled": "state",
    "speed_mbps": "speed",
    "fec": "fec",
    "autoneg": "auto-negotiate",
    "mtu_bytes": "mtu",
}
_NVUE_PATH_BY_MAP = {
    "dscp_to_tc": ("mapping", "dscp", "switch-priority"),
    "pcp_to_tc": ("mapping", "pcp", "switch-priority"),
    "tc_to_queue": ("egress-queue-mapping", "switch-priority", "traffic-class"),
    "pfc_to_queue": ("egress-queue-mapping", "switch-priority", "traffic-class"),
    "tc_to_dscp": ("remark", "switch-priority", "dscp"),
}
"""Maps: in which kind of profile, below which key, and in which field."""
_TRUSTS_WITHOUT_MAP = {"dscp_to_tc": ("l2", "port"), "pcp_to_tc": ("l3", "port")}
"""With which trust a port has no such map, so that the trust is what says it."""
_NVUE_POOLS_BY_POOL = {
    "ingress_lossless": ("roce-lossless", "default-lossless"),
    "egress_lossless": ("roce-lossless", "default-lossless"),
    "ingress_lossy": ("default-lossy",),
    "egress_lossy": ("default-lossy",),
}
_NVUE_HEADROOM_KEY_BY_FIELD = {
    "size_bytes": "port-buffer",
    "xoff_bytes": "xoff-threshold",
    "xon_bytes": "xon-threshold",
}
_NVUE_TRIMMING_KEY_BY_FIELD = {
    "size_bytes": "size",
    "dscp": "remark",
    "tc": "switch-priority",
    "queue": "switch-priority",
}
_NVUE_SERVER_KEY_BY_DEVICE_PART = {"@ntp_servers": "ntp", "@syslog_servers": "syslog", "@dns_servers": "dns"}
_NVUE_SNMP_KEY_BY_DEVICE_PART = {"@snmp_location": "system-location", "@snmp_contact": "system-contact"}
_FIELDS_SET_BY_PFC_PROFILE = frozenset(
    {"pfc_priorities", "pfc_rx_priorities", "pfc_tx_priorities", "tc_to_priority_group", "pfc_to_priority_group"}
)
_PROFILE_KINDS_BY_FIELD = {
    "trust": ("mapping",),
    "dscp_to_tc": ("mapping",),
    "pcp_to_tc": ("mapping",),
    "tc_to_dscp": ("remark",),
    "queues": ("egress-scheduler", "congestion-control", "egress-shaper"),
    "priority_groups": ("pfc",),
    **dict.fromkeys(_FIELDS_SET_BY_PFC_PROFILE, ("pfc",)),
}
_NVUE_KEYS_BY_QUEUE_FIELD: Mapping[str, tuple[str, ...]] = {
    "type": ("mode",),
    "weight": ("bw-percent",),
    "guaranteed_bytes_per_s": ("min-rate",),
    "peak_bytes_per_s": ("max-rate",),
    "min_bytes": ("min-threshold",),
    "max_bytes": ("max-threshold",),
    "min_percent": ("min-threshold-percent", "mode"),
    "max_percent": ("max-threshold-percent", "mode"),
    "probability_percent": ("probability",),
    "enabled": ("red",),
    "ecn_colors": ("ecn",),
    "scheduler": ("mode",),
    "wred": ("ecn",),
    **dict.fromkeys(COLORS, ("min-threshold",)),
}
_ADVANCED_BUFFER_PATH: Path = ("qos", "advance-buffer-config", GLOBAL_PROFILE)
_FALLBACK_PATHS: tuple[Path, ...] = (("system", "hostname"), ("interface",), ("qos",))


def place_finder_for_files(config_files: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    try:
        tree = NvueFileTree(config_files.get(STARTUP_FILE, b""), STARTUP_FILE)
        finder = _SubjectPlaceFinder(tree)
    except InputProblems:
        return lambda subject: None

    def find(subject: Subject) -> FilePlace | None:
        span = finder.span(subject[1:])
        return FilePlace(STARTUP_FILE, span) if span else None

    return find


class _SubjectPlaceFinder:
    """Finds subjects in one file."""

    def __init__(self, tree: NvueFileTree) -> None:
        self._tree = tree
        config = NvueConfigFile("", tree)
        self._ports = FileInterfaces(config)
        self._top = config.top

    def span(self, subject: Subject) -> Span | None:
        """Return where a subject below the device stands, or the nearest there is to it."""
        head = subject[0] if subject else ""
        if head in ("@model", "@version"):
            return self._tree.header_span(head[1:])
        for path in self._paths(subject):
            if (span := self._tree.span(path, whole=True)) is not None:
                return span
        return None

    def _paths(self, subject: Subject) -> Iterator[Path]:
        """Yield the paths at which the subject may stand, the most exact first."""
        head, *field_words = subject or ("",)
        field_path = tuple(field_words)
        if head.startswith("@"):
            yield from self._device_paths(head, field_path)
        elif head:
            yield from self._port_paths(head, field_path)
        yield from _FALLBACK_PATHS

    def _device_paths(self, head: str, field_path: Path) -> Iterator[Path]:
        yield from places_of_field(SWITCH_BINDINGS, head.removeprefix("@"))
        if (find := _PATH_FINDER_BY_DEVICE_PART.get(head)) is not None:
            yield from find(self, head, field_path)

    def _watchdog_polling_paths(self, _head: str, _part: Path) -> Iterator[Path]:
        yield ("qos", "pfc-watchdog", "polling-interval")
        yield ("qos", "pfc-watchdog")

    def _qos_style_paths(self, _head: str, _part: Path) -> Iterator[Path]:
        yield from (("qos", "roce", "state"), ("qos", "roce", "enable"), ("qos", "roce"))

    def _watchdog_condition_paths(self, _head: str, part: Path) -> Iterator[Path]:
        yield from conditions.watchdog_condition_paths("".join(part[:1]))

    def _pool_paths(self, _head: str, part: Path) -> Iterator[Path]:
        pool = "".join(part[:1])
        yield from (("qos", "traffic-pool", name, "memory-percent") for name in _NVUE_POOLS_BY_POOL.get(pool, ()))
        if not pool:
            yield ("qos", "traffic-pool")
        yield from self._roce_macro_paths()
        yield ("qos", "traffic-pool")

    def _dynamic_buffer_paths(self, _head: str, part: Path) -> Iterator[Path]:
        field = "".join(part[:1])
        if field != "dynamic_th":
            yield ("qos", "pfc", GLOBAL_PROFILE, "small-packet-probability")
        if field in ("", "dynamic_th"):
            yield (*_ADVANCED_BUFFER_PATH, "ingress-lossless-buffer", "shared-alpha")
        yield from self._roce_macro_paths()
        yield ("qos", "pfc", GLOBAL_PROFILE)

    def _trimming_paths(self, _head: str, part: Path) -> Iterator[Path]:
        yield (*PACKET_TRIM_PATH, _NVUE_TRIMMING_KEY_BY_FIELD.get("".join(part[:1]), "state"))
        yield PACKET_TRIM_PATH
        yield ("qos", "roce", "mode")

    def _adaptive_routing_paths(self, head: str, _part: Path) -> Iterator[Path]:
        ports = self._ports
        having = (name for name in ports.names() if ports.adaptive_routing_of(ports.view(name))[0])
        yield from adaptive_routing.switch_setting_paths(head, having)

    def _hash_paths(self, _head: str, _part: Path) -> Iterator[Path]:
        yield hashing.ECMP_HASH_PATH

    def _ageing_paths(self, _head: str, _part: Path) -> Iterator[Path]:
        yield from ageing.mac_ageing_paths(self._top)

    def _snmp_paths(self, head: str, _part: Path) -> Iterator[Path]:
        yield from ((*path, _NVUE_SNMP_KEY_BY_DEVICE_PART[head]) for path in SNMP_PATHS)

    def _access_paths(self, _head: str, part: Path) -> Iterator[Path]:
        yield from paths_of_access_list_part(part)

    def _overlay_paths(self, head: str, part: Path) -> Iterator[Path]:
        yield from overlay_paths(self._ports, head, part)

    def _bridging_paths(self, head: str, part: Path) -> Iterator[Path]:
        key, field = (*part, "", "")[:2]
        yield from bond_and_vlan_paths(self._top, self._ports, head, part)
        yield from self._address_paths(NAME_PREFIX_BY_BRIDGING_PART[head] + key, field, part[2:])

    def _loopback_paths(self, _head: str, part: Path) -> Iterator[Path]:
        key, field = (*part, "", "")[:2]
        yield from self._address_paths(key or LOOPBACK, field, part[2:])

    def _routing_paths(self, head: str, part: Path) -> Iterator[Path]:
        yield from routing_paths(self._top, head, part)

    def _roce_macro_paths(self) -> Iterator[Path]:
        yield ("qos", "roce", "mode")
        yield ("qos", "roce", "state")
        yield ("qos", "roce", "enable")
        yield ("qos", "roce")

    def _management_paths(self, _head: str, part: Path) -> Iterator[Path]:
        key = "".join(part[:1])
        if key == "own_vrf":
            yield ("interface", "eth0", "vrf")
            yield ("interface", "eth0", "ip", "vrf")
        elif key == "gateway":
            for family in ("ip", "ipv4", "ipv6"):
                for gateway in self._top.below("interface", "eth0", family).texts("gateway"):
                    yield ("interface", "eth0", family, "gateway", gateway)
                yield ("interface", "eth0", family, "gateway")
        yield from self._address_paths("eth0", key, part[1:])

    def _address_paths(self, name: str, field: str, remaining_path: Path) -> Iterator[Path]:
        """Yield the addresses of an interface, the one at the position first, and the interface itself."""
        view = self._ports.view(name)
        rows = [
            ("interface", name, family, "address", address)
            for family in ("ip", "ipv4", "ipv6")
            for address in view.below(family).texts("address")
            if may_be_address(address)
        ]
        if field == "addresses":
            yield from row_at_position("".join(remaining_path[:1]), rows)
            yield from rows
        if field == "vrf":
            yield ("interface", name, "vrf")
            yield ("interface", name, "ip", "vrf")
        yield ("interface", name)

    def _server_paths(self, head: str, part: Path) -> Iterator[Path]:
        rows = [
            (*path, "server", server)
            for path in server_paths(self._top, _NVUE_SERVER_KEY_BY_DEVICE_PART[head])
            for server in self._top.below(*path).texts("server")
        ]
        rows.sort(key=lambda path: path[-1])
        yield from row_at_position("".join(part[:1]), rows)
        yield from (path[:-1] for path in rows)

    def _port_paths(self, port: str, path: Path) -> Iterator[Path]:
        port_path: Path = ("interface", port)
        field = path[0] if path else ""
        if field == "qos":
            yield from self._qos_paths(port, path[1:])
        elif field in _NVUE_LINK_KEY_BY_FIELD:
            yield (*port_path, "link", _NVUE_LINK_KEY_BY_FIELD[field])
        elif field in ("lanes", "lane_mbps", "port"):
            yield from self._lane_paths(port)
        elif field in ("addresses", "vrf"):
            yield from self._address_paths(port, field, path[1:])
        elif field in adaptive_routing.PORT_FIELDS:
            yield from adaptive_routing.port_setting_paths(port, field)
        elif field == "description":
            yield (*port_path, "description")
        elif field == "link_pause":
            yield (*port_path, "qos", "link-pause", "profile")
            yield ("qos", "link-pause", GLOBAL_PROFILE)
        elif field == "cable_length_m":
            yield from self._cable_length_paths(port)
        yield port_path

    def _lane_paths(self, port: str) -> Iterator[Path]:
        named_nvue_port = nvue_port(port)
        if named_nvue_port is not None:
            panel = ("interface", f"swp{named_nvue_port.port.panel}", "link", "breakout")
            split = self._ports.view(panel[1]).below("link").text("breakout") or ""
            yield (*panel, split, "lanes-per-port")
            yield (*panel, split)
            yield panel
        yield ("interface", port, "link", "speed")

    def _cable_length_paths(self, port: str) -> Iterator[Path]:
        name = self._profile_of(port, "pfc")
        yield ("qos", "pfc", name, "cable-length")
        if name == GLOBAL_PROFILE:  # a port's own profile ignores the length of RoCE mode
            yield ("qos", "roce", "cable-length")
        yield ("qos", "pfc", name)
        yield from self._roce_macro_paths()

    def _profile_of(self, port: str, kind: str) -> str:
        """Return the profile that holds for a port."""
        return self._ports.view(port).below("qos", kind).text("profile") or GLOBAL_PROFILE

    def _qos_paths(self, port: str, path: Path) -> Iterator[Path]:
        head = path[0] if path else ""
        field_words = [*path[1:], "", "", ""]
        if head == "trust":
            yield ("qos", "mapping", self._profile_of(port, "mapping"), "trust")
        elif head in _NVUE_PATH_BY_MAP:
            kind, key, field = _NVUE_PATH_BY_MAP[head]
            name = self._profile_of(port, kind)
            yield ("qos", kind, name, key, field_words[0], field)
            if self._top.below("qos", kind, name).text("trust") in _TRUSTS_WITHOUT_MAP.get(head, ()):
                yield ("qos", kind, name, "trust")
            yield ("qos", kind, name, key)
            yield ("qos", kind, name)
        elif head in _FIELDS_SET_BY_PFC_PROFILE:
            yield from self._pfc_paths(port, head, field_words[0])
        elif head == "pfc_watchdog":
            yield from self._watchdog_paths(port, field_words[0])
        elif head == "priority_groups":
            yield from self._priority_group_paths(port, field_words)
        elif head == "queues":
            yield from self._queue_paths(port, field_words)
        if not head:
            yield ("interface", port, "qos")
        yield from (("interface", port, "qos", kind, "profile") for kind in _PROFILE_KINDS_BY_FIELD.get(head, ()))
        yield from self._roce_macro_paths()
        yield ("interface", port)

    def _pfc_paths(self, port: str, line_head: str, key: str) -> Iterator[Path]:
        name = self._profile_of(port, "pfc")
        node = self._top.below("qos", "pfc", name)
        direction = "tx" if line_head == "pfc_tx_priorities" else "rx"
        if node.flag(direction) is False:
            yield (*node.path, direction)
        if line_head in ("tc_to_priority_group", "pfc_to_priority_group"):
            yield (*node.path, "switch-priority", key)
        yield from ((*node.path, "switch-priority", text) for text in node.texts("switch-priority"))
        yield node.path

    def _watchdog_paths(self, port: str, field: str) -> Iterator[Path]:
        if field == "detection_ms":
            yield ("qos", "pfc-watchdog", "polling-interval")
            yield ("qos", "pfc-watchdog", "robustness")
        elif field == "restoration_ms":
            yield ("qos", "pfc-watchdog", "recovery-interval")
            yield ("qos", "pfc-watchdog", "polling-interval")
        elif field == "priorities":
            yield from self._pfc_paths(port, "pfc_rx_priorities", "")
        yield ("interface", port, "qos", "pfc-watchdog", "state")
        yield ("interface", port, "qos", "pfc-watchdog")
        yield ("interface", port, "qos", "pfc", "profile")
        yield from self._pfc_paths(port, "pfc_rx_priorities", "")
        yield ("interface", port, "qos")

    def _priority_group_paths(self, port: str, field_words: list[str]) -> Iterator[Path]:
        index = field_words[0]
        if not index:
            yield ("interface", port, "qos", "pfc", "profile")
        if field_words[2] == "dynamic_th":
            yield (*_ADVANCED_BUFFER_PATH, "ingress-lossless-buffer", "shared-alpha")
            yield (*_ADVANCED_BUFFER_PATH, "ingress-lossy-buffer", "priority-group", "bulk", "shared-alpha")
        for word in field_words[2:]:
            if word in _NVUE_HEADROOM_KEY_BY_FIELD:
                yield ("qos", "pfc", self._profile_of(port, "pfc"), _NVUE_HEADROOM_KEY_BY_FIELD[word])
        yield ("qos", "pfc", self._profile_of(port, "pfc"), "switch-priority", *([index] if index else ()))
        yield from self._cable_length_paths(port)

    def _queue_paths(self, port: str, field_words: list[str]) -> Iterator[Path]:
        index, queue_field, field, inner, *_ = (*field_words, "", "", "")
        setting_field = inner if queue_field == "wred" and inner else field or queue_field
        kinds = {"scheduler": ("egress-scheduler", "egress-shaper"), "wred": ("congestion-control",)}
        if queue_field == "buffer":
            yield (*_ADVANCED_BUFFER_PATH, "egress-lossy-buffer", "traffic-class", index, "shared-alpha")
            yield (*_ADVANCED_BUFFER_PATH, "egress-lossless-buffer", "shared-alpha")
        for kind in kinds.get(queue_field, ("egress-scheduler", "congestion-control", "egress-shaper")):
            queue_path: Path = ("qos", kind, self._profile_of(port, kind), "traffic-class", index)
            words = _NVUE_KEYS_BY_QUEUE_FIELD.get(setting_field, ())
            yield from ((*queue_path, word) for word in words)
        for kind in kinds.get(queue_field, ("egress-scheduler", "congestion-control", "egress-shaper")):
            yield ("qos", kind, self._profile_of(port, kind), "traffic-class", *([index] if index else ()))


_PATH_FINDER_BY_DEVICE_PART: Mapping[str, Callable[[_SubjectPlaceFinder, str, Path], Iterator[Path]]] = {
    **dict.fromkeys(ROUTING_DEVICE_PARTS, _SubjectPlaceFinder._routing_paths),
    **dict.fromkeys(_NVUE_SERVER_KEY_BY_DEVICE_PART, _SubjectPlaceFinder._server_paths),
    **dict.fromkeys(NAME_PREFIX_BY_BRIDGING_PART, _SubjectPlaceFinder._bridging_paths),
    **dict.fromkeys(OVERLAY_DEVICE_PARTS, _SubjectPlaceFinder._overlay_paths),
    **dict.fromkeys(_NVUE_SNMP_KEY_BY_DEVICE_PART, _SubjectPlaceFinder._snmp_paths),
    **dict.fromkeys(adaptive_routing.SWITCH_FIELDS, _SubjectPlaceFinder._adaptive_routing_paths),
    "@watchdog_polling_ms": _SubjectPlaceFinder._watchdog_polling_paths,
    "@qos_style": _SubjectPlaceFinder._qos_style_paths,
    "@watchdog_conditions": _SubjectPlaceFinder._watchdog_condition_paths,
    "@buffer_pools": _SubjectPlaceFinder._pool_paths,
    "@dynamic_buffers": _SubjectPlaceFinder._dynamic_buffer_paths,
    "@trimming": _SubjectPlaceFinder._trimming_paths,
    "@hash_fields": _SubjectPlaceFinder._hash_paths,
    "@mac_ageing_s": _SubjectPlaceFinder._ageing_paths,
    "@access_lists": _SubjectPlaceFinder._access_paths,
    "@loopbacks": _SubjectPlaceFinder._loopback_paths,
    "@management": _SubjectPlaceFinder._management_paths,
}
"""Finders of the facts of a device that `SWITCH` does not place, by the first word of the subject."""
