"""The fields of a port of a switch, with its QoS and buffers."""

from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Interface
from nodrop.model.fields import impacts
from nodrop.model.fields.row import (
    BUFFERS_KEYS,
    CLASS_KEY,
    DEFAULT_VRF_ONLY_REASON,
    LOSSLESS_KEY,
    Field,
    FieldTable,
    NumberMapWords,
)
from nodrop.model.qos import (
    PfcWatchdog,
    PriorityGroup,
    QosProfile,
    Queue,
    Scheduler,
    WredColor,
    WredProfile,
)

_SPEED_KEYS = "{link}.speed; topology.{tier}.model"
_LANES_KEYS = "{link}.split {link}.speed; topology.{tier}.model"
_MEDIA_KEYS = "{link}.media; topology.{tier}.model"
_HEADROOM_KEYS = "{link}.length; buffers"
_PFC_KEYS = f"{LOSSLESS_KEY}; mode"
_PFC_PRIORITY_FIELDS = ("pfc_rx_priorities", "pfc_tx_priorities")
_WATCHDOG_KEY = "pfc.watchdog.{side}"
_RATE_KEYS = f"{CLASS_KEY}.max_rate; classes"

PORT_FIELDS: FieldTable = {
    Interface: {
        "name": Field(key="{panels}"),
        "port": Field(key="{panels}"),
        "enabled": Field(key="{link}; {panels}", impact=impacts.PORT_SHUT),
        "speed_mbps": Field(key=_SPEED_KEYS, impact=impacts.LINK_BOUNCE),
        "lanes": Field(key=_LANES_KEYS, impact=impacts.LINK_BOUNCE),
        "lane_mbps": Field(key=_LANES_KEYS),
        "fec": Field("FEC", key=_SPEED_KEYS, impact=impacts.LINK_BOUNCE),
        "autoneg": Field("autonegotiation", key=_MEDIA_KEYS, impact=impacts.LINK_BOUNCE),
        "advertised_speeds_mbps": Field(
            key=f"{_SPEED_KEYS} {{link}}.media", impact=impacts.LINK_BOUNCE, needs="autoneg"
        ),
        "link_training": Field(key=_MEDIA_KEYS),
        "mtu_bytes": Field("MTU", key="mtu", impact=impacts.MTU, routing=False),
        "addresses": Field(key="{pool}", impact=impacts.ADDRESS_CHANGED, unordered=True),
        "link_local": Field("IPv6 link-local", key="routing.sessions", impact=impacts.ADDRESS_CHANGED),
        "vrf": Field("VRF", no_key=DEFAULT_VRF_ONLY_REASON, impact=impacts.ADDRESS_CHANGED),
        "description": Field(key="{link}", impact=impacts.TEXT_ONLY, routing=False),
        "link_pause": Field(
            "link pause (802.3x)",
            no_key="no key of an intent turns pause of whole links on",
            impact=impacts.PAUSE_MISMATCH,
            routing=False,
        ),
        "macsec": Field("MACsec", no_key="no key of an intent encrypts links"),
        "cable_length_m": Field("cable length (configured)", key="{link}.length", routing=False),
        "adaptive_routing": Field(key="routing.balancing", impact=impacts.PATHS_MOVED),
        "utilization_threshold_percent": Field(key="routing.balancing", routing=False),
        "qos": Field("QoS", key="classes", impact=impacts.PACKET_CLASS_CHANGED, routing=False, heading=True),
        "side": Field(key="{link}; {panels}"),
    },
    QosProfile: {
        "trust": Field(
            no_key="DSCP is trusted in every fabric", impact=impacts.PACKET_CLASS_CHANGED, aspect="classification"
        ),
        "dscp_to_tc": Field(
            "DSCP to traffic class",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="classification",
            numbers=NumberMapWords("DSCP", "traffic class"),
        ),
        "dscp_to_tc/*": Field(key="classes.{marked}.dscp; classes"),
        "pcp_to_tc": Field(
            "PCP to traffic class",
            no_key="DSCP is trusted in every fabric",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="classification",
            numbers=NumberMapWords("PCP", "traffic class"),
        ),
        "tc_to_queue": Field(
            "traffic class to queue",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="scheduling",
            numbers=NumberMapWords("traffic class", "queue", "leaves by"),
        ),
        "tc_to_priority_group": Field(
            "traffic class to priority group",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="classification",
            numbers=NumberMapWords("traffic class", "priority group", "fills"),
        ),
        "pfc_to_queue": Field("PFC priority to queue", numbers=NumberMapWords("PFC priority", "queue")),
        "pfc_to_priority_group": Field(
            "PFC priority to priority group", numbers=NumberMapWords("PFC priority", "priority group")
        ),
        "tc_to_dscp": Field(
            "traffic class to DSCP",
            no_key="no intent rewrites DSCPs",
            aspect="classification",
            numbers=NumberMapWords("traffic class", "DSCP", "is sent with"),
        ),
        "pfc_rx_priorities": Field("PFC obeyed on priorities", key=_PFC_KEYS, impact=impacts.PAUSE_MISMATCH),
        "pfc_tx_priorities": Field("PFC sent for priorities", key=_PFC_KEYS, impact=impacts.PAUSE_MISMATCH),
        "pfc_priorities": Field(key=_PFC_KEYS),
        "pfc_watchdog": Field(
            "PFC watchdog", key=f"{_WATCHDOG_KEY}; {LOSSLESS_KEY}", aspect="watchdog", follows=_PFC_PRIORITY_FIELDS
        ),
        "pfc_watchdog/priorities": Field(key=_PFC_KEYS, follows=_PFC_PRIORITY_FIELDS),
        "pfc_watchdog/detection_ms": Field(key=f"{_WATCHDOG_KEY}.detection"),
        "pfc_watchdog/restoration_ms": Field(key=f"{_WATCHDOG_KEY}.restoration {_WATCHDOG_KEY}.detection"),
        "pfc_watchdog/action": Field(key=f"{_WATCHDOG_KEY}.action"),
        "pfc_watchdog/history": Field(no_key="it is on wherever the release and the ASIC have one"),
        "priority_groups": Field(key="classes.{pausing}.lossless; classes"),
        "queues": Field(key=f"{CLASS_KEY}; classes"),
        "ingress_buffers": Field(key=BUFFERS_KEYS),
        "egress_buffers": Field(key=BUFFERS_KEYS),
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
        "buffer/headroom": Field(key=_HEADROOM_KEYS),
        "buffer/size_bytes": Field(key=_HEADROOM_KEYS),
        "buffer/dynamic_th": Field(key="buffers.alpha"),
        "buffer/discard": Field(key="mode"),
    },
    Queue: {
        "index": Field(key=f"{CLASS_KEY}.priority; classes"),
        "scheduler": Field(key=f"{CLASS_KEY}.strict {CLASS_KEY}.share; classes", aspect="scheduling"),
        "wred": Field("ECN and WRED", key=f"{CLASS_KEY}.ecn; classes", aspect="marking", heading=True),
        "buffer": Field(key="classes.{pausing}.lossless; buffers", aspect="buffers"),
        "buffer/size_bytes": Field(key="classes; topology.{tier}.model"),
        "buffer/discard": Field(key="mode"),
    },
    Scheduler: {
        "type": Field(),
        "weight": Field(key=f"{CLASS_KEY}.share; classes"),
        "guaranteed_bytes_per_s": Field("guaranteed rate", key=_RATE_KEYS),
        "guaranteed_burst_bytes": Field(key=_RATE_KEYS),
        "peak_bytes_per_s": Field("highest rate", key=_RATE_KEYS),
        "peak_burst_bytes": Field(key=_RATE_KEYS),
    },
    WredProfile: {"ecn_colors": Field("ECN for colors"), "green": Field(), "yellow": Field(), "red": Field()},
    WredColor: {
        "min_bytes": Field("ECN minimum", key=f"{CLASS_KEY}.ecn.min; classes"),
        "max_bytes": Field("ECN maximum", key=f"{CLASS_KEY}.ecn.max; classes"),
        "min_percent": Field("ECN minimum (of what the queue may take)", key=f"{CLASS_KEY}.ecn.min; classes"),
        "max_percent": Field("ECN maximum (of what the queue may take)", key=f"{CLASS_KEY}.ecn.max; classes"),
        "probability_percent": Field("ECN probability", key=f"{CLASS_KEY}.ecn.probability; classes"),
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
