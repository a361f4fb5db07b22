"""From a device to startup.yaml, and its stages; settings that NVUE cannot express are refused, nothing is repaired.

`startup.yaml` is the whole state. A switch takes QoS of parts of a broken-out port only once the breakout is applied
(Cumulus Linux release notes, 3362113). Therefore `apply/` holds the ports first and their QoS second.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodrop.hardware import switch
from nodrop.model.fabric import Device, Interface, Port
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.artifact import Artifact
from nodrop.platforms.kit.rendering import EscapedText, load_template
from nodrop.platforms.kit.session_groups import group_name_by_far_end
from nodrop.platforms.nvue import conditions, effects, limits_qos
from nodrop.platforms.nvue.adaptive_routing import THRESHOLD_KEY
from nodrop.platforms.nvue.additions import merge_statements
from nodrop.platforms.nvue.bindings import statements_of_model_part
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.bridging import render_bridge_ports
from nodrop.platforms.nvue.delivery import apply_script, image_system_settings
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE
from nodrop.platforms.nvue.hashing import NVUE_FLAG_BY_FIELD
from nodrop.platforms.nvue.limits import check_expressible
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.profiles import (
    ValueByPath,
    profile_statements,
    queue_map_settings,
    roce_macro_settings,
    settings_of_profile,
    subtract_settings,
)
from nodrop.platforms.nvue.releases import has_feature
from nodrop.platforms.nvue.spelling import (
    GLOBAL_PROFILE,
    NVUE_WORD_BY_FEC,
    DeviceQosProfiles,
    PortQosProfiles,
    dialect_of_release,
    format_numbers,
    format_port_key,
)
from nodrop.platforms.nvue.stages import StatementForms, render_statements_as_yaml_and_commands
from nodrop.platforms.nvue.traits import TRAITS
from nodrop.platforms.nvue.write_routing import insert_statements, render_statements, routing_statements
from nodrop.units import show_speed

_RENDERED_QOS_CACHE_SIZE = 128
_PORTS, _QOS = "10-ports", "20-qos"
_SMALL_PACKETS_KEY = "small-packet-probability"


def write(device: Device, index: Index) -> tuple[Artifact, ...]:
    """Return the device's files; UnsupportedByPlatform names the model path that NVUE cannot express."""
    design = _find_or_render_shared_statements(device)
    router, vrf = routing_statements(device, group_name_by_far_end(device, index))
    texts = [_render_interface_statements(device, design), design.qos, router, _render_services(device, design), vrf]
    extra = device.extra
    if isinstance(extra, tuple) and extra:
        texts = [merge_statements("".join(texts), extra)]
    stages = {_PORTS: _combine_forms(texts, design)}
    whole_forms = stages[_PORTS]
    main_text, second_text = _separate_subport_qos(texts[0]) if design.broken_out else (texts[0], "")
    if second_text:
        stages = {
            _PORTS: _combine_forms([main_text, *texts[1:]], design),
            _QOS: render_statements_as_yaml_and_commands(second_text),
        }
    return tuple(_build_artifacts(device, whole_forms, stages))


def _combine_forms(texts: Iterable[str], design: "_RenderedPortsAndQos") -> StatementForms:
    """Return statements in both forms, those about QoS as computed for all devices of the design."""
    new_forms = [design.forms if text is design.qos else render_statements_as_yaml_and_commands(text) for text in texts]
    return StatementForms("".join(form.yaml for form in new_forms), "".join(form.commands for form in new_forms))


class _InterfaceKeyStatements(NamedTuple):
    """An interface key: the settings of its only port, and those that the ports of the key share, as statements.

    `bridged` holds its settings as a port of the bridge.
    """

    key: str
    port: Interface | None
    shared: EscapedText
    bridged: EscapedText


@dataclass(frozen=True, slots=True)
class _RenderedPortsAndQos:
    """What follows from ports and QoS alone, which many devices have in common."""

    kept: tuple[object, ...]
    """Holds the profiles, so that their ids stay theirs."""
    say: "_TemplateWords"
    shared: dict[str, EscapedText]
    """Statements by key of interfaces."""
    qos: str
    """Statements about QoS, and the same in the forms of a file."""
    forms: StatementForms
    broken_out: bool
    """Whether there are parts of ports."""


_RENDERED_QOS_CACHE: OrderedDict[object, _RenderedPortsAndQos] = OrderedDict()


