"""RoCE macros of NCLU: single commands that set the classes of ports, and what each release makes of them.

`storage-optimized` is of 3.5 to 4.4. Its pages show what it writes into traffic.conf: PFC for internal priority 3 with
the DSCP map below in 3.7, for 3 in 4.1 and 4.2, and for 1 up to 3.6 and in 4.0; the thresholds of ECN are 153600 and
1536000 bytes in 3.7, 150000 and 1500000 in all others. `roce lossless` and `roce lossy`, in 4.3 and 4.4, are for all
ports; an early page of 4.4 has them with the word `mode`. No page says what they write.

Sources: Cumulus Linux 3.7, 4.0, 4.1, 4.2, 4.3 and 4.4, RDMA over Converged Ethernet.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_GLOBAL_COMMANDS = (
    "congestion-control {0} traffic-class 0 ecn disable",
    "mapping {0} trust l3",
    "mapping {0} dscp 0-25,27-47,49-63 switch-priority 0",
    "mapping {0} dscp 26 switch-priority 3",
    "mapping {0} dscp 48 switch-priority 2",
    "egress-scheduler {0} traffic-class 2 mode strict",
    "congestion-control {1} traffic-class 3 min-threshold 153600",
    "congestion-control {1} traffic-class 3 max-threshold 1536000",
    "congestion-control {1} traffic-class 3 probability 100",
    "congestion-control {1} traffic-class 3 ecn enable",
)
"""Settings of both macros, with the profile of the switch, then that of the ports."""
_PAUSE_COMMANDS = (
    "pfc {1} switch-priority 3",
    "pfc {1} port-buffer 70000",
    "pfc {1} xoff-threshold 18000",
    "pfc {1} xon-threshold 0",
)
_SWITCH_PROFILE, _PORT_PROFILE = "default-global", "ROCE"
_PORT_MACRO_BASIS = (
    "`storage-optimized` uses priority 3 in Cumulus Linux 3.7 and from 4.1 on (assumed), 1 in 3.6 and 4.0"
)
_SWITCH_MACRO_BASIS = "NVIDIA does not say what `roce` sets, which is read as `storage-optimized` of Cumulus Linux 3.7"


class RoceMacro(NamedTuple):
    """A macro: the ports it is for, or all where empty, whether it pauses, and why what it sets is not certain."""

    ports: str
    pauses: bool
    basis: str


def parse_port_macro(ports: str, words: Sequence[str]) -> RoceMacro | None:
    """Return the macro of an interface by what follows its name; None where the words are none."""
    if list(words) in (["storage-optimized"], ["storage-optimized", "pfc"]):
        return RoceMacro(ports, len(words) > 1, _PORT_MACRO_BASIS)
    return None


def parse_switch_macro(words: Sequence[str]) -> RoceMacro | None:
    """Return the macro of the switch by its words; None where they are none."""
    match list(words):
        case ["roce", ("lossless" | "lossy") as mode] | ["roce", "mode", ("lossless" | "lossy") as mode]:
            return RoceMacro("", mode == "lossless", _SWITCH_MACRO_BASIS)
    return None


def expand_macro(macro: RoceMacro) -> Iterator[str]:
    """Yield the commands of NVUE that a macro means, without `nv set`."""
    profile = _PORT_PROFILE if macro.ports else _SWITCH_PROFILE
    for command in (*_GLOBAL_COMMANDS, *(_PAUSE_COMMANDS if macro.pauses else ())):
        yield f"qos {command.format(_SWITCH_PROFILE, profile)}"
    for kind in ("congestion-control", *(("pfc",) if macro.pauses else ())) if macro.ports else ():
        yield f"interface {macro.ports} qos {kind} profile {profile}"
