"""Lines of an FRR configuration that take interfaces or forwarding away, against what else is configured."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.model.fabric import Device
from nodrop.model.states import known_rows, surely_off
from nodrop.platforms.frr.text_reader import Routing
from nodrop.syntax.frr import Statement

SHUT, FORWARDS_NOT = "interface-shut-by-frr", "forwarding-off-in-frr"


class Fault(NamedTuple):
    """A line that is a remark: its kind and facts, and its subject."""

    kind: str
    statement: Statement
    subject: tuple[str, ...]
    facts: Mapping[str, str]


def faults(routing: Routing, device: Device) -> Iterator[Fault]:
    """Yield the interfaces of a device that zebra shuts and nothing else does, and families that it does not forward.

    zebra takes the interface down in the kernel as it reads the line (FRR, zebra/interface.c, if_shutdown), and stops
    the kernel's forwarding (zebra/ipforward_proc.c).
    """
    off = _disabled_interface_names(device)
    names = {interface.name for interface in device.interfaces}
    for name, statement in routing.shut.items():
        if name not in off:
            subject = (device.name, name) if name in names else (device.name,)
            yield Fault(SHUT, statement, subject, {"interface": name})
    for statement in routing.forwards_not:
        family = "IPv6" if "ipv6" in statement.words else "IPv4"
        yield Fault(FORWARDS_NOT, statement, (device.name,), {"family": family})


def unknown_statements(routing: Routing, device: Device) -> list[Statement]:
    """Return the commands with unknown effect: those not understood, and `no shutdown` of objects shut elsewhere."""
    off = _disabled_interface_names(device)
    return [*routing.not_understood, *(statement for name, statement in routing.raised.items() if name in off)]


def _disabled_interface_names(device: Device) -> set[str]:
    off = {interface.name for interface in device.interfaces if surely_off(interface.enabled)}
    return off | {
        port_channel.name for port_channel in known_rows(device.port_channels) if surely_off(port_channel.enabled)
    }
