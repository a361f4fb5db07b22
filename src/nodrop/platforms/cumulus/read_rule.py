"""One rule of cl-acltool, in the words of iptables, ip6tables or ebtables, as an entry of an access list."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from nodrop.model.access import AccessEntry, AccessEntryFamily, Bits, EntryAction, PortRange
from nodrop.model.addresses import network_of
from nodrop.platforms.kit.packet_words import DSCP_BY_WORD, IP_PROTOCOL_NUMBER_BY_WORD, TCP_UDP_PORT_BY_WORD
from nodrop.units import parse_whole_number

ALL_INTERFACES_WORDS = ("ANY", "any", "+")
"""Words for all interfaces."""
_FAMILY_BY_ETHER_TYPE: Mapping[str, AccessEntryFamily | None] = {
    "ipv4": "ipv4", "ip": "ipv4", "0x0800": "ipv4", "0x800": "ipv4", "0800": "ipv4",
    "ipv6": "ipv6", "0x86dd": "ipv6", "86dd": "ipv6", "802_1q": None, "0x8100": None, "8100": None,
}  # fmt: skip
"""The packets in frames of a type, None where it does not say; any other has none of IP."""
_TCP_FLAG_BITS: Mapping[str, int] = {
    "FIN": 1, "SYN": 2, "RST": 4, "PSH": 8, "ACK": 16, "URG": 32, "ECE": 64, "CWR": 128, "ALL": 63, "NONE": 0,
}  # fmt: skip
_SYN_FLAGS_MATCH = Bits(number=2, mask=23)
"""What `--syn` stands for: SYN without RST, ACK and FIN (iptables-extensions, tcp)."""
_LAST_PORT, _LAST_DSCP, _LAST_ECN = 65_535, 63, 3
_NEUTRAL_MATCH_MODULES = ("tcp", "udp", "multiport", "dscp", "ecn", "comment", "icmp", "icmp6")
"""Modules that match nothing by themselves."""
_LOGGING_TARGETS = ("LOG", "ULOG", "NFLOG")
_MIRRORING_TARGETS = ("SPAN", "ERSPAN")
_POLICING_TARGETS = ("POLICE", "TRICOLORPOLICE")
_ACTION_BY_TARGET: Mapping[str, EntryAction | None] = {
    "": None, "MARK": None, "ACCEPT": "permit", "DROP": "deny", "SETQOS": "permit", "DSCP": "permit",
    "SETCLASS": "next", **dict.fromkeys(_POLICING_TARGETS, "next"), **dict.fromkeys(_MIRRORING_TARGETS, "permit"),
    **dict.fromkeys(_LOGGING_TARGETS, "deny"),
}  # fmt: skip
"""What targets do: all but SETCLASS and those that police end the search; without one a rule only counts."""
_IGNORED_OPTIONS_BY_TARGET: Mapping[str, tuple[str, ...]] = {
    "POLICE": ("--set-mode", "--set-rate", "--set-burst"),
    "TRICOLORPOLICE": ("--set-color-mode", "--set-cir", "--set-cbs", "--set-pir", "--set-ebs"),
    "SPAN": ("--dport",),
    "ERSPAN": ("--src-ip", "--dst-ip", "--ttl"),
    "MARK": ("--mark-set", "--mark-target", "--set-mark"),
    "LOG": ("--log-prefix", "--log-level", "--log", "--log-ip", "--log-ip6"),
    "ULOG": ("--ulog-prefix", "--ulog-nlgroup", "--ulog-cprange"),
    "NFLOG": ("--nflog-prefix", "--nflog-group"),
}
"""Options of targets that change nothing in the model: rates, and where copies go."""


class UnreadRule(Exception):
    """A line is not understood; the text describes its subject, without names and values."""


class _RuleOption(NamedTuple):
    name: str
    negated: bool
    value: str

    @property
    def condition(self) -> str:
        """The option in the words of the file."""
        return f"{'! ' if self.negated else ''}{self.name} {self.value}".rstrip()


@dataclass(slots=True)
class AclRule:
    """A rule: where it stands, and its entry as far as that does not depend on the ports of the switch."""

    family: AccessEntryFamily | None
    bridged: bool
    table: str = "filter"
    chains: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    target: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    """The conditions that the model does not have."""

    def entry(self, name: str) -> AccessEntry | None:
        """Return the entry; None where the rule only counts, or accepts everything in a chain, which is ignored.

        A logged packet does not continue in hardware, unless another rule makes it: whether a log drops is uncertain.
        """
        action = _ACTION_BY_TARGET[self.target]
        conditional = self.fields or self.others or self.inputs or self.outputs or self.bridged
        if action is None or (self.target == "ACCEPT" and not conditional):
            return None
        other_conditions = [*self.others, *(["a rule for bridged frames"] if self.bridged else ())]
        other_conditions += [f"-j {self.target}"] if self.target in _LOGGING_TARGETS else []
        entry_fields: dict[str, Any] = {
            "family": self.family,
            "polices": self.target in _POLICING_TARGETS,
            **self.fields,
        }
        return AccessEntry(
            name=name,
            action=action,
            others=tuple(dict.fromkeys(other_conditions)),
            mirrors=self.target in _MIRRORING_TARGETS,
            **entry_fields,
        )


def read_rule(line_words: Iterable[str], family: AccessEntryFamily | None) -> AclRule:
    """Return a rule for packets of a family, or for frames. Raise Unread where the line is none that cl-acltool has."""
    rule = AclRule(family, bridged=family is None)
    for option in _parse_options(line_words):
        if option.name in _IGNORED_OPTIONS_BY_TARGET.get(rule.target, ()):
            continue
        act = _COMMON_OPTION_READERS.get(option.name) or (
            _ETHERNET_OPTION_READERS if rule.bridged else _IP_OPTION_READERS
        ).get(option.name)
        act = _MARKING_OPTION_READERS.get(option.name, act) if rule.target else act
        if option.negated:
            _add_negated_condition(rule, option, act)
        elif act is not None:
            act(rule, option)
        elif rule.target:
            raise UnreadRule(f"an option of the target {rule.target}")
        else:
            rule.others.append(option.condition)
    if not rule.chains:
        raise UnreadRule("a line without `-A` and a chain")
    return rule


def _add_negated_condition(
    rule: AclRule, option: _RuleOption, act: Callable[[AclRule, _RuleOption], None] | None
) -> None:
    """Take a condition that is reversed: one address, one set of ports or one DSCP as all the others of its kind."""
    alone = AclRule(rule.family, rule.bridged)
    if act is not None:
        act(alone, option)
    stated = {**alone.fields}
    field_name, value = stated.popitem() if len(stated) == 1 else ("", ())
    rest = _COMPLEMENT_BY_FIELD[field_name](value) if field_name in _COMPLEMENT_BY_FIELD else ()
    if rest:
        _add_condition(rule, field_name, rest, option)
    else:
        rule.others.append(option.condition)


def _add_condition(rule: AclRule, field_name: str, value: object, option: _RuleOption) -> None:
    """Take a condition; one that joins no earlier condition on its field is among those that the model lacks."""
    earlier = rule.fields.get(field_name, value)
    intersect = _INTERSECTION_BY_FIELD.get(field_name)
    common = earlier if earlier == value else intersect(earlier, value) if intersect else ()
    if common:
        rule.fields[field_name] = common
    else:
        rule.others.append(option.condition)


def _invert_addresses(networks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the prefixes of all addresses of a family but those of one network; none where there are several."""
    network = network_of(networks[0]) if len(networks) == 1 else None
    if network is None:
        return ()
    remaining_networks = network.supernet(new_prefix=0).address_exclude(network)  # type: ignore[arg-type]
    return tuple(str(each) for each in sorted(remaining_networks))


