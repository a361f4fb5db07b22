"""SONiC's words for what the model says: one place for writer, reader and places."""

from nodrop.fabric.qos import COLORS, Color

ROLE_OF_TYPE = {"ToRRouter": "leaf", "LeafRouter": "spine", "SpineRouter": "superspine"}
"""DEVICE_METADATA.type by tier: T0, T1 and T2 in SONiC's words."""

TYPE_OF_ROLE = {role: kind for kind, role in ROLE_OF_TYPE.items()}

HASH_SEED_OF_TYPE = {"ToRRouter": 0, "LeafRouter": 10, "SpineRouter": 25}
"""ECMP hash seed (sonic-buildimage dockers/docker-orchagent/switch.json.j2)."""

ECN_COLORS: dict[str, tuple[Color, ...]] = {
    "ecn_none": (),
    "ecn_green": ("green",),
    "ecn_yellow": ("yellow",),
    "ecn_red": ("red",),
    "ecn_green_yellow": ("green", "yellow"),
    "ecn_green_red": ("green", "red"),
    "ecn_yellow_red": ("yellow", "red"),
    "ecn_all": COLORS,
}
ECN_NAME = {colors: name for name, colors in ECN_COLORS.items()}

MAPS: dict[str, tuple[str, str, int]] = {
    "dscp_to_tc": ("DSCP_TO_TC_MAP", "dscp_to_tc_map", 64),
    "pcp_to_tc": ("DOT1P_TO_TC_MAP", "dot1p_to_tc_map", 8),
    "tc_to_queue": ("TC_TO_QUEUE_MAP", "tc_to_queue_map", 16),
    "tc_to_priority_group": ("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", 16),
    "pfc_to_queue": ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", 8),
    "pfc_to_priority_group": ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", 8),
    "tc_to_dscp": ("TC_TO_DSCP_MAP", "tc_to_dscp_map", 16),
}
"""QosProfile attribute: table of the map, field of PORT_QOS_MAP that binds it, size."""

ALL_PRIORITIES = tuple(range(8))
POOL_SUFFIX = "_pool"
COMPUTED = "NULL"
"""BUFFER_PG.profile by which the dynamic buffer model computes the headroom."""

NOT_READ: dict[str, str] = {
    "ACL_TABLE": "access lists do not touch traffic classes",
    "ACL_RULE": "access lists do not touch traffic classes",
    "AUTO_TECHSUPPORT": "support tooling",
    "AUTO_TECHSUPPORT_FEATURE": "support tooling",
    "BANNER_MESSAGE": "login text",
    "BGP_ALLOWED_PREFIXES": "routing through bgpcfgd is not read",
    "BGP_DEVICE_GLOBAL": "routing through bgpcfgd is not read",
    "BGP_GLOBALS": "routing through frrcfgd is not read",
    "BGP_NEIGHBOR": "routing through bgpcfgd is not read",
    "BGP_PEER_GROUP": "routing through frrcfgd is not read",
    "BGP_PEER_RANGE": "routing through bgpcfgd is not read",
    "BREAKOUT_CFG": "the PORT table says what the ports are",
    "CONSOLE_SWITCH": "serial consoles",
    "COPP_GROUP": "the CPU's own policers",
    "COPP_TRAP": "the CPU's own policers",
    "CRM": "resource monitoring",
    "DEVICE_NEIGHBOR_METADATA": "what a neighbor is, not where it is",
    "DHCP_SERVER": "address service",
    "FEATURE": "which services run",
    "KDUMP": "crash dumps",
    "LLDP": "discovery",
    "LOGGER": "log levels",
    "MID_PLANE_BRIDGE": "SmartSwitch internals",
    "NTP": "how the clock is set, not from where",
    "PASSW_HARDENING": "passwords",
    "RESTAPI": "management service",
    "SNMP": "management service",
    "SNMP_COMMUNITY": "management service",
    "SNMP_AGENT_ADDRESS_CONFIG": "management service",
    "SSH_SERVER": "management service",
    "STATIC_ROUTE": "routing through bgpcfgd is not read",
    "SYSLOG_CONFIG": "log levels",
    "SYSLOG_CONFIG_FEATURE": "log levels",
    "SYSTEM_DEFAULTS": "feature switches",
    "TACPLUS": "login",
    "TACPLUS_SERVER": "login",
    "AAA": "login",
    "TELEMETRY": "management service",
    "VRF": "interfaces say which VRF they are in",
}
"""Tables that are knowingly not read, and why: they do not bear on what the model holds."""
