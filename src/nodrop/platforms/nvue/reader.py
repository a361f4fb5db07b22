"""From any state of Cumulus Linux 5.x, in either dialect, to a device: startup.yaml, exports, patches, `nv set`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from nodrop.errors import InputProblems, Problem
from nodrop.hardware import find_model_by_name
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.buffers import DynamicBuffers
from nodrop.model.fabric import Device
from nodrop.model.reading import FAULTS_NOT_LISTED_NOTE_KIND, DeviceReading, FilePlace, Note, Remark, Source
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.bindings import decode_fields
from nodrop.platforms.nvue import conditions
from nodrop.platforms.nvue.adaptive_routing import read_switch_adaptive_routing
from nodrop.platforms.nvue.ageing import read_mac_ageing_s
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.hashing import read_hash_fields
from nodrop.platforms.nvue.other_systems import other_system_name
from nodrop.platforms.nvue.read_access import read_access_lists
from nodrop.platforms.nvue.read_beside import COMPANION_FILES, remark_files_overwritten_by_nvue
from nodrop.platforms.nvue.read_breakouts import remark_missing_ports, remark_qos_in_breakout_revision
from nodrop.platforms.nvue.read_bridging import read_port_channels, read_vlans
from nodrop.platforms.nvue.read_faults import (
    remark_adaptive_routing_not_on_ports,
    remark_settings_contradicting_roce_macro,
    remark_watchdogs_not_on_ports,
)
from nodrop.platforms.nvue.read_listening import remark_services_outside_management
from nodrop.platforms.nvue.read_macro import DEFAULT_WATCHDOG_POLLING_MS
from nodrop.platforms.nvue.read_overlaps import remark_overlaps
from nodrop.platforms.nvue.read_overlays import read_multi_chassis, read_tunnels
from nodrop.platforms.nvue.read_pools import dynamic_buffers, read_traffic_pools
from nodrop.platforms.nvue.read_ports import FileInterfaces, read_interfaces
from nodrop.platforms.nvue.read_qos import QosReader
from nodrop.platforms.nvue.read_routing import RoutingReader
from nodrop.platforms.nvue.read_secrets import remark_secrets
from nodrop.platforms.nvue.read_services import (
    default_trimmed_classes,
    read_gnmi_port,
    read_loopbacks,
    read_management_port,
    read_otlp_collectors,
    read_servers,
    read_snmp_text,
    read_trimming,
)
from nodrop.platforms.nvue.read_settings import find_unknown_settings
from nodrop.platforms.nvue.read_shared import remark_unused_shared_headroom
from nodrop.platforms.nvue.read_shares import check_shares_and_lossless_pools
from nodrop.platforms.nvue.read_values import STARTUP_FILE, NvueConfigFile, render_path
from nodrop.platforms.nvue.schema_check import check_schema
from nodrop.platforms.nvue.tree import NvueFileTree, Path
from nodrop.syntax import nvset
from nodrop.syntax.places import quote_text

CANONICAL_FILES = (STARTUP_FILE,)
SUBFOLDER_ENDINGS: tuple[tuple[str, str], ...] = ()
USUAL_SUFFIXES = (".yaml", ".yml")

_DEFAULT_HOSTNAME = "cumulus"
"""The hostname of a switch that nobody has named."""
_HOSTNAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_YAML_PATCH_ENTRY_LINE = re.compile(
    rb"""^[ \t]*-[ \t]+["']?(?:header|set|unset)["']?[ \t]*:[ \t]*(?:\{|#|\r?$)""", re.MULTILINE
)
_JSON_PATCH_START_PATTERN = re.compile(rb"""\[\s*\{\s*"(?:header|set|unset)"\s*:\s*\{""")
_VERSION_PATTERN = re.compile(r"(?:.*[^0-9.])?([0-9]{1,2})\.([0-9]{1,3})(?:\.[0-9A-Za-z.~+-]*)?")
_BUFFER_MODEL_REASON = (
    "NVUE computes headroom from speed, MTU and cable length, as SONiC's dynamic model on the same ASIC does"
)
_DYNAMIC_BUFFERS_REASON = (
    "NVUE's own settings: alpha_1, small packets at 100 % up to Spectrum-5; 1024 bytes is the size it is taken for"
)


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is NVUE's: a list of `header`, `set` and `unset` in YAML or JSON, or lines of `nv set`."""
    if name == STARTUP_FILE:
        return True
    text = file_head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"{", b"[")):
        return bool(_JSON_PATCH_START_PATTERN.match(text))
    return bool(_YAML_PATCH_ENTRY_LINE.search(file_head)) or nvset.has_nv_lines(file_head)


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading."""
    problems: list[Problem] = []
    sources = []
    beside: dict[str, bytes] = {}
    tree = None
    for source, raw in sorted(bundle, key=lambda file_pair: file_pair[0].name in COMPANION_FILES):
        sources.append(source)
        if source.name in COMPANION_FILES:
            beside[source.name] = raw
            continue
        try:
            tree = NvueFileTree(raw, source.display)
            if system_name := other_system_name(tree.header, tree.root):
                tree, problem_text = None, f"a configuration of {system_name}, which nodrop does not read"
                problems.append(Problem(path=source.display, found=problem_text, expected="one of Cumulus Linux"))
        except InputProblems as error:
            problems.extend(error.problems)
    try:
        return _DeviceReader(name, tuple(sources), tree, problems, beside).build_reading()
    except InputProblems as error:
        display = sources[0].display if sources else STARTUP_FILE
        problems += [
            Problem(path=display, found=problem.found, expected=problem.expected) for problem in error.problems
        ]
        return _DeviceReader(name, tuple(sources), None, problems, {}).build_reading()


class _DeviceReader:
    def __init__(
        self,
        name: str,
        sources: tuple[Source, ...],
        tree: NvueFileTree | None,
        problems: list[Problem],
        beside: Mapping[str, bytes],
    ) -> None:
        self._sources, self._problems, self._tree, self._beside = sources, problems, tree, beside
        self._notes: list[Note] = []
        self._derived: dict[Subject, str] = {}
        self._unread: list[Path] = []
        self._config = NvueConfigFile(name, tree)
        self._called: str | None = None
        self.name = self._config.device = self._hostname(name)

    def build_reading(self) -> DeviceReading:
        device = self._build_device()
        self._remark_text_faults(device)
        return DeviceReading(
            device=fill_in_computed_buffer_sizes(device),
            called=self._called,
            sources=self._sources,
            remarks=tuple(self._config.remarks),
            notes=tuple(self._notes),
            problems=tuple(self._problems),
            derived=self._derived,
        )

    def _remark_text_faults(self, device: Device) -> None:
        """Report problems of the text that do not depend on its meaning."""
        config, tree = self._config, self._tree
        if tree is None:
            return
        for double in tree.doubles:
            path, span = tree.path_and_place_of_duplicate(double)
            facts = {"path": render_path(path), "first_line": str(double.first_line)}
            remark = Remark(
                kind="duplicate-key", subject=(self.name,), place=FilePlace(STARTUP_FILE, span), facts=facts
            )
            config.remarks.append(remark)
        if unlisted := check_schema(config, device.version, device.model):
            message = f"{len(unlisted):,} more settings that do not fit the schema of NVUE are not listed"
            self._notes.append(Note(kind=FAULTS_NOT_LISTED_NOTE_KIND, message=message, device=self.name))
        remark_settings_contradicting_roce_macro(config, device)
        remark_files_overwritten_by_nvue(config, self._beside, device.version)
        remark_watchdogs_not_on_ports(config)
        remark_overlaps(config)
        remark_secrets(config)
        remark_services_outside_management(config, device)
        display = self._sources[0].display if self._sources else None
        wrong = [fault.path for fault in unlisted if fault.is_unknown_setting]
        self._notes += find_unknown_settings(config, self.name, display, self._unread, wrong)

    def _hostname(self, name: str) -> str:
        stated = self._config.top.below("system").text("hostname")
        self._called = None if stated in (None, _DEFAULT_HOSTNAME) else name
        if stated is None or stated == name:
            return name
        if not _HOSTNAME_PATTERN.fullmatch(stated):
            self._config.remark("odd-name", (), ("system", "hostname"), name=quote_text(stated))
            return name
        return stated

    def _build_device(self) -> Device:
        config = self._config
        model = self._model()
        version = self._version()
        qos = QosReader(config, version, model)
        ports = FileInterfaces(config)
        routing = RoutingReader(config)
        top = config.top
        trimmed = default_trimmed_classes(top, qos.defaults.trims)
        found_interfaces = tuple(read_interfaces(ports, qos, model, trimmed, self._derived))
        qos.read_unbound_profiles()
        remark_unused_shared_headroom(config, qos.shared, qos.roce or "")
        check_shares_and_lossless_pools(config, qos.roce)
        remark_missing_ports(config, ports, model)
        remark_qos_in_breakout_revision(config, ports)
        remark_adaptive_routing_not_on_ports(config, ports)
        trims: dict[Subject, str] = {}
        balanced, weighs = read_switch_adaptive_routing(top, version, found_interfaces, self._derived)
        device = Device(
            name=self.name,
            platform="nvue",
            version=version,
            model=model,
            mac=UNKNOWN,
            interfaces=found_interfaces,
            loopbacks=read_loopbacks(top, ports),
            port_channels=read_port_channels(top, ports, self._derived),
            vlans=read_vlans(top, ports, self._derived),
            multi_chassis=read_multi_chassis(top, ports),
            access_lists=read_access_lists(top, ports),
            mac_ageing_s=read_mac_ageing_s(top),
            **decode_fields(SWITCH_BINDINGS, [top]),
            tunnels=read_tunnels(top),
            management=read_management_port(ports),
            bgp=routing.bgp_of_default_vrf(),
            vrf_bgp=routing.bgp_of_other_vrfs(),
            static_routes=routing.static_routes(),
            qos_style="explicit" if qos.roce is None else "macro",
            buffer_model="dynamic",
            counters=UNKNOWN,
            high_frequency=UNKNOWN,
            trimming=read_trimming(top, qos.defaults.trims, qos.queue_of, trims),
            ntp_servers=read_servers(top, "ntp"),
            syslog_servers=read_servers(top, "syslog"),
            dns_servers=read_servers(top, "dns"),
            snmp_location=read_snmp_text(top, "system-location"),
            snmp_contact=read_snmp_text(top, "system-contact"),
            hash_fields=read_hash_fields(top),
            adaptive_routing=balanced,
            weighs_utilization=weighs,
            gnmi_port=read_gnmi_port(top),
            otlp_collectors=read_otlp_collectors(top),
        )
        self._unread = list(routing.unread)
        for subject, reason in trims.items():
            self._derived[(self.name, *subject)] = reason
        self._derived[self.name, "@buffer_model"] = _BUFFER_MODEL_REASON
        return self._add_buffers(device, qos)

    def _add_buffers(self, device: Device, qos: QosReader) -> Device:
        settings = dynamic_buffers(device.interfaces, qos.limits, qos.small_percent)
        if isinstance(settings, DynamicBuffers):
            self._derived[self.name, "@dynamic_buffers"] = _DYNAMIC_BUFFERS_REASON
        buffer_pools, unsaid = read_traffic_pools(qos.top, qos.defaults, device.model, qos.limits.static_pools)
        for pool in unsaid:
            self._derived[self.name, "@buffer_pools", pool] = qos.defaults.reason
        polling = qos.polling_ms
        if polling is None and qos.watched:
            polling = DEFAULT_WATCHDOG_POLLING_MS
            self._derived[self.name, "@watchdog_polling_ms"] = (
                f"the watchdog polls every {DEFAULT_WATCHDOG_POLLING_MS} ms by default"
            )
        if qos.conditions is not None and not qos.conditions_stated:
            self._derived[self.name, "@watchdog_conditions"] = conditions.DEFAULT_WATCHDOG_CONDITIONS_REASON
        return replace_fields(
            device,
            dynamic_buffers=settings,
            buffer_pools=buffer_pools,
            watchdog_polling_ms=polling,
            watchdog_conditions=qos.conditions,
        )

    def _model(self) -> str | Unknown:
        stated = self._tree.header.get("model") if self._tree else None
        if not isinstance(stated, str):
            return UNKNOWN
        return find_model_by_name(stated) or UNKNOWN

    def _version(self) -> Any:
        """Return major.minor of the release that the header names."""
        stated = self._tree.header.get("version") if self._tree else None
        match = _VERSION_PATTERN.fullmatch(stated) if isinstance(stated, str) else None
        return f"{match[1]}.{match[2]}" if match else UNKNOWN
