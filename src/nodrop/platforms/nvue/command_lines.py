"""Commands of NVUE: `nv set` and `nv unset`, with ranges of ports, and `nv config apply`."""

from collections.abc import Mapping, Sequence

from nodrop.model.change import Edit
from nodrop.platforms.kit.command_lines import fill_slots, has_slot
from nodrop.platforms.nvue.edit_document import spelt_key
from nodrop.platforms.nvue.edit_steps import COMMANDS

TITLE = "NVUE"
BEFORE: tuple[str, ...] = ()
AFTER = ("nv config apply",)
KEPT = ""
DISTURBS_AS_PATCH = True


def for_ports(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command with its ports as one key."""
    return (fill_slots(command, spelt_key("interface", ports)),) if has_slot(command) else (command,)


def of_edit(bundle: Mapping[str, bytes], edit: Edit) -> tuple[str, ...]:
    """Return the commands of an edit: those of its form for a shell of the switch."""
    return tuple(edit.forms.get(COMMANDS, "").splitlines())
