"""What /etc/network/interfaces and ports.conf mean: ports with their links, addresses, bonds and bridges."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from nodrop.errors import InputProblems, Problem
from nodrop.limits import MAX_COMMANDS_PER_FILE
from nodrop.model.addresses import interface_of
from nodrop.model.reading import FilePlace
from nodrop.platforms.cumulus import bridges
from nodrop.platforms.cumulus.bridges import InterfaceStanza
from nodrop.platforms.kit.near_words import find_near_word
from nodrop.platforms.kit.translating import TranslatedFiles, format_command_word, non_blank_lines
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.syntax.lines import read_or_keep_line
from nodrop.syntax.places import quote_text
from nodrop.units import parse_whole_number

INTERFACES_FILE = "interfaces"
PORTS_FILE = "ports.conf"

_INTERFACE_NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,40}")
_INTERFACE_RANGE_PATTERN = re.compile(r"([A-Za-z]+)\[([0-9]{1,4})-([0-9]{1,4})\](.*)")
_BREAKOUT_PORT_PATTERN = re.compile(r"([0-9]{1,3})=([1248])x(?:\[?([0-9]+)G\]?)?.*")
_UNSPLIT_PORT_PATTERN = re.compile(r"([0-9]{1,3})=([0-9]+)G.*")
_NVUE_FEC_WORDS = {"rs": "rs", "baser": "baser", "off": "off", "none": "off", "auto": "auto"}
_STANZA_KEYWORDS = frozenset({"auto", "iface", "allow-hotplug", "source", "source-directory", "mapping", "allow-auto"})
_UNMODELED_ATTRIBUTE_PREFIXES = (
    "address-virtual", "arp", "bond", "bridge", "clag", "down", "dns", "es-", "hwaddress", "ip", "mstpctl", "netmask",
    "network", "broadcast", "post-", "pre-", "up", "use-", "vlan", "vrf-table", "vrr", "vxlan", "vxrd", "link", "storm",
    "gateway",    "accept", "bpdu", "evpn", "scope", "tunnel", "ptm", "pim", "metric", "adaptive", "lldp", "ethtool",
)  # fmt: skip
"""How settings begin that are not in the model."""
_BRIDGE_ATTRIBUTES = frozenset({
    "bridge-access", "bridge-allow-untagged", "bridge-ports", "bridge-pvid", "bridge-vids", "bridge-vlan-aware",
    "vlan-id", "vlan-raw-device",
})  # fmt: skip
"""Settings of which bridges are made when all stanzas are read."""
_IFUPDOWN_ATTRIBUTES = frozenset({
    "address", "address-virtual", "alias", "bond-lacp-bypass-allow", "bond-lacp-rate", "bond-miimon", "bond-min-links",
    "bond-mode", "bond-slaves", "bond-use-carrier", "bond-xmit-hash-policy", "bridge-access", "bridge-ageing",
    "bridge-allow-untagged", "bridge-arp-nd-suppress", "bridge-learning", "bridge-mcsnoop", "bridge-ports",
    "bridge-pvid", "bridge-stp", "bridge-vids", "bridge-vlan-aware", "clag-id", "clagd-backup-ip", "clagd-peer-ip",
    "clagd-priority", "clagd-sys-mac", "down", "gateway", "hwaddress", "link-autoneg", "link-down", "link-duplex",
    "link-fec", "link-speed", "mstpctl-bpduguard", "mstpctl-portadminedge", "mtu", "netmask", "post-down", "post-up",
    "pre-down", "pre-up", "up", "vlan-id", "vlan-raw-device", "vrf", "vrf-table", "vxlan-id", "vxlan-local-tunnelip",
})  # fmt: skip
"""Settings of ifupdown2 that a slip may mean."""


def _speed_word(mbps: str) -> str:
    number = parse_whole_number(mbps) or 0
    return f"{number // 1000}G" if number >= 1000 else format_command_word(mbps)


_NVUE_TRANSLATOR_BY_ATTRIBUTE: Mapping[str, Callable[[Sequence[str]], str]] = {
    "address": lambda values: f"ip address {format_command_word(values[0])}",
    "gateway": lambda values: f"ip gateway {format_command_word(values[0])}",
    "vrf": lambda values: f"ip vrf {format_command_word(values[0])}",
    "mtu": lambda values: f"link mtu {format_command_word(values[0])}",
    "alias": lambda values: f"description '{' '.join(values).replace(chr(39), '')}'",
    "link-speed": lambda values: f"link speed {_speed_word(values[0])}",
    "link-autoneg": lambda values: f"link auto-negotiate {'on' if values[0] in ('yes', 'on') else 'off'}",
    "link-fec": lambda values: f"link fec {_NVUE_FEC_WORDS.get(values[0], format_command_word(values[0]))}",
    "link-down": lambda values: f"link state {'down' if values[0] == 'yes' else 'up'}",
}
"""The words of NVUE behind an interface that a setting of ifupdown2 with its values means."""


class InterfaceReader:
    """Takes the stanzas of a device over."""

    def __init__(self, translation: TranslatedFiles) -> None:
        self._found = translation
        self._stanzas: dict[str, InterfaceStanza] = {}
        self._bare: list[tuple[str, str, FilePlace]] = []
        """Addresses without the length of their prefix: (interface, address, place)."""
        self.names: set[str] = set()
        self._written = 0
        """Names that ranges were written out to, counted again for each setting of theirs."""

    def translate_interfaces_file(self, text: str, file: str = INTERFACES_FILE) -> None:
        """Translate an interfaces file, which may have another name.

        Lines between stanzas, in files that were put together, are reported by the first of them.
        """
        current: tuple[str, ...] = ()
        lost = False
        for _, line, span in non_blank_lines(text):
            place = FilePlace(file, span)
            words = line.split()
            if line.startswith("#"):
                continue
            stray = span.column == 1 and not _may_be_stanza_setting(words[0])
            if words[0] in _STANZA_KEYWORDS:
                current = self._open_stanzas(words, place, file)
            elif current and not stray:
                unread: list[str] = []
                self._limit_interface_names(len(current), file)
                for name in current:
                    read_or_keep_line(name, partial(self._read_attribute, words, place), unread)
                if unread:
                    self._found.add_not_understood(place, f"line {quote_text(line)}")
            elif not lost:
                self._found.add_not_understood(place, f"line {quote_text(line)}")
            current = () if stray and words[0] not in _STANZA_KEYWORDS else current
            lost = not current and words[0] not in _STANZA_KEYWORDS
        for name, address, place in self._bare:
            origin = f"address of {name}"
            self._found.add_nvue_command(
                f"interface {name} ip address {format_command_word(self._add_netmask_prefix(name, address))}",
                place,
                origin,
            )
        self._bare.clear()
        bridges.translate_bridges(self._stanzas, self._found)

    def _add_netmask_prefix(self, name: str, address: str) -> str:
        """Return an address with the prefix of the stanza's netmask, where it has one (interfaces(5))."""
        masks = [words[0] for words, _ in self._stanzas[name].settings.get("netmask", ()) if words]
        interface = interface_of(f"{address}/{masks[0]}") if masks else None
        return address if interface is None else str(interface)

    def _limit_interface_names(self, names: int, file: str) -> None:
        """Count names before they are made, or given a setting. Raise InputProblems above MAX_COMMANDS."""
        self._written += names
        if self._written > MAX_COMMANDS_PER_FILE:
            problem_text = f"more than {MAX_COMMANDS_PER_FILE:,} interfaces and settings of theirs, ranges written out"
            raise InputProblems([Problem(path=file, found=problem_text, expected=f"at most {MAX_COMMANDS_PER_FILE:,}")])

    def _open_stanzas(self, words: Sequence[str], place: FilePlace, file: str) -> tuple[str, ...]:
        if words[0] != "iface" or len(words) < 2:
            return ()
        head, numbers, end = _split_name_range(words[1])
        self._limit_interface_names(len(numbers) or 1, file)
        names = tuple(f"{head}{number}{end}" for number in numbers) or (words[1],)
        stanzas = tuple(name for name in names if _INTERFACE_NAME_PATTERN.fullmatch(name))
        for name in stanzas:
            self._stanzas.setdefault(name, InterfaceStanza(place))
            self.names.add(name)
            if nvue_port(name) or name in ("lo", "eth0"):
                self._found.add_nvue_command(f"interface {name} type {_interface_type(name)}", place, f"iface {name}")
        if "dhcp" in words[2:] and "eth0" in stanzas:
            self._found.add_nvue_command("interface eth0 ip address dhcp", place, "iface eth0")
        return stanzas

    def _read_attribute(self, words: Sequence[str], place: FilePlace, name: str) -> None:
        key, value = words[0].replace("_", "-"), words[1] if len(words) > 1 else ""
        head = f"interface {name}"
        origin = f"{key} of {name}"
        self._stanzas[name].settings.setdefault(key, []).append((words[1:], place))
        is_known_name = nvue_port(name) is not None or name in ("lo", "eth0")
        if key not in _IFUPDOWN_ATTRIBUTES and (meant := find_near_word(key, _IFUPDOWN_ATTRIBUTES)):
            self._found.remark_unknown_command(
                place, " ".join(words), "ifupdown2", f"`{words[0]}`: did you mean `{meant}`?"
            )
        elif key == "bond-slaves":
            for member in words[1:] if words[1:] != ["none"] else ():
                self._found.add_nvue_command(f"{head} bond member {format_command_word(member)}", place, origin)
        elif key in _BRIDGE_ATTRIBUTES:
            pass
        elif not is_known_name or not value:
            if not key.startswith((*_UNMODELED_ATTRIBUTE_PREFIXES, "address", "alias", "mtu", "vrf")):
                self._found.add_not_understood(place, f"setting {quote_text(key)} of {name}")
        elif key == "address" and "/" not in value:
            self._bare.append((name, value, place))
        elif (translate := _NVUE_TRANSLATOR_BY_ATTRIBUTE.get(key)) is not None:
            self._found.add_nvue_command(f"{head} {translate(words[1:])}", place, origin)
        elif not key.startswith(_UNMODELED_ATTRIBUTE_PREFIXES):
            self._found.add_not_understood(place, f"setting {quote_text(key)} of {name}")

    def translate_ports_file(self, text: str) -> None:
        """Translate ports.conf; only ports in use count."""
        for _, line, span in non_blank_lines(text):
            place = FilePlace(PORTS_FILE, span)
            body = line.partition("#")[0].replace(" ", "")
            if not body:
                continue
            if split := _BREAKOUT_PORT_PATTERN.fullmatch(body):
                breakout_ports = [f"swp{split[1]}s{subport_index}" for subport_index in range(int(split[2]))]
                if not self.names or self.names & set(breakout_ports):
                    self._found.add_nvue_command(f"interface swp{split[1]} link breakout {split[2]}x", place, body)
                    for name in breakout_ports if split[3] else ():
                        self._add_link_speed(name, split[3], place, body)
            elif whole_match := _UNSPLIT_PORT_PATTERN.fullmatch(body):
                self._add_link_speed(f"swp{whole_match[1]}", whole_match[2], place, body)
            elif not re.fullmatch(r"[0-9]{1,3}=(?:disabled|loopback|[0-9]+x.*)|[0-9]{1,3}-[0-9]{1,3}=.*", body):
                self._found.add_not_understood(place, f"line {quote_text(line)}")

    def _add_link_speed(self, name: str, gigabits: str, place: FilePlace, origin: str) -> None:
        if not self.names or name in self.names:
            self._found.add_nvue_command(f"interface {name} link speed {gigabits}G", place, origin)


def _may_be_stanza_setting(key: str) -> bool:
    """Whether a word may begin a setting of a stanza, though it is not indented."""
    key = key.replace("_", "-")
    return (
        key in _IFUPDOWN_ATTRIBUTES
        or key.startswith(_UNMODELED_ATTRIBUTE_PREFIXES)
        or find_near_word(key, _IFUPDOWN_ATTRIBUTES) is not None
    )


def _interface_type(name: str) -> str:
    return {"lo": "loopback", "eth0": "eth"}.get(name, "swp")


def _split_name_range(text: str) -> tuple[str, range, str]:
    """Return what stands before, in and behind the brackets of `swp[1-4]`; an empty range where there are none."""
    match = _INTERFACE_RANGE_PATTERN.fullmatch(text)
    if not match:
        return text, range(0), ""
    return match[1], range(int(match[2]), min(int(match[3]), int(match[2]) + 1024) + 1), match[4]