def _find_or_render_shared_statements(device: Device) -> _RenderedPortsAndQos:
    """Return what all devices with the same ports and QoS share: checked and rendered once."""
    check_expressible(device)
    ports = tuple(
        (p.name, p.qos, p.enabled, p.speed_mbps, p.lanes, p.fec, p.autoneg, p.mtu_bytes, p.link_pause,
         p.cable_length_m, p.adaptive_routing, p.utilization_threshold_percent)
        for p in device.interfaces
    )  # fmt: skip
    key = (
        device.model, device.version, device.qos_style, ports, device.buffer_pools, device.dynamic_buffers,
        device.watchdog_polling_ms,
        device.watchdog_conditions, device.trimming,
    )  # fmt: skip
    design = _RENDERED_QOS_CACHE.get(key)
    if design is None:
        design = _RENDERED_QOS_CACHE[key] = _render_shared_statements(device)
        if len(_RENDERED_QOS_CACHE) > _RENDERED_QOS_CACHE_SIZE:
            _RENDERED_QOS_CACHE.popitem(last=False)
    return design


def _render_shared_statements(device: Device) -> _RenderedPortsAndQos:
    limits_qos.check_qos(device)
    say = _TemplateWords(device)
    alike: dict[tuple[object, ...], list[Interface]] = {}
    for port in device.interfaces:
        named_nvue_port = nvue_port(port.name)
        link = (
            port.enabled, port.speed_mbps, port.fec, port.autoneg, port.mtu_bytes, port.adaptive_routing,
            port.utilization_threshold_percent,
        )  # fmt: skip
        alike.setdefault(
            (named_nvue_port is not None and named_nvue_port.part, *link, say.of_port[port.name]), []
        ).append(port)
    shared = {
        key: render_statements("port", name=key, port=port, qos=qos, say=say)
        for key, port, qos in _keyed_ports(alike, say)
    }
    broken = _broken_out_ports(device)
    shared |= {
        key: EscapedText(_BREAKOUT_STATEMENTS.format(key=key, splits=splits, lanes=lanes))
        for key, splits, lanes in broken
    }
    shared |= {key: EscapedText(_DISABLED_PORT_TEMPLATE.format(key=key)) for key in _blocked_panel_keys(device)}
    pools = {pool.name: pool.percentage for pool in require_fact(device.buffer_pools)}
    qos = render_statements(
        "qos",
        say=say,
        alpha=non_default_lossless_alpha(device),
        polling_ms=device.watchdog_polling_ms,
        robustness=limits_qos.detection_pollings(device),
        recovery=limits_qos.recovery_pollings(device),
        conditions=conditions.watchdog_condition_settings(require_fact(device.watchdog_conditions)),
        cable_length_m=say.usual["pfc"].cable_length_m,
        lossy_percent=pools["ingress_lossy"],
        lossless_percent=pools.get("ingress_lossless"),
    )
    kept_profiles = tuple(port.qos for port in device.interfaces)
    return _RenderedPortsAndQos(
        kept_profiles,
        say,
        shared,
        qos,
        render_statements_as_yaml_and_commands(qos),
        broken_out=any(map(_is_split_port_key, shared)),
    )


_BREAKOUT_STATEMENTS = "interface {key} link breakout {splits}x lanes-per-port ~ {lanes}\ninterface {key} type = swp\n"


_DISABLED_PORT_TEMPLATE = "interface {key} link breakout disabled\ninterface {key} type = swp\n"


def _blocked_panel_keys(device: Device) -> list[str]:
    """Return the key of the panel ports that are lost to the ones before them, which are broken out so far."""
    facts = switch(str(device.model))
    ports_per_panel = Counter(port.port.panel for port in device.interfaces if isinstance(port.port, Port))
    lost = [
        f"swp{panel + 1}"
        for panel, count in ports_per_panel.items()
        if (breakout := facts.find_breakout(count)) and breakout.blocks_next
    ]
    return [format_port_key(lost)] if lost else []


def _is_split_port_key(key: str) -> bool:
    """Whether a key of interfaces stands for parts of broken-out ports."""
    return key.startswith("swp") and "s" in key[3:].partition(",")[0]


def _keyed_ports(
    alike: dict[tuple[object, ...], list[Interface]], say: "_TemplateWords"
) -> Iterator[tuple[str, Interface, PortQosProfiles]]:
    for ports in alike.values():
        yield format_port_key(port.name for port in ports), ports[0], say.of_port[ports[0].name]


def _broken_out_ports(device: Device) -> list[tuple[str, int, int | None]]:
    """Return (key of panel ports, number of parts, lanes of each) of the broken-out ports."""
    interfaces: dict[int, list[Interface]] = {}
    for port in device.interfaces:
        named_nvue_port = nvue_port(port.name)
        if named_nvue_port is not None and named_nvue_port.part:
            interfaces.setdefault(named_nvue_port.port.panel, []).append(port)
    alike: dict[tuple[int, int | None], list[str]] = {}
    for panel, ports in interfaces.items():
        alike.setdefault((len(ports), require_fact(ports[0].lanes)), []).append(f"swp{panel}")
    return [(format_port_key(names), splits, lanes) for (splits, lanes), names in alike.items()]


