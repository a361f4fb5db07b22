"""Older forms of Cumulus Linux translated into the commands of the newer one, line by line, to share one reader.

A line of an older form becomes as many commands as it means. Values read, remarked or searched in them have the place
of that line.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.limits import MAX_COMMANDS_PER_FILE
from nodrop.model.access import AccessList
from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import QosProfile
from nodrop.model.reading import NO_REMEDY, DeviceReading, FilePlace, Note, Remark, Remedy, Source
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.model.values import replace_fields
from nodrop.platforms import frr
from nodrop.platforms.frr.faults import find_interface_faults, statements_with_unknown_effect
from nodrop.platforms.kit.secrets import LocatedSecret, SecretExposure, mask_secret
from nodrop.platforms.kit.secrets import build_secret_remark as remark_secret
from nodrop.platforms.kit.unknown_lines import note_unknown_command, note_unknown_line
from nodrop.platforms.nvue import places, reader
from nodrop.syntax.places import Span, decode_utf8, sanitize_for_message

(_TARGET,) = reader.CANONICAL_FILES
_MAX_NOTES = 100
_DROPPED_NVUE_REMARK_KIND = "qos-with-breakout"
"""What is said of a change in NVUE's own words, and of no state."""
_SHARES, _SCHEDULER = "shares-exceed-whole", "egress-scheduler"


class FileRemark(NamedTuple):
    """A remark about a line of a file: its kind, its subject below the device, and how to correct it."""

    kind: str
    subject: Subject
    place: FilePlace
    facts: dict[str, str]
    remedy: Remedy = NO_REMEDY


@dataclass(frozen=True, slots=True)
class TranslatedCommand:
    """A command that a line of an older form means, that line's place, and its original words."""

    command: str
    place: FilePlace
    said: str


@dataclass(slots=True)
class TranslatedFiles:
    """The meaning of a device's files; `frr` are the lines for the routing daemon, with the place of each."""

    lines: list[TranslatedCommand] = field(default_factory=list)
    frr: list[tuple[str, FilePlace]] = field(default_factory=list)
    routes: bool = False
    """Whether the files say what bgpd gets."""
    forwards: bool = False
    """Whether the files say what zebra gets: static routes, and interfaces that are shut."""
    addressed: bool = False
    """Whether the addresses that the routing daemon gives to interfaces are among the lines."""
    classifies: bool = False
    """Whether the files say what becomes of traffic classes."""
    qos_basis: str = ""
    """Why what the files make of traffic classes is not certain; empty where it is."""
    of_5: bool = False
    """Whether the files are those of release 5, whose defaults are known: before it, what is not said is not known."""
    weighs: bool = False
    """Whether shares of the scheduler are weights, which may add up to anything."""
    bridged: bool = False
    """Whether the files have bridges of which it is not known what VLANs they have: several, or one without any."""
    balances: bool = False
    """Whether the files say which ports have adaptive routing, or are of a release that does not know it."""
    serves: bool = False
    """Whether the files name the servers that the switch uses."""
    others: list[tuple[FilePlace, str]] = field(default_factory=list)
    """Lines that were not understood, and what to say of them."""
    unread: list[tuple[FilePlace, str, str]] = field(default_factory=list)
    """Lines whose effect is not known: their texts, and what they are about."""
    access_lists: Callable[[Device], tuple[AccessList, ...]] | None = None
    """Returns the access lists for the device with its ports, where the files say which there are."""
    entries: dict[str, FilePlace] = field(default_factory=dict)
    """Where entries of access lists stand, by their names."""
    remarks: list[FileRemark] = field(default_factory=list)
    secrets: list[tuple[FilePlace, str, SecretExposure]] = field(default_factory=list)
    """Where secrets stand, what they are, and how they are exposed."""

    def add_nvue_command(self, command: str, place: FilePlace, source_text: str) -> None:
        """Add a command without its `nv set`."""
        self.lines.append(TranslatedCommand(f"nv set {command}", place, source_text))

    def remark_unknown_command(self, place: FilePlace, command: str, system: str, hint: str) -> None:
        """Remark a line that the system does not have, and what there is instead."""
        facts = {"command": sanitize_for_message(mask_secret(command))[:80], "system": system, "hint": hint}
        self.remarks.append(FileRemark("unknown-command", (), place, facts))

    def add_secrets(self, secrets: Iterable[LocatedSecret], file: str) -> None:
        """Add the secrets of a file."""
        for line, first_column, last, secret_kind, how in secrets:
            self.secrets.append((FilePlace(file, Span(line, first_column, line, last)), secret_kind, how))

    def add_not_understood(self, source_place: FilePlace, source_text: str) -> None:
        """Add a line that was not understood."""
        self.others.append((source_place, f"{source_text} is not understood and was not checked"))

    def add_assumption(self, source_place: FilePlace, basis: str) -> None:
        """Add a line that was read in one of several ways, and why in that one."""
        if (source_place, basis) not in self.others:
            self.others.append((source_place, basis))


