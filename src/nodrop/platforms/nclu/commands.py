"""Meaning of NCLU's commands: interfaces, services, RoCE, and commands for FRR.

Sources: Cumulus Linux 3.7 and 4.4, NCLU; Cumulus Linux 5, NCLU to NVUE Common Commands; for RoCE `macros.py`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from nodrop.model.reading import FilePlace
from nodrop.model.types import did_you_mean_hint
from nodrop.platforms.kit.near_words import find_near_word
from nodrop.platforms.kit.secrets import find_nclu_secrets, mask_secret
from nodrop.platforms.kit.translating import FileRemark, TranslatedFiles, format_command_word, non_blank_lines
from nodrop.platforms.nclu.deleting import drop_deleted_rows
from nodrop.platforms.nclu.macros import RoceMacro, expand_macro, parse_port_macro, parse_switch_macro
from nodrop.platforms.nclu.value_faults import find_value_fault
from nodrop.syntax.lines import read_or_keep_line
from nodrop.syntax.places import quote_text
from nodrop.units import parse_whole_number

COMMANDS_FILE = "nclu.txt"

_PROMPT_PATTERN = re.compile(r"[\w.-]++@([\w.-]++):?[\w.:~/-]*+[$#][ \t]*+(?:sudo[ \t]++)?")
_INTERFACE_DELETION_PATTERN = re.compile(r"\bnet[ \t]++del[ \t]++interface\b")
_QUOTED_OR_PLAIN_WORD_PATTERN = re.compile(r"'([^']*)'|\"([^\"]*)\"|(\S+)")
_PORT_RANGE_PATTERN = re.compile(
    r"([A-Za-z]{1,40}[0-9]{0,9}?s?)([0-9]{1,9})-(?:[A-Za-z]{1,40}[0-9]{0,9}?s?)?([0-9]{1,9})"
)
_BGP_NEIGHBOR_OVER_PORT_PATTERN = re.compile(r"neighbor (swp[0-9]{1,3}(?:s[0-9]{1,2})?) interface\b")
"""A session over a port of the panel, or a part of one: it makes the port an interface."""
_NVUE_FEC_WORDS = {"rs": "rs", "baser": "baser", "off": "off", "auto": "auto"}
_UNMODELED_WORDS = frozenset({
    "acl", "clag", "dhcp", "dot1x", "evpn", "forwarding", "igmp", "msdp", "mpls", "ospf", "ospf6", "pbr", "pim", "ptp",
    "snmp-server", "time", "vxlan", "vrrp", "nexthop", "debug", "syslog", "lnv", "vrf", "aggregate",
})  # fmt: skip
_UNMODELED_PORT_WORDS = frozenset({
    "acl", "clag", "evpn", "lldp", "ospf", "ospf6", "pim", "ptm-enable", "stp", "storm-control", "ptp", "bond",
    "igmp", "vrrp", "dot1x", "hwaddress", "neighbor", "post-up", "pre-up", "ipv6", "mpls", "pbr",
    "port-security", "vrr",
})  # fmt: skip

_KNOWN_WORDS = _UNMODELED_WORDS | _UNMODELED_PORT_WORDS | {
    "address", "alias", "autoneg", "breakout", "bridge", "gateway", "hostname", "interface", "loopback", "lossless",
    "lossy", "routing", "slaves", "speed", "storage-optimized", "vlan",
}  # fmt: skip
"""Words that a slip may mean."""
_QOS_WORDS = frozenset({"dscp", "ecn", "lossless", "pfc", "qos", "roce", "storage-optimized", "traffic"})
_QOS_COMMANDS_HINT = "`net add roce lossless`, and before 4.3 `net add interface swp1 storage-optimized pfc`"
_TUNNEL_PORT_PREFIXES = ("vni", "vxlan")
_NET_SUBCOMMANDS = ("abort", "add", "commit", "del", "example", "help", "pending", "rollback", "show")
_IGNORED_BGP_WORDS = ("graceful-restart", "timers", "log-neighbor-changes", "cluster-id")


def translate_commands(config_text: str) -> TranslatedFiles:
    """Return the meaning of the commands, in their order."""
    translation = TranslatedFiles(serves=True, routes=True, forwards=True, balances=True)
    translation.add_secrets(find_nclu_secrets(config_text), COMMANDS_FILE)
    deletes = _INTERFACE_DELETION_PATTERN.search(config_text) is not None
    reader = _NcluCommandTranslator(translation, deletes_interfaces=deletes)
    hosts: dict[str, FilePlace] = {}
    for _, line, span in non_blank_lines(config_text):
        prompt = _PROMPT_PATTERN.match(line)
        if prompt:
            hosts.setdefault(prompt[1], FilePlace(COMMANDS_FILE, span))
        body = line[prompt.end() :] if prompt else line
        words = [quoted_word or two or plain for quoted_word, two, plain in _QUOTED_OR_PLAIN_WORD_PATTERN.findall(body)]
        if words[:1] != ["net"] or len(words) < 2:
            if not line.startswith(("#", "!", "...")) and words[:1] != ["sudo"]:
                reader.stray.append((FilePlace(COMMANDS_FILE, span), line))
            continue
        read_or_keep_line(
            (FilePlace(COMMANDS_FILE, span), line), partial(reader.translate_command, words[1:]), reader.stray
        )
    reader.add_frr_commands_and_unknown_lines()
    if len(hosts) == 1 and not any(line.command.startswith("nv set system hostname ") for line in translation.lines):
        host, place = next(iter(hosts.items()))
        translation.add_nvue_command(f"system hostname {host}", place, f"the prompt of {host}")
    return translation


class _NcluCommandTranslator:
    def __init__(self, translation: TranslatedFiles, *, deletes_interfaces: bool) -> None:
        self._found = translation
        self._deletes_interfaces = deletes_interfaces
        """Whether settings of interfaces are deleted, maybe of a few of those that a list gave them to."""
        self._asns: dict[str, tuple[str, FilePlace]] = {}
        """Of each VRF with BGP, the default one empty: its AS number, and where it is said."""
        self._bgp: list[tuple[str, str, str, FilePlace, str]] = []
        """Of each command of BGP: the VRF, the address family, FRR's command, where it is, and what is said."""
        self._bridged: list[tuple[str, FilePlace, str]] = []
        """What is said of the bridge and its ports, its name left open: a port may be told before the bridge is."""
        self._bridges: set[str] = set()
        self._tunnels: set[str] = set()
        self._gone: list[tuple[int, int, int, str]] = []
        """Of each `net del`, how many lines there were of each kind before it, and what it takes back."""
        self._macros: list[tuple[str, FilePlace, str]] = []
        """Of each RoCE macro: why what it sets is not certain, where it is, and its words."""
        self.stray: list[tuple[FilePlace, str]] = []

    def translate_command(self, words: Sequence[str], at: tuple[FilePlace, str]) -> None:
        """Take over a command without its `net`, which stands at a place of the text."""
        place, text = at[0], mask_secret(" ".join(("net", *words)))
        match list(words):
            case ["add", *rest]:
                self._add_setting(rest, place, text)
            case ["del", "all"]:
                self._gone.clear()
                self._found.lines.clear()
                self._found.frr.clear()
                self._bridged.clear()
                self._bgp.clear()
                self._asns.clear()
            case ["del", *rest]:
                for single in self._each_interface(rest):
                    gone = mask_secret(" ".join(("net", "add", *single)))
                    self._gone.append((len(self._found.lines), len(self._bridged), len(self._bgp), gone))
                if rest[:2] in (["bgp"], ["bgp", "autonomous-system"]):
                    self._asns.pop("", None)
                elif rest[:2] == ["bgp", "vrf"] and rest[3:4] in ([], ["autonomous-system"]):
                    self._asns.pop("".join(rest[2:3]), None)
            case [("commit" | "pending" | "abort" | "show" | "example" | "rollback" | "help"), *_]:
                pass
            case [verb, *_] if near := did_you_mean_hint(verb, _NET_SUBCOMMANDS, 0.8):
                self._found.remark_unknown_command(place, text, "NCLU", f"`{verb}`: {near}")
            case _:
                self._found.add_not_understood(place, f"command {quote_text(text)}")

    def _add_setting(self, words: list[str], place: FilePlace, text: str) -> None:
        """Take over a setting, unless NCLU refuses one of its values: then the switch does not have it."""
        if fault := find_value_fault(words):
            facts = {"path": text, "found": quote_text(fault.found), "expected": fault.expected}
            self._found.remarks.append(FileRemark("malformed-value", (), place, facts))
            return
        for single in self._each_interface(words):
            single_text = text if single is words else mask_secret(" ".join(("net", "add", *single)))
            if not single or not self._read_added_setting(single, place, single_text):
                self._remark_unknown_command(single, place, single_text)

    def _each_interface(self, words: list[str]) -> Iterator[list[str]]:
        """Yield the command, or one for each of its interfaces where parts of lists are deleted."""
        if self._deletes_interfaces and words[:1] == ["interface"] and len(words) > 1:
            yield from (["interface", name, *words[2:]] for name in _expand_name_ranges(words[1]))
        else:
            yield words

    def _remark_unknown_command(self, words: Sequence[str], place: FilePlace, command: str) -> None:
        """Remark a command that NCLU does not have: a slip, or classes of traffic set in words of other systems."""
        for word in words[:4]:
            if word not in _KNOWN_WORDS and (meant := find_near_word(word, _KNOWN_WORDS)):
                self._found.remark_unknown_command(place, command, "NCLU", f"`{word}`: did you mean `{meant}`?")
                return
        if _QOS_WORDS & {*words[:4]}:
            self._found.remark_unknown_command(place, command, "NCLU", f"there is {_QOS_COMMANDS_HINT}")
        else:
            self._found.add_not_understood(place, f"command {quote_text(command)}")

    def add_frr_commands_and_unknown_lines(self) -> None:
        """Add the commands for FRR, and the lines that were no command."""
        self._apply_deletions()
        for place, line in self.stray:
            self._found.add_not_understood(place, f"line {quote_text(mask_secret(line))}")
        for _, _, command, where, source_text in self._bgp:
            if over := _BGP_NEIGHBOR_OVER_PORT_PATTERN.match(command):
                self._found.add_nvue_command(f"interface {over[1]} type swp", where, source_text)
        self._found.bridged = len(self._bridges) > 1
        name = next(iter(self._bridges), "bridge")
        for command, where, source_text in self._bridged:
            self._found.add_nvue_command(command.format(bridge=format_command_word(name)), where, source_text)
        for vrf, (number, place) in self._asns.items():
            own_commands = [bgp_row[1:] for bgp_row in self._bgp if bgp_row[0] == vrf]
            self._add_frr_block(
                f"router bgp {number} vrf {vrf}" if vrf else f"router bgp {number}", place, own_commands
            )

    def _apply_deletions(self) -> None:
        """Remove the settings that a later `net del` takes back."""
        lines = [(before, gone) for before, _, _, gone in self._gone]
        bridged = [(before, gone) for _, before, _, gone in self._gone]
        bgp = [(before, gone) for _, _, before, gone in self._gone]
        self._found.lines[:] = drop_deleted_rows(self._found.lines, lines, lambda line: line.said)
        self._bridged[:] = drop_deleted_rows(self._bridged, bridged, lambda bridge_row: bridge_row[2])
        self._bgp[:] = drop_deleted_rows(self._bgp, bgp, lambda bgp_row: bgp_row[4])
        kept = {line.said for line in self._found.lines if line.command.startswith("nv set qos ")}
        for basis, place, source_text in self._macros:
            if source_text in kept:
                self._found.classifies = True
                self._found.qos_basis = basis
                self._found.add_assumption(place, basis)

    def _add_frr_block(self, head: str, place: FilePlace, commands: Sequence[tuple[str, str, FilePlace, str]]) -> None:
        self._found.frr.append((head, place))
        groups = [command for command in commands if command[1].endswith(" peer-group")]
        for family, line, where, _ in (*groups, *(command for command in commands if command not in groups)):
            if family:
                self._found.frr.append((f" address-family {family}", where))
                self._found.frr.append((f"  {line}", where))
                self._found.frr.append((" exit-address-family", where))
            else:
                self._found.frr.append((f" {line}", where))

    def _read_added_setting(self, words: list[str], place: FilePlace, source_text: str) -> bool:
        """Translate an added setting; return False where it is not known."""
        match words:
            case ["interface", names, *rest]:
                return self._read_interface(_format_port_list(names), rest, place, source_text)
            case [("loopback" | "loop"), "lo", *rest]:
                return self._read_interface("lo", rest, place, source_text)
            case ["bond", name, "bond", "slaves", *members]:
                self._add_bond_members(name, ",".join(members), place, source_text)
            case ["clag", "port", "bond", name, "interface", members, *_]:
                self._add_bond_members(name, members, place, source_text)
            case ["bond", name, "bridge", *rest]:
                self._translate_bridge_setting(name, rest, place, source_text)
            case ["vxlan", name, *_]:
                self._tunnels.add(name)
            case ["bridge", name, *rest]:
                self._read_bridge_setting(name, rest, place, source_text)
            case ["vlan", numbers, *rest]:
                self._read_vlan_interface(numbers, rest, place, source_text)
            case ["bond", name, *_]:
                self._found.add_nvue_command(
                    f"interface {format_command_word(name)} bond mode lacp", place, source_text
                )
            case ["hostname", name]:
                self._found.add_nvue_command(f"system hostname {format_command_word(name)}", place, source_text)
            case ["time", "ntp", "server", server, *_]:
                self._found.add_nvue_command(
                    f"service ntp mgmt server {format_command_word(server)}", place, source_text
                )
            case ["dns", "nameserver", *rest]:
                server = next((word for word in rest if word[:1].isdigit() or ":" in word), "")
                self._found.add_nvue_command(
                    f"service dns default server {format_command_word(server)}", place, source_text
                )
            case ["syslog", "host", *rest]:
                server = next((word for word in rest if word[:1].isdigit() and "." in word), "")
                self._found.add_nvue_command(
                    f"service syslog default server {format_command_word(server)}", place, source_text
                )
            case ["roce", *_] if macro := parse_switch_macro(words):
                self._add_macro(macro, place, source_text)
            case ["storage-optimized", "correct-legacy-qos-config"]:
                pass
            case ["bgp", *rest]:
                vrf = rest[1] if rest[:1] == ["vrf"] and len(rest) > 2 else ""
                return self._read_bgp(
                    format_command_word(vrf) if vrf else "", rest[2:] if vrf else rest, place, source_text
                )
            case ["routing", *rest]:
                return self._read_routing(rest, place)
            case [word, *_]:
                return word in _UNMODELED_WORDS
        return True

    def _read_interface(self, names: str, words: list[str], place: FilePlace, source_text: str) -> bool:
        head = f"interface {names}"
        kind = "loopback" if names == "lo" else "eth" if names.startswith("eth") else "swp"
        if re.match(r"(?:swp|eth|lo)", names) and "." not in names:
            self._found.add_nvue_command(f"{head} type {kind}", place, " ".join(source_text.split(" ")[:4]))
        commands: list[str] = []
        match words:
            case []:
                pass
            case [("ip" | "ipv6"), ("address" | "add"), address, *_]:
                commands = [f"ip address {format_command_word(address)}"]
            case ["ip", "gateway", gateway, *_]:
                commands = [f"ip gateway {format_command_word(gateway)}"]
            case ["ip", *_] | ["alias"]:
                pass
            case ["vrf", name]:
                commands = [f"ip vrf {format_command_word(name)}"]
            case ["mtu", number]:
                commands = [f"link mtu {format_command_word(number)}"]
            case ["alias", *text]:
                commands = [f"description '{mask_secret(' '.join(text)).replace(chr(39), '')}'"]
            case ["link", "speed", speed] if (mbps := parse_whole_number(speed)) is not None:
                commands = [f"link speed {mbps // 1000}G" if mbps >= 1000 else f"link speed {mbps}M"]
            case ["link", "speed", speed]:
                commands = [f"link speed {format_command_word(speed)}"]
            case ["link", "autoneg", value]:
                commands = [f"link auto-negotiate {'on' if value in ('on', 'yes') else 'off'}"]
            case ["link", "fec", value]:
                commands = [f"link fec {_NVUE_FEC_WORDS.get(value, format_command_word(value))}"]
            case ["link", "down"]:
                commands = ["link state down"]
            case ["link", "breakout", value] | ["breakout", value]:
                commands = [f"link breakout {format_command_word(value)}"]
            case ["bridge", *rest]:
                self._translate_bridge_setting(names, rest, place, source_text)
            case ["storage-optimized", *_] if macro := parse_port_macro(names, words):
                self._add_macro(macro, place, source_text)
            case [word, *_] if word in _UNMODELED_PORT_WORDS or word in ("link", "vxlan"):
                pass
            case _:
                return False
        for command in commands:
            self._found.add_nvue_command(f"{head} {command}", place, source_text)
        return True

    def _read_bridge_setting(self, name: str, words: list[str], place: FilePlace, source_text: str) -> None:
        """Translate a setting of the bridge, which is aware of VLANs unless a setting turns that off."""
        self._bridges.add(name)
        match words:
            case ["ports", *listed]:
                for port in _format_port_list(",".join(listed)).split(","):
                    if port and port not in self._tunnels and not port.startswith(_TUNNEL_PORT_PREFIXES):
                        self._bridged.append((f"interface {port} bridge domain {{bridge}}", place, source_text))
            case ["vids", *listed]:
                self._bridged.append(
                    (f"bridge domain {{bridge}} vlan {format_command_word(','.join(listed))}", place, source_text)
                )
            case ["pvid", number]:
                self._bridged.append(
                    (f"bridge domain {{bridge}} untagged {format_command_word(number)}", place, source_text)
                )
            case ["vlan-aware", "no"]:
                self._bridges.add("")

    def _translate_bridge_setting(self, names: str, words: list[str], place: FilePlace, source_text: str) -> None:
        """Translate a bridge setting of a port or a bond; the setting puts it into the bridge."""
        head = f"interface {format_command_word(names)} bridge domain {{bridge}}"
        match words:
            case ["access", number]:
                self._bridged.append((f"{head} access {format_command_word(number)}", place, source_text))
            case ["vids", *listed]:
                self._bridged.append((f"{head} vlan {format_command_word(','.join(listed))}", place, source_text))
            case ["pvid", number]:
                self._bridged.append((f"{head} untagged {format_command_word(number)}", place, source_text))
            case ["allow-untagged", "no"]:
                self._bridged.append((f"{head} untagged none", place, source_text))

    def _read_vlan_interface(self, numbers: str, words: list[str], place: FilePlace, source_text: str) -> None:
        """Take the switch's own interface in a VLAN; with it, the VLAN is one of the bridge."""
        for number in filter(str.isdecimal, numbers.split(",")):
            head = f"interface vlan{number}"
            self._bridged.append((f"bridge domain {{bridge}} vlan {number}", place, source_text))
            commands = [f"{head} type svi", f"{head} vlan {number}"]
            match words:
                case [("ip" | "ipv6"), ("address" | "add"), address, *_]:
                    commands.append(f"{head} ip address {format_command_word(address)}")
                case [("ip" | "ipv6"), "address-virtual", _, *addresses]:
                    commands += [f"{head} ip vrr address {format_command_word(address)}" for address in addresses]
                case ["vrrp", number, *addresses]:
                    router = f"{head} ip vrrp virtual-router {format_command_word(number)}"
                    commands += [f"{router} address {format_command_word(address)}" for address in addresses]
                case ["vrf", name]:
                    commands.append(f"{head} ip vrf {format_command_word(name)}")
                case ["mtu", size]:
                    commands.append(f"{head} link mtu {format_command_word(size)}")
                case ["alias", *text]:
                    commands.append(f"{head} description '{mask_secret(' '.join(text)).replace(chr(39), '')}'")
            self._bridged += [(command.replace("{", "").replace("}", ""), place, source_text) for command in commands]

    def _add_bond_members(self, bond: str, members: str, place: FilePlace, source_text: str) -> None:
        for member in members.split(","):
            self._found.add_nvue_command(f"interface {_format_port_list(member)} type swp", place, source_text)
            self._found.add_nvue_command(
                f"interface {format_command_word(bond)} bond member {_format_port_list(member)}", place, source_text
            )

    def _add_macro(self, macro: RoceMacro, place: FilePlace, source_text: str) -> None:
        self._macros.append((macro.basis, place, source_text))
        for command in expand_macro(macro):
            self._found.add_nvue_command(command, place, source_text)

    def _read_bgp(self, vrf: str, words: list[str], place: FilePlace, source_text: str) -> bool:
        match words:
            case ["l2vpn", "evpn", *rest] | ["evpn", *rest]:
                self._add_bgp_commands(vrf, "l2vpn evpn", rest, place, source_text)
            case ["listen", *_]:
                return True
            case ["autonomous-system", number]:
                self._asns[vrf] = format_command_word(number), place
            case ["router-id", address]:
                self._bgp.append(
                    (vrf, "", f"bgp router-id {format_command_word(address).partition('/')[0]}", place, source_text)
                )
            case [("bestpath" | "default" | "always-compare-med"), *_]:
                self._bgp.append((vrf, "", f"bgp {' '.join(words)}", place, source_text))
            case [("ipv4" | "ipv6") as family, "unicast", *rest]:
                self._add_bgp_commands(vrf, f"{family} unicast", rest, place, source_text)
            case [("neighbor" | "network" | "maximum-paths" | "redistribute"), *_]:
                self._add_bgp_commands(vrf, "", words, place, source_text)
            case [word, *_]:
                return word in _IGNORED_BGP_WORDS
        return True

    def _add_bgp_commands(self, vrf: str, family: str, words: list[str], place: FilePlace, source_text: str) -> None:
        """Add a command for each neighbor that it names."""
        if words[:1] != ["neighbor"] or len(words) < 2:
            self._bgp.append((vrf, family, " ".join(words), place, source_text))
            return
        for name in _expand_name_ranges(words[1]):
            self._bgp.append((vrf, family, " ".join(("neighbor", name, *words[2:])), place, source_text))

    def _read_routing(self, words: list[str], place: FilePlace) -> bool:
        frr = self._found.frr
        match words:
            case ["route", prefix, hop, *rest] if rest[:1] in ([], ["vrf"]):
                frr.append((f"ip route {' '.join((prefix, hop, *rest))}", place))
            case ["prefix-list", ("ipv4" | "ipv6") as family, *rest]:
                frr.append((f"{'ip' if family == 'ipv4' else 'ipv6'} prefix-list {' '.join(rest)}", place))
            case ["as-path", "access-list", *rest]:
                frr.append((f"bgp as-path access-list {' '.join(rest)}", place))
            case ["route-map", name, action, number, *rest]:
                frr.append((f"route-map {name} {action} {number}", place))
                if rest:
                    frr.append((f" {' '.join(rest)}", place))
            case ["defaults", profile]:
                frr.append((f"frr defaults {profile}", place))
            case [word, *_]:
                return word in ("log", "service", "agentx", "line", "password", "enable", "zebra")
        return True


def _format_port_list(config_text: str) -> str:
    """Return a list of interfaces as the newer commands have it: swp1-4,swp6."""
    prefix = ""
    port_names = []
    for port_text in config_text.split(","):
        head = re.match(r"[A-Za-z]+", port_text)
        prefix = head[0] if head else prefix
        whole_text = port_text if head else prefix + port_text
        match = _PORT_RANGE_PATTERN.fullmatch(whole_text)
        port_names.append(f"{match[1]}{match[2]}-{match[3]}" if match else format_command_word(whole_text))
    return ",".join(port_names)


def _expand_name_ranges(text: str) -> tuple[str, ...]:
    """Return each name of a list with ranges."""
    written_outs: list[str] = []
    for port_text in _format_port_list(text).split(","):
        match = _PORT_RANGE_PATTERN.fullmatch(port_text)
        if match:
            last = min(int(match[3]), int(match[2]) + 1024)
            written_outs += [f"{match[1]}{number}" for number in range(int(match[2]), last + 1)]
        else:
            written_outs.append(port_text)
    return tuple(written_outs)