def non_default_lossless_alpha(device: Device) -> str | None:
    """Spell how much of the pool lossless traffic may take on the way in; None where it is what NVUE begins with."""
    settings = require_fact(device.dynamic_buffers)
    exponent = 0 if settings is None else settings.dynamic_th
    if exponent == 0:
        return None
    if exponent in (-8, 7):
        return "alpha_0" if exponent < 0 else "alpha_infinity"
    return f"alpha_1_{2**-exponent}" if exponent < 0 else f"alpha_{2**exponent}"


def small_packet_percent(device: Device) -> int | None:
    """Return the share of small packets that headroom is computed with; None if it is NVUE's default."""
    settings = require_fact(device.dynamic_buffers)
    percent = None if settings is None else settings.small_packet_percent
    return None if percent == effects.default_small_packet_percent(device.model) else percent


def _render_interface_statements(device: Device, design: _RenderedPortsAndQos) -> str:
    say = design.say
    bridge_ports = render_bridge_ports(device)
    single = {
        port.name: port for port in device.interfaces if _has_individual_settings(port) or port.name in bridge_ports
    }
    keys = sorted({*single, *design.shared}, key=natural_sort_key)
    none = EscapedText()
    rows = [
        _InterfaceKeyStatements(key, single.get(key), design.shared.get(key, none), bridge_ports.get(key, none))
        for key in keys
    ]
    vlans, bonds = require_fact(device.vlans), require_fact(device.port_channels)
    links = {
        "bonds": [
            (bond.name, bond, format_port_key(bond.members), bridge_ports.get(bond.name, none)) for bond in bonds
        ],
        "gateways": [(f"vlan{vlan.id}", vlan) for vlan in vlans if vlan.mtu_bytes is not None],
        "vlans": format_numbers(vlan.id for vlan in vlans),
    }
    return render_statements("interfaces", device=device, rows=rows, say=say, **links)


def _has_individual_settings(port: Interface) -> bool:
    return bool(port.addresses) or port.description is not None or port.vrf is not None


def _build_artifacts(
    device: Device, whole_forms: StatementForms, stages: Mapping[str, StatementForms]
) -> Iterator[Artifact]:
    header = load_template("nvue/header.yaml.j2").render(device=device, of_image=image_system_settings())
    yield Artifact(device=device.name, path="startup.yaml", text=f"{header}- set:\n{whole_forms.yaml}")
    for name, own_stage in stages.items():
        yield Artifact(device=device.name, path=f"apply/{name}.nv", text=own_stage.commands)
        yield Artifact(device=device.name, path=f"apply/{name}.yaml", text=f"- set:\n{own_stage.yaml}")
    text = apply_script(str(device.version), str(device.model))
    yield Artifact(device=device.name, path="apply/apply.sh", text=text)


def _separate_subport_qos(statements: str) -> tuple[str, str]:
    """Return the statements without, and those that are, the QoS of parts of ports."""
    main_lines: list[str] = []
    subport_lines: list[str] = []
    for line in statements.splitlines(keepends=True):
        words = line.split(" ", 3)
        apart = words[0] == "interface" and words[2] == "qos" and _is_split_port_key(words[1])
        (subport_lines if apart else main_lines).append(line)
    return "".join(main_lines), "".join(subport_lines)


class _FamilyAddresses(NamedTuple):
    """Addresses of a family, and the word that they stand under."""

    word: str
    addresses: tuple[str, ...]
    gateway: str | None


