"""From the files of a switch with Cumulus Linux, in one folder, to a device."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from nodrop.errors import InputProblems, Problem
from nodrop.model.reading import DeviceReading, FilePlace, Source
from nodrop.platforms import frr
from nodrop.platforms.cumulus.adaptive_routing import ADAPTIVE_ROUTING_FILE, translate_adaptive_routing
from nodrop.platforms.cumulus.features import QOS_FEATURES_FILES, QOS_INFRA_FILES, SWITCHD_FILE, QosFeatureReader
from nodrop.platforms.cumulus.interfaces import INTERFACES_FILE, PORTS_FILE, InterfaceReader
from nodrop.platforms.cumulus.read_access import RULES_FILE_SUFFIX, RULES_FOLDERS, AclRuleReader, sort_rule_files
from nodrop.platforms.frr.files import BGPD_FILE, END_OF_FILE, FRR_FILE, ZEBRA_FILE
from nodrop.platforms.kit import translating
from nodrop.platforms.kit.secrets import find_frr_secrets
from nodrop.platforms.kit.translating import TranslatedFiles, format_command_word
from nodrop.syntax.frr import parse_frr
from nodrop.syntax.places import Span

FRR_FILES = (FRR_FILE, "Quagga.conf")
"""Names of the one file for all routing daemons; the first of them counts."""
DAEMON_FILES = (ZEBRA_FILE, BGPD_FILE)
"""A file for each daemon, where there is none for all."""
HOSTNAME_FILE = "hostname"
CANONICAL_FILES = (*QOS_FEATURES_FILES, *QOS_INFRA_FILES, INTERFACES_FILE)
COMPANION_FILES = (*FRR_FILES, *DAEMON_FILES, HOSTNAME_FILE, PORTS_FILE, SWITCHD_FILE, ADAPTIVE_ROUTING_FILE)
SUBFOLDER_ENDINGS = tuple((folder, RULES_FILE_SUFFIX) for folder in RULES_FOLDERS)
USUAL_SUFFIXES = (".conf", ".intf", "")
WRITTEN_AS = "nvue"

_HOSTNAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_INTERFACE_NAME_PATTERN = re.compile(r"lo|swp[0-9]{1,3}(?:s[0-9]{1,2})?|vlan[0-9]{1,4}")
_ADDRESS_WORDS = 3
"""Words of a command that gives an address and nothing else."""
_QOS_KEYS_PATTERN = re.compile(
    rb"^[ \t]*(?:traffic\.(?:packet_priority_|cos_[0-7]\.)|(?:pfc|ecn_red|link_pause|source|remark)\."
    rb"(?:port_group_list|\w+\.(?:cos_list|port_set))|default_(?:ecn_red_conf|egress_sched)\.|(?:ingress|egress)_service_pool\.[0-9])",
    re.MULTILINE,
)
_FRR_CONFIG_START_PATTERN = re.compile(r"^(?:frr (?:version|defaults) |router bgp )", re.MULTILINE)
_PORT_STANZA_PATTERN = re.compile(rb"^(?:auto|iface)[ \t]+swp[0-9\[]", re.MULTILINE)


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is one of Cumulus Linux: settings of QoS, or stanzas of switch ports."""
    return bool(_QOS_KEYS_PATTERN.search(file_head) or _PORT_STANZA_PATTERN.search(file_head))


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading."""
    problems: list[Problem] = []
    sources, texts = translating.decode_sources(bundle, problems)
    try:
        translation = translate_files(texts)
    except InputProblems as error:
        displays = {source.name: source.display for source in sources}
        problems.extend(replace(problem, path=displays[problem.path]) for problem in error.problems)
        translation = TranslatedFiles()
    return translating.read_translation("cumulus", name, sources, translation, problems)


def translate_files(texts: Mapping[str, str]) -> TranslatedFiles:
    """Return the meaning of the files, given by canonical name. Raise InputProblems where they mean too much."""
    translation = TranslatedFiles()
    if (hostname := texts.get(HOSTNAME_FILE, "").strip()) and _HOSTNAME_PATTERN.fullmatch(hostname):
        place = FilePlace(HOSTNAME_FILE, Span(1, 1, 1, len(hostname) + 1))
        translation.add_nvue_command(f"system hostname {hostname}", place, HOSTNAME_FILE)
    interfaces, features = InterfaceReader(translation), QosFeatureReader(translation)
    routing = find_frr_texts(texts)
    for file, text in texts.items():
        if _is_interfaces_file(file, text):
            interfaces.translate_interfaces_file(text[: _frr_text_offset(text)] if file in routing else text, file)
    if PORTS_FILE in texts:
        interfaces.translate_ports_file(texts[PORTS_FILE])
    of_rules = sort_rule_files(texts)
    non_qos_files = (*COMPANION_FILES, *of_rules)
    of_qos = [file for file, text in texts.items() if file not in non_qos_files and not _is_interfaces_file(file, text)]
    for file in (*sorted(of_qos, key=(*QOS_FEATURES_FILES, *QOS_INFRA_FILES, INTERFACES_FILE).index), SWITCHD_FILE):
        if file in texts:
            features.translate_file(file, texts[file])
    features.translate_groups()
    if ADAPTIVE_ROUTING_FILE in texts:
        translate_adaptive_routing(texts[ADAPTIVE_ROUTING_FILE], translation)
    translation.balances = ADAPTIVE_ROUTING_FILE in texts or QOS_FEATURES_FILES[1] in of_qos
    translation.classifies = bool({*QOS_FEATURES_FILES, INTERFACES_FILE}.intersection(of_qos))
    translation.of_5 = QOS_FEATURES_FILES[0] in of_qos
    if of_rules:
        _add_acl_rules(texts, of_rules, translation)
    if routing:
        translation.routes = states_bgp(routing)
        translation.forwards = not routing.keys().isdisjoint(texts.keys() - {BGPD_FILE})
        for file, text in routing.items():
            translation.add_secrets(find_frr_secrets(text), file)
        translation.frr += place_frr_lines(routing)
        _add_frr_addresses(translation)
        translation.addressed = True
    return translation


def find_frr_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the files with FRR's configuration and their texts, on their lines of the files; none where there is none.

    Files of a switch that were put together have it behind the stanzas of interfaces, as Batfish's example files do.
    """
    for file in FRR_FILES:
        if file in texts:
            return {file: texts[file]}
    if of_daemons := {file: texts[file] for file in DAEMON_FILES if file in texts}:
        return of_daemons
    for file, text in texts.items():
        start = _frr_text_offset(text) if _is_interfaces_file(file, text) else len(text)
        if start < len(text):
            return {file: "\n" * text.count("\n", 0, start) + text[start:]}
    return {}


