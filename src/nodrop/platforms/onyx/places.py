"""Where a subject stands in a running-config: the command that sets it, else the nearest that is about it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from nodrop.errors import InputProblems
from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject
from nodrop.platforms.onyx.commands import OnyxCommand, parse_running_config
from nodrop.platforms.onyx.read_access import entry_commands
from nodrop.platforms.onyx.read_values import RUNNING_CONFIG_FILE
from nodrop.syntax.places import Span, decode_utf8

Words = tuple[str, ...]
FindCommands = Callable[[str, str | None], Sequence[OnyxCommand]]
"""What gives the commands that set a part of a device, of BGP in a VRF; it goes through all commands once for each."""

_COMMANDS_BY_PORT_FIELD: Mapping[str, tuple[Words, ...]] = {
    "enabled": (("shutdown",),),
    "speed_mbps": (("speed",),),
    "autoneg": (("speed",),),
    "fec": (("fec-override",),),
    "mtu_bytes": (("mtu",),),
    "addresses": (("ip", "address"), ("ipv6", "address")),
    "vrf": (("vrf", "forwarding"),),
    "description": (("description",),),
    "link_pause": (("flowcontrol",),),
    "port": (("module-type",),),
}
_PFC_COMMANDS: tuple[Words, ...] = (("dcb", "priority-flow-control"),)
_COMMANDS_BY_QOS_FIELD: Mapping[str, tuple[Words, ...]] = {
    "trust": (("qos", "trust"),),
    "dscp_to_tc": (("qos", "map", "dscp"), ("qos", "trust")),
    "pcp_to_tc": (("qos", "map", "pcp"), ("qos", "trust")),
    "tc_to_dscp": (("qos", "rewrite"),),
    "pfc_rx_priorities": _PFC_COMMANDS,
    "pfc_tx_priorities": _PFC_COMMANDS,
    "pfc_priorities": _PFC_COMMANDS,
    "pfc_watchdog": (("pfc-wd",), *_PFC_COMMANDS),
    "priority_groups": (("ingress-buffer",), *_PFC_COMMANDS),
    "tc_to_priority_group": (("ingress-buffer",), *_PFC_COMMANDS),
    "pfc_to_priority_group": (("ingress-buffer",), *_PFC_COMMANDS),
    "tc_to_queue": (("traffic-class",),),
    "pfc_to_queue": (("traffic-class",),),
}
_WORD_BY_QUEUE_FIELD = {"scheduler": "dcb", "wred": "congestion-control"}
_SWITCH_COMMANDS_BY_FIELD: Mapping[str, tuple[Words, ...]] = {
    "pfc_rx_priorities": (("dcb", "priority-flow-control", "priority"), *_PFC_COMMANDS, ("traffic", "pool")),
    "pfc_tx_priorities": (("dcb", "priority-flow-control", "priority"), *_PFC_COMMANDS, ("traffic", "pool")),
    "pfc_priorities": (("dcb", "priority-flow-control", "priority"), *_PFC_COMMANDS, ("traffic", "pool")),
    "pfc_watchdog": (("dcb", "priority-flow-control", "priority"), *_PFC_COMMANDS),
    "priority_groups": (("traffic", "pool"), *_PFC_COMMANDS),
}
_COMMANDS_BY_DEVICE_PART: Mapping[str, tuple[Words, ...]] = {
    "@bgp": (("router", "bgp"),),
    "@neighbors": (("router", "bgp"),),
    "@vrf_bgp": (("router", "bgp"),),
    "@static_routes": (("ip", "route"),),
    "@buffer_pools": (("pool",), ("traffic", "pool")),
    "@ntp_servers": (("ntp", "server"),),
    "@dns_servers": (("ip", "name-server"),),
    "@syslog_servers": (("logging",),),
    "@vlans": (("vlan",),),
}
_BGP_WORD_BY_FIELD = {
    "maximum_paths": "maximum-paths",
    "router_id": "router-id",
    "multipath_relax": "bestpath",
    "networks": "network",
    "remote_asn": "remote-as",
    "enabled": "shutdown",
    "import_policy": "route-map",
    "export_policy": "route-map",
}


def place_finder_for_files(config_files: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    try:
        commands = parse_running_config(
            decode_utf8(config_files.get(RUNNING_CONFIG_FILE, b""), RUNNING_CONFIG_FILE)
        ).commands
    except InputProblems:
        commands = ()

    @cache
    def commands_of(head: str, vrf: str | None) -> Sequence[OnyxCommand]:
        return _commands_of_part(commands, head, vrf)

    def find(subject: Subject) -> FilePlace | None:
        span = next(_subject_spans(commands, commands_of, subject[1:]), None)
        return FilePlace(RUNNING_CONFIG_FILE, span) if span else None

    return find


def _commands_of_part(commands: Sequence[OnyxCommand], head: str, vrf: str | None) -> Sequence[OnyxCommand]:
    """Return the commands that set a part of a device; of BGP those of a VRF, or all where it has none."""
    own_commands = [
        command
        for words in _COMMANDS_BY_DEVICE_PART.get(head, ())
        for command in commands
        if not command.kind and command.starts(*words)
    ]
    if vrf is None:
        return own_commands
    return [command for command in own_commands if _command_vrf(command) == vrf] or own_commands


def _subject_spans(commands: Sequence[OnyxCommand], commands_of: FindCommands, subject: Subject) -> Iterator[Span]:
    """Yield the places of a subject below the device, the most exact first."""
    head, *path = subject or ("",)
    if head.startswith("@"):
        yield from _spans_of_device_part(commands, commands_of, head, path)
    elif head:
        yield from _spans_of_port(commands, head, path)
    yield from (command.span for command in commands if command.starts("hostname"))
    yield from (command.span for command in commands)


def _spans_of_device_part(
    commands: Sequence[OnyxCommand], commands_of: FindCommands, head: str, path: Sequence[str]
) -> Iterator[Span]:
    if head == "@access_lists":
        name, _, number = (*path, "", "", "")[:3]
        entry = entry_commands(commands).get((name, number))
        yield from () if entry is None else (entry.span,)
        yield from (command.span for command in commands if name in command.words)
    if head in ("@port_channels", "@loopbacks", "@vlans", "@management") and (path or head == "@management"):
        name = {"@vlans": f"Vlan{path[0]}" if path else "", "@management": "mgmt0"}.get(head, path[0] if path else "")
        found_commands: Sequence[OnyxCommand] = (
            *(command for command in commands if name in command.names),
            *commands_of(head, None),
        )
    elif head in ("@bgp", "@neighbors", "@vrf_bgp"):
        found_commands = commands_of(head, "".join(path[:1]) if head == "@vrf_bgp" else "default")
        path = path[1:] if head == "@vrf_bgp" else path
        path = path[1:] if path[:1] == ["neighbors"] else path
    else:
        found_commands = commands_of(head, None)
    key = path[0] if path else ""
    last = _BGP_WORD_BY_FIELD.get(path[-1], "") if path else ""
    exact = [
        command
        for command in found_commands
        if key in command.words or _BGP_WORD_BY_FIELD.get(key, key) in command.words
    ]
    yield from (command.span for command in exact if last in command.words)
    yield from (command.span for command in (*exact, *found_commands))


def _command_vrf(command: OnyxCommand) -> str:
    """Return the VRF of a command of BGP."""
    return command.words[4] if command.words[3:4] == ("vrf",) and len(command.words) > 4 else "default"


def _spans_of_port(commands: Sequence[OnyxCommand], name: str, path: Sequence[str]) -> Iterator[Span]:
    own_commands = [command for command in commands if name in command.names]
    channels = {
        f"{'Mpo' if command.words[0][0] == 'm' else 'Po'}{command.words[1]}"
        for command in own_commands
        if _joins_port_channel(command)
    }
    own_commands += [command for command in commands if channels & set(command.names)]
    field, *inner = path or ("",)
    if field == "qos":
        yield from (command.span for command in _commands_of_qos(own_commands, commands, inner))
    else:
        yield from (
            command.span
            for words in _COMMANDS_BY_PORT_FIELD.get(field, ())
            for command in reversed(own_commands)
            if command.starts(*words)
        )
    yield from (command.span for command in own_commands if command.words)
    yield from (command.span for command in own_commands)


def _joins_port_channel(command: OnyxCommand) -> bool:
    return command.words[:1] in (("channel-group",), ("mlag-channel-group",)) and len(command.words) > 1


def _commands_of_qos(
    own_commands: Sequence[OnyxCommand], every: Sequence[OnyxCommand], inner: Sequence[str]
) -> Iterator[OnyxCommand]:
    head = inner[0] if inner else ""
    switch = [command for command in every if not command.kind]
    if head == "queues":
        index, queue_field = (*inner[1:], "", "")[:2]
        of_class = [
            command
            for command in own_commands
            if command.words[:1] == ("traffic-class",) and (not index or index in command.words[1:2])
        ]
        of_buffer = [command for command in own_commands if command.starts("egress-buffer", f"ePort.tc{index}")]
        yield from of_buffer if queue_field == "buffer" else ()
        yield from (command for command in of_class if _WORD_BY_QUEUE_FIELD.get(queue_field, "") in command.words)
        yield from of_class
        yield from of_buffer
    elif head == "priority_groups" and len(inner) > 1:
        yield from (
            command for command in own_commands if command.starts("ingress-buffer", f"iPort.pg{inner[1]}", "map")
        )
        yield from (command for command in switch if command.starts("traffic", "pool") and inner[1] in command.words)
    yield from (
        command
        for words in _COMMANDS_BY_QOS_FIELD.get(head, ())
        for command in reversed(own_commands)
        if command.starts(*words)
    )
    yield from (
        command for words in _SWITCH_COMMANDS_BY_FIELD.get(head, ()) for command in switch if command.starts(*words)
    )
    yield from (command for command in switch if command.starts("roce"))
    yield from (command for command in own_commands if command.words[:1] in (("qos",), ("dcb",), ("traffic-class",)))
