"""Lines of a frr.conf that a twin's daemons do not get: with effects outside routing, or about parts that no twin has.

The box of a twin confines the daemons; this keeps them from trying, and from filling their files. Lines keep their
numbers: one that is left out is a comment.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

MAX_FRR_LINE_BYTES: Final = 4095
"""What FRR takes as one line; the rest of a longer one is a line of its own (FRR, lib/vty.h, VTY_BUFSIZ)."""


def _command_regex(phrase: str) -> str:
    """Return a pattern of words, each whole or shortened, as FRR takes those that mean one command (lib/command.c)."""
    words = ("".join(f"(?:{re.escape(char)}" for char in word) + ")?" * len(word) for word in phrase.split())
    return r"\s+".join(rf"(?=\S){word}(?!\S)" for word in words)


_OUTWARD_EFFECT_LINE: Final = re.compile(
    rf"""\s*(?:{_command_regex("no")}\s+)?(?:
        {_command_regex("log-filter")}              # and `log`: files, syslog, sockets, the terminal (lib/log_vty.c)
        |{_command_regex("destination")}            # of `log extended` (lib/zlog_5424_cli.c, from FRR 9)
        |{_command_regex("dump bgp")}               # files of messages and routes (bgpd/bgp_dump.c)
        |{_command_regex("debug")}                  # goes to the log
        |{_command_regex("rpki")}                   # connections to caches, by SSH with a key file (bgpd/bgp_rpki.c)
        |{_command_regex("bmp")}                    # connections to collectors (bgpd/bgp_bmp.c)
        |{_command_regex("agentx")}                 # the SNMP daemon's socket (lib/agentx.c)
        |{_command_regex("smux")}|{_command_regex("snmp")}  # the same
        |{_command_regex("fpm")}                    # the forwarding plane's socket (zebra/zebra_fpm.c, dplane_fpm_nl.c)
        |{_command_regex("mgmt")}                   # the management daemon (mgmtd, from FRR 9)
        |{_command_regex("pcep")}                   # and `pce`: connections to path computation (pathd/path_pcep_cli.c)
        |{_command_regex("output file")}            # where vtysh itself writes (vtysh/vtysh.c)
        |{_command_regex("banner motd file")}       # shows a file (lib/command.c)
        |(?!net\s+[0-9A-Fa-f]{{2}}\.)       # IS-IS has a `net` of its own, an address
         {_command_regex("netns")}                  # another namespace than the twin's own (lib/vrf.c)
        |{_command_regex("zebra on-rib-process")}   # runs a script (zebra/zebra_script.c)
        |{_command_regex("match script")}           # the same (bgpd/bgp_routemap.c)
        |do(?!\S)                           # an order, no setting
    )""",
    re.VERBOSE,
)
_OUTWARD_EFFECT_BLOCK_LINE: Final = re.compile(
    rf"\s*(?:{_command_regex('rpki')}|{_command_regex('bmp targets')}\s+\S+|{_command_regex('log extended')}\s+\S+)\s*"
)
"""Lines that begin a block, whose `exit` goes with it: it would leave the block around it."""
_EXIT_LINE: Final = re.compile(rf"\s*(?:{_command_regex('exit')}|{_command_regex('quit')})\s*")
_COMMENT_LINE: Final = re.compile(r"\s*(?:[!#].*)?")
_REPLACEMENT_LINE: Final = "!"
_SWITCH_ONLY_LINE: Final = re.compile(r"\s*bgp (?:suppress-fib-pending|graceful-restart(?: .*)?)\s*")
"""What is about a switch's hardware and its restarts: a twin has no hardware to wait for, and restarts no daemon.

These lines change no route that is installed, so they are left out without being listed.
"""


class TrimmedFrrConf(NamedTuple):
    """A frr.conf for a twin, and the lines with effects outside routing that it had, by their numbers from 1."""

    text: str
    lines: tuple[int, ...]


def comment_out_outward_lines(frr_text: str) -> TrimmedFrrConf:
    """Return a frr.conf without lines that have effects outside routing, which are comments instead."""
    rows = frr_text.split("\n")  # as FRR has lines: by nothing else
    lines = tuple(_outward_line_numbers(rows))
    for number in lines:
        rows[number - 1] = _REPLACEMENT_LINE
    rows = [_REPLACEMENT_LINE if _SWITCH_ONLY_LINE.fullmatch(row) else row for row in rows]
    return TrimmedFrrConf("\n".join(rows), lines)


def _outward_line_numbers(rows: Iterable[str]) -> Iterator[int]:
    within = False
    for number, row in enumerate(rows, 1):
        if len(row.encode(errors="surrogateescape")) > MAX_FRR_LINE_BYTES or _OUTWARD_EFFECT_LINE.match(row):
            within = within or bool(_OUTWARD_EFFECT_BLOCK_LINE.fullmatch(row))
            yield number
        elif within and _EXIT_LINE.fullmatch(row):
            within = False
            yield number
        elif not _COMMENT_LINE.fullmatch(row):
            within = False
