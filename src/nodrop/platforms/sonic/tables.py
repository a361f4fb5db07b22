"""SONiC's words for the values of the model: one place for writer, reader and places."""

from functools import lru_cache

from nodrop.limits import MAX_DSCP
from nodrop.model.fabric import PortSide
from nodrop.model.qos import COLORS, Color
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.units import parse_whole_number

ROLE_BY_DEVICE_TYPE = {"ToRRouter": "leaf", "LeafRouter": "spine", "SpineRouter": "superspine"}
"""DEVICE_METADATA.type by tier: T0, T1 and T2 in SONiC's words."""

_ROUTER, _SERVER, _MANAGEMENT = "Router", "Server", "Mgmt"

DEVICE_TYPE_BY_ROLE = {role: kind for kind, role in ROLE_BY_DEVICE_TYPE.items()}

HASH_SEED_BY_DEVICE_TYPE = {"ToRRouter": 0, "LeafRouter": 10, "SpineRouter": 25}
"""ECMP hash seed (sonic-buildimage dockers/docker-orchagent/switch.json.j2)."""

COLORS_BY_ECN_WORD: dict[str, tuple[Color, ...]] = {
    "ecn_none": (),
    "ecn_green": ("green",),
    "ecn_yellow": ("yellow",),
    "ecn_red": ("red",),
    "ecn_green_yellow": ("green", "yellow"),
    "ecn_green_red": ("green", "red"),
    "ecn_yellow_red": ("yellow", "red"),
    "ecn_all": COLORS,
}
ECN_WORD_BY_COLORS = {colors: name for name, colors in COLORS_BY_ECN_WORD.items()}

TABLE_BY_MAP_ATTRIBUTE: dict[str, tuple[str, str, int]] = {
    "dscp_to_tc": ("DSCP_TO_TC_MAP", "dscp_to_tc_map", 64),
    "pcp_to_tc": ("DOT1P_TO_TC_MAP", "dot1p_to_tc_map", 8),
    "tc_to_queue": ("TC_TO_QUEUE_MAP", "tc_to_queue_map", 16),
    "tc_to_priority_group": ("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", 16),
    "pfc_to_queue": ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", 8),
    "pfc_to_priority_group": ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", 8),
    "tc_to_dscp": ("TC_TO_DSCP_MAP", "tc_to_dscp_map", 16),
}
"""QosProfile attribute: table of the map, field of PORT_QOS_MAP that binds it, size."""

MAX_VALUE_BY_MAP = {
    "DSCP_TO_TC_MAP": 15,
    "DOT1P_TO_TC_MAP": 15,
    "TC_TO_QUEUE_MAP": 15,
    "TC_TO_PRIORITY_GROUP_MAP": 7,
    "MAP_PFC_PRIORITY_TO_QUEUE": 15,
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": 7,
    "TC_TO_DSCP_MAP": MAX_DSCP,
}
"""The largest value of each map: a traffic class, a queue, a priority group, a DSCP."""

ALL_PRIORITIES = tuple(range(8))
POOL_SUFFIX = "_pool"
EMPTY_ROW_FIELD = "NULL"
"""The field of a row without fields in the database, and its value (sonic-swss-common)."""
COMPUTED_PROFILE_WORD = "NULL"
"""BUFFER_PG.profile by which the dynamic buffer model computes the headroom."""

TABLE_FIELD_BY_PORT_FIELD = {
    "enabled": "admin_status",
    "speed_mbps": "speed",
    "fec": "fec",
    "autoneg": "autoneg",
    "advertised_speeds_mbps": "adv_speeds",
    "link_training": "link_training",
    "mtu_bytes": "mtu",
    "description": "description",
}
"""Interface attribute: field of PORT."""

TABLE_FIELD_BY_DYNAMIC_BUFFERS_FIELD = {
    "dynamic_th": ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "default_dynamic_th"),
    "over_subscribe_ratio": ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "over_subscribe_ratio"),
    "pattern_mtu_bytes": ("LOSSLESS_TRAFFIC_PATTERN", "mtu"),
    "small_packet_percent": ("LOSSLESS_TRAFFIC_PATTERN", "small_packet_percentage"),
}
"""DynamicBuffers attribute: table, of which each row has it, and field."""

TABLE_FIELD_BY_TRIMMING_FIELD = {"size_bytes": "size", "dscp": "dscp_value", "tc": "tc_value", "queue": "queue_index"}
"""Trimming attribute: field of SWITCH_TRIMMING."""

IS_ENABLED_BY_WORD = {"enable": True, "disable": False}
"""The words of switches of features; `WORD_BY_IS_ENABLED` has them by value."""
WORD_BY_IS_ENABLED = {value: word for word, value in IS_ENABLED_BY_WORD.items()}


@lru_cache(maxsize=1024)
def parse_advertised_speeds_mbps(text: str) -> tuple[int, ...] | None | Unknown:
    """Return the speeds of a PORT.adv_speeds in Mb/s, slowest first; None for `all`, which an empty text means too.

    UNKNOWN where one is no number, which the check against the schema reports. Source: sonic-swss
    cfgmgr/buffermgrdyn.cpp (handlePortTable, getMaxSpeedFromList).
    """
    if text in ("", "all"):
        return None
    speeds = {parse_whole_number(part.strip()) for part in text.split(",")}
    return UNKNOWN if None in speeds else tuple(sorted(speed for speed in speeds if speed is not None))


def far_end_kind_of_neighbor_type(object_kind: str) -> PortSide | None:
    """Return the kind of a port's far end from a DEVICE_NEIGHBOR_METADATA.type; None for any other kind of device.

    Source: sonic-buildimage files/build_templates/buffers_config.j2 (torrouter_server, leafrouter_torrouter, ...).
    """
    if _MANAGEMENT in object_kind:
        return None
    return "host" if _SERVER in object_kind else "fabric" if _ROUTER in object_kind else None
