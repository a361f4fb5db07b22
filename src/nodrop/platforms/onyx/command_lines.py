"""Commands of Onyx, typed in configuration mode, with ranges of ports."""

import re
from collections.abc import Iterator, Mapping, Sequence

from nodrop.model.change import Edit
from nodrop.platforms.kit.command_lines import Run, fill_slots, has_slot, runs

TITLE = "Onyx"
BEFORE = ("enable", "configure terminal")
AFTER = ("configuration write",)
KEPT = ""
DISTURBS_AS_PATCH = False
_PORT = re.compile(r"Eth([0-9]+/[0-9]+)")


def for_ports(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with ranges of ports: `ethernet 1/1-1/16`; ports of a breakout have a line each."""
    return tuple(fill_slots(command, spelling) for spelling in _spell(ports)) if has_slot(command) else (command,)


def _spell(ports: Sequence[str]) -> Iterator[str]:
    for entry in runs(ports):
        if isinstance(entry, str):
            yield _with_kind(entry)
        elif _PORT.fullmatch(f"{entry.before}{entry.first}"):
            head = entry.before.removeprefix("Eth")
            yield f"ethernet {head}{entry.first}-{head}{entry.last}"
        else:
            yield from (_with_kind(f"{entry.before}{number}") for number in _numbers(entry))


def _numbers(run: Run) -> range:
    return range(run.first, run.last + 1, run.step)


def _with_kind(name: str) -> str:
    """Return a port as the configuration names it: `ethernet 1/1`, `port-channel 1`."""
    for prefix, kind in (("Eth", "ethernet"), ("Mpo", "mlag-port-channel"), ("Po", "port-channel")):
        if name.startswith(prefix):
            return f"{kind} {name.removeprefix(prefix)}"
    return name


def of_edit(bundle: Mapping[str, bytes], edit: Edit) -> tuple[str, ...]:
    """Return nothing: an edit of Onyx is by hand: its manual steps have the commands."""
    return ()
