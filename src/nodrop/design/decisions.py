"""Which key of an intent decides a part of the fabric, as data: one row for every field of the model.

A row is a path of fields, in globs as those of subjects, and key paths. Of the key paths between two semicolons the
first that is stated decides; where none is, the first of them was left to its default, provided that a key around it
is stated. Else the next ones are looked at. One behind `!` has no default. Words in braces are what `deciding` knows of
the part: `{link}` is `topology.uplinks` or the group of endpoints that the port's cable belongs to. The first row that
fits counts. What no key decides is in `UNDECIDED`, with the reason.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from nodrop.fabric.subject import Subject, matches

_EXTRA = "!extra.{device} !extra.{role} !extra.{platform}"
_LOSSLESS = "classes.{lossless}.lossless"
_CLASS = "classes.{class}"

OF_DEVICE: Mapping[str, str] = {
    "": "topology.{tier}.ids",
    "name": "topology.{tier}.ids",
    "role": "topology.{tier}.ids",
    "platform": "topology.{tier}.platform",
    "version": "topology.{tier}.version",
    "model": "topology.{tier}.model",
    "hwsku": "topology.{tier}.model",
    "interfaces": "topology.{tier}",
    "loopbacks/**": "addressing.loopbacks",
    "port_channels/*/mtu_bytes": "mtu",
    "port_channels/*/addresses/**": "{link}.vlan.pool; addressing.endpoints",
    "port_channels/**": "{link}.bond",
    "vlans/*/mtu_bytes": "mtu",
    "vlans/*/id": "{link}.vlan.id",
    "vlans/*/addresses/**": "{link}.vlan.pool",
    "vlans/*/members/**": "{link}.leaf_ports topology.leaves.ports.endpoints",
    "vlans/**": "{link}.vlan",
    "mac_ageing_s": _EXTRA,
    "arp_reachable_s": _EXTRA,
    "nd_reachable_s": _EXTRA,
    "management/**": "addressing.oob",
    "bgp/asn": "routing.asn.{tier}",
    "bgp/router_id": "addressing.loopbacks addressing.oob",
    "bgp/networks/**": "addressing.loopbacks",
    "bgp/maximum_paths": "topology.{tier}.model",
    "bgp/maximum_paths_ipv6": "topology.{tier}.model",
    "bgp/session_dscp": "classes.{control}.dscp",
    "bgp/graceful_shutdown": "devices.{device}.drained",
    "bgp/prefix_lists/**": "addressing.loopbacks",
    "bgp/**": "routing",
    "neighbors/*/address": "routing.sessions; addressing.links",
    "neighbors/*/interface": "routing.sessions",
    "neighbors/*/extended_next_hop": "routing.sessions",
    "neighbors/*/ipv6/active": "addressing.loopbacks",
    "neighbors/*/active": "addressing.loopbacks",
    "neighbors/*/remote_asn": "routing.asn.{peers}",
    "neighbors/*/bfd": "routing.bfd",
    "neighbors/*/hold_s": _EXTRA,
    "neighbors/**": "routing",
    "static_routes/**": "addressing.endpoints",
    "buffer_model": "topology.{tier}.model",
    "dynamic_buffers/dynamic_th": "buffers.alpha",
    "dynamic_buffers/pattern_mtu_bytes": "buffers.pattern_mtu hosts.rdma_mtu",
    "dynamic_buffers/over_subscribe_ratio": "buffers.shared_headroom",
    "dynamic_buffers/**": "buffers; topology.{tier}.model",
    "buffer_pools/*/shared_headroom_bytes": "buffers.shared_headroom",
    "buffer_pools/*/size_bytes": "buffers.lossless_pool; topology.{tier}.model",
    "buffer_pools/*/percentage": "buffers.lossless_pool; topology.{tier}.model",
    "buffer_pools/**": "buffers; topology.{tier}.model",
    "switch_dscp_to_tc": "classes",
    "watchdog_polling_ms": "pfc.watchdog.polling pfc.watchdog.hosts.detection",
    "watchdog_conditions/pause_ten_thousandths": "pfc.watchdog.stuck.paused",
    "watchdog_conditions/sent_frames": "pfc.watchdog.stuck.sent",
    "watchdog_conditions/queue_percent": "pfc.watchdog.stuck.fill",
    "watchdog_conditions/**": "pfc.watchdog.stuck",
    "trimming/size_bytes": "trimming.size; mode",
    "trimming/**": "trimming.into; mode",
    "ntp_servers": "services.ntp",
    "syslog_servers": "services.syslog",
    "dns_servers": "services.dns",
    "snmp_location": "services.snmp.location",
    "snmp_contact": "services.snmp.contact",
    "hash_fields": "routing.hash",
    "adaptive_routing": "routing.balancing",
    "weighs_utilization": "routing.balancing",
    "gnmi_port": "services.telemetry.gnmi",
    "otlp_collectors/**": "services.telemetry.otlp",
    "extra/**": _EXTRA,
    "extra_lines": _EXTRA,
}
"""Of a switch, but for its ports."""

_TIMER = "pfc.watchdog.{side}"
_HEADROOM = "{link}.length; buffers"

OF_PORT: Mapping[str, str] = {
    "": "{link}; {panels}",
    "name": "{panels}",
    "port": "{panels}",
    "enabled": "{link}; {panels}",
    "speed_mbps": "{link}.speed; topology.{tier}.model",
    "lanes": "{link}.split {link}.speed; topology.{tier}.model",
    "lane_mbps": "{link}.split {link}.speed; topology.{tier}.model",
    "fec": "{link}.speed; topology.{tier}.model",
    "autoneg": "{link}.media; topology.{tier}.model",
    "link_training": "{link}.media; topology.{tier}.model",
    "mtu_bytes": "mtu",
    "addresses": "{pool}",
    "link_local": "routing.sessions",
    "description": "{link}",
    "cable_length_m": "{link}.length",
    "adaptive_routing": "routing.balancing",
    "utilization_threshold_percent": "routing.balancing",
    "side": "{link}; {panels}",
    "qos/dscp_to_tc/*": "classes.{marked}.dscp; classes",
    "qos/pfc_rx_priorities": f"{_LOSSLESS}; mode",
    "qos/pfc_tx_priorities": f"{_LOSSLESS}; mode",
    "qos/pfc_priorities": f"{_LOSSLESS}; mode",
    "qos/pfc_watchdog/priorities": f"{_LOSSLESS}; mode",
    "qos/pfc_watchdog/detection_ms": f"{_TIMER}.detection",
    "qos/pfc_watchdog/restoration_ms": f"{_TIMER}.restoration {_TIMER}.detection",
    "qos/pfc_watchdog/action": f"{_TIMER}.action",
    "qos/pfc_watchdog": f"{_TIMER}; {_LOSSLESS}",
    "qos/priority_groups/*/buffer/headroom/**": _HEADROOM,
    "qos/priority_groups/*/buffer/size_bytes": _HEADROOM,
    "qos/priority_groups/*/buffer/dynamic_th": "buffers.alpha",
    "qos/priority_groups/*/buffer/discard": "mode",
    "qos/priority_groups/*/buffer/**": "buffers; classes.{pausing}.lossless",
    "qos/priority_groups/**": "classes.{pausing}.lossless; classes",
    "qos/queues/*/index": f"{_CLASS}.priority; classes",
    "qos/queues/*/scheduler/weight": f"{_CLASS}.share; classes",
    "qos/queues/*/scheduler/*_per_s": f"{_CLASS}.max_rate; classes",
    "qos/queues/*/scheduler/*_burst_bytes": f"{_CLASS}.max_rate; classes",
    "qos/queues/*/scheduler/**": f"{_CLASS}.strict {_CLASS}.share; classes",
    "qos/queues/*/wred/*/min_*": f"{_CLASS}.ecn.min; classes",
    "qos/queues/*/wred/*/max_*": f"{_CLASS}.ecn.max; classes",
    "qos/queues/*/wred/*/probability_percent": f"{_CLASS}.ecn.probability; classes",
    "qos/queues/*/wred/**": f"{_CLASS}.ecn; classes",
    "qos/queues/*/buffer/discard": "mode",
    "qos/queues/*/buffer/**": "classes.{pausing}.lossless; buffers",
    "qos/queues/**": f"{_CLASS}; classes",
    "qos/ingress_buffers/**": "buffers; topology.{tier}.model",
    "qos/egress_buffers/**": "buffers; topology.{tier}.model",
    "qos/**": "classes",
}
"""Of a port of a switch."""

OF_FABRIC: Mapping[str, str] = {
    "": "fabric",
    "name": "fabric",
    "mode": "mode",
    "links/*/length_m": "{link}.length",
    "links/*/media": "{link}.media",
    "links/**": "{link}",
    "hosts/*/gpus": "endpoints.{group}.gpus",
    "hosts/*/nic": "endpoints.{group}.nic",
    "hosts/*/name": "endpoints.{group}.ids",
    "hosts/*/spread": "endpoints.{group}.spread",
    "hosts/*/ports/*/speed_mbps": "endpoints.{group}.speed",
    "hosts/*/ports/*/lanes": "endpoints.{group}.nic",
    "hosts/*/ports/*/addresses/**": "endpoints.{group}.vlan.pool; addressing.endpoints",
    "hosts/*/ports/*/bond": "endpoints.{group}.bond",
    "hosts/*/ports/**": "endpoints.{group}.ports",
    "hosts/*/tos": "hosts.tos",
    "hosts/*/cnp_dscp": "hosts.cnp_dscp",
    "hosts/*/trust": "hosts.trust",
    "hosts/*/pfc_priorities": "hosts.pfc",
    "hosts/*/dcqcn": "hosts.dcqcn",
    "hosts/*/rdma_mtu_bytes": "hosts.rdma_mtu",
    "hosts/*/out_of_order": "hosts.out_of_order",
    "hosts/**": "endpoints.{group}",
    "classes/*/purpose": "classes.{named}.purpose",
    "classes/*/dscp": "classes.{named}.dscp",
    "classes/*/tc": "classes.{named}.priority",
    "classes/*/lossless": "classes.{named}.lossless",
    "classes/*/share_percent": "classes.{named}.share",
    "classes/**": "classes.{named}; classes",
    "policy/host_watchdog/priorities": _LOSSLESS,
    "policy/host_watchdog/detection_ms": "pfc.watchdog.hosts.detection",
    "policy/host_watchdog/restoration_ms": "pfc.watchdog.hosts.restoration",
    "policy/host_watchdog/action": "pfc.watchdog.hosts.action",
    "policy/host_watchdog": f"pfc.watchdog.hosts; {_LOSSLESS}",
    "policy/fabric_watchdog/priorities": _LOSSLESS,
    "policy/fabric_watchdog/detection_ms": "pfc.watchdog.fabric.detection",
    "policy/fabric_watchdog/restoration_ms": "pfc.watchdog.fabric.restoration",
    "policy/fabric_watchdog/action": "pfc.watchdog.fabric.action",
    "policy/fabric_watchdog": f"pfc.watchdog.fabric; {_LOSSLESS}",
    "policy/fabric_unwatched_roles": "topology.leaves.platform",
    "policy/rdma_mtu_bytes": "hosts.rdma_mtu",
    "policy/max_oversubscription": "topology.max_oversubscription",
    "policy/lossless_pool_percent": "buffers.lossless_pool",
}
"""Of the fabric as a whole, its links, hosts and classes."""

OF_NIC: Mapping[str, str] = {
    "trust": "hosts.trust",
    "pfc_priorities": "hosts.pfc",
    "tos": "hosts.tos",
    "traffic_class": "hosts.tos",
    "ucx_traffic_class": "hosts.tos",
    "cnp_dscp": "hosts.cnp_dscp",
    "cnp_priority": "classes.{cnp}.priority",
    "dcqcn_priorities": "hosts.dcqcn",
    "dscp_to_priority": "classes",
    "mtu_bytes": "mtu",
}
"""Of how a file of hosts sets their NICs."""

UNDECIDED: Mapping[str, str] = {
    "device/mac": "the switch has it from its maker",
    "device/multi_chassis/**": "no key of an intent makes two switches one",
    "device/dual_tor": "no key of an intent gives servers a second leaf",
    "device/tunnels/**": "no key of an intent makes tunnels",
    "device/vrf_bgp/**": "all that an intent makes is in the default VRF",
    "device/counters/**": "every group is polled in every fabric",
    "device/hash_seed": "every tier has its own in every fabric",
    "device/dynamic_buffers/small_packet_percent": "the network OS's own figure",
    "device/management/interface": "what the platform calls it",
    "device/management/own_vrf": "it has one in every fabric",
    "device/bgp/vrf": "all that an intent makes is in the default VRF",
    "device/bgp/redistributions/**": "nothing is redistributed in any fabric",
    "device/loopbacks/*/vrf": "all that an intent makes is in the default VRF",
    "device/port_channels/*/vrf": "all that an intent makes is in the default VRF",
    "device/vlans/*/vrf": "all that an intent makes is in the default VRF",
    "device/static_routes/*/vrf": "all that an intent makes is in the default VRF",
    "port/vrf": "all that an intent makes is in the default VRF",
    "port/link_pause": "no key of an intent turns pause of whole links on",
    "port/macsec": "no key of an intent encrypts links",
    "port/qos/trust": "DSCP is trusted in every fabric",
    "port/qos/pcp_to_tc": "DSCP is trusted in every fabric",
    "port/qos/tc_to_dscp": "nothing is marked anew in any fabric",
    "fabric/policy": "a heading over what keys of several parts decide",
    "fabric/profile/**": "whoever judges the fabric chooses it",
    "nic/host": "what the file is called",
    "nic/file": "what the file is called",
    "nic/part": "what of the file it is",
    "nic/models": "what the file is called",
    "nic/pci_addresses": "the host's own",
    "nic/template": "the operator's own",
    "nic/node_selector": "the operator's own",
    "nic/priority_to_buffer": "no key of an intent says how NICs buffer",
    "nic/cable_length_m": "every group of endpoints has its own, and a file is for a NIC model",
    "nic/link_pause": "no key of an intent turns pause of whole links on",
    "nic/roce_version": "version 2 in every fabric",
    "nic/gid_index": "that of version 2 in every fabric",
    "nic/storm_guard": "on in every fabric",
    "nic/loopback": "no key of an intent says how GPUs of one host talk",
    "nic/spectrum_x": "no key of an intent sets up another congestion control",
}
"""What no key decides: by the kind of the part and its path, why."""

_TABLES: Mapping[str, Mapping[str, str]] = {"device": OF_DEVICE, "port": OF_PORT, "fabric": OF_FABRIC, "nic": OF_NIC}


class Aspect(NamedTuple):
    """A part by its kind (`device`, `port`, `fabric` or `nic`) and its path below that."""

    kind: str
    path: Subject


class Row(NamedTuple):
    """The row of a table that fits an aspect: its key paths in groups, none where no key decides, and what fits it."""

    groups: tuple[tuple[str, ...], ...]
    path: Subject


@lru_cache(maxsize=8192)
def row(aspect: Aspect) -> Row | None:
    """Return the row for an aspect or, where there is none, for the nearest around it."""
    for length in range(len(aspect.path), -1, -1):
        path = aspect.path[:length]
        if any(matches(tuple(glob.split("/")), (aspect.kind, *path)) for glob in UNDECIDED):
            return Row((), path)
        for glob, keys in _TABLES[aspect.kind].items():
            if matches(tuple(glob.split("/")) if glob else (), path):
                return Row(tuple(tuple(group.split()) for group in keys.split(";")), path)
    return None


_SHOWN: Mapping[str, tuple[str, ...]] = {
    "{link}": ("topology.uplinks", "endpoints.*"), "{panels}": ("topology",),
    "{pool}": ("addressing.links", "addressing.endpoints"),
}  # fmt: skip


def keys_in_words(aspect: Aspect) -> str:
    """Return the keys that an intent decides a part by, whichever switch and port it is of; empty where none does."""
    fitting = row(aspect)
    first = fitting.groups[0][0] if fitting and fitting.groups else "!"
    if first.startswith("!"):
        return ""
    head, _, rest = first.partition(".")
    heads = _SHOWN.get(head, (head,))
    shown = re.sub(r"\{\w+\}", "*", f".{rest}" if rest else "")
    return " or ".join(f"{one}{shown}" for one in heads)
