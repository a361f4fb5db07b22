"""Access lists of NVUE, as Cumulus Linux installs them, and their places.

Rules are ordered by their numbers, and all but those that police or set the internal class end the search; packets that
no rule matches are accepted (Cumulus Linux user guide, Access Control List Configuration). NVUE writes inbound rules
for the chain PREROUTING and outbound ones for POSTROUTING of the table mangle, which packets of the switch itself pass
too, and those of the control plane for INPUT and OUTPUT.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.access import AccessEntry, AccessList, AccessListStage, Binding, PortRange
from nodrop.model.addresses import network_of
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.entry_order import sort_lists_and_entries
from nodrop.platforms.kit.packet_words import DSCP_BY_WORD, IP_PROTOCOL_NUMBER_BY_WORD, TCP_UDP_PORT_BY_WORD
from nodrop.platforms.nvue.read_ports import FileInterfaces
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path
from nodrop.units import parse_whole_number

_IMAGE_ACL_NAME_PREFIX = "acl-default-"
"""How the lists of an image are called, which no configuration states (user guide, Firewall Rules)."""
_ANY_WORDS = ("ANY", "any")
_FAMILY_BY_RULE_TYPE: Mapping[str, object] = {"ipv4": "ipv4", "ipv6": "ipv6", "mac": None}
_ACL_DIRECTIONS = ("inbound", "outbound")
_NVUE_PATHS_BY_ACL_RULE_FIELD: Mapping[str, tuple[Path, ...]] = {
    "action": (("action",),),
    "protocol": (("match", "ip", "protocol"), ("match", "ip")),
    "sources": (("match", "ip", "source-ip"),),
    "destinations": (("match", "ip", "dest-ip"),),
    "source_ports": (("match", "ip", "udp", "source-port"), ("match", "ip", "tcp", "source-port")),
    "destination_ports": (("match", "ip", "udp", "dest-port"), ("match", "ip", "tcp", "dest-port")),
    "dscps": (("match", "ip", "dscp"),),
    "ecns": (("match", "ip", "ecn", "ip-ect"),),
    "dscp": (("action", "set", "dscp"),),
    "traffic_class": (("action", "set", "class"), ("action", "police", "class")),
    "polices": (("action", "police"),),
    "mirrors": (("action",),),
}


def read_access_lists(root_view: ConfigNodeView, ports: FileInterfaces) -> tuple[AccessList, ...]:
    """Return the access lists, sorted by name, with the interfaces that name them."""
    bound: dict[str, list[Binding]] = {}
    for name, binding in _acl_bindings(root_view, ports):
        bound.setdefault(name, []).append(binding)
    stated = root_view.below("acl")
    for name in bound:
        if not stated.has(name) and not name.startswith(_IMAGE_ACL_NAME_PREFIX):
            first_binding = bound[name][0]
            where = () if first_binding.interface is None else (first_binding.interface,)
            path = binding_path(name, first_binding)
            root_view.config.remark("dangling-reference", where, path, kind="acl", name=name, field="acl")
    return sort_lists_and_entries(
        _build_access_list(name, view, tuple(bound.get(name, ()))) for name, view in stated.items()
    )


def paths_of_access_list_part(subject_path: Path) -> Iterator[Path]:
    """Yield the paths at which a part of an access list may stand, the most exact first."""
    name, field, key, entry_field = (*subject_path, "", "", "", "")[:4]
    if field == "bindings" and key:
        stage, _, interface = key.partition(" ")
        yield binding_path(name, Binding(interface=interface or None, stage=_parse_stage(stage)))
    if field == "entries" and key:
        yield from (("acl", name, "rule", key, *path) for path in _NVUE_PATHS_BY_ACL_RULE_FIELD.get(entry_field, ()))
        yield ("acl", name, "rule", key)
    yield ("acl", name)


def _parse_stage(text: str) -> AccessListStage:
    stages: tuple[AccessListStage, ...] = ("ingress", "egress", "control-plane", "control-plane-out")
    return next(stage for stage in stages if stage == text)


def binding_path(name: str, binding: Binding) -> Path:
    """Return the path at which an interface, or the control plane, names a list."""
    direction = "outbound" if binding.stage in ("egress", "control-plane-out") else "inbound"
    if binding.interface is None:
        return ("system", "control-plane", "acl", name, direction)
    return ("interface", binding.interface.lower().replace(" ", ""), "acl", name, direction)


def _acl_bindings(top: ConfigNodeView, ports: FileInterfaces) -> Iterator[tuple[str, Binding]]:
    """Yield the lists that interfaces and the control plane name, with where they act."""
    for name in sorted(ports.names(), key=natural_sort_key):
        for rules, view in ports.view(name).below("acl").items():
            number = parse_whole_number(name.removeprefix("vlan")) if name.startswith("vlan") else None
            for direction in _ACL_DIRECTIONS:
                if view.has(direction):
                    stage = _acl_stage(direction, of_switch=view.below(direction).has("control-plane"))
                    yield rules, Binding(interface=name if number is None else f"VLAN {number}", stage=stage)
    for rules, view in top.below("system", "control-plane", "acl").items():
        yield from (
            (rules, Binding(interface=None, stage=_acl_stage(side, of_switch=True)))
            for side in _ACL_DIRECTIONS
            if view.has(side)
        )


def _acl_stage(direction: str, *, of_switch: bool) -> AccessListStage:
    if direction == "inbound":
        return "control-plane" if of_switch else "ingress"
    return "control-plane-out" if of_switch else "egress"


def _build_access_list(name: str, view: ConfigNodeView, bindings: tuple[Binding, ...]) -> AccessList:
    family = view.text("type")
    rules = view.below("rule").items()
    entries = tuple(_build_access_entry(number, rule, _FAMILY_BY_RULE_TYPE.get(family or "")) for number, rule in rules)
    return AccessList(name=name, entries=entries, family=None, bindings=bindings, own_packets=True)


def _build_access_entry(number: str, rule: ConfigNodeView, family: Any) -> AccessEntry:
    match = rule.below("match")
    conditions = _RuleIpConditions(match.below("ip"))
    other_conditions = [*conditions.others, *(word for word in match.node if word not in ("ip", "mac"))]
    mac = match.below("mac")
    other_conditions += [f"mac {word}" for word in mac.node if word != "protocol" and mac.text(word) not in _ANY_WORDS]
    frames = mac.text("protocol")
    if frames not in (None, *_ANY_WORDS):
        family = frames if frames in ("ipv4", "ipv6") else "other"
    return AccessEntry(
        name=number,
        family=family,
        protocol=conditions.protocol,
        sources=conditions.addresses("source-ip"),
        destinations=conditions.addresses("dest-ip"),
        source_ports=conditions.ports("source-port"),
        destination_ports=conditions.ports("dest-port"),
        dscps=conditions.dscps(),
        ecns=conditions.ecns(),
        others=tuple(conditions.all_unmodeled_conditions(other_conditions)),
        **_read_action_fields(rule.below("action")),
    )


class _RuleIpConditions:
    """The conditions of a rule on the headers of IP, TCP and UDP; `others` are those that the model does not have."""

    def __init__(self, ip: ConfigNodeView) -> None:
        self._ip = ip
        self.others: list[str] = []
        stated = ip.text("protocol")
        number = None if stated in (None, *_ANY_WORDS) else _parse_number(stated or "", IP_PROTOCOL_NUMBER_BY_WORD, 255)
        layers = [word for word in ("tcp", "udp") if ip.has(word)]
        self.protocol = IP_PROTOCOL_NUMBER_BY_WORD[layers[0]] if number is None and len(layers) == 1 else number
        if stated not in (None, *_ANY_WORDS) and number is None:
            self.others.append(f"protocol {stated}")
        if self.protocol is None:
            self.protocol = next(
                (IP_PROTOCOL_NUMBER_BY_WORD[kind] for kind in ("icmp", "icmpv6") if ip.has(f"{kind}-type")), None
            )
        read = {"protocol", "source-ip", "dest-ip", "dscp", "ecn", "tcp", "udp", "source-port", "dest-port"}
        self.others += [word for word in ip.node if word not in read and not word.startswith("icmp")]
        self.others += [f"ecn {word}" for word in ip.below("ecn").node if word != "ip-ect"]
        for layer in ("tcp", "udp"):
            self.others += [
                f"{layer} {word}" for word in ip.below(layer).node if word not in ("source-port", "dest-port")
            ]

    def all_unmodeled_conditions(self, extra_conditions: list[str]) -> Iterator[str]:
        """Yield the conditions that the model does not have, each once."""
        yield from dict.fromkeys((*extra_conditions, *self.others))

    def addresses(self, word: str) -> tuple[str, ...]:
        """Return the prefixes of a side; a text that is none is another condition."""
        found_addresses: list[str] = []
        for text in self._ip.texts(word):
            if text in _ANY_WORDS:
                return ()
            network = network_of(text)
            if network is None:
                self.others.append(f"{word} {text}")
            else:
                found_addresses.append(str(network))
        return tuple(found_addresses)

    def ports(self, word: str) -> tuple[PortRange, ...]:
        """Return the ports of a side, in any layer; an unknown word is another condition."""
        port_ranges: list[PortRange] = []
        for view in (self._ip, self._ip.below("tcp"), self._ip.below("udp")):
            for text in view.texts(word):
                if text in _ANY_WORDS:
                    return ()
                first_text, _, last = (
                    text.replace(":", "-").partition("-") if text not in TCP_UDP_PORT_BY_WORD else (text, "", "")
                )
                low = _parse_number(first_text, TCP_UDP_PORT_BY_WORD, 65_535)
                high = _parse_number(last, TCP_UDP_PORT_BY_WORD, 65_535) if last else low
                if low is None or high is None or low > high:
                    self.others.append(f"{word} {text}")
                else:
                    port_ranges.append(PortRange(low, high))
        return tuple(port_ranges)

    def dscps(self) -> tuple[int, ...]:
        """Return the DSCPs."""
        found_dscps: list[int] = []
        for text in self._ip.texts("dscp"):
            number = None if text in _ANY_WORDS else _parse_number(text, DSCP_BY_WORD, 63)
            if number is not None:
                found_dscps.append(number)
            elif text not in _ANY_WORDS:
                self.others.append(f"dscp {text}")
        return tuple(found_dscps)

    def ecns(self) -> tuple[int, ...]:
        """Return the ECN bits."""
        texts = self._ip.below("ecn").texts("ip-ect")
        numbers = [parse_whole_number(text, 3) for text in texts]
        self.others += [f"ecn ip-ect {text}" for text, number in zip(texts, numbers, strict=True) if number is None]
        return tuple(number for number in numbers if number is not None)


def _parse_number(text: str, words: Mapping[str, int], most: int) -> int | None:
    number = parse_whole_number(text, most)
    return words.get(text.lower()) if number is None else number


def _read_action_fields(action: ConfigNodeView) -> dict[str, Any]:
    """Return the fields of an entry that decide the treatment of packets."""
    marks = action.below("set")
    dscp = marks.text("dscp")
    classed = marks.text("class") or action.below("police").text("class")
    action_fields: dict[str, object] = {
        "dscp": None if dscp is None else _parse_number(dscp, DSCP_BY_WORD, 63),
        "traffic_class": None if classed is None else parse_whole_number(classed, 7),
        "polices": action.has("police"),
        "mirrors": action.has("span") or action.has("erspan"),
    }
    if action.has("deny"):
        return {**action_fields, "action": "deny"}
    ends = action.has("permit") or action_fields["mirrors"] or dscp is not None or marks.has("cos")
    return {**action_fields, "action": "permit" if ends else "next"}
