"""From a running-config of Onyx, or commands as they are typed there, to a device."""

import re
from collections.abc import Iterable, Iterator, Sequence

from nodrop.errors import InputProblems, Problem
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device, Interface, Loopback, Management
from nodrop.model.reading import NO_REMEDY, DeviceReading, FilePlace, Note, Remark, Source
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms.frr.policies import UndefinedReference
from nodrop.platforms.onyx import read_commands, read_routing
from nodrop.platforms.onyx.class_halves import remedies_for_halves
from nodrop.platforms.onyx.commands import OnyxCommand, OnyxScript, parse_running_config
from nodrop.platforms.onyx.gathered import StatedLinkSettings, StatedNonRoutingSettings, StatedPortQos
from nodrop.platforms.onyx.naming import onyx_port
from nodrop.platforms.onyx.read_access import read_access_lists
from nodrop.platforms.onyx.read_qos import QosReader
from nodrop.platforms.onyx.read_secrets import find_secrets
from nodrop.platforms.onyx.read_values import RUNNING_CONFIG_FILE, CommandWordReader
from nodrop.platforms.onyx.unknown import suggest_command
from nodrop.syntax.places import decode_utf8, quote_text
from nodrop.units import parse_whole_number

CANONICAL_FILES = (RUNNING_CONFIG_FILE,)
COMPANION_FILES = ()
SUBFOLDER_ENDINGS: tuple[tuple[str, str], ...] = ()
USUAL_SUFFIXES = (".txt", ".cfg", ".conf", "")
WRITTEN_AS = "nvue"
DEFAULT_MTU_BYTES = 1500

_HOSTNAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_VERSION_PATTERN = re.compile(r"([0-9]{1,2}\.[0-9]{1,3}\.[0-9]{1,5}).*")
_ONYX_COMMAND_LINE = re.compile(
    rb"^[^\n]{0,80}?(?:(?:no )?cli default prefix-modes enable"
    rb"|interface (?:ethernet|port-channel|mlag-port-channel) [0-9/,-]+ (?:no )?(?:dcb priority-flow-control|qos trust"
    rb"|traffic-class [0-7] |pfc-wd|mlag-channel-group|(?:ingress|egress)-buffer [ie]Port|mtu [0-9]+ force"
    rb"|speed [0-9]+G? ?(?:no-autoneg )?force|no switchport force)"
    rb"|dcb priority-flow-control (?:enable force|priority [0-7] enable)"
    rb"|traffic pool [\w.-]+ (?:type loss|map switch-priority)"
    rb"|roce (?:lossless|semi-lossless|lossy)[ \t\r]*$)",
    re.MULTILINE,
)
_ONYX_DETECTION_WORDS = (
    b"cli default prefix-modes", b"interface ethernet ", b"interface port-channel ", b"interface mlag-port-channel ",
    b"dcb priority-flow-control ", b"traffic pool ", b"roce ",
)  # fmt: skip
"""Of which a file that this finds something in has one; most files have none, and are not searched line by line."""
_MAX_NOTES = 100
_MAX_PORTS_NAMED_IN_REMARK = 4
"""Ports that one remark names."""


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is Onyx's: commands that no other system has."""
    if name == RUNNING_CONFIG_FILE:
        return True
    may_be = not file_head.lstrip().startswith((b"{", b"<", b"---")) and any(
        word in file_head for word in _ONYX_DETECTION_WORDS
    )
    return may_be and bool(_ONYX_COMMAND_LINE.search(file_head))


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading."""
    problems: list[Problem] = []
    sources = []
    script = OnyxScript({}, ())
    for source, raw in bundle:
        sources.append(source)
        try:
            script = parse_running_config(decode_utf8(raw, source.display))
        except InputProblems as error:
            problems.extend(error.problems)
    return _DeviceReader(name, tuple(sources), script, problems).build_reading()


class _DeviceReader:
    def __init__(self, name: str, sources: tuple[Source, ...], script: OnyxScript, problems: list[Problem]) -> None:
        self._sources, self._script, self._problems = sources, script, problems
        self._values = CommandWordReader(name)
        self._settings, self._others = read_commands.parse_settings(script.commands, self._values)
        self.name = self._values.device = self._hostname(name)
        self._values.remarks = [_rename_remark_device(remark, self.name) for remark in self._values.remarks]
        self._derived: dict[Subject, str] = {}

    def build_reading(self) -> DeviceReading:
        device = self._build_device()
        return DeviceReading(
            device=device,
            sources=self._sources,
            remarks=tuple(self._values.remarks),
            notes=tuple(self._notes()),
            problems=tuple(self._problems),
            derived=self._derived,
        )

    def _hostname(self, name: str) -> str:
        stated = self._settings.hostname or self._script.header.get("Hostname")
        return stated if stated and _HOSTNAME_PATTERN.fullmatch(stated) else name

    def _build_device(self) -> Device:
        settings = self._settings
        routing, sources, other_commands = read_routing.parse_routing(settings.routing)
        self._others += other_commands
        self._remark_undefined_names(routing.undefined, sources)
        self._remark_unknown_commands()
        self._remark_pfc_mismatches()
        self._remark_pool_overcommit()
        self._values.remarks += find_secrets(self.name, self._script.commands, RUNNING_CONFIG_FILE)
        release = _VERSION_PATTERN.fullmatch(self._script.header.get("Product release", ""))
        qos = QosReader(settings)
        return Device(
            name=self.name,
            platform="onyx",
            version=release[1] if release else UNKNOWN,
            model=UNKNOWN,
            mac=UNKNOWN,
            interfaces=tuple(self._interfaces(qos)),
            loopbacks=tuple(
                Loopback(name=name, addresses=tuple(link.addresses), vrf=link.vrf)
                for name, link in sorted(settings.links.items(), key=lambda pair: natural_sort_key(pair[0]))
                if name.startswith("Loopback")
            ),
            port_channels=tuple(_port_channels(settings)),
            vlans=tuple(_build_vlans(settings)),
            access_lists=read_access_lists(self._script.commands),
            management=_build_management(settings),
            bgp=routing.bgp,
            vrf_bgp=routing.vrf_bgp,
            static_routes=routing.static_routes,
            buffer_model=UNKNOWN,
            dynamic_buffers=UNKNOWN,
            buffer_pools=qos.pools(),
            watchdog_polling_ms=UNKNOWN,
            counters=UNKNOWN,
            hash_seed=UNKNOWN,
            mac_ageing_s=UNKNOWN,
            arp_reachable_s=UNKNOWN,
            nd_reachable_s=UNKNOWN,
            ntp_servers=tuple(settings.ntp),
            syslog_servers=tuple(settings.syslog),
            dns_servers=tuple(settings.dns),
            snmp_location=UNKNOWN,
            snmp_contact=UNKNOWN,
            hash_fields=UNKNOWN,
            adaptive_routing=UNKNOWN,
            weighs_utilization=UNKNOWN,
        )

    def _remark_undefined_names(
        self, undefined: Sequence[UndefinedReference], sources: Sequence[OnyxCommand | None]
    ) -> None:
        """Remark the lists and maps that are named and not there, at the command that names them."""
        for missing in undefined:
            if (command := sources[missing.statement.line - 1]) is not None:
                place = FilePlace(RUNNING_CONFIG_FILE, command.span)
                missing = missing._replace(within=(), language="onyx")
                self._values.remarks.append(missing.remark(self.name, place, command.text))

    def _remark_unknown_commands(self) -> None:
        """Report the commands that Onyx does not have; commands for which that is not known are left to be noted."""
        noted, count = [], 0
        for command in self._others:
            instead = suggest_command(command)
            if instead is None:
                noted.append(command)
            elif (count := count + 1) <= _MAX_NOTES:
                facts = {"command": _command_text(command)[:80], "system": "Onyx", "hint": instead}
                place = FilePlace(RUNNING_CONFIG_FILE, command.span)
                remark = Remark(kind="unknown-command", subject=(self.name,), place=place, facts=facts)
                self._values.remarks.append(remark)
        self._others = noted

    def _remark_pool_overcommit(self) -> None:
        """Remark traffic pools of more than the memory, at the last share."""
        shares = {name: pool.percent for name, pool in self._settings.traffic_pools.items() if pool.percent}
        if (total := sum(shares.values())) > 100:
            commands = self._script.commands
            last = [
                command
                for command in commands
                if command.starts("traffic", "pool") and command.words[3:5] == ("memory", "percent")
            ]
            share_list = ", ".join(f"{name} {percent:g}" for name, percent in shares.items())
            facts = {"what": "memory percent of traffic pool", "total": f"{total:g}", "parts": share_list}
            place = FilePlace(RUNNING_CONFIG_FILE, last[-1].span) if last else None
            remark = Remark(kind="shares-exceed-whole", subject=(self.name,), place=place, facts=facts)
            self._values.remarks.append(remark)

    def _remark_pfc_mismatches(self) -> None:
        """Remark priorities with PFC and no lossless buffer, those with the buffer only, and PFC for none of them."""
        settings = self._settings
        if settings.roce is not None:
            return
        paused = {pfc_priority for pfc_priority, on in settings.pfc_priorities.items() if on and settings.pfc}
        pooled = {priority for pool in settings.traffic_pools.values() if pool.lossless for priority in pool.priorities}
        for qos in settings.qos.values():
            lossless = {index for index, buffer in qos.groups.items() if buffer.headroom is not None}
            pooled |= {priority for priority, group in qos.group_of.items() if group in lossless}
        pausing = [name for name, port_qos in settings.qos.items() if port_qos.pfc is True] if settings.pfc else []
        if {*pausing} <= self._peer_link_ports():
            pausing = []
        without_pfc, without_buffer = pooled - paused, paused - pooled
        on, off = remedies_for_halves(settings, without_pfc, without_buffer)
        for subject, has, lacks, words, remedy in (
            (
                _format_priorities(without_buffer),
                "PFC",
                "lossless buffer",
                {"dcb", "priority-flow-control", "priority"},
                off,
            ),
            (_format_priorities(without_pfc), "a lossless buffer", "PFC", {"type", "lossless"}, on),
            (
                "" if paused or pooled else _format_port_names(pausing),
                "PFC turned on",
                "priority with PFC",
                {"dcb", "priority-flow-control", "enable"},
                NO_REMEDY,
            ),
        ):
            if subject:
                commands = self._script.commands
                command = next((candidate for candidate in commands if words <= {*candidate.words}), commands[0])
                facts = {"what": subject, "has": has, "lacks": lacks}
                place = FilePlace(RUNNING_CONFIG_FILE, command.span)
                kind = "lossless-half-configured"
                self._values.remarks.append(
                    Remark(kind=kind, subject=(self.name,), place=place, facts=facts, remedy=remedy)
                )

    def _peer_link_ports(self) -> set[str]:
        """Return the ports of the link between two switches of an MLAG: guides always turn PFC on there."""
        peer: set[str] = set()
        for command in self._script.commands:
            if command.starts("ipl"):
                peer = peer - {*command.names} if command.negated else peer | {*command.names}
        return peer | {name for name, link in self._settings.links.items() if link.channel in peer}

    def _interfaces(self, qos: QosReader) -> Iterator[Interface]:
        """Yield the ports that are named; ports without settings are not in the text."""
        settings = self._settings
        split = {port.panel for name, link in settings.links.items() if link.splits and (port := onyx_port(name))}
        classifies = settings.has_class_settings
        for name in sorted(settings.links, key=natural_sort_key):
            port = onyx_port(name)
            if port is None or (port.panel in split and name.count("/") < 2):
                continue
            link = settings.links[name]
            channel = settings.links.get(link.channel or "", StatedLinkSettings())
            own_qos = settings.qos.get(name, StatedPortQos())
            if link.channel is not None and link.channel in settings.qos:
                own_qos = own_qos.completed_from(settings.qos[link.channel])
            port_qos = qos.read_port_qos(own_qos)
            mtu = link.mtu_bytes or channel.mtu_bytes
            for field, absent, reason in (
                ("enabled", link.enabled is None, "a port is up unless it is shut down"),
                ("mtu_bytes", mtu is None, f"the MTU is {DEFAULT_MTU_BYTES} unless it is said"),
            ):
                if absent:
                    self._derived[self.name, name, field] = reason
            for subject, reason in port_qos.derived.items() if classifies else ():
                self._derived[(self.name, name, *subject)] = reason
            yield Interface(
                name=name,
                port=port,
                enabled=link.enabled is not False,
                speed_mbps=UNKNOWN if link.speed_mbps is None else link.speed_mbps,
                lanes=UNKNOWN,
                fec=UNKNOWN if link.fec is None else link.fec,  # type: ignore[arg-type]
                autoneg=UNKNOWN if link.autoneg is None else link.autoneg,
                advertised_speeds_mbps=UNKNOWN,
                link_training=UNKNOWN,
                link_local=UNKNOWN,
                mtu_bytes=DEFAULT_MTU_BYTES if mtu is None else mtu,
                addresses=tuple(link.addresses),
                vrf=link.vrf,
                description=link.description,
                link_pause=port_qos.link_pause,
                cable_length_m=UNKNOWN,
                adaptive_routing=UNKNOWN,
                utilization_threshold_percent=UNKNOWN,
                qos=port_qos.profile if classifies else None,
            )

    def _notes(self) -> Iterator[Note]:
        display = self._sources[0].display if self._sources else None
        seen: set[tuple[str, ...]] = set()
        for command in sorted(self._others, key=lambda unknown_command: unknown_command.span):
            kind = (command.kind, *command.words[:2])
            if kind not in seen and len(seen) < _MAX_NOTES:
                seen.add(kind)
                message = f"command {quote_text(_command_text(command))} is not understood and was not checked"
                line = command.span.line
                yield Note(kind="not-understood", message=message, device=self.name, file=display, line=line)


def _format_priorities(priorities: set[int]) -> str:
    return f"priority {', '.join(map(str, sorted(priorities)))}" if priorities else ""


def _format_port_names(object_names: Sequence[str]) -> str:
    """Name the ports, the first of them where there are many."""
    sorted_names = sorted(object_names, key=natural_sort_key)
    ellipsis = ["..."] if len(sorted_names) > _MAX_PORTS_NAMED_IN_REMARK else []
    noun = "port" if len(sorted_names) == 1 else "ports"
    return f"{noun} {', '.join(sorted_names[:_MAX_PORTS_NAMED_IN_REMARK] + ellipsis)}" if sorted_names else ""


def _command_text(command: OnyxCommand) -> str:
    if not command.kind:
        return command.text
    number = "".join(command.names[:1]).lstrip("EthPoMpVlanLbck")
    return " ".join(("interface", command.kind, *([number] if number else []), command.text))


def _rename_remark_device(remark: Remark, device: str) -> Remark:
    subject = (device, *remark.subject[1:])
    return Remark(kind=remark.kind, subject=subject, place=remark.place, facts=remark.facts)


def _build_management(settings: StatedNonRoutingSettings) -> Management | None | Unknown:
    link = settings.links.get("mgmt0")
    if link is None:
        return UNKNOWN
    has_own_vrf = settings.management_vrf
    return Management(interface="mgmt0", addresses=tuple(link.addresses), gateway=None, own_vrf=has_own_vrf)


def _port_channels(settings: StatedNonRoutingSettings) -> Iterator[PortChannel]:
    members: dict[str, list[str]] = {}
    for name in sorted(settings.links, key=natural_sort_key):
        channel = settings.links[name].channel
        if name.startswith(("Po", "Mpo")):
            members.setdefault(name, [])
        elif channel is not None:
            members.setdefault(channel, []).append(name)
    for name in sorted(members, key=natural_sort_key):
        link = settings.links.get(name, StatedLinkSettings())
        yield PortChannel(
            name=name,
            members=tuple(members[name]),
            enabled=link.enabled is not False,
            mtu_bytes=link.mtu_bytes,
            addresses=tuple(link.addresses),
            vrf=link.vrf,
            description=link.description,
        )


def _build_vlans(settings: StatedNonRoutingSettings) -> Iterator[Vlan]:
    members: dict[int, list[VlanMember]] = {number: [] for number in settings.vlans}
    for name in sorted(settings.links, key=natural_sort_key):
        link = settings.links[name]
        if name.startswith("Vlan") and (number := parse_whole_number(name.removeprefix("Vlan"))) is not None:
            members.setdefault(number, [])
        if link.access_vlan is not None and not link.routed:
            members.setdefault(link.access_vlan, []).append(VlanMember(interface=name, tagged=False))
        for number in sorted(link.tagged_vlans - {link.access_vlan}) if link.mode in ("trunk", "hybrid") else ():
            members.setdefault(number, []).append(VlanMember(interface=name, tagged=True))
    for number in sorted(members):
        link = settings.links.get(f"Vlan{number}", StatedLinkSettings())
        yield Vlan(
            id=number,
            members=tuple(members[number]),
            enabled=link.enabled is not False,
            mtu_bytes=link.mtu_bytes,
            addresses=tuple(link.addresses),
            vrf=link.vrf,
            description=link.description,
        )
