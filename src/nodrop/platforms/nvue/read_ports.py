"""The switch ports of a file: each with the settings of every key that covers it, merged in their order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.hardware import switch
from nodrop.identity import IdentityKey, IdentityMap
from nodrop.model.addresses import is_address_or_prefix
from nodrop.model.fabric import Interface, Port
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms.nvue.adaptive_routing import read_interface_adaptive_routing
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_macro import DEFAULT_MTU_BYTES
from nodrop.platforms.nvue.read_qos import QosReader
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile
from nodrop.platforms.nvue.tree import Node
from nodrop.syntax.places import quote_text
from nodrop.units import MalformedText, parse_speed_mbps

MAX_INTERFACES_OF_FILE = 20_000
"""More names than a switch has interfaces; a key may stand for many, and many keys for the same."""

_IS_UP_BY_WORD = {"up": True, "down": False}
_FEC_BY_NVUE_WORD: Mapping[str, object] = {"rs": "rs", "baser": "fc", "off": "none", "auto": "auto"}
_DHCP_ADDRESS_WORDS = frozenset({"dhcp", "dhcp6"})
_SPLITS_BY_BREAKOUT_WORD = {"1x": 1, "2x": 2, "4x": 4, "8x": 8, "disabled": 0, "loopback": 1}


class Breakout(NamedTuple):
    """The number of ports that a panel port is broken out into (0 if shut off), and the lanes of each if stated."""

    splits: int
    lanes: int | None


@dataclass(frozen=True, slots=True)
class _LinkSettings:
    """The settings of `link`, and the parts of the port that are defaults."""

    enabled: bool
    speed_mbps: Any
    fec: Any
    autoneg: bool
    mtu_bytes: int
    breakout: Breakout | None
    derived: tuple[tuple[str, str], ...]


class FileInterfaces:
    """All interfaces of a file, by single name."""

    def __init__(self, config: NvueConfigFile) -> None:
        self.config = config
        top = config.top.below("interface")
        self._nodes: dict[str, list[Node]] = {}
        count = 0
        for key, node in top.node.items():
            found_names = expand_names(key)
            count += len(found_names)
            if count > MAX_INTERFACES_OF_FILE:
                display = "this file"
                excess_text = f"more than {MAX_INTERFACES_OF_FILE:,} interfaces, ranges written out"
                raise InputProblems([Problem(path=display, found=excess_text, expected="a switch's configuration")])
            port_node = node if isinstance(node, dict) else {}
            for name in found_names:
                self._nodes.setdefault(name, []).append(port_node)
        self._merged: dict[tuple[IdentityKey[Node], IdentityKey[Node]], Node] = {}
        self._links = IdentityMap[Node, _LinkSettings]()
        self._by_content: dict[str, _LinkSettings] = {}
        self._balanced = IdentityMap[object, tuple[bool, int | None]]()
        self._add_session_port_parts()

    def _add_session_port_parts(self) -> None:
        """Add the parts of ports broken out here that only a BGP session names.

        NVIDIA's generator writes spines this way (enterprise-ras, net-configurator, spine_nvue_cli.j2).
        """
        broken = {
            port.port.panel: breakout.splits
            for name in self._nodes
            if (port := nvue_port(name)) and not port.part and (breakout := self.link(self.view(name)).breakout)
        }
        vrfs = self.config.top.below("vrf").items() if broken else ()
        keys = (key for _, vrf in vrfs for key in vrf.below("router", "bgp", "neighbor").node)
        for name in (name for key in keys for name in expand_names(key)):
            named_nvue_port = nvue_port(name)
            if (
                named_nvue_port is not None
                and named_nvue_port.part
                and named_nvue_port.port.split < broken.get(named_nvue_port.port.panel, 0)
            ):
                self._nodes.setdefault(name, [])

    def names(self) -> Iterator[str]:
        """Yield the interfaces, as they first appear."""
        return iter(self._nodes)

    def has_settings_of(self, name: str) -> bool:
        """Whether the file has settings of an interface."""
        return bool(self._nodes.get(name))

    def last_key_of_interface(self, name: str) -> str:
        """Return the last key of the file that stands for an interface, or for the port that it is a part of."""
        if not self._nodes[name] and (named_nvue_port := nvue_port(name)) is not None:
            name = f"swp{named_nvue_port.port.panel}"
        top = self.config.top.below("interface")
        return next(key for key in reversed(top.node) if name in expand_names(key))

    def has_setting_anywhere(self, *words: str) -> bool:
        """Whether any interface has one of these settings."""
        return any(word in node for nodes in self._nodes.values() for node in nodes for word in words)

    def interfaces_of_type_or_with_setting(self, word: str, *types: str) -> tuple[str, ...]:
        """Return the interfaces that have a setting, or one of these types."""
        return tuple(
            name
            for name, nodes in self._nodes.items()
            if any(word in node or _leaf_value(node.get("type")) in types for node in nodes)
        )

    def view(self, name: str) -> ConfigNodeView:
        """Return all settings of an interface."""
        nodes = self._nodes.get(name, [])
        merged: Node = nodes[0] if nodes else {}
        for node in nodes[1:]:
            merged = self._merge_nodes(merged, node)
        return ConfigNodeView(self.config, merged, ("interface", name))

    def _merge_nodes(self, below: Node, above: Node) -> Node:
        if not below or not above:
            return below or above
        key = IdentityKey(below), IdentityKey(above)
        merged_node = self._merged.get(key)
        if merged_node is None:
            merged_node = self._merged[key] = dict(below)
            for word, value in above.items():
                old = merged_node.pop(word, None)
                if isinstance(old, dict) and isinstance(value, dict):
                    value = self._merge_nodes(old, value)
                merged_node[word] = value
        return merged_node

    def link(self, view: ConfigNodeView) -> _LinkSettings:
        """Return the settings of a port's `link`."""
        node = view.below("link")
        link = self._links.get(node.node)
        if link is None:
            content = repr(node.node)
            link = self._by_content.get(content)
            if link is None:
                link = self._by_content[content] = _read_link(node)
            self._links[node.node] = link
        return link

    def adaptive_routing_of(self, view: ConfigNodeView) -> tuple[bool, int | None]:
        """Return whether an interface has adaptive routing, and its threshold of utilization in percent."""
        node = view.node.get("router")
        if node is None:
            return False, None
        routing = self._balanced.get(node)
        if routing is None:
            routing = self._balanced[node] = read_interface_adaptive_routing(view)
        return routing


