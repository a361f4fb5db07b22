"""Missing facts in the field's words: `interface.speed_mbps` is `the speed of the port`."""

import re
from collections.abc import Iterable, Mapping

from nodrop.model.fields import label_of

_OWNER_PHRASE_BY_ROOT: Mapping[str, str] = {
    "fabric": "the fabric",
    "device": "the switch",
    "interface": "the port",
    "queue": "the queue",
    "priority_group": "the priority group",
    "buffer_pool": "the buffer pool",
    "neighbor": "the BGP session",
    "link": "the cable",
    "a": "one end of the cable",
    "b": "one end of the cable",
    "device_a": "one end of the cable",
    "device_b": "one end of the cable",
    "traffic_class": "the RDMA classes",
    "nic": "the NIC",
    "host": "the host",
    "host_port": "the host's port",
}
"""What the first name of a fact stands for."""
_PHRASE_BY_FACT: Mapping[str, str] = {
    "fabric.links": "the cables",
    "interface.enabled": "whether the port is enabled",
    "interface.port": "which panel port it is",
    "speeds_possible_instead": "the speeds that the port can have",
    "interface.addresses.length": "the prefix lengths of the port's addresses",
    "interface.side": "what the port leads to, a host or a switch",
    "device.bgp": "the BGP settings of the switch",
    "device.neighbors": "the BGP sessions of the switch",
    "device.management": "the management port of the switch",
    "traffic_class.tc": "the traffic classes of RDMA",
    "traffic_class.lossless": "which classes of RDMA are lossless",
    "committed_bytes": "the memory that headroom and reserves take",
}
_ABBREVIATION_PATTERN = re.compile(r"\b(rdma|pfc|ecn|cnp|dscp|bgp|mtu|asn|nic)(?=s?\b)")


def describe_fact(path: str) -> str:
    """Return a missing fact in words; a text that is no path of the model stays."""
    if words := _PHRASE_BY_FACT.get(path):
        return words
    name, bracket, arguments = path.partition("(")
    if bracket and name.isidentifier():
        root = arguments.partition(".")[0].rstrip(")").partition(",")[0]
        owner = _OWNER_PHRASE_BY_ROOT.get(root)
        words = f"the {_ABBREVIATION_PATTERN.sub(lambda match: match[1].upper(), name.replace('_', ' '))}"
        return _PHRASE_BY_FACT.get(name) or (f"{words} of {owner}" if owner else words)
    root, _, field = path.partition(".")
    if root not in _OWNER_PHRASE_BY_ROOT or not field:
        return path
    return f"the {label_of(field.rpartition('.')[2])} of {_OWNER_PHRASE_BY_ROOT[root]}"


def describe_facts(paths: Iterable[str]) -> str:
    """Return missing facts in words, those of one thing together: `the lanes and the speed of the port`."""
    fields_by_owner: dict[str, list[str]] = {}
    for path in paths:
        field, of, owner = describe_fact(path).rpartition(" of ")
        known = of and owner in _OWNER_PHRASE_BY_ROOT.values()
        fields_by_owner.setdefault(owner if known else "", []).append(field if known else describe_fact(path))
    phrases = (
        " and ".join((", ".join(fields[:-1]), fields[-1]) if fields[1:] else fields) + (f" of {owner}" if owner else "")
        for owner, fields in fields_by_owner.items()
    )
    several = any(len(fields) > 1 for fields in fields_by_owner.values())
    return (", and " if several else " and ").join(phrases)