def format_command_word(text: str) -> str:
    """Return a value as one word of a command."""
    return re.sub(r"[^A-Za-z0-9_.,:/%-]", "", text) or "-"


def decode_sources(
    bundle: Iterable[tuple[Source, bytes]], problems: list[Problem]
) -> tuple[tuple[Source, ...], dict[str, str]]:
    """Return the sources and their texts by canonical name; a file that is no text is a problem."""
    sources, texts = [], {}
    for source, raw in bundle:
        sources.append(source)
        try:
            texts[source.name] = decode_utf8(raw, source.display)
        except InputProblems as error:
            problems.extend(error.problems)
    return tuple(sources), texts


def non_blank_lines(text: str) -> Iterable[tuple[int, str, Span]]:
    """Yield (number, line without indentation, place) of the lines that are not blank."""
    for number, row in enumerate(text.split("\n"), 1):
        line = row.strip()
        if line:
            column = len(row) - len(row.lstrip()) + 1
            yield number, line, Span(number, column, number, column + len(line))


def read_translation(
    platform: str, name: str, sources: tuple[Source, ...], translation: TranslatedFiles, problems: Sequence[Problem]
) -> DeviceReading:
    """Read a device from the translation of its files."""
    if len(translation.lines) > MAX_COMMANDS_PER_FILE:
        size_text = f"{len(translation.lines):,} settings, lists and ranges of ports written out"
        expected = f"at most {MAX_COMMANDS_PER_FILE:,}"
        problems = (*problems, Problem(path=sources[0].display, found=size_text, expected=expected))
        translation = TranslatedFiles()
    text = "\n".join(line.command for line in translation.lines)
    target_source = Source(name=_TARGET, display=_TARGET, held=text.encode())
    reading = reader.read_device(name, [(target_source, text.encode())] if text else [])
    displays = {source.name: source.display for source in sources}
    device, derived = _with_unstated_unknown(platform, reading, translation)
    routing = frr.read_frr(
        "\n".join(line for line, _ in translation.frr), frr.DATACENTER, addressed=translation.addressed
    )
    if translation.routes:
        device = replace_fields(device, bgp=routing.bgp, vrf_bgp=routing.vrf_bgp)
    shut = tuple(sorted(routing.shut, key=natural_sort_key)) if translation.forwards else UNKNOWN
    if translation.forwards:
        device = replace_fields(device, static_routes=routing.static_routes)
    if translation.frr:
        device = replace_fields(device, shut_by_daemon=shut)
    if translation.access_lists is not None:
        device = replace_fields(device, access_lists=translation.access_lists(device))
    notes = [_not_understood_note(device.name, displays, place, message) for place, message in translation.others]
    for note in reading.notes:
        place = translation.lines[(note.line or 1) - 1].place
        notes.append(
            _not_understood_note(
                device.name, displays, place, f"{translation.lines[(note.line or 1) - 1].said} was not checked"
            )
        )
    unknown = [
        note_unknown_line(text, about, device.name, displays.get(place.file, place.file), place.span.line)
        for place, text, about in translation.unread
    ]
    for statement in statements_with_unknown_effect(routing, device):
        place = translation.frr[statement.line - 1][1]
        file = displays.get(place.file, place.file)
        unknown.append(note_unknown_command(statement.text, device.name, file, place.span.line))
    remarks: list[Remark] = []
    for remark in reading.remarks:
        if translation.weighs and remark.kind == _SHARES and _SCHEDULER in remark.facts["what"]:
            continue
        if remark.kind == _DROPPED_NVUE_REMARK_KIND:
            continue
        said_once = _relocate_remark(remark, translation)
        remarks += [said_once] if said_once not in remarks else []
    remarks += [
        Remark(kind=kind, subject=(device.name, *subject), place=place, facts=facts, remedy=remedy)
        for kind, subject, place, facts, remedy in translation.remarks
    ]
    remarks += [remark_secret(device.name, place, secret_kind, how) for place, secret_kind, how in translation.secrets]
    for fault in find_interface_faults(routing, device):
        place = translation.frr[fault.statement.line - 1][1]
        remarks.append(Remark(kind=fault.kind, subject=fault.subject, place=place, facts=fault.facts))
    for undefined in routing.undefined:
        place = translation.frr[undefined.statement.line - 1][1]
        remarks.append(undefined.remark(device.name, place, undefined.statement.text))
    return DeviceReading(
        device=device,
        sources=sources,
        remarks=tuple(remarks),
        notes=(*unknown, *sorted(notes, key=lambda note: (note.file or "", note.line or 0))[:_MAX_NOTES]),
        problems=(*problems, *reading.problems),
        derived=derived,
    )