def states_bgp(routing: Iterable[str]) -> bool:
    """Whether these files of FRR include the one with BGP."""
    return any(file != ZEBRA_FILE for file in routing)


def place_frr_lines(routing: Mapping[str, str]) -> list[tuple[str, FilePlace]]:
    """Return the lines of FRR's configuration, those of all files as one text, with the place of each."""
    placed: list[tuple[str, FilePlace]] = []
    for file, text in routing.items():
        if placed:
            placed.append((END_OF_FILE, placed[-1][1]))
        for number, line in enumerate(text.split("\n"), 1):
            placed.append((line, FilePlace(file, Span(number, 1, number, max(len(line), 1) + 1))))
    return placed


def _frr_text_offset(text: str) -> int:
    """Return where FRR's configuration begins in a file of stanzas; its length where there is none."""
    match = _FRR_CONFIG_START_PATTERN.search(text)
    return match.start() if match else len(text)


def _add_acl_rules(texts: Mapping[str, str], files: Iterable[str], translation: TranslatedFiles) -> None:
    """Add the rules of cl-acltool."""
    rules = AclRuleReader()
    for file in files:
        rules.read_rule_file(texts[file], file)
    translation.access_lists = rules.access_lists
    translation.entries |= {name: FilePlace(file, span) for name, (file, span) in rules.places.items()}
    translation.unread += [(FilePlace(line.file, line.span), line.text, line.about) for line in rules.unread]


def _add_frr_addresses(translation: TranslatedFiles) -> None:
    """Add the addresses that the routing daemon gives to interfaces, as zebra does on Linux.

    Those of interfaces that are neither ports nor in other files, and those with more words, are unknown lines.
    """
    commands = (line.command.split() for line in translation.lines)
    stated = {words[3] for words in commands if words[2] == "interface"}
    for block in parse_frr("\n".join(line for line, _ in translation.frr)):
        if block.words[0] != "interface" or len(block.words) < 2:
            continue
        name = block.words[1]
        is_known = bool(_INTERFACE_NAME_PATTERN.fullmatch(name)) or name in stated
        for child in block.children:
            if child.words[:2] not in frr.ADDRESS_COMMANDS:
                continue
            place = translation.frr[child.line - 1][1]
            if is_known and len(child.words) == _ADDRESS_WORDS:
                command = f"interface {name} ip address {format_command_word(child.words[2])}"
                translation.add_nvue_command(command, place, f"{child.text.strip()} of {name}")
            else:
                translation.unread.append((place, child.text, " ".join(child.words[:2])))


def _is_interfaces_file(file: str, text: str) -> bool:
    """Whether a file that may be of either kind, by its name, has stanzas: one of another name is read under one."""
    head = text.encode()
    if file == INTERFACES_FILE:
        return not _QOS_KEYS_PATTERN.search(head)
    return (
        file == QOS_FEATURES_FILES[0] and bool(_PORT_STANZA_PATTERN.search(head)) and not _QOS_KEYS_PATTERN.search(head)
    )
