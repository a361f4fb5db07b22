"""VLAN-aware bridges and VLAN interfaces of /etc/network/interfaces, as settings of the equivalent single bridge.

Source: Cumulus Linux 3.7, 4.4 and 5.9, VLAN-aware Bridge Mode (a port carries all VLANs of its bridge with tags and
VLAN 1 without, unless it has a list or is an access port) and Traditional Bridge Mode (a bridge is one broadcast
domain, whose VLAN, if any, is in its ports' names).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nodrop.limits import MAX_VLAN
from nodrop.model.reading import FilePlace
from nodrop.platforms.kit.translating import TranslatedFiles, format_command_word
from nodrop.syntax.places import quote_text
from nodrop.units import parse_whole_number

_VLAN_RANGE_PATTERN = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?")
_SVI_NAME_PATTERN = re.compile(r"vlan([0-9]{1,4})")
_BRIDGE_PORT_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,30}")
"""A port of a bridge: a switch port or a bond; with a dot it is a VLAN of one, as traditional bridges have them."""
_BRIDGE_WORD_BY_ATTRIBUTE = {"bridge-access": "access", "bridge-pvid": "untagged", "bridge-vids": "vlan"}
_VIRTUAL_ADDRESS_ATTRIBUTES = ("address-virtual", "vrrp")
"""Settings of addresses that switches share, behind a MAC address or the number of a virtual router (ifupdown2)."""
_VLAN_COMMAND_BY_ATTRIBUTE = {"address": "ip address", "vrf": "ip vrf", "mtu": "link mtu"}

SettingLinesByKey = Mapping[str, Sequence[tuple[Sequence[str], FilePlace]]]
"""By key, the words of each line after it and the line's place."""


@dataclass(slots=True)
class InterfaceStanza:
    """The settings of an interface in the file."""

    place: FilePlace
    settings: dict[str, list[tuple[Sequence[str], FilePlace]]] = field(default_factory=dict)

    def first_word_of_setting(self, key: str) -> str:
        """Return the first word after a key, nothing where there is none."""
        return next((words[0] for words, _ in self.settings.get(key, ()) if words), "")


def translate_bridges(stanzas: Mapping[str, InterfaceStanza], translation: TranslatedFiles) -> None:
    """Add the meaning of the bridges; where they are not a single VLAN-aware bridge, the VLANs are not known."""
    bridges = {name: iface_stanza for name, iface_stanza in stanzas.items() if "bridge-ports" in iface_stanza.settings}
    aware = {name for name, bridge in bridges.items() if bridge.first_word_of_setting("bridge-vlan-aware") == "yes"}
    has_bridge_settings = any(
        set(_BRIDGE_WORD_BY_ATTRIBUTE) & {*iface_stanza.settings} for iface_stanza in stanzas.values()
    )
    if bridges.keys() - aware or len(aware) > 1 or (has_bridge_settings and not aware):
        translation.bridged = True
        return
    for name in aware:
        _add_bridge(name, bridges[name], stanzas, translation)
        for vlan, stanza in stanzas.items():
            _add_vlan_interface(vlan, name, stanza, translation)


def _add_bridge(
    name: str, bridge: InterfaceStanza, stanzas: Mapping[str, InterfaceStanza], translation: TranslatedFiles
) -> None:
    for words, place in bridge.settings.get("bridge-vids", ()):
        translation.add_nvue_command(
            f"bridge domain {name} vlan {_format_vlan_list(words)}", place, f"bridge-vids of {name}"
        )
    if bridge.first_word_of_setting("bridge-pvid"):
        words, place = bridge.settings["bridge-pvid"][0]
        translation.add_nvue_command(
            f"bridge domain {name} untagged {_format_vlan_list(words)}", place, f"bridge-pvid of {name}"
        )
    for words, place in bridge.settings["bridge-ports"]:
        for port in _expand_ports(words, stanzas):
            own_stanza = stanzas.get(port, InterfaceStanza(place))
            if "vxlan-id" in own_stanza.settings:
                continue
            translation.add_nvue_command(f"interface {port} bridge domain {name}", place, f"bridge-ports of {name}")
            for key, word in _BRIDGE_WORD_BY_ATTRIBUTE.items():
                for values, where in own_stanza.settings.get(key, ()):
                    translation.add_nvue_command(
                        f"interface {port} bridge domain {name} {word} {_format_vlan_list(values)}",
                        where,
                        f"{key} of {port}",
                    )
            if own_stanza.first_word_of_setting("bridge-allow-untagged") == "no":
                where = own_stanza.settings["bridge-allow-untagged"][0][1]
                translation.add_nvue_command(
                    f"interface {port} bridge domain {name} untagged none", where, f"bridge-allow-untagged of {port}"
                )


def _expand_ports(line_words: Sequence[str], stanzas: Mapping[str, InterfaceStanza]) -> list[str]:
    """Return the ports that a list names; after `glob`, those with a stanza that a range such as swp1-3 has."""
    if line_words[:1] != ["glob"]:
        return [word for word in line_words if _BRIDGE_PORT_PATTERN.fullmatch(word) and word != "none"]
    ports = []
    for word in line_words[1:]:
        head = re.fullmatch(r"([A-Za-z]+)\[?([0-9]{1,4})-([0-9]{1,4})\]?", word)
        span = range(int(head[2]), min(int(head[3]), 4096) + 1) if head else ()
        ports += [f"{head[1]}{number}" for number in span if f"{head[1]}{number}" in stanzas] if head else [word]
    return ports


def _add_vlan_interface(name: str, bridge: str, stanza: InterfaceStanza, translation: TranslatedFiles) -> None:
    """Add the switch's own interface in a VLAN: `vlan10`, `bridge.10`, or any with a vlan-id over the bridge."""
    below, _, number = name.partition(".")
    named_match = _SVI_NAME_PATTERN.fullmatch(name)
    over = stanza.first_word_of_setting("vlan-raw-device") == bridge
    stated = (
        stanza.first_word_of_setting("vlan-id")
        if over
        else number
        if below == bridge
        else named_match[1]
        if named_match
        else ""
    )
    if not stated:
        return
    vlan = parse_whole_number(stated, MAX_VLAN)
    if vlan is None:
        translation.add_not_understood(stanza.place, f"VLAN {quote_text(stated)} of iface {name}")
        return
    head = f"interface vlan{vlan}"
    translation.add_nvue_command(f"{head} type svi", stanza.place, f"iface {name}")
    translation.add_nvue_command(f"{head} vlan {vlan}", stanza.place, f"iface {name}")
    for key, command in _VLAN_COMMAND_BY_ATTRIBUTE.items():
        for words, place in stanza.settings.get(key, ()):
            for word in words[:1]:
                setting = f"{command} {format_command_word(word)}"
                translation.add_nvue_command(f"{head} {setting}", place, f"{key} of {name}")
    for key in _VIRTUAL_ADDRESS_ATTRIBUTES:
        for words, place in stanza.settings.get(key, ()):
            for word in words[1:]:
                translation.add_nvue_command(
                    f"{head} ip vrr address {format_command_word(word)}", place, f"{key} of {name}"
                )


def _format_vlan_list(line_words: Sequence[str]) -> str:
    """Return a list of VLANs as one word; words that are no numbers stay, to be reported."""
    vlan_words = [vlan_word for word in line_words for vlan_word in word.split(",") if vlan_word]
    vlans = [
        vlan if _VLAN_RANGE_PATTERN.fullmatch(vlan) else re.sub(r"[^A-Za-z0-9_.-]", "", vlan) or "-"
        for vlan in vlan_words
    ]
    return ",".join(vlans) or "-"
