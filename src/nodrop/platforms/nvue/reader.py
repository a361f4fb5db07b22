"""From any state of Cumulus Linux 5.x, in either dialect, to a device: startup.yaml, exports, patches, `nv set`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from nodrop.errors import InputProblems, Problem
from nodrop.hardware import model_called
from nodrop.hardware.dynamic import resolve
from nodrop.model.buffers import DynamicBuffers
from nodrop.model.fabric import Device
from nodrop.model.reading import NOT_LISTED, DeviceReading, Note, Place, Remark, Source
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.bindings import decoded
from nodrop.platforms.nvue import conditions
from nodrop.platforms.nvue.adaptive_routing import of_switch
from nodrop.platforms.nvue.ageing import mac_ageing
from nodrop.platforms.nvue.bindings_switch import SWITCH
from nodrop.platforms.nvue.hashing import hash_fields
from nodrop.platforms.nvue.other_systems import other_system
from nodrop.platforms.nvue.read_access import access_lists
from nodrop.platforms.nvue.read_beside import BESIDE, check_other_files
from nodrop.platforms.nvue.read_breakouts import check_ports, check_revisions
from nodrop.platforms.nvue.read_bridging import port_channels, vlans
from nodrop.platforms.nvue.read_faults import check_balanced, check_macro, check_watchdogs
from nodrop.platforms.nvue.read_listening import remark_listening
from nodrop.platforms.nvue.read_macro import POLLING_MS
from nodrop.platforms.nvue.read_overlaps import remark_overlaps
from nodrop.platforms.nvue.read_overlays import multi_chassis, tunnels
from nodrop.platforms.nvue.read_pools import dynamic_buffers, pools
from nodrop.platforms.nvue.read_ports import Ports, interfaces
from nodrop.platforms.nvue.read_qos import QosReader
from nodrop.platforms.nvue.read_routing import RoutingReader
from nodrop.platforms.nvue.read_secrets import remark_secrets
from nodrop.platforms.nvue.read_services import (
    collectors,
    default_trimmed_classes,
    gnmi_port,
    loopbacks,
    management,
    servers,
    snmp,
    trimming,
)
from nodrop.platforms.nvue.read_settings import check
from nodrop.platforms.nvue.read_shared import check_shared
from nodrop.platforms.nvue.read_shares import check_shares
from nodrop.platforms.nvue.read_values import FILE, Config, render_path
from nodrop.platforms.nvue.schema_check import check_schema
from nodrop.platforms.nvue.tree import Path, Tree
from nodrop.syntax import nvset
from nodrop.syntax.places import quote_text

FILES = (FILE,)
BELOW: tuple[tuple[str, str], ...] = ()
SUFFIXES = (".yaml", ".yml")

_DEFAULT_NAME = "cumulus"
"""The hostname of a switch that nobody has named."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_ENTRY = re.compile(rb"""^[ \t]*-[ \t]+["']?(?:header|set|unset)["']?[ \t]*:[ \t]*(?:\{|#|\r?$)""", re.MULTILINE)
_JSON = re.compile(rb"""\[\s*\{\s*"(?:header|set|unset)"\s*:\s*\{""")
_VERSION = re.compile(r"(?:.*[^0-9.])?([0-9]{1,2})\.([0-9]{1,3})(?:\.[0-9A-Za-z.~+-]*)?")
_BUFFER_MODEL = (
    "NVUE computes headroom from speed, MTU and cable length, as SONiC's dynamic model on the same ASIC does"
)
_DYNAMIC = (
    "NVUE's own settings: alpha_1, small packets at 100 % up to Spectrum-5; 1024 bytes is the size it is taken for"
)


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is NVUE's: a list of `header`, `set` and `unset` in YAML or JSON, or lines of `nv set`."""
    if name == FILE:
        return True
    text = file_head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"{", b"[")):
        return bool(_JSON.match(text))
    return bool(_ENTRY.search(file_head)) or nvset.detect(file_head)


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading."""
    problems: list[Problem] = []
    sources = []
    beside: dict[str, bytes] = {}
    tree = None
    for source, raw in sorted(bundle, key=lambda file_pair: file_pair[0].name in BESIDE):
        sources.append(source)
        if source.name in BESIDE:
            beside[source.name] = raw
            continue
        try:
            tree = Tree(raw, source.display)
            if system_name := other_system(tree.header, tree.root):
                tree, problem_text = None, f"a configuration of {system_name}, which nodrop does not read"
                problems.append(Problem(path=source.display, found=problem_text, expected="one of Cumulus Linux"))
        except InputProblems as error:
            problems.extend(error.problems)
    try:
        return _Device(name, tuple(sources), tree, problems, beside).build_reading()
    except InputProblems as error:
        display = sources[0].display if sources else FILE
        problems += [
            Problem(path=display, found=problem.found, expected=problem.expected) for problem in error.problems
        ]
        return _Device(name, tuple(sources), None, problems, {}).build_reading()


class _Device:
    def __init__(
        self,
        name: str,
        sources: tuple[Source, ...],
        tree: Tree | None,
        problems: list[Problem],
        beside: Mapping[str, bytes],
    ) -> None:
        self._sources, self._problems, self._tree, self._beside = sources, problems, tree, beside
        self._notes: list[Note] = []
        self._derived: dict[Subject, str] = {}
        self._unread: list[Path] = []
        self._config = Config(name, tree)
        self._called: str | None = None
        self.name = self._config.device = self._hostname(name)

    def build_reading(self) -> DeviceReading:
        device = self._device()
        self._remark_text_faults(device)
        return DeviceReading(
            device=resolve(device),
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
            path, span = tree.double(double)
            facts = {"path": render_path(path), "first_line": str(double.first_line)}
            remark = Remark(kind="duplicate-key", subject=(self.name,), place=Place(FILE, span), facts=facts)
            config.remarks.append(remark)
        if unlisted := check_schema(config, device.version, device.model):
            message = f"{len(unlisted):,} more settings that do not fit the schema of NVUE are not listed"
            self._notes.append(Note(kind=NOT_LISTED, message=message, device=self.name))
        check_macro(config)
        check_other_files(config, self._beside, device.version)
        check_watchdogs(config)
        remark_overlaps(config)
        remark_secrets(config)
        remark_listening(config, device)
        display = self._sources[0].display if self._sources else None
        wrong = [fault.path for fault in unlisted if fault.is_of_a_word]
        self._notes += check(config, self.name, display, self._unread, wrong)

    def _hostname(self, name: str) -> str:
        stated = self._config.top.below("system").text("hostname")
        self._called = None if stated in (None, _DEFAULT_NAME) else name
        if stated is None or stated == name:
            return name
        if not _NAME.fullmatch(stated):
            self._config.remark("odd-name", (), ("system", "hostname"), name=quote_text(stated))
            return name
        return stated

    def _device(self) -> Device:
        config = self._config
        model = self._model()
        version = self._version()
        qos = QosReader(config, version, model)
        ports = Ports(config)
        routing = RoutingReader(config)
        top = config.top
        trimmed = default_trimmed_classes(top, qos.defaults.trims)
        found_interfaces = tuple(interfaces(ports, qos, model, trimmed, self._derived))
        qos.read_unbound()
        check_shared(config, qos.shared, qos.roce or "")
        check_shares(config, qos.roce)
        check_ports(config, ports, model)
        check_revisions(config, ports)
        check_balanced(config, ports)
        trims: dict[Subject, str] = {}
        balanced, weighs = of_switch(top, version, found_interfaces, self._derived)
        device = Device(
            name=self.name,
            platform="nvue",
            version=version,
            model=model,
            mac=UNKNOWN,
            interfaces=found_interfaces,
            loopbacks=loopbacks(top, ports),
            port_channels=port_channels(top, ports, self._derived),
            vlans=vlans(top, ports, self._derived),
            multi_chassis=multi_chassis(top, ports),
            access_lists=access_lists(top, ports),
            mac_ageing_s=mac_ageing(top),
            **decoded(SWITCH, [top]),
            tunnels=tunnels(top),
            management=management(ports),
            bgp=routing.bgp(),
            vrf_bgp=routing.vrf_bgp(),
            static_routes=routing.static_routes(),
            qos_style="explicit" if qos.roce is None else "macro",
            buffer_model="dynamic",
            counters=UNKNOWN,
            high_frequency=UNKNOWN,
            trimming=trimming(top, qos.defaults.trims, qos.queue_of, trims),
            ntp_servers=servers(top, "ntp"),
            syslog_servers=servers(top, "syslog"),
            dns_servers=servers(top, "dns"),
            snmp_location=snmp(top, "system-location"),
            snmp_contact=snmp(top, "system-contact"),
            hash_fields=hash_fields(top),
            adaptive_routing=balanced,
            weighs_utilization=weighs,
            gnmi_port=gnmi_port(top),
            otlp_collectors=collectors(top),
        )
        self._unread = list(routing.unread)
        for subject, reason in trims.items():
            self._derived[(self.name, *subject)] = reason
        self._derived[self.name, "@buffer_model"] = _BUFFER_MODEL
        return self._add_buffers(device, qos)

    def _add_buffers(self, device: Device, qos: QosReader) -> Device:
        settings = dynamic_buffers(device.interfaces, qos.limits, qos.small_percent)
        if isinstance(settings, DynamicBuffers):
            self._derived[self.name, "@dynamic_buffers"] = _DYNAMIC
        buffer_pools, unsaid = pools(qos.top, qos.defaults, device.model, qos.limits.static_pools)
        for pool in unsaid:
            self._derived[self.name, "@buffer_pools", pool] = qos.defaults.reason
        polling = qos.polling_ms
        if polling is None and qos.watched:
            polling = POLLING_MS
            self._derived[self.name, "@watchdog_polling_ms"] = f"the watchdog polls every {POLLING_MS} ms by default"
        if qos.conditions is not None and not qos.conditions_stated:
            self._derived[self.name, "@watchdog_conditions"] = conditions.REASON
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
        return model_called(stated) or UNKNOWN

    def _version(self) -> Any:
        """Return major.minor of the release that the header names."""
        stated = self._tree.header.get("version") if self._tree else None
        match = _VERSION.fullmatch(stated) if isinstance(stated, str) else None
        return f"{match[1]}.{match[2]}" if match else UNKNOWN
