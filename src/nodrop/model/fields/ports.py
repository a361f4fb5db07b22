"""The fields of a port of a switch, with its QoS and buffers."""

from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Interface
from nodrop.model.fields import impacts
from nodrop.model.fields.row import (
    BUFFERS_KEYS,
    CLASS_KEY,
    CLASS_LOSSLESS_KEY,
    DEFAULT_VRF_ONLY_REASON,
    FieldTable,
    ModelField,
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
_PFC_KEYS = f"{CLASS_LOSSLESS_KEY}; mode"
_PFC_PRIORITY_FIELDS = ("pfc_rx_priorities", "pfc_tx_priorities")
_WATCHDOG_KEY = "pfc.watchdog.{side}"
_RATE_KEYS = f"{CLASS_KEY}.max_rate; classes"

PORT_FIELDS: FieldTable = {
    Interface: {
        "name": ModelField(key="{panels}"),
        "port": ModelField(key="{panels}"),
        "enabled": ModelField(key="{link}; {panels}", impact=impacts.PORT_SHUT),
        "speed_mbps": ModelField(key=_SPEED_KEYS, impact=impacts.LINK_BOUNCE),
        "lanes": ModelField(key=_LANES_KEYS, impact=impacts.LINK_BOUNCE),
        "lane_mbps": ModelField(key=_LANES_KEYS),
        "fec": ModelField("FEC", key=_SPEED_KEYS, impact=impacts.LINK_BOUNCE),
        "autoneg": ModelField("autonegotiation", key=_MEDIA_KEYS, impact=impacts.LINK_BOUNCE),
        "advertised_speeds_mbps": ModelField(
            key=f"{_SPEED_KEYS} {{link}}.media", impact=impacts.LINK_BOUNCE, needs="autoneg"
        ),
        "link_training": ModelField(key=_MEDIA_KEYS),
        "mtu_bytes": ModelField("MTU", key="external.{external}.mtu mtu", impact=impacts.MTU_CHANGED, routing=False),
        "addresses": ModelField(key="{pool}", impact=impacts.ADDRESS_CHANGED, unordered=True),
        "link_local": ModelField("IPv6 link-local", key="routing.sessions", impact=impacts.ADDRESS_CHANGED),
        "vrf": ModelField("VRF", no_key=DEFAULT_VRF_ONLY_REASON, impact=impacts.ADDRESS_CHANGED),
        "description": ModelField(key="{link}", impact=impacts.DESCRIPTION_CHANGED, routing=False),
        "link_pause": ModelField(
            "link pause (802.3x)",
            no_key="no key of an intent turns pause of whole links on",
            impact=impacts.PAUSE_MISMATCH,
            routing=False,
        ),
        "macsec": ModelField("MACsec", no_key="no key of an intent encrypts links"),
        "cable_length_m": ModelField("cable length (configured)", key="{link}.length", routing=False),
        "adaptive_routing": ModelField(key="routing.balancing", impact=impacts.FLOWS_MOVED_TO_OTHER_PATHS),
        "utilization_threshold_percent": ModelField(key="routing.balancing", routing=False),
        "qos": ModelField("QoS", key="classes", impact=impacts.PACKET_CLASS_CHANGED, routing=False, heading=True),
        "side": ModelField(key="{link}; {panels}"),
    },
    QosProfile: {
        "trust": ModelField(
            no_key="DSCP is trusted in every fabric", impact=impacts.PACKET_CLASS_CHANGED, aspect="classification"
        ),
        "dscp_to_tc": ModelField(
            "DSCP to traffic class",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="classification",
            numbers=NumberMapWords("DSCP", "traffic class"),
        ),
        "dscp_to_tc/*": ModelField(key="classes.{marked}.dscp; classes"),
        "pcp_to_tc": ModelField(
            "PCP to traffic class",
            no_key="DSCP is trusted in every fabric",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="classification",
            numbers=NumberMapWords("PCP", "traffic class"),
        ),
        "tc_to_queue": ModelField(
            "traffic class to queue",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="scheduling",
            numbers=NumberMapWords("traffic class", "queue", "leaves by"),
        ),
        "tc_to_priority_group": ModelField(
            "traffic class to priority group",
            impact=impacts.PACKET_CLASS_CHANGED,
            aspect="classification",
            numbers=NumberMapWords("traffic class", "priority group", "fills"),
        ),
        "pfc_to_queue": ModelField("PFC priority to queue", numbers=NumberMapWords("PFC priority", "queue")),
        "pfc_to_priority_group": ModelField(
            "PFC priority to priority group", numbers=NumberMapWords("PFC priority", "priority group")
        ),
        "tc_to_dscp": ModelField(
            "traffic class to DSCP",
            no_key="no intent rewrites DSCPs",
            aspect="classification",
            numbers=NumberMapWords("traffic class", "DSCP", "is sent with"),
        ),
        "pfc_rx_priorities": ModelField("PFC obeyed on priorities", key=_PFC_KEYS, impact=impacts.PAUSE_MISMATCH),
        "pfc_tx_priorities": ModelField("PFC sent for priorities", key=_PFC_KEYS, impact=impacts.PAUSE_MISMATCH),
        "pfc_priorities": ModelField(key=_PFC_KEYS),
        "pfc_watchdog": ModelField(
            "PFC watchdog",
            key=f"{_WATCHDOG_KEY}; {CLASS_LOSSLESS_KEY}",
            aspect="watchdog",
            follows=_PFC_PRIORITY_FIELDS,
        ),
        "pfc_watchdog/priorities": ModelField(key=_PFC_KEYS, follows=_PFC_PRIORITY_FIELDS),
        "pfc_watchdog/detection_ms": ModelField(key=f"{_WATCHDOG_KEY}.detection"),
        "pfc_watchdog/restoration_ms": ModelField(key=f"{_WATCHDOG_KEY}.restoration {_WATCHDOG_KEY}.detection"),
        "pfc_watchdog/action": ModelField(key=f"{_WATCHDOG_KEY}.action"),
        "pfc_watchdog/history": ModelField(no_key="it is on wherever the release and the ASIC have one"),
        "priority_groups": ModelField(key="classes.{pausing}.lossless; classes"),
        "queues": ModelField(key=f"{CLASS_KEY}; classes"),
        "ingress_buffers": ModelField(key=BUFFERS_KEYS),
        "egress_buffers": ModelField(key=BUFFERS_KEYS),
    },
    PfcWatchdog: {
        "priorities": ModelField(),
        "detection_ms": ModelField(aspect="watchdog"),
        "restoration_ms": ModelField(aspect="watchdog"),
        # sonic-swss orchagent/pfcwdorch.cpp, createEntry: what a row without the field has; no other platform writes it
        "action": ModelField(aspect="watchdog", if_absent="drop"),
        "history": ModelField("history of pauses", aspect="watchdog", if_absent=False),
    },
    PriorityGroup: {
        "index": ModelField(),
        "buffer": ModelField(key="buffers; classes.{pausing}.lossless", aspect="buffers"),
        "buffer/headroom": ModelField(key=_HEADROOM_KEYS),
        "buffer/size_bytes": ModelField(key=_HEADROOM_KEYS),
        "buffer/dynamic_th": ModelField(key="buffers.alpha"),
        "buffer/discard": ModelField(key="mode"),
    },
    Queue: {
        "index": ModelField(key=f"{CLASS_KEY}.priority; classes"),
        "scheduler": ModelField(key=f"{CLASS_KEY}.strict {CLASS_KEY}.share; classes", aspect="scheduling"),
        "wred": ModelField("ECN and WRED", key=f"{CLASS_KEY}.ecn; classes", aspect="marking", heading=True),
        "buffer": ModelField(key="classes.{pausing}.lossless; buffers", aspect="buffers"),
        "buffer/size_bytes": ModelField(key="classes; topology.{tier}.model"),
        "buffer/discard": ModelField(key="mode"),
    },
    Scheduler: {
        "type": ModelField(),
        "weight": ModelField(key=f"{CLASS_KEY}.share; classes"),
        "guaranteed_bytes_per_s": ModelField("guaranteed rate", key=_RATE_KEYS),
        "guaranteed_burst_bytes": ModelField(key=_RATE_KEYS),
        "peak_bytes_per_s": ModelField("highest rate", key=_RATE_KEYS),
        "peak_burst_bytes": ModelField(key=_RATE_KEYS),
    },
    WredProfile: {
        "ecn_colors": ModelField("ECN for colors"),
        "green": ModelField(),
        "yellow": ModelField(),
        "red": ModelField(),
    },
    WredColor: {
        "min_bytes": ModelField("ECN minimum", key=f"{CLASS_KEY}.ecn.min; classes"),
        "max_bytes": ModelField("ECN maximum", key=f"{CLASS_KEY}.ecn.max; classes"),
        "min_percent": ModelField("ECN minimum (of what the queue may take)", key=f"{CLASS_KEY}.ecn.min; classes"),
        "max_percent": ModelField("ECN maximum (of what the queue may take)", key=f"{CLASS_KEY}.ecn.max; classes"),
        "probability_percent": ModelField("ECN probability", key=f"{CLASS_KEY}.ecn.probability; classes"),
        "enabled": ModelField(),
    },
    BufferProfile: {
        "pool": ModelField(),
        "size_bytes": ModelField(),
        "dynamic_th": ModelField("alpha"),
        "static_th_bytes": ModelField("limit"),
        "headroom": ModelField(heading=True),
        "discard": ModelField(),
    },
    Headroom: {
        "xoff_bytes": ModelField("headroom after pause (xoff)"),
        "xon_bytes": ModelField("resume threshold (xon)"),
        "xon_offset_bytes": ModelField("resume offset (xon offset)"),
        "computed": ModelField(),
    },
}
