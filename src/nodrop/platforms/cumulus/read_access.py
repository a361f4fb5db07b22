"""Access lists of Cumulus Linux: the rules that cl-acltool installs, `policy.d/*.rules`.

Files are ordered by their names, rules by their lines; packets that no rule matches are accepted. The tables filter and
mangle are looked up in parallel. Rules of `FORWARD` are for transit, and those that name an output only come after the
others (Cumulus Linux user guide, Netfilter ACLs).
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from nodrop.model.access import AccessEntry, AccessEntryFamily, AccessList, AccessListStage, Binding
from nodrop.model.fabric import Device
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields
from nodrop.platforms.cumulus.read_rule import ALL_INTERFACES_WORDS, UnreadRule, read_rule
from nodrop.platforms.kit.entry_order import sort_lists_and_bindings
from nodrop.syntax.places import Span

RULES_FOLDERS = ("policy.d", "acl/policy.d", "cumulus/acl/policy.d", "etc/cumulus/acl/policy.d", "")
"""Where the files with rules lie, below the folder of a device; last, beside its other files."""
RULES_FILE_SUFFIX = ".rules"

_FAMILY_BY_SECTION: Mapping[str, AccessEntryFamily | None] = {
    "[ip6tables]": "ipv6",
    "[iptables]": "ipv4",
    "[ebtables]": None,
}
"""The sections of a file, in the order in which a switch reads their rules, and the packets that they are for."""
_STAGE_BY_CHAIN: Mapping[tuple[str, str], AccessListStage] = {
    ("filter", "INPUT"): "control-plane", ("filter", "FORWARD"): "transit", ("filter", "OUTPUT"): "control-plane-out",
    ("mangle", "PREROUTING"): "ingress", ("mangle", "INPUT"): "control-plane", ("mangle", "FORWARD"): "transit",
    ("mangle", "OUTPUT"): "control-plane-out", ("mangle", "POSTROUTING"): "egress",
}  # fmt: skip
_STAGES_KNOWING_BOTH_INTERFACES: frozenset[AccessListStage] = frozenset({"transit", "transit-out"})
"""The stages at which iptables knows where a packet came and where it goes; at the others it refuses such a rule."""
_VARIABLE_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*)")
_MAX_VARIABLE_CHARACTERS = 10_000
"""Characters that the variables of a line may stand for: a list of all ports of a switch has fewer."""
_VARIABLE_USE_PATTERN = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")


class _ChainRule(NamedTuple):
    """A rule of a chain: its entry, without ports, and the interfaces that it names, as the file does."""

    entry: AccessEntry
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class UnreadRuleLine(NamedTuple):
    """A line that is not understood, and its subject."""

    file: str
    span: Span
    text: str
    about: str


@dataclass(slots=True)
class AclRuleReader:
    """The rules of a device while its files are read in turn: by chain and stage, those of each section."""

    chains: dict[tuple[str, AccessListStage], dict[str, list[_ChainRule]]] = field(default_factory=dict)
    places: dict[str, tuple[str, Span]] = field(default_factory=dict)
    """File and place of each entry, by its name."""
    unread: list[UnreadRuleLine] = field(default_factory=list)

    def read_rule_file(self, text: str, file: str) -> None:
        """Take the rules of a file."""
        variables: dict[str, str] = {}
        section = ""
        for number, row in enumerate(text.split("\n"), 1):
            line = row.strip()
            span = Span(number, 1, number, max(len(row), 1) + 1)
            if not line or line.startswith("#"):
                continue
            if line in _FAMILY_BY_SECTION:
                section = line
            elif (stated := _VARIABLE_LINE.fullmatch(line)) is not None:
                variables[stated[1]] = stated[2].strip().strip("\"'").replace(" ", "")
            else:
                name = f"{PurePosixPath(file).name}:{number}"
                try:
                    self._read_rule(name, section, _expand_words(line, variables))
                except UnreadRule as error:
                    self.unread.append(UnreadRuleLine(file, span, line, str(error)))
                else:
                    self.places[name] = file, span

    def _read_rule(self, name: str, section: str, words: Sequence[str]) -> None:
        if not section:
            raise UnreadRule("a rule outside of a section")
        rule = read_rule(words, _FAMILY_BY_SECTION[section])
        stages = [_STAGE_BY_CHAIN.get((rule.table, chain)) for chain in rule.chains]
        entry = rule.entry(name)
        for chain, stage in zip(rule.chains, stages, strict=True):
            if stage is None:
                raise UnreadRule("a chain or table that cl-acltool does not have")
            if stage == "control-plane" and rule.outputs:
                raise UnreadRule("an output in the chain INPUT, which cl-acltool refuses")
            called = chain if rule.table == "filter" else f"{rule.table} {chain}"
            if stage == "transit" and rule.outputs and not rule.inputs:
                stage, called = "transit-out", f"{called} -o"
            if entry is not None:
                sections = self.chains.setdefault(
                    (called, stage), {section_name: [] for section_name in _FAMILY_BY_SECTION}
                )
                sections[section].append(_ChainRule(entry, rule.inputs, rule.outputs))

    def access_lists(self, device: Device) -> tuple[AccessList, ...]:
        """Return the lists, with the ports of the device that the interface names mean."""
        named_ports = _PortsByInterfaceName(device)
        return sort_lists_and_bindings(
            AccessList(
                name=name,
                entries=tuple(
                    _bind_entry_to_ports(rule, stage, named_ports) for rules in sections.values() for rule in rules
                ),
                own_packets=True,
                bindings=(Binding(interface=None, stage=stage),),
            )
            for (name, stage), sections in self.chains.items()
        )


def sort_rule_files(files: Iterable[str]) -> list[str]:
    """Return the files with rules, sorted as a switch reads them."""
    return sorted(
        (file for file in files if file.endswith(RULES_FILE_SUFFIX)), key=lambda file: PurePosixPath(file).name
    )


def _expand_words(line: str, variables: Mapping[str, str]) -> list[str]:
    """Return the words of a line, with the values of variables.

    Raise Unread where one has none in the file, and where the values make the line longer than any rule is.
    """
    room = _MAX_VARIABLE_CHARACTERS

    def value(use: re.Match[str]) -> str:
        nonlocal room
        if not (text := variables.get(use[1], "")):
            raise UnreadRule("a variable without a value")
        room -= len(text)
        if room < 0:
            raise UnreadRule(f"variables with more than {_MAX_VARIABLE_CHARACTERS} characters")
        return text

    text = _VARIABLE_USE_PATTERN.sub(value, line)
    if not any(sign in text for sign in "\"'\\"):
        return text.split()
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UnreadRule("a quote without an end") from error


def _bind_entry_to_ports(rule: _ChainRule, stage: AccessListStage, named_ports: "_PortsByInterfaceName") -> AccessEntry:
    """Return an entry with the ports of its side, and those of the other side."""
    leaves = stage in ("transit-out", "egress", "control-plane-out")
    names, far_names = (rule.outputs, rule.inputs) if leaves else (rule.inputs, rule.outputs)
    ports, far_ports = named_ports.ports(names, of_switch=stage == "control-plane"), named_ports.ports(far_names)
    if far_ports and stage not in _STAGES_KNOWING_BOTH_INTERFACES:
        far_condition = f"{'-i' if leaves else '-o'} {','.join(far_names)}"
        return replace_fields(rule.entry, interfaces=ports, others=(*rule.entry.others, far_condition))
    return replace_fields(rule.entry, interfaces=ports, far_interfaces=far_ports) if ports or far_ports else rule.entry


class _PortsByInterfaceName:
    """The ports that names of interfaces stand for: of ports, bonds and VLANs, and the wildcards `swp+` and `bond+`."""

    def __init__(self, device: Device) -> None:
        self._own: dict[str, tuple[str, ...]] = {port.name: (port.name,) for port in device.interfaces}
        for bond in known_rows(device.port_channels):
            self._own[bond.name] = (bond.name, *bond.members)
        bonds = {port for bond in known_rows(device.port_channels) for port in (bond.name, *bond.members)}
        bridged: set[str] = set()
        for vlan in known_rows(device.vlans):
            members = {port for member in vlan.members for port in self._own.get(member.interface, (member.interface,))}
            bridged |= members
            self._own[f"vlan{vlan.id}"] = (f"VLAN {vlan.id}", *sorted(members))
        self._bonds = tuple(sorted(bonds)) or ("bond+",)
        self._routed = tuple(port.name for port in device.interfaces if port.name not in bridged) if bridged else ()

    def ports(self, names: Sequence[str], *, of_switch: bool = False) -> tuple[str, ...]:
        """Return the ports, none for all of them; a name of none, such as eth0, stands for itself.

        For packets of the switch itself, `swp+` is the ports with a place in a routing table: those of a VLAN come by
        the VLAN's interface.
        """
        found_ports: dict[str, None] = {}
        for name in names:
            if name in ALL_INTERFACES_WORDS or (name == "swp+" and not (of_switch and self._routed)):
                return ()
            own = self._routed if name == "swp+" else self._bonds if name == "bond+" else self._own.get(name, (name,))
            found_ports.update(dict.fromkeys(own))
        return tuple(found_ports)
