"""The rows of a switch: settings that are a plain value at one path, and what only later releases have.

Sources: Cumulus Linux 5.14, Address Resolution Protocol (base reachable time: 30 to 2147483 s; `auto` is the 1080 s of
/etc/sysctl.d/neigh.conf); NVUE command reference (5.14 and 5.16).
"""

from nodrop.limits import MAX_UINT32
from nodrop.platforms.kit.bindings import FieldBinding
from nodrop.platforms.nvue.bindings import NvueBinding, number_binding

_ARP_ND_REACHABLE_TIME_KEY = "base-reachable-time"
_ARP_ND_REACHABLE_RANGE_S = (30, 2_147_483)

SWITCH_BINDINGS: tuple[NvueBinding, ...] = (
    number_binding(
        "arp_reachable_s",
        ("system", "global", "arp", _ARP_ND_REACHABLE_TIME_KEY),
        *_ARP_ND_REACHABLE_RANGE_S,
        "s",
        words={"auto": None},
    ),
    number_binding(
        "nd_reachable_s",
        ("system", "global", "nd", _ARP_ND_REACHABLE_TIME_KEY),
        *_ARP_ND_REACHABLE_RANGE_S,
        "s",
        words={"auto": None},
    ),
    number_binding("hash_seed", ("system", "forwarding", "hash-seed"), 0, MAX_UINT32),
    FieldBinding(field="otlp_collectors", since="export by OTLP"),
    FieldBinding(field="gnmi_port", since="a gNMI server"),
    FieldBinding(field="trimming", since="packet trimming"),
)
