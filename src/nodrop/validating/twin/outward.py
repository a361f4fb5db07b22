"""Lines of a frr.conf that a twin's daemons are not given, since their effect is outside routing: in files and sockets.

The box of a twin holds what daemons do; this keeps them from trying, and from filling their files. Lines keep their
numbers: one that is left out is a comment.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

LINE_BYTES: Final = 4095
"""What FRR takes as one line; the rest of a longer one is a line of its own (FRR, lib/vty.h, VTY_BUFSIZ)."""

_OUTWARD: Final = re.compile(
    r"""\s*(?:no\s+)?(?:
        log(?:-filter)?(?:\s|$)         # files, syslog, sockets, the terminal (lib/log_vty.c)
        |destination\s                  # of `log extended` (lib/zlog_5424_cli.c, from FRR 9)
        |dump\s+bgp(?:\s|$)             # files of messages and routes (bgpd/bgp_dump.c)
        |debug(?:\s|$)                  # goes to the log
        |rpki(?:\s|$)                   # connections to caches, by SSH with a key file (bgpd/bgp_rpki.c)
        |bmp(?:\s|$)                    # connections to collectors (bgpd/bgp_bmp.c)
        |(?:agentx|smux|snmp)(?:\s|$)   # the SNMP daemon's socket (lib/agentx.c)
        |fpm(?:\s|$)                    # the forwarding plane's socket (zebra/zebra_fpm.c, dplane_fpm_nl.c)
        |mgmt(?:\s|$)                   # the management daemon (mgmtd, from FRR 9)
        |pce(?:p)?(?:\s|$)              # connections to path computation (pathd/path_pcep_cli.c)
        |output\s+file(?:\s|$)         # where vtysh itself writes (vtysh/vtysh.c)
        |banner\s+motd\s+file(?:\s|$)   # shows a file (lib/command.c)
        |netns(?:\s|$)                  # another namespace than the twin's own (lib/vrf.c)
        |zebra\s+on-rib-process(?:\s|$) # runs a script (zebra/zebra_script.c)
        |match\s+script(?:\s|$)         # the same (bgpd/bgp_routemap.c)
        |do(?:\s|$)                     # an order, no setting
    )""",
    re.VERBOSE,
)
_BLOCK: Final = re.compile(r"\s*(?:rpki|bmp\s+targets\s+\S+|log\s+extended\s+\S+)\s*")
"""Lines that begin a block, whose `exit` goes with it: it would leave the block around it."""
_ENDS: Final = re.compile(r"\s*(?:exit|quit)\s*")
_COMMENT: Final = re.compile(r"\s*(?:[!#].*)?")
_LEFT: Final = "!"


class Trimmed(NamedTuple):
    """A frr.conf without these lines, by their numbers from 1."""

    text: str
    lines: tuple[int, ...]


def leave_out(text: str) -> Trimmed:
    """Return a frr.conf without lines that have effects outside routing, which are comments instead."""
    rows = text.split("\n")  # as FRR has lines: by nothing else
    lines = tuple(_outward(rows))
    for number in lines:
        rows[number - 1] = _LEFT
    return Trimmed("\n".join(rows), lines)


def _outward(rows: Iterable[str]) -> Iterator[int]:
    within = False
    for number, row in enumerate(rows, 1):
        if len(row.encode(errors="surrogateescape")) > LINE_BYTES or _OUTWARD.match(row):
            within = within or bool(_BLOCK.fullmatch(row))
            yield number
        elif within and _ENDS.fullmatch(row):
            within = False
            yield number
        elif not _COMMENT.fullmatch(row):
            within = False