def _with_unstated_unknown(
    platform: str, device_reading: DeviceReading, translation: TranslatedFiles
) -> tuple[Device, dict[Subject, str]]:
    """Return the device with UNKNOWN wherever the older form does not state a setting of the newer one."""
    derived = {subject: reason.replace("NVUE", "Cumulus Linux") for subject, reason in device_reading.derived.items()}
    ports: list[Interface] = []
    for port in device_reading.device.interfaces:
        port_subject = (device_reading.device.name, port.name)
        if not translation.classifies:
            port = replace_fields(port, qos=UNKNOWN, link_pause=UNKNOWN, cable_length_m=UNKNOWN)
        if not translation.balances:
            port = replace_fields(port, adaptive_routing=UNKNOWN, utilization_threshold_percent=UNKNOWN)
        if not translation.of_5 and derived.pop((*port_subject, "mtu_bytes"), ""):
            port = replace_fields(port, mtu_bytes=UNKNOWN)
        ports.append(port)
    device = replace_fields(
        device_reading.device,
        platform=platform,
        interfaces=tuple(ports),
        bgp=UNKNOWN,
        vrf_bgp=UNKNOWN,
        static_routes=UNKNOWN,
        hash_seed=UNKNOWN,
        mac_ageing_s=UNKNOWN,
        arp_reachable_s=UNKNOWN,
        nd_reachable_s=UNKNOWN,
        gnmi_port=UNKNOWN,
        otlp_collectors=UNKNOWN,
        high_frequency=UNKNOWN,
        access_lists=UNKNOWN,
        weighs_utilization=UNKNOWN,
    )
    if not translation.balances:
        device = replace_fields(device, adaptive_routing=UNKNOWN)
    if translation.bridged:
        device = replace_fields(device, vlans=UNKNOWN)
    elif not isinstance(device.vlans, Unknown):
        device = replace_fields(
            device,
            vlans=tuple(_vlan_without_derived_mtu(device.name, vlan, translation, derived) for vlan in device.vlans),
        )
    if not isinstance(device.port_channels, Unknown):
        channels = tuple(
            _channel_without_derived_mtu(device_reading.device.name, port_channel, translation, derived)
            for port_channel in device.port_channels
        )
        device = replace_fields(device, port_channels=channels)
    if not translation.serves:
        device = replace_fields(device, ntp_servers=UNKNOWN, syslog_servers=UNKNOWN, dns_servers=UNKNOWN)
    if not (translation.classifies and translation.of_5):
        device = replace_fields(device, buffer_model=UNKNOWN, dynamic_buffers=UNKNOWN)
    if not translation.classifies:
        device = replace_fields(device, buffer_pools=UNKNOWN, watchdog_polling_ms=UNKNOWN)
        derived = {subject: reason for subject, reason in derived.items() if "qos" not in subject}
    elif translation.qos_basis:
        own = (port.name for port in device.interfaces if isinstance(port.qos, QosProfile))
        derived |= {(device_reading.device.name, name, "qos"): translation.qos_basis for name in own}
    return device, derived


def _channel_without_derived_mtu(
    device: str, channel: PortChannel, translation: TranslatedFiles, derived: dict[Subject, str]
) -> PortChannel:
    subject = (device, "@port_channels", channel.name, "mtu_bytes")
    if translation.of_5 or not derived.pop(subject, ""):
        return channel
    return replace_fields(channel, mtu_bytes=UNKNOWN)


def _vlan_without_derived_mtu(
    device: str, vlan: Vlan, translation: TranslatedFiles, derived: dict[Subject, str]
) -> Vlan:
    subject = (device, "@vlans", vlan.key, "mtu_bytes")
    if translation.of_5 or not derived.pop(subject, ""):
        return vlan
    return replace_fields(vlan, mtu_bytes=UNKNOWN)


def _not_understood_note(device: str, displays: Mapping[str, str], source_place: FilePlace, message: str) -> Note:
    file = displays.get(source_place.file, source_place.file)
    return Note(kind="not-understood", message=message, device=device, file=file, line=source_place.span.line)


def _relocate_remark(remark: Remark, translation: TranslatedFiles) -> Remark:
    """Return a remark about a command as one about the line that means it."""
    if remark.place is None:
        return remark
    line = translation.lines[remark.place.span.line - 1]
    facts = dict(remark.facts) | ({"path": line.said} if "path" in remark.facts else {})
    return Remark(kind=remark.kind, subject=remark.subject, place=line.place, facts=facts)


def make_place_finder(translation: TranslatedFiles) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds a subject, its device first, in the files that were translated."""
    look = places.place_finder_for_files({_TARGET: "\n".join(line.command for line in translation.lines).encode()})
    routing = frr.place_finder_for_files("\n".join(line for line, _ in translation.frr))

    def find(subject: Subject) -> FilePlace | None:
        if subject[1:] and subject[1] in ("@bgp", "@neighbors", "@vrf_bgp", "@static_routes"):
            span = routing(subject[1:])
            if span is not None:
                return translation.frr[span.line - 1][1]
        if subject[1:2] == ("@access_lists",) and (entry := translation.entries.get("".join(subject[4:5]))) is not None:
            return entry
        place = look(subject)
        if place is not None:
            return translation.lines[place.span.line - 1].place
        every = [line.place for line in translation.lines] + [place for _, place in translation.frr]
        return next(iter(every), None)

    return find
