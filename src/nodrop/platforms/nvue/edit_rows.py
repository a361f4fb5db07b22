"""Everything of a device that is not QoS, brought into the settings of the file that it has."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from nodrop.model.fabric import Collector, Device, HashField, Interface, Loopback, Management
from nodrop.model.overlays import Tunnel
from nodrop.model.states import UNKNOWN, Unknown, known_rows, require_fact
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.nvue import ageing, hashing
from nodrop.platforms.nvue.adaptive_routing import ADAPTIVE_ROUTING_PATH, THRESHOLD_KEY
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.edit_access import change_access_lists
from nodrop.platforms.nvue.edit_draft import PendingSettingChanges, has_path
from nodrop.platforms.nvue.edit_groups import settings_adjusted_for_peer_groups
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE
from nodrop.platforms.nvue.read_overlays import DSCP_KEY_AND_WORDS_BY_FIELD, VXLAN_PATH
from nodrop.platforms.nvue.read_services import GNMI_PATH, OTLP_EXPORT_PATH, PACKET_TRIM_PATH, SNMP_PATHS, server_paths
from nodrop.platforms.nvue.releases import has_feature
from nodrop.platforms.nvue.spelling import NVUE_WORD_BY_FEC
from nodrop.platforms.nvue.tree import Path
from nodrop.platforms.nvue.write_routing import routing_statements
from nodrop.units import show_speed

_ENTITY_PARENT_KEYS = frozenset(
    {
        "as-path-list",
        "community-list",
        "match",
        "neighbor",
        "prefix-list",
        "redistribute",
        "route-map",
        "rule",
        "static",
        "via",
    }
)
"""Parents of keys that are taken away with all that is said of them."""


def change_ports_services_and_routing(draft: PendingSettingChanges, old_device: Device, new_device: Device) -> None:
    """Bring ports, addresses, services and routing of `new` into a file with those of `old`."""
    for a, b in zip(old_device.interfaces, new_device.interfaces, strict=True):
        if not is_equal(a, b):
            _change_port(draft, a, b)
    _edit_management(draft, old_device.management, new_device.management)
    _edit_loopbacks(draft, old_device.loopbacks, new_device.loopbacks)
    for kind, before, after in (
        ("ntp", old_device.ntp_servers, new_device.ntp_servers),
        ("syslog", old_device.syslog_servers, new_device.syslog_servers),
        ("dns", old_device.dns_servers, new_device.dns_servers),
    ):
        if _is_known_change(before, after):
            _edit_servers(draft, kind, require_fact(before), require_fact(after), new_device)
    for attribute, word in (("snmp_location", "system-location"), ("snmp_contact", "system-contact")):
        if _is_known_change(getattr(old_device, attribute), getattr(new_device, attribute)):
            _set_snmp_field(draft, word, getattr(new_device, attribute))
    if _is_known_change(old_device.mac_ageing_s, new_device.mac_ageing_s):
        draft.set_or_unset(*next(ageing.mac_ageing_paths(draft.top)), to=new_device.mac_ageing_s)
    _change_switch_rows(draft, old_device, new_device)
    change_access_lists(draft, old_device, new_device)
    if _is_known_change(old_device.tunnels, new_device.tunnels):
        _edit_tunnel_dscp(draft, known_rows(old_device.tunnels), known_rows(new_device.tunnels))
    if _is_known_change(old_device.hash_fields, new_device.hash_fields):
        _set_hash_fields(draft, new_device.hash_fields)
    if _is_known_change(old_device.gnmi_port, new_device.gnmi_port):
        draft.set(*GNMI_PATH, "state", to="disabled" if new_device.gnmi_port is None else "enabled")
        if new_device.gnmi_port is not None:
            draft.set(*GNMI_PATH, "port", to=new_device.gnmi_port)
    if _is_known_change(old_device.otlp_collectors, new_device.otlp_collectors):
        _edit_collectors(draft, require_fact(old_device.otlp_collectors), require_fact(new_device.otlp_collectors))
    _set_switch_adaptive_routing(draft, old_device, new_device)
    if _is_known_change(old_device.trimming, new_device.trimming):
        _edit_trimming(draft, old_device.trimming, new_device.trimming)
    _edit_routing(draft, old_device, new_device)


def _is_known_change(old: object, new: object) -> bool:
    return not is_equal(old, new) and not isinstance(new, Unknown) and not isinstance(old, Unknown)


def _change_switch_rows(draft: PendingSettingChanges, old_device: Device, new_device: Device) -> None:
    """Let settings of the switch that have rows have other values."""
    for row in SWITCH_BINDINGS:
        value = getattr(new_device, row.field)
        if row.encode is None or not _is_known_change(getattr(old_device, row.field), value):
            continue
        lines = () if value is None else row.encode(value, draft.say)
        for path in row.where if not lines else ():
            draft.unset(*path)
        for line in lines:
            draft.set(*line.path, to=line.value)


def _edit_tunnel_dscp(draft: PendingSettingChanges, old: tuple[Tunnel, ...], new: tuple[Tunnel, ...]) -> None:
    """Set the handling of the DSCP in existing tunnels; others are for their owner to make."""
    for before, after in zip(old, new, strict=False):
        for field, (direction, words) in DSCP_KEY_AND_WORDS_BY_FIELD.items():
            word = words.get(getattr(after, field))
            if before.name == after.name and word is not None and getattr(before, field) != getattr(after, field):
                draft.set_or_unset(*VXLAN_PATH, direction, "dscp", "action", to=word)


def _set_hash_fields(draft: PendingSettingChanges, fields: tuple[HashField, ...] | None | Unknown) -> None:
    """Say of each field whether it counts, or leave all of them to the switch."""
    counting = require_fact(fields)
    for field, flag in hashing.NVUE_FLAG_BY_FIELD.items():
        word = None if counting is None else draft.say.on if field in counting else draft.say.off
        draft.set_or_unset(*hashing.ECMP_HASH_PATH, flag, to=word)


def _change_port(draft: PendingSettingChanges, left_port: Interface, right_port: Interface) -> None:
    link = ("interface", right_port.name, "link")
    on, off = draft.say.on, draft.say.off
    spelt: tuple[tuple[str, str, Callable[[Any], str | int | None]], ...] = (
        ("enabled", "state", lambda value: "up" if value else "down"),
        ("speed_mbps", "speed", lambda value: value and show_speed(value)),
        ("fec", "fec", lambda value: NVUE_WORD_BY_FEC[value] if value and value != "auto" else None),
        ("autoneg", "auto-negotiate", lambda value: None if value is None else on if value else off),
        ("mtu_bytes", "mtu", lambda value: value),
    )
    for attribute, word, spell in spelt:
        before, after = getattr(left_port, attribute), getattr(right_port, attribute)
        if not is_equal(before, after) and not isinstance(after, Unknown):
            draft.set_or_unset(*link, word, to=spell(after))
    if _is_known_change(left_port.description, right_port.description):
        draft.set_or_unset("interface", right_port.name, "description", to=right_port.description)
    if _is_known_change(left_port.addresses, right_port.addresses):
        _edit_addresses(draft, right_port.name, require_fact(left_port.addresses), require_fact(right_port.addresses))
    if _is_known_change(left_port.vrf, right_port.vrf):
        _set_vrf_of_interface(draft, right_port.name, require_fact(right_port.vrf))
    _set_port_adaptive_routing(draft, left_port, right_port)


def _address_family_word(draft: PendingSettingChanges, address: str) -> str:
    return "ip" if draft.say.old else "ipv6" if ":" in address else "ipv4"


def _edit_addresses(
    draft: PendingSettingChanges, name: str, old: Sequence[str], new: Iterable[str], of: str = "address"
) -> None:
    """Let an interface have other addresses, or another gateway."""
    new_addresses = list(new)
    shared_addresses = [address for address in old if address in new_addresses]
    if shared_addresses != new_addresses[: len(shared_addresses)]:
        shared_addresses = []
    for address in old:
        if address not in shared_addresses:
            for family in ("ip", "ipv4", "ipv6"):
                draft.unset("interface", name, family, of, address)
    for address in new_addresses:
        if address not in shared_addresses:
            draft.set("interface", name, _address_family_word(draft, address), of, address)


def _set_vrf_of_interface(draft: PendingSettingChanges, name: str, vrf: str | None) -> None:
    paths: list[Path] = [("interface", name, "vrf"), ("interface", name, "ip", "vrf")]
    if vrf is None:
        for path in paths:
            draft.unset(*path)
    else:
        draft.set(*paths[draft.say.old], to=vrf)


def _edit_management(
    draft: PendingSettingChanges, before: Management | None | Unknown, after: Management | None | Unknown
) -> None:
    if isinstance(before, Unknown) or isinstance(after, Unknown) or is_equal(before, after):
        return
    if after is None:
        if before is not None:
            draft.unset("interface", before.interface)
        return
    if before is None:
        draft.set("interface", after.interface, "type", to="eth")
    _edit_addresses(draft, after.interface, before.addresses if before else (), after.addresses)
    was, new_gateways = (() if port is None or port.gateway is None else (port.gateway,) for port in (before, after))
    _edit_addresses(draft, after.interface, was, new_gateways, of="gateway")
    if (before is not None and before.own_vrf) != after.own_vrf:
        _set_vrf_of_interface(draft, after.interface, "mgmt" if after.own_vrf else None)


def _edit_loopbacks(
    draft: PendingSettingChanges, before: tuple[Loopback, ...] | Unknown, after: tuple[Loopback, ...] | Unknown
) -> None:
    if isinstance(before, Unknown) or isinstance(after, Unknown) or is_equal(before, after):
        return
    were = {row.name: row for row in before}
    for name, loopback in {row.name: row for row in after}.items():
        was = were.get(name)
        addresses = was.addresses if was else ()
        if name == "lo" and was is None:
            draft.set("interface", name, "type", to="loopback")
        if name == "lo":
            _edit_addresses(draft, name, addresses, loopback.addresses)
        vrf = "default" if name == "lo" else name
        for address in addresses:
            if address not in loopback.addresses:
                draft.unset("vrf", vrf, "loopback", "ip", "address", address)
        for address in loopback.addresses:
            if name != "lo" and address not in addresses:
                draft.set("vrf", vrf, "loopback", "ip", "address", address)
    for name in [name for name in were if name not in {row.name for row in after}]:
        draft.unset(*(("interface", name) if name == "lo" else ("vrf", name, "loopback", "ip")))


def _edit_servers(
    draft: PendingSettingChanges, kind: str, before: Sequence[str], after: Sequence[str], device: Device
) -> None:
    """Let servers come and go where the file has those of their kind."""
    places = server_paths(draft.top, kind)
    for name in before:
        if name not in after:
            for place in places:
                draft.unset(*place, "server", name)
    management = device.management
    own_vrf = management is not None and not isinstance(management, Unknown) and management.own_vrf
    vrf = "mgmt" if own_vrf else "default"
    used = [place for place in places if draft.top.below(*place).texts("server")]
    usual = ("service", kind, vrf) if draft.say.old and kind != "syslog" else ("system", kind)
    place = used[0] if used else usual
    siblings = [inside for _, inside in draft.top.below(*place, "server").items()]
    own_text = siblings[-1].text("vrf") if siblings else vrf if kind != "ntp" and place[0] == "system" else None
    for name in after:
        if name not in before:
            draft.set(*place, "server", name, *(("vrf",) if own_text else ()), to=own_text or PRESENT_WITHOUT_VALUE)
    if kind == "ntp" and not used and place[0] == "system":
        draft.set("system", "ntp", "vrf", to=vrf)


def _set_snmp_field(draft: PendingSettingChanges, word: str, setting_value: str | None) -> None:
    """Change a value that the switch reports about itself, where the file has it or where its release does."""
    usual = SNMP_PATHS[not has_feature(draft.release, "SNMP beside the services")]
    used = [place for place in SNMP_PATHS if has_path(draft.top.node, (*place, word))] or [usual]
    for place in used[:1] if setting_value is not None else used:
        draft.set_or_unset(*place, word, to=setting_value)


def _edit_collectors(draft: PendingSettingChanges, before: Sequence[Collector], after: Sequence[Collector]) -> None:
    for collector in before:
        if collector.address not in {new_collector.address for new_collector in after}:
            draft.unset(*OTLP_EXPORT_PATH, "grpc", "destination", collector.address)
    for collector in after:
        if collector not in before:
            draft.set(*OTLP_EXPORT_PATH, "grpc", "destination", collector.address, "port", to=collector.port)
    if not before:
        draft.set(*OTLP_EXPORT_PATH, "state", to="enabled")


def _set_port_adaptive_routing(draft: PendingSettingChanges, a: Interface, b: Interface) -> None:
    """Let a port have adaptive routing, or not."""
    port_path: Path = ("interface", b.name, *ADAPTIVE_ROUTING_PATH)
    if _is_known_change(a.adaptive_routing, b.adaptive_routing):
        _set_enabled_state(draft, port_path, bool(b.adaptive_routing))
    if _is_known_change(a.utilization_threshold_percent, b.utilization_threshold_percent):
        draft.set_or_unset(*port_path, THRESHOLD_KEY, to=b.utilization_threshold_percent)


def _set_switch_adaptive_routing(draft: PendingSettingChanges, old: Device, new: Device) -> None:
    """Let a switch have adaptive routing, or not, by the utilization of links or without."""
    if _is_known_change(old.adaptive_routing, new.adaptive_routing):
        _set_enabled_state(draft, ADAPTIVE_ROUTING_PATH, bool(new.adaptive_routing))
    if _is_known_change(old.weighs_utilization, new.weighs_utilization):
        draft.set(*ADAPTIVE_ROUTING_PATH, THRESHOLD_KEY, to=draft.say.on if new.weighs_utilization else draft.say.off)


def _set_enabled_state(draft: PendingSettingChanges, own_path: Path, on: bool) -> None:
    word, _, value = (draft.say.enabled if on else draft.say.disabled).split(" ")
    draft.set(*own_path, word, to=value)


def _edit_trimming(draft: PendingSettingChanges, before: object, after: object) -> None:
    if before is None or after is None:
        draft.set(*PACKET_TRIM_PATH, "state", to="disabled" if after is None else "enabled")
    if after is None:
        return
    paths: tuple[tuple[str, Path], ...] = (
        ("size_bytes", ("size",)),
        ("dscp", ("remark", "dscp")),
        ("tc", ("switch-priority",)),
    )
    for attribute, path in paths:
        new_value = getattr(after, attribute)
        if new_value != getattr(before, attribute, None):
            draft.set_or_unset(*PACKET_TRIM_PATH, *path, to="port-level" if new_value == "from-tc" else new_value)


def _edit_routing(draft: PendingSettingChanges, old: Device, new: Device) -> None:
    """Bring routing to the new state: the difference of the statements that are written for both."""
    if not any(
        _is_known_change(getattr(old, name), getattr(new, name)) for name in ("bgp", "vrf_bgp", "static_routes")
    ):
        return
    before, after = (dict(_routing_statements(draft, device)) for device in (old, new))
    settings: dict[Path, str | None] = {
        _outermost_removed_path(path, after): None for path in before if path not in after
    }
    settings |= {
        path: value
        for path, value in after.items()
        if before.get(path) != value and not (value == PRESENT_WITHOUT_VALUE and has_path(draft.top.node, path))
    }
    for path, to in settings_adjusted_for_peer_groups(draft.top, settings):
        draft.set_or_unset(*path, to=to)


def _routing_statements(draft: PendingSettingChanges, device: Device) -> Iterator[tuple[Path, str]]:
    routes, other_bgps = known_rows(device.static_routes), known_rows(device.vrf_bgp)
    bgp = None if isinstance(device.bgp, Unknown) else device.bgp
    if bgp is not None and bgp.neighbors is UNKNOWN:
        bgp = replace_fields(bgp, neighbors=())
    alone = replace_fields(
        device,
        version=draft.release,
        bgp=bgp,
        vrf_bgp=other_bgps,
        static_routes=routes,
        interfaces=(),
        adaptive_routing=False,
        weighs_utilization=False,
    )
    for text in routing_statements(alone):
        for line in text.splitlines():
            for mark in (" ~ ", " = "):
                head, separator, value = line.partition(mark)
                if separator:
                    break
            yield tuple(head.split(" ")), value if separator else PRESENT_WITHOUT_VALUE


def _outermost_removed_path(path: Path, kept_paths: Iterable[Path]) -> Path:
    """Return the whole entity that disappears with a path if nothing of it is kept, else the path itself."""
    for length in range(2, len(path)):
        if path[length - 1] in _ENTITY_PARENT_KEYS and not any(
            paths[: length + 1] == path[: length + 1] for paths in kept_paths
        ):
            return path[: length + 1]
    return path
