"""Commands of NCLU: `net add` and `net del`, with ranges of ports, and `net commit`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from nodrop.model.change import EditResult
from nodrop.model.fabric import Device
from nodrop.platforms.kit.command_lines import fill_port_slots, group_numbered_names, has_port_slot

LANGUAGE_TITLE = "NCLU"
LINES_BEFORE: tuple[str, ...] = ()
LINES_AFTER = ("net commit",)
PERSISTENCE_NOTE = ""
DISTURBS_AS_PATCH = False
_BGP_PROCESS_PATTERN = re.compile(r"router bgp(?: [0-9.]+)?(?: vrf (\S+))?")
_PROCESS_WORDS = frozenset({"always-compare-med", "bestpath", "default", "neighbor", "router-id", "timers"})
_FAMILY_WORDS = frozenset({"aggregate-address", "maximum-paths", "neighbor", "network", "redistribute"})
"""Words of FRR that NCLU has for a process and in an address family (Cumulus Linux 4.4, net add bgp)."""


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with its ports as one list: `swp1-16,swp20`."""
    if not has_port_slot(command):
        return (command,)
    entries = (
        entry if isinstance(entry, str) else f"{entry.before}{entry.first}-{entry.last}"
        for entry in group_numbered_names(ports)
    )
    return (fill_port_slots(command, ",".join(entries)),)


def frr_lines_as_vtysh_command(lines: Sequence[str], device: Device) -> tuple[str, ...]:
    """Return lines of FRR as commands of NCLU; none where NCLU has none for one of them."""
    commands = [_translate_frr_line(line, place) for line, place in _lines_with_their_place(lines)]
    return tuple(command for command in commands if command) if all(commands) else ()


def _lines_with_their_place(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines of FRR that set something, each with the words of NCLU for the place below which it is."""
    process, family = "", ""
    for raw_line in lines:
        line = raw_line.strip()
        if match := _BGP_PROCESS_PATTERN.fullmatch(line):
            process, family = f"bgp vrf {match[1]}" if match[1] else "bgp", ""
        elif line.startswith("address-family "):
            family = f" {line.removeprefix('address-family ')}"
        elif line == "exit-address-family":
            family = ""
        elif line in ("exit", "end"):
            process, family = "", ""
        else:
            yield line, f"{process}{family}"


def _translate_frr_line(line: str, place: str) -> str:
    """Return the command of NCLU for a line of FRR; "" where there is none."""
    setting = line.removeprefix("no ")
    verb = "add" if setting == line else "del"
    if not place and setting.startswith("ip route "):
        return f"net {verb} routing {setting.removeprefix('ip ')}"
    is_in_family = place.endswith(" unicast")
    words = setting if is_in_family else setting.removeprefix("bgp ")
    known = words.split(" ")[0] in (_FAMILY_WORDS if is_in_family else _PROCESS_WORDS)
    return f"net {verb} {place} {words}" if place and known else ""


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return nothing: an edit of NCLU is by hand: its manual steps have the commands."""
    return ()