def _invert_ports(port_ranges: tuple[PortRange, ...]) -> tuple[PortRange, ...]:
    found_ranges: list[PortRange] = []
    first = 0
    for port_range in sorted(port_ranges):
        if first < port_range.first:
            found_ranges.append(PortRange(first, port_range.first - 1))
        first = max(first, port_range.last + 1)
    return (*found_ranges, *([PortRange(first, _LAST_PORT)] if first <= _LAST_PORT else []))


def _make_number_inverter(last: int) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    return lambda numbers: tuple(number for number in range(last + 1) if number not in numbers)


_COMPLEMENT_BY_FIELD: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "sources": _invert_addresses, "destinations": _invert_addresses, "source_ports": _invert_ports,
    "destination_ports": _invert_ports, "dscps": _make_number_inverter(_LAST_DSCP),
    "ecns": _make_number_inverter(_LAST_ECN),
}  # fmt: skip
"""All other values of a condition, by the field that has them."""


def _intersect_ports(some: tuple[PortRange, ...], others: tuple[PortRange, ...]) -> tuple[PortRange, ...]:
    pairs = ((max(one.first, other.first), min(one.last, other.last)) for one in some for other in others)
    return tuple(PortRange(first, last) for first, last in pairs if first <= last)


def _intersect_numbers(some: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(number for number in some if number in others)


_INTERSECTION_BY_FIELD: Mapping[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "source_ports": _intersect_ports, "destination_ports": _intersect_ports, "dscps": _intersect_numbers,
    "ecns": _intersect_numbers,
}  # fmt: skip
"""The values that two conditions on a field have in common."""


def _parse_options(words: Iterable[str]) -> list[_RuleOption]:
    """Return the options of a line, each with its values; `!` is before an option, or before its value."""
    options: list[_RuleOption] = []
    negated = False
    for word in words:
        if word == "!":
            negated = True
            continue
        if word.startswith("-") and word[1:2] and not word[1].isdigit():
            name, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
            options.append(_RuleOption(name, negated, value))
        elif not options:
            raise UnreadRule("a word without an option")
        else:
            name, before, value = options[-1]
            options[-1] = _RuleOption(name, before or negated, f"{value} {word}" if value else word)
        negated = False
    return options


def _split_option_values(option: _RuleOption) -> list[str]:
    option_values = [option_value for option_value in option.value.replace(" ", "").split(",") if option_value]
    if not option_values:
        raise UnreadRule(f"`{option.name}` without a value")
    return option_values


def _read_rule_table(rule: AclRule, option: _RuleOption) -> None:
    rule.table = option.value


def _read_chains(rule: AclRule, option: _RuleOption) -> None:
    rule.chains = tuple(dict.fromkeys(_split_option_values(option)))


def _read_input_ports(rule: AclRule, option: _RuleOption) -> None:
    rule.inputs = tuple(_split_option_values(option))


def _read_output_ports(rule: AclRule, option: _RuleOption) -> None:
    rule.outputs = tuple(_split_option_values(option))


def _read_target(rule: AclRule, option: _RuleOption) -> None:
    rule.target = option.value.upper()
    if rule.target not in _ACTION_BY_TARGET or not rule.target:
        raise UnreadRule("a target that cl-acltool does not have")


def _read_match_module(rule: AclRule, option: _RuleOption) -> None:
    if option.value not in _NEUTRAL_MATCH_MODULES:
        rule.others.append(f"-m {option.value}")


def _ignore_option(rule: AclRule, option: _RuleOption) -> None:
    """Take a comment."""


def _read_protocol(rule: AclRule, option: _RuleOption) -> None:
    text = option.value.lower()
    number = _parse_number(text, IP_PROTOCOL_NUMBER_BY_WORD, 255)
    if number is not None and number != 0:
        _add_condition(rule, "protocol", number, option)
    elif text not in ("all", "0"):
        rule.others.append(option.condition)


def _read_ether_type(rule: AclRule, option: _RuleOption) -> None:
    text = option.value.lower()
    family = _FAMILY_BY_ETHER_TYPE.get(text, "other")
    if family is None:
        rule.others.append(option.condition)
    else:
        _add_condition(rule, "family", family, option)


def _make_address_reader(side: str) -> Callable[[AclRule, _RuleOption], None]:
    def take(rule: AclRule, option: _RuleOption) -> None:
        networks = [network_of(address_text) for address_text in _split_option_values(option)]
        if None in networks:
            rule.others.append(option.condition)
        else:
            _add_condition(rule, side, tuple(map(str, networks)), option)

    return take


def _make_port_ranges_reader(interface_side: str) -> Callable[[AclRule, _RuleOption], None]:
    def take(rule: AclRule, option: _RuleOption) -> None:
        port_ranges: list[PortRange] = []
        for port_text in _split_option_values(option):
            low_text, is_range, last = (
                port_text.partition(":") if port_text not in TCP_UDP_PORT_BY_WORD else (port_text, "", "")
            )
            low = _parse_number(low_text or "0", TCP_UDP_PORT_BY_WORD, _LAST_PORT)
            high = _parse_number(last or "65535", TCP_UDP_PORT_BY_WORD, _LAST_PORT) if is_range else low
            if low is None or high is None or low > high:
                rule.others.append(option.condition)
                return
            port_ranges.append(PortRange(low, high))
        _add_condition(rule, interface_side, tuple(port_ranges), option)

    return take


def _make_number_reader(field_name: str, words: Mapping[str, int], most: int) -> Callable[[AclRule, _RuleOption], None]:
    def take(rule: AclRule, option: _RuleOption) -> None:
        number = _parse_number(option.value, words, most)
        if number is None:
            rule.others.append(option.condition)
        else:
            _add_condition(rule, field_name, (number,), option)

    return take


def _read_tcp_flags(rule: AclRule, option: _RuleOption) -> None:
    sides = option.value.split()
    names = [side.upper().split(",") for side in sides]
    if len(sides) != 2 or not all(name in _TCP_FLAG_BITS for side in names for name in side):
        rule.others.append(option.condition)
        return
    mask, number = (sum({_TCP_FLAG_BITS[name] for name in side}) for side in names)
    _add_condition(rule, "tcp_flags", Bits(number=number, mask=mask), option)


def _read_syn_flag(rule: AclRule, option: _RuleOption) -> None:
    _add_condition(rule, "tcp_flags", _SYN_FLAGS_MATCH, option)


def _make_mark_reader(field_name: Literal["dscp", "traffic_class"]) -> Callable[[AclRule, _RuleOption], None]:
    def take(rule: AclRule, option: _RuleOption) -> None:
        words, most = (DSCP_BY_WORD, 63) if field_name == "dscp" else ({}, 7)
        rule.fields[field_name] = _parse_number(option.value, words, most)
        if rule.fields[field_name] is None:
            raise UnreadRule(f"the value of an option of the target {rule.target}")

    return take


def _read_violate_action(rule: AclRule, option: _RuleOption) -> None:
    rule.fields["polices"] = option.value.lower() != "accept"


def _parse_number(text: str, words: Mapping[str, int], most: int) -> int | None:
    if text[:2].lower() == "0x":
        try:
            number = int(text[2:10], 16)
        except ValueError:
            return None
        return number if number <= most and len(text) <= 10 else None
    parsed_number = parse_whole_number(text, most)
    return words.get(text.lower()) if parsed_number is None else parsed_number


def _map_options_to_reader(
    act: Callable[[AclRule, _RuleOption], None], *names: str
) -> dict[str, Callable[[AclRule, _RuleOption], None]]:
    return dict.fromkeys(names, act)


_COMMON_OPTION_READERS = {
    **_map_options_to_reader(_read_chains, "-A", "--append"),
    **_map_options_to_reader(_read_rule_table, "-t", "--table"),
    **_map_options_to_reader(_read_input_ports, "-i", "--in-interface"),
    **_map_options_to_reader(_read_output_ports, "-o", "--out-interface"),
    **_map_options_to_reader(_read_target, "-j", "--jump"),
    **_map_options_to_reader(_read_match_module, "-m", "--match"),
    **_map_options_to_reader(_ignore_option, "--comment"),
}
_IP_OPTION_READERS = {
    **_map_options_to_reader(_read_protocol, "-p", "--protocol"),
    **_map_options_to_reader(_make_address_reader("sources"), "-s", "--source", "--src"),
    **_map_options_to_reader(_make_address_reader("destinations"), "-d", "--destination", "--dst"),
    **_map_options_to_reader(
        _make_port_ranges_reader("source_ports"), "--sport", "--source-port", "--sports", "--source-ports"
    ),
    **_map_options_to_reader(
        _make_port_ranges_reader("destination_ports"),
        "--dport",
        "--destination-port",
        "--dports",
        "--destination-ports",
    ),
    **_map_options_to_reader(_make_number_reader("dscps", DSCP_BY_WORD, _LAST_DSCP), "--dscp", "--dscp-class"),
    **_map_options_to_reader(_make_number_reader("ecns", {}, _LAST_ECN), "--ecn-ip-ect"),
    **_map_options_to_reader(_read_tcp_flags, "--tcp-flags"),
    **_map_options_to_reader(_read_syn_flag, "--syn"),
}
_ETHERNET_OPTION_READERS = {
    **_map_options_to_reader(_read_ether_type, "-p", "--protocol"),
    **_map_options_to_reader(_read_protocol, "--ip-proto", "--ip-protocol", "--ip6-proto", "--ip6-protocol"),
    **_map_options_to_reader(_make_address_reader("sources"), "--ip-src", "--ip-source", "--ip6-src", "--ip6-source"),
    **_map_options_to_reader(
        _make_address_reader("destinations"), "--ip-dst", "--ip-destination", "--ip6-dst", "--ip6-destination"
    ),
    **_map_options_to_reader(
        _make_port_ranges_reader("source_ports"), "--ip-sport", "--ip-source-port", "--ip6-sport", "--ip6-source-port"
    ),
    **_map_options_to_reader(
        _make_port_ranges_reader("destination_ports"),
        "--ip-dport",
        "--ip-destination-port",
        "--ip6-dport",
        "--ip6-destination-port",
    ),
}
_MARKING_OPTION_READERS = {
    **_map_options_to_reader(_make_mark_reader("traffic_class"), "--class", "--set-class"),
    **_map_options_to_reader(
        _make_mark_reader("dscp"), "--set-dscp", "--set-dscp-class", "--set-conform-action-dscp",
        "--set-exceed-action-dscp", "--set-violate-action-dscp",
    ),
    **_map_options_to_reader(_read_violate_action, "--set-violate-action"),
}  # fmt: skip
