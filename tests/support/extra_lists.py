"""An access list that an intent states under `extra:`, in the words of each platform, and three changes of it."""

from copy import deepcopy
from typing import Any

from support.designs import Data, shipped

RELEASES = {"sonic": "202505", "nvue": "5.16"}
PORTS = {"sonic": ("Ethernet0", "Ethernet224"), "nvue": ("swp1", "swp29")}
"""A host port and an uplink of a leaf of the intent `two-by-two`."""
_KEYS = {"sonic": "tables", "nvue": "paths"}
Entry = tuple[int, str, str]
"""An entry that drops: its number, by which entries go, and a word and a value of what it drops."""
OWNERS: tuple[Entry, ...] = ((10, "from", "203.0.113.0/24"), (20, "from", "198.51.100.0/24"))


def _sonic(name: str, entries: tuple[Entry, ...], ports: tuple[str, ...]) -> Data:
    matches = {"from": ("SRC_IP",), "udp": ("L4_DST_PORT", "17"), "tcp": ("L4_DST_PORT", "6"), "to": ("DST_IP",)}
    rules = {}
    for number, word, value in entries:
        field, *protocol = matches[word]
        row = {"PRIORITY": str(1000 - number), "PACKET_ACTION": "DROP", field: value}
        rules[f"{name}|{number}"] = row | ({"IP_PROTOCOL": protocol[0]} if protocol else {})
    return {"ACL_TABLE": {name: {"type": "L3", "stage": "ingress", "ports": [*ports]}}, "ACL_RULE": rules}


def _nvue(name: str, entries: tuple[Entry, ...], ports: tuple[str, ...]) -> Data:
    matches: dict[str, Any] = {
        "from": lambda value: {"source-ip": value},
        "to": lambda value: {"dest-ip": value},
        "udp": lambda value: {"udp": {"dest-port": {value: {}}}},
        "tcp": lambda value: {"tcp": {"dest-port": {value: {}}}},
    }
    rules = {
        str(number): {"match": {"ip": matches[word](value)}, "action": {"deny": {}}} for number, word, value in entries
    }
    bound = {port: {"acl": {name: {"inbound": {}}}} for port in ports}
    return {"acl": {name: {"type": "ipv4", "rule": rules}}, "interface": bound}


def lists(platform: str, *stated: tuple[str, tuple[Entry, ...], tuple[str, ...]]) -> Data:
    """Access lists as `extra:` of leaves has them: the name, the entries and the ports of each."""
    found: Data = {}
    for one in stated:
        _join(found, (_sonic if platform == "sonic" else _nvue)(*one))
    return found


def _join(into: Data, more: Data) -> None:
    for key, value in more.items():
        if isinstance(value, dict):
            _join(into.setdefault(key, {}), value)
        else:
            into[key] = deepcopy(value)


def intent_with(platform: str, *stated: tuple[str, tuple[Entry, ...], tuple[str, ...]], bfd: bool = False) -> Data:
    """The data of the smallest intent on a platform, with access lists at its leaves."""
    tiers = {"platform": platform, "version": RELEASES[platform]}
    on = {f"topology.{tier}.{key}": value for tier in ("spines", "leaves") for key, value in tiers.items()}
    extra = {"leaf": {_KEYS[platform]: lists(platform, *stated)}} if stated else {}
    return shipped("two-by-two", on | {"extra": extra} | ({"routing.bfd": True} if bfd else {}))


def changes(platform: str) -> dict[str, tuple[tuple[str, tuple[Entry, ...], tuple[str, ...]], ...]]:
    """The lists after each change of the one list `SITE`, by what is changed."""
    first, second = OWNERS
    ports = PORTS[platform]
    return {
        "condition": (("SITE", ((10, "from", "203.0.113.0/25"), second), ports),),
        "binding": (("SITE", OWNERS, ports[:1]),),
        "rule removed": (("SITE", (first,), ports),),
        "list added": (("SITE", OWNERS, ports), ("MORE", ((10, "to", "192.0.2.0/24"),), ports[:1])),
    }
