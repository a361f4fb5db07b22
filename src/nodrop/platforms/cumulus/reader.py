"""From the files of a switch with Cumulus Linux, in one folder, to a device."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from nodrop.errors import InputProblems, Problem
from nodrop.model.reading import DeviceReading, Place, Source
from nodrop.platforms import frr
from nodrop.platforms.cumulus.adaptive_routing import ADAPTIVE, take
from nodrop.platforms.cumulus.features import FEATURES, INFRA, SWITCHD, Features
from nodrop.platforms.cumulus.interfaces import INTERFACES, PORTS, Interfaces
from nodrop.platforms.cumulus.read_access import ENDING, FOLDERS, Rules, in_order
from nodrop.platforms.kit import translating
from nodrop.platforms.kit.secrets import of_frr
from nodrop.platforms.kit.translating import Translation, word_of
from nodrop.syntax.frr import parse
from nodrop.syntax.places import Span

FRR = ("frr.conf", "Quagga.conf")
"""What the routing daemon is told: the first that there is."""
HOSTNAME = "hostname"
FILES = (*FEATURES, *INFRA, INTERFACES)
BESIDE = (*FRR, HOSTNAME, PORTS, SWITCHD, ADAPTIVE)
BELOW = tuple((folder, ENDING) for folder in FOLDERS)
SUFFIXES = (".conf", ".intf", "")
WRITTEN_AS = "nvue"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_PORT = re.compile(r"lo|swp[0-9]{1,3}(?:s[0-9]{1,2})?|vlan[0-9]{1,4}")
_KEYS = re.compile(
    rb"^[ \t]*(?:traffic\.(?:packet_priority_|cos_[0-7]\.)|(?:pfc|ecn_red|link_pause|source|remark)\."
    rb"(?:port_group_list|\w+\.(?:cos_list|port_set))|default_(?:ecn_red_conf|egress_sched)\.|(?:ingress|egress)_service_pool\.[0-9])",
    re.MULTILINE,
)
_ROUTING = re.compile(r"^(?:frr (?:version|defaults) |router bgp )", re.MULTILINE)
_STANZA = re.compile(rb"^(?:auto|iface)[ \t]+swp[0-9\[]", re.MULTILINE)


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is one of Cumulus Linux: settings of QoS, or stanzas of switch ports."""
    return bool(_KEYS.search(file_head) or _STANZA.search(file_head))


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading."""
    problems: list[Problem] = []
    sources, texts = translating.decoded(bundle, problems)
    try:
        translation = translated(texts)
    except InputProblems as error:
        displays = {source.name: source.display for source in sources}
        problems.extend(replace(problem, path=displays[problem.path]) for problem in error.problems)
        translation = Translation()
    return translating.read_translation("cumulus", name, sources, translation, problems)


def translated(texts: Mapping[str, str]) -> Translation:
    """Return the meaning of the files, given by canonical name. Raise InputProblems where they mean too much."""
    translation = Translation()
    if (hostname := texts.get(HOSTNAME, "").strip()) and _NAME.fullmatch(hostname):
        place = Place(HOSTNAME, Span(1, 1, 1, len(hostname) + 1))
        translation.add(f"system hostname {hostname}", place, HOSTNAME)
    interfaces, features = Interfaces(translation), Features(translation)
    routing_file, routing_text = find_routing(texts) or ("", "")
    for file, text in texts.items():
        if _is_interfaces_file(file, text):
            interfaces.take(text[: _start_of_routing(text)] if file == routing_file else text, file)
    if PORTS in texts:
        interfaces.ports(texts[PORTS])
    of_rules = in_order(texts)
    non_qos_files = (*BESIDE, *of_rules)
    of_qos = [file for file, text in texts.items() if file not in non_qos_files and not _is_interfaces_file(file, text)]
    for file in (*sorted(of_qos, key=(*FEATURES, *INFRA, INTERFACES).index), SWITCHD):
        if file in texts:
            features.take(file, texts[file])
    features.finish()
    if ADAPTIVE in texts:
        take(texts[ADAPTIVE], translation)
    translation.balances = ADAPTIVE in texts or FEATURES[1] in of_qos
    translation.classifies = bool({*FEATURES, INTERFACES}.intersection(of_qos))
    translation.of_5 = FEATURES[0] in of_qos
    if of_rules:
        _add_acl_rules(texts, of_rules, translation)
    if routing_file:
        translation.routes = True
        translation.hide(of_frr(routing_text), routing_file)
        for number, line in enumerate(routing_text.split("\n"), 1):
            translation.frr.append((line, Place(routing_file, Span(number, 1, number, max(len(line), 1) + 1))))
        _add_frr_addresses(translation)
        translation.addressed = True
    return translation


def find_routing(texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the file with FRR's configuration and that text, on its lines of the file; None where there is none.

    Files of a switch that were put together have it behind the stanzas of interfaces, as Batfish's example files do.
    """
    for file in FRR:
        if file in texts:
            return file, texts[file]
    for file, text in texts.items():
        start = _start_of_routing(text) if _is_interfaces_file(file, text) else len(text)
        if start < len(text):
            return file, "\n" * text.count("\n", 0, start) + text[start:]
    return None


def _start_of_routing(text: str) -> int:
    """Return where FRR's configuration begins in a file of stanzas; its length where there is none."""
    match = _ROUTING.search(text)
    return match.start() if match else len(text)


def _add_acl_rules(texts: Mapping[str, str], files: Iterable[str], translation: Translation) -> None:
    """Add the rules of cl-acltool."""
    rules = Rules()
    for file in files:
        rules.take(texts[file], file)
    translation.access_lists = rules.access_lists
    translation.entries |= {name: Place(file, span) for name, (file, span) in rules.places.items()}
    translation.unread += [(Place(line.file, line.span), line.text, line.about) for line in rules.unread]


def _add_frr_addresses(translation: Translation) -> None:
    """Add the addresses that the routing daemon gives to interfaces, as zebra does on Linux."""
    for block in parse("\n".join(line for line, _ in translation.frr)):
        if block.words[0] != "interface" or len(block.words) < 2 or not _PORT.fullmatch(block.words[1]):
            continue
        for child in block.children:
            if child.words[:2] in frr.ADDRESSES and len(child.words) == 3:
                source_text = f"{child.text.strip()} of {block.words[1]}"
                command = f"interface {block.words[1]} ip address {word_of(child.words[2])}"
                translation.add(command, translation.frr[child.line - 1][1], source_text)


def _is_interfaces_file(file: str, text: str) -> bool:
    """Whether a file that may be of either kind, by its name, has stanzas: one of another name is read under one."""
    head = text.encode()
    if file == INTERFACES:
        return not _KEYS.search(head)
    return file == FEATURES[0] and bool(_STANZA.search(head)) and not _KEYS.search(head)