def read_interfaces(
    ports: FileInterfaces,
    qos: QosReader,
    model_name: str | Unknown,
    trimmed: tuple[int, ...] | None,
    derived_subjects: dict[Subject, str],
) -> Iterator[Interface]:
    """Yield the switch ports in the order of their names; a panel port that is broken out or shut off is none.

    `trimmed` are the queues whose packets are trimmed where a port names none, None where the switch trims nothing.
    """
    device = ports.config.device
    found_nvue_port = {name: port for name in ports.names() if (port := nvue_port(name)) is not None}
    links = {name: ports.link(ports.view(name)) for name in found_nvue_port}
    breakouts = {
        found_nvue_port[name].port.panel: link.breakout
        for name, link in links.items()
        if link.breakout is not None and not found_nvue_port[name].part
    }
    for name in sorted(found_nvue_port, key=natural_sort_key):
        named_nvue_port, link = found_nvue_port[name], links[name]
        breakout = breakouts.get(named_nvue_port.port.panel)
        if not named_nvue_port.part and breakout is not None and breakout.splits != 1:
            continue
        view = ports.view(name)
        lanes = _port_lanes(model_name, named_nvue_port.port, breakout, named_nvue_port.part)
        port_qos = qos.read_port_qos(name, view.below("qos"), _trimmed_queues(view, trimmed))
        for field, reason in link.derived:
            derived_subjects[device, name, field] = reason
        for subject, reason in port_qos.derived:
            derived_subjects[(device, name, *subject)] = reason
        balanced, threshold = ports.adaptive_routing_of(view)
        yield Interface(
            name=name,
            port=named_nvue_port.port,
            enabled=link.enabled,
            speed_mbps=link.speed_mbps,
            lanes=lanes,
            fec=link.fec,
            autoneg=link.autoneg,
            advertised_speeds_mbps=UNKNOWN,
            link_training=UNKNOWN,
            link_local=UNKNOWN,
            mtu_bytes=link.mtu_bytes,
            addresses=read_addresses(view),
            vrf=read_vrf_of_interface(view),
            description=view.text("description"),
            link_pause=port_qos.link_pause,
            cable_length_m=port_qos.cable_length_m,
            adaptive_routing=balanced,
            utilization_threshold_percent=threshold,
            qos=port_qos.profile,
        )


