"""The rows of a switch: settings that are a plain value at one path, and what only later releases have.

Sources: Cumulus Linux 5.14, Address Resolution Protocol (base reachable time: 30 to 2147483 s; `auto` is the 1080 s of
/etc/sysctl.d/neigh.conf); NVUE command reference (5.14 and 5.16).
"""

from nodrop.limits import MAX_32_BITS
from nodrop.platforms.kit.bindings import Binding
from nodrop.platforms.nvue.bindings import NvueBinding, number_binding

_REACHABLE_TIME_KEY = "base-reachable-time"
_REACHABLE_RANGE_S = (30, 2_147_483)

SWITCH_BINDINGS: tuple[NvueBinding, ...] = (
    number_binding(
        "arp_reachable_s",
        ("system", "global", "arp", _REACHABLE_TIME_KEY),
        *_REACHABLE_RANGE_S,
        "s",
        words={"auto": None},
    ),
    number_binding(
        "nd_reachable_s",
        ("system", "global", "nd", _REACHABLE_TIME_KEY),
        *_REACHABLE_RANGE_S,
        "s",
        words={"auto": None},
    ),
    number_binding("hash_seed", ("system", "forwarding", "hash-seed"), 0, MAX_32_BITS),
    Binding(field="otlp_collectors", since="export by OTLP"),
    Binding(field="gnmi_port", since="a gNMI server"),
    Binding(field="trimming", since="packet trimming"),
)
