"""Missing facts in the field's words: `interface.speed_mbps` is `the speed of the port`."""

import re
from collections.abc import Mapping

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