def _leaf_value(value: object) -> Any:
    """Return a leaf's value, be it the only key of a mapping."""
    return next(reversed(value), None) if isinstance(value, dict) else value


def _trimmed_queues(view: ConfigNodeView, default_queues: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the queues of a port whose packets are trimmed rather than dropped."""
    if default_queues is None or "packet-trim" not in view.node:
        return default_queues or ()
    eligible = view.below("packet-trim", "egress-eligibility")
    return tuple(sorted({tc for tc, _ in eligible.items_by_number("traffic-class", 7)})) or default_queues


def read_addresses(view: ConfigNodeView) -> tuple[str, ...]:
    """Return the addresses of an interface, in the words of either dialect."""
    node = view.node
    found_addresses: list[str] = []
    for family in ("ip", "ipv4", "ipv6"):
        for address in view.below(family).texts("address") if family in node else ():
            if may_be_address(address):
                found_addresses.append(address)
            elif address not in _DHCP_ADDRESS_WORDS:
                path = (*view.path, family, "address", address)
                view.config.remark_malformed_value(
                    path, quote_text(address), "an address and its length, such as 10.1.0.0/31"
                )
    return tuple(found_addresses)


def may_be_address(config_text: str) -> bool:
    """Whether a text may be an address with or without a prefix length; `dhcp` is none."""
    return is_address_or_prefix(config_text)


def read_vrf_of_interface(view: ConfigNodeView) -> str | None:
    """Return the VRF of an interface; None where it is in the default one."""
    node = view.node
    stated = view.text("vrf") if "vrf" in node else view.below("ip").text("vrf") if "ip" in node else None
    return None if stated == "default" else stated


def _read_link(node: ConfigNodeView) -> _LinkSettings:
    derived = []
    enabled = node.meaning_of_word("state", _IS_UP_BY_WORD)
    if enabled is None:
        derived.append(("enabled", "a port that is named is up unless `link state` says otherwise"))
    fec = node.meaning_of_word("fec", _FEC_BY_NVUE_WORD)
    if fec is None:
        derived.append(("fec", "FEC is `auto` unless it is said"))
    autoneg = node.flag("auto-negotiate")
    if autoneg is None:
        derived.append(("autoneg", "a port negotiates by default"))
    mtu = node.integer("mtu", 552, 9216, "bytes")
    if mtu is None:
        derived.append(("mtu_bytes", f"the MTU is {DEFAULT_MTU_BYTES} unless it is said"))
    return _LinkSettings(
        enabled is not False,
        None if enabled is False and not node.has("speed") else _read_speed(node),
        fec or "auto",
        autoneg is not False,
        DEFAULT_MTU_BYTES if mtu is None else mtu,
        _read_breakout(node),
        tuple(derived),
    )


def _read_speed(node: ConfigNodeView) -> Any:
    text = node.text("speed")
    if text is None or text == "auto":
        return UNKNOWN
    try:
        return parse_speed_mbps(text)
    except MalformedText as error:
        node.config.remark_malformed_value((*node.path, "speed"), quote_text(text), error.expected)
        return UNKNOWN


def _read_breakout(node: ConfigNodeView) -> Breakout | None:
    splits = node.meaning_of_word("breakout", _SPLITS_BY_BREAKOUT_WORD) if node.has("breakout") else None
    if splits is None:
        return None
    word = node.text("breakout") or ""
    return Breakout(splits, node.below("breakout", word).integer("lanes-per-port", 1, 8))


def _port_lanes(model: str | Unknown, port: Port, breakout: Breakout | None, is_part: bool) -> Any:
    """Return a port's lanes: its share of the panel port's lanes, which only the model gives."""
    if is_part and breakout is not None and breakout.lanes is not None:
        return breakout.lanes
    group = None if isinstance(model, Unknown) else switch(model).group(port.panel)
    if group is None or (is_part and (breakout is None or not breakout.splits)):
        return UNKNOWN
    return group.lanes // breakout.splits if is_part and breakout is not None else group.lanes
