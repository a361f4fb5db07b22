"""Commands of FRR, typed in vtysh in configuration mode."""

import re
from collections.abc import Mapping, Sequence

from nodrop.model.change import EditResult
from nodrop.platforms.kit.command_lines import repeat_for_ports

LANGUAGE_TITLE = "FRR"
LINES_BEFORE = ("vtysh", "configure terminal")
LINES_AFTER = ("end", "write memory")
PERSISTENCE_NOTE = (
    " (SONiC keeps this only with docker_routing_config_mode split-unified; in its default mode, separated, it "
    "generates FRR's files from CONFIG_DB at each start: change the row there too)"
)
DISTURBS_AS_PATCH = False
_CONTEXT_PATTERN = re.compile(r"(?:router|route-map|interface|vrf) ")
_TOP_LEVEL_PATTERN = re.compile(r"(?:no )?(?:ip|ipv6|route-map|interface|router) |exit$|end$")
"""Lines that vtysh takes in the context of others, and leaves it."""


def fill_ports_into_command(command: str, ports: Sequence[str]) -> tuple[str, ...]:
    """Return a command for each port."""
    return repeat_for_ports(command, ports)


def drop_openings_of_open_context(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines of several blocks without those that open the context that is open already."""
    kept: list[str] = []
    context = ""
    for line in lines:
        if line == context:
            continue
        if _CONTEXT_PATTERN.match(line):
            context = line
        elif _TOP_LEVEL_PATTERN.match(line):
            context = ""
        kept.append(line)
    return tuple(kept)


def commands_of_edit(bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
    """Return nothing: platforms that have an frr.conf edit it with their other files."""
    return ()
