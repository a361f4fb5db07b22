"""Packet fields that choose one of several equal paths: the flags of `system forwarding ecmp-hash`.

Source: Cumulus Linux 5.14, Equal Cost Multipath Load Sharing (custom hashing: addresses, ports, protocol and the IPv6
flow label count unless set differently, the port of entry and the fields inside a tunnel do not).
"""

from collections.abc import Mapping

from nodrop.model.fabric import HASH_FIELDS, HashField
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path

ECMP_HASH_PATH: Path = ("system", "forwarding", "ecmp-hash")
NVUE_FLAG_BY_FIELD: Mapping[HashField, str] = {
    "dst-ip": "destination-ip",
    "l4-dst-port": "destination-port",
    "in-port": "ingress-interface",
    "inner-dst-ip": "inner-destination-ip",
    "inner-l4-dst-port": "inner-destination-port",
    "inner-ip-protocol": "inner-ip-protocol",
    "inner-src-ip": "inner-source-ip",
    "inner-l4-src-port": "inner-source-port",
    "ip-protocol": "ip-protocol",
    "ipv6-flow-label": "ipv6-label",
    "src-ip": "source-ip",
    "l4-src-port": "source-port",
}
"""The flag of each field, in the order of a file."""
DEFAULT_HASH_FIELDS = frozenset({"dst-ip", "l4-dst-port", "ip-protocol", "ipv6-flow-label", "src-ip", "l4-src-port"})
"""What counts of which nothing is said."""


def read_hash_fields(root_view: ConfigNodeView) -> tuple[HashField, ...] | None:
    """Return the fields in the order of the model; None where no flag is stated, or all of them are off."""
    view = root_view.below(*ECMP_HASH_PATH)
    stated = {field: view.flag(flag) for field, flag in NVUE_FLAG_BY_FIELD.items() if view.has(flag)}
    if not stated:
        return None
    counts = {field: field in DEFAULT_HASH_FIELDS for field in NVUE_FLAG_BY_FIELD} | {
        key: on for key, on in stated.items() if on is not None
    }
    return tuple(field for field in HASH_FIELDS if counts.get(field)) or None
