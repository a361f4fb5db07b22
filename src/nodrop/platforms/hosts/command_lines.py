"""Commands of a host's shell, as root."""

from collections.abc import Mapping, Sequence

from nodrop.model.change import Edit
from nodrop.platforms.kit.command_lines import repeat_for_ports

TITLE = "host"
BEFORE: tuple[str, ...] = ()
AFTER: tuple[str, ...] = ()
DISTURBS_AS_PATCH = False


def for_ports(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command for each port."""
    return repeat_for_ports(command, ports)


def of_edit(bundle: Mapping[str, bytes], edit: Edit) -> tuple[str, ...]:
    """Return nothing: files of hosts are not edited."""
    return ()