class _TemplateWords(DeviceQosProfiles):
    """The words that the templates ask for."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.dialect = dialect_of_release(device.version)
        self.old, self.on, self.off = self.dialect.old, self.dialect.on, self.dialect.off
        self.snmp = "system" if has_feature(device.version, "SNMP beside the services") else "service"
        self.syslog_by_vrf = not has_feature(device.version, "servers of syslog beside the VRF")
        self.enabled, self.disabled = self.dialect.enabled, self.dialect.disabled
        self.lossless = sorted(limits_qos.pfc_priorities_of_device(device))
        self._queues = _queues_by_switch_priority(device.interfaces[0])
        self._small_percent = small_packet_percent(device)
        self.lossless_queues = sorted(effects.lossless_queues(self.lossless, self._queues))
        self.pausing = tuple(self.usual["pfc"].priorities)
        cable, used = self.usual["pfc"].cable_length_m, {queue for queue in self._queues if queue is not None}
        self._given = roce_macro_settings(self.defaults, used, cable) if self.macro else {}

    def addresses_by_family_word(
        self, addresses: tuple[str, ...], gateway: str | None = None
    ) -> list[_FamilyAddresses]:
        """Return addresses by the words that they stand under: one before 5.15, one for each family since."""
        if self.old:
            return [_FamilyAddresses("ip", addresses, gateway)] if addresses or gateway else []
        found_families = []
        for word in ("ipv4", "ipv6"):
            own_addresses = tuple(address for address in addresses if (":" in address) == (word == "ipv6"))
            via = gateway if gateway and (":" in gateway) == (word == "ipv6") else None
            if own_addresses or via:
                found_families.append(_FamilyAddresses(word, own_addresses, via))
        return found_families

    def link_statements(self, port: Interface) -> list[tuple[str, object]]:
        """Return (key, value) of a port's link except its state: of a port that is shut, without defaults.

        NVIDIA advises against `fec auto` (5.16, Switch Port Attributes, FEC); leaving out the line means the same.
        """
        speed = require_fact(port.speed_mbps)
        rows = [
            ("autoneg", "auto-negotiate", self.on if port.autoneg else self.dialect.off),
            *([] if port.fec == "auto" else [("fec", "fec", NVUE_WORD_BY_FEC[str(port.fec)])]),
            ("mtu_bytes", "mtu", port.mtu_bytes),
            ("speed_mbps", "speed", speed and show_speed(speed)),
        ]
        return [(key, value) for name, key, value in rows if port.enabled or getattr(port, name) != TRAITS.spare[name]]

    def adaptive_routing_statements(self, port: Interface) -> list[tuple[str, str | int]]:
        """Return (key, value) of a port's adaptive routing."""
        word, _, value = self.dialect.enabled.split(" ")
        on: list[tuple[str, str | int]] = [(word, value)] if port.adaptive_routing else []
        threshold = require_fact(port.utilization_threshold_percent)
        return sorted(on if threshold is None else [*on, (THRESHOLD_KEY, threshold)])

    def port_qos_statements(self, qos: PortQosProfiles) -> list[tuple[str, str, str]]:
        """Return (kind, key, value) of the QoS settings of a port itself."""
        profile_rows = [(kind, "profile", name) for kind, name in self.bindings(qos)]
        return sorted([*profile_rows, *([("pfc-watchdog", "state", "enable")] if qos.watched else [])])

    def statements_of_profiles(self, kind: str) -> list[str]:
        """Return the statements of all profiles of a kind, without those that the macro sets."""
        if kind == "pfc" and not self.pausing:
            return []
        found_statements = []
        for name, value in [(GLOBAL_PROFILE, None)] if kind == "egress-queue-mapping" else self.profiles(kind):
            own_leaves = self._profile_leaves(kind, value)
            stated = subtract_settings(own_leaves, self._given.get(kind, {})) if name == GLOBAL_PROFILE else own_leaves
            found_statements += profile_statements(kind, name, stated) or ([] if own_leaves else [f"qos {kind} {name}"])
        return found_statements

    def _profile_leaves(self, kind: str, value: Any) -> ValueByPath:
        """Return the settings of a profile, and those that undo what `default-global` or another profile does."""
        if kind == "egress-queue-mapping":
            return dict(queue_map_settings(self._queues))
        own_leaves = dict(settings_of_profile(kind, value))
        if kind == "congestion-control":
            own_leaves |= {
                ("traffic-class", str(queue), "ecn"): "disable" for queue in self.queues_to_exclude_from_marking(value)
            }
        elif kind == "pfc":
            if not value.priorities:
                own_leaves |= {("switch-priority", str(priority)): PRESENT_WITHOUT_VALUE for priority in self.pausing}
            if self._small_percent is not None:
                own_leaves[_SMALL_PACKETS_KEY,] = str(self._small_percent)
        return own_leaves


def _queues_by_switch_priority(port: Interface) -> tuple[int | None, ...]:
    assert isinstance(port.qos, QosProfile)
    queues = require_fact(port.qos.tc_to_queue)
    assert queues is not None
    return queues[:8]


def _render_services(device: Device, design: _RenderedPortsAndQos) -> str:
    management = require_fact(device.management)
    vrf = "mgmt" if management is not None and management.own_vrf else "default"
    addresses = management.addresses if management is not None else ()
    listening = tuple(address.partition("/")[0] for address in addresses)
    text = render_statements(
        "services", device=device, vrf=vrf, say=design.say, listening=listening, hash_flags=NVUE_FLAG_BY_FIELD
    )
    return insert_statements(
        text, statements_of_model_part(SWITCH_BINDINGS, device, dialect_of_release(device.version))
    )
