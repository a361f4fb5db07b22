"""The fields of a port of a switch, with its QoS and buffers."""

from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Interface
from nodrop.model.fields import impacts
from nodrop.model.fields.row import BUFFERS, CLASS, LOSSLESS, ONE_VRF, Field, Numbers, Table
from nodrop.model.qos import (
    PfcWatchdog,
    PriorityGroup,
    QosProfile,
    Queue,
    Scheduler,
    WredColor,
    WredProfile,
)

_SPEED = "{link}.speed; topology.{tier}.model"
_LANES = "{link}.split {link}.speed; topology.{tier}.model"
_MEDIA = "{link}.media; topology.{tier}.model"
_HEADROOM = "{link}.length; buffers"
_PFC = f"{LOSSLESS}; mode"
_PAUSE = ("pfc_rx_priorities", "pfc_tx_priorities")
_TIMER = "pfc.watchdog.{side}"
_RATE = f"{CLASS}.max_rate; classes"

PORTS: Table = {
    Interface: {
        "name": Field(key="{panels}"),
        "port": Field(key="{panels}"),
        "enabled": Field(key="{link}; {panels}", impact=impacts.SHUT),
        "speed_mbps": Field(key=_SPEED, impact=impacts.LINK),
        "lanes": Field(key=_LANES, impact=impacts.LINK),
        "lane_mbps": Field(key=_LANES),
        "fec": Field("FEC", key=_SPEED, impact=impacts.LINK),
        "autoneg": Field("autonegotiation", key=_MEDIA, impact=impacts.LINK),
        "advertised_speeds_mbps": Field(key=f"{_SPEED} {{link}}.media", impact=impacts.LINK, needs="autoneg"),
        "link_training": Field(key=_MEDIA),
        "mtu_bytes": Field("MTU", key="mtu", impact=impacts.MTU, routing=False),
        "addresses": Field(key="{pool}", impact=impacts.ADDRESS, unordered=True),
        "link_local": Field("IPv6 link-local", key="routing.sessions", impact=impacts.ADDRESS),
        "vrf": Field("VRF", no_key=ONE_VRF, impact=impacts.ADDRESS),
        "description": Field(key="{link}", impact=impacts.TEXT, routing=False),
        "link_pause": Field(
            "link pause (802.3x)",
            no_key="no key of an intent turns pause of whole links on",
            impact=impacts.PAUSE,
            routing=False,
        ),
        "macsec": Field("MACsec", no_key="no key of an intent encrypts links"),
        "cable_length_m": Field("cable length (configured)", key="{link}.length", routing=False),
        "adaptive_routing": Field(key="routing.balancing", impact=impacts.PATHS),
        "utilization_threshold_percent": Field(key="routing.balancing", routing=False),
        "qos": Field("QoS", key="classes", impact=impacts.CLASS_OF_PACKETS, routing=False, heading=True),
        "side": Field(key="{link}; {panels}"),
    },
    QosProfile: {
        "trust": Field(
            no_key="DSCP is trusted in every fabric", impact=impacts.CLASS_OF_PACKETS, aspect="classification"
        ),
        "dscp_to_tc": Field(
            "DSCP to traffic class",
            impact=impacts.CLASS_OF_PACKETS,
            aspect="classification",
            numbers=Numbers("DSCP", "traffic class"),
        ),
        "dscp_to_tc/*": Field(key="classes.{marked}.dscp; classes"),
        "pcp_to_tc": Field(
            "PCP to traffic class",
            no_key="DSCP is trusted in every fabric",
            impact=impacts.CLASS_OF_PACKETS,
            aspect="classification",
            numbers=Numbers("PCP", "traffic class"),
        ),
        "tc_to_queue": Field(
            "traffic class to queue",
            impact=impacts.CLASS_OF_PACKETS,
            aspect="scheduling",
            numbers=Numbers("traffic class", "queue", "leaves by"),
        ),
        "tc_to_priority_group": Field(
            "traffic class to priority group",
            impact=impacts.CLASS_OF_PACKETS,
            aspect="classification",
            numbers=Numbers("traffic class", "priority group", "fills"),
        ),
        "pfc_to_queue": Field("PFC priority to queue", numbers=Numbers("PFC priority", "queue")),
        "pfc_to_priority_group": Field(
            "PFC priority to priority group", numbers=Numbers("PFC priority", "priority group")
        ),
        "tc_to_dscp": Field(
            "traffic class to DSCP",
            no_key="no intent rewrites DSCPs",
            aspect="classification",
            numbers=Numbers("traffic class", "DSCP", "is sent with"),
        ),
        "pfc_rx_priorities": Field("PFC obeyed on priorities", key=_PFC, impact=impacts.PAUSE),
        "pfc_tx_priorities": Field("PFC sent for priorities", key=_PFC, impact=impacts.PAUSE),
        "pfc_priorities": Field(key=_PFC),
        "pfc_watchdog": Field("PFC watchdog", key=f"{_TIMER}; {LOSSLESS}", aspect="watchdog", follows=_PAUSE),
        "pfc_watchdog/priorities": Field(key=_PFC, follows=_PAUSE),
        "pfc_watchdog/detection_ms": Field(key=f"{_TIMER}.detection"),
        "pfc_watchdog/restoration_ms": Field(key=f"{_TIMER}.restoration {_TIMER}.detection"),
        "pfc_watchdog/action": Field(key=f"{_TIMER}.action"),
        "pfc_watchdog/history": Field(no_key="it is on wherever the release and the ASIC have one"),
        "priority_groups": Field(key="classes.{pausing}.lossless; classes"),
        "queues": Field(key=f"{CLASS}; classes"),
        "ingress_buffers": Field(key=BUFFERS),
        "egress_buffers": Field(key=BUFFERS),
    },
    PfcWatchdog: {
        "priorities": Field(),
        "detection_ms": Field(aspect="watchdog"),
        "restoration_ms": Field(aspect="watchdog"),
        "action": Field(aspect="watchdog"),
        "history": Field("history of pauses", aspect="watchdog"),
    },
    PriorityGroup: {
        "index": Field(),
        "buffer": Field(key="buffers; classes.{pausing}.lossless", aspect="buffers"),
        "buffer/headroom": Field(key=_HEADROOM),
        "buffer/size_bytes": Field(key=_HEADROOM),
        "buffer/dynamic_th": Field(key="buffers.alpha"),
        "buffer/discard": Field(key="mode"),
    },
    Queue: {
        "index": Field(key=f"{CLASS}.priority; classes"),
        "scheduler": Field(key=f"{CLASS}.strict {CLASS}.share; classes", aspect="scheduling"),
        "wred": Field("ECN and WRED", key=f"{CLASS}.ecn; classes", aspect="marking", heading=True),
        "buffer": Field(key="classes.{pausing}.lossless; buffers", aspect="buffers"),
        "buffer/size_bytes": Field(key="classes; topology.{tier}.model"),
        "buffer/discard": Field(key="mode"),
    },
    Scheduler: {
        "type": Field(),
        "weight": Field(key=f"{CLASS}.share; classes"),
        "guaranteed_bytes_per_s": Field("guaranteed rate", key=_RATE),
        "guaranteed_burst_bytes": Field(key=_RATE),
        "peak_bytes_per_s": Field("highest rate", key=_RATE),
        "peak_burst_bytes": Field(key=_RATE),
    },
    WredProfile: {"ecn_colors": Field("ECN for colors"), "green": Field(), "yellow": Field(), "red": Field()},
    WredColor: {
        "min_bytes": Field("ECN minimum", key=f"{CLASS}.ecn.min; classes"),
        "max_bytes": Field("ECN maximum", key=f"{CLASS}.ecn.max; classes"),
        "min_percent": Field("ECN minimum (of what the queue may take)", key=f"{CLASS}.ecn.min; classes"),
        "max_percent": Field("ECN maximum (of what the queue may take)", key=f"{CLASS}.ecn.max; classes"),
        "probability_percent": Field("ECN probability", key=f"{CLASS}.ecn.probability; classes"),
        "enabled": Field(),
    },
    BufferProfile: {
        "pool": Field(),
        "size_bytes": Field(),
        "dynamic_th": Field("alpha"),
        "static_th_bytes": Field("limit"),
        "headroom": Field(heading=True),
        "discard": Field(),
    },
    Headroom: {
        "xoff_bytes": Field("headroom after pause (xoff)"),
        "xon_bytes": Field("resume threshold (xon)"),
        "xon_offset_bytes": Field("resume offset (xon offset)"),
        "computed": Field(),
    },
}
