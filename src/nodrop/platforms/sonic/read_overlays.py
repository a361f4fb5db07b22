"""MCLAG, DualToR and tunnels of a config_db.json: read for rules and proofs, never written."""

from collections.abc import Mapping
from typing import Any, Literal

from nodrop.model.overlays import MultiChassis, MuxCable, Tunnel
from nodrop.model.qos import NumberMap
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.sonic.config import DeviceTables, RowFields, name_in_reference
from nodrop.platforms.sonic.read_qos import parse_map_row
from nodrop.platforms.sonic.tables import TABLE_BY_MAP_ATTRIBUTE

_DSCP_MODE_BY_WORD: Mapping[str, Literal["uniform", "pipe"]] = {"uniform": "uniform", "pipe": "pipe"}
_MUX_STATE_BY_WORD: Mapping[str, Literal["auto", "manual", "detach", "active", "standby"]] = {
    "auto": "auto",
    "manual": "manual",
    "detach": "detach",
    "active": "active",
    "standby": "standby",
}
_DEFAULT_MUX_STATE: Literal["auto"] = "auto"
"""The state of a row that has none (sonic-buildimage src/sonic-yang-models/yang-models/sonic-mux-cable.yang)."""
_MUX_TUNNEL_NAME = "MuxTunnel0"
"""The only tunnel into which a switch sends packets (sonic-swss orchagent/muxorch.cpp)."""
FIELD_BY_TUNNEL_MAP = {
    "tc_to_dscp": "encap_tc_to_dscp_map",
    "tc_to_queue": "encap_tc_to_queue_map",
    "dscp_to_tc": "decap_dscp_to_tc_map",
    "tc_to_priority_group": "decap_tc_to_pg_map",
}
"""The maps of a tunnel, by attribute of the model (sonic-swss orchagent/qosorch.cpp and tunneldecaporch.cpp)."""


def read_pairing_and_tunnel_fields(config: DeviceTables, localhost: RowFields) -> dict[str, Any]:
    """Return the fields of a device that state its links to the other switch of a pair, and its tunnels."""
    return {
        "multi_chassis": _read_mclag_domain(config),
        "dual_tor": localhost.get("subtype") == "DualToR"
        if config.is_conclusive_about_table("DEVICE_METADATA")
        else UNKNOWN,
        "mux_cables": _read_mux_cables(config),
        "tunnels": _read_tunnels(config),
    }


def _read_mclag_domain(config: DeviceTables) -> MultiChassis | None | Unknown:
    if not config.is_conclusive_about_table("MCLAG_DOMAIN"):
        return UNKNOWN
    for domain, row in config.rows("MCLAG_DOMAIN").items():
        pairs = (key.partition("|")[::2] for key in config.rows("MCLAG_INTERFACE"))
        channels = sorted((name for owner, name in pairs if owner == domain), key=natural_sort_key)
        return MultiChassis(peer_link=row.get("peer_link"), port_channels=tuple(channels))
    return None


def _read_mux_cables(config: DeviceTables) -> tuple[MuxCable, ...] | Unknown:
    """Return the ports to servers with a second leaf; addresses of a NIC's own processor are no server's."""
    if not config.is_conclusive_about_table("MUX_CABLE"):
        return UNKNOWN
    return tuple(
        MuxCable(
            interface=port,
            servers=tuple(row[field] for field in ("server_ipv4", "server_ipv6") if row.get(field)),
            state=config.meaning_of_word(("MUX_CABLE", port), row, "state", _MUX_STATE_BY_WORD)
            or (UNKNOWN if "state" in row else _DEFAULT_MUX_STATE),
        )
        for port, row in sorted(config.rows("MUX_CABLE").items(), key=lambda item: natural_sort_key(item[0]))
    )


def _read_tunnels(config: DeviceTables) -> tuple[Tunnel, ...] | Unknown:
    """Return the tunnels, sorted by name; SONiC has no field for how VXLAN treats the DSCP."""
    if not config.is_conclusive_about_table("TUNNEL") or not config.is_conclusive_about_table("VXLAN_TUNNEL"):
        return UNKNOWN
    peers = config.rows("PEER_SWITCH").values()
    addresses = (row["address_ipv4"] for row in peers if "address_ipv4" in row)
    far: str | None | Unknown = next(addresses, None)
    if far is None and (peers or not config.is_conclusive_about_table("PEER_SWITCH")):
        far = UNKNOWN
    tunnels = [
        Tunnel(
            name=name,
            kind="ip-in-ip",
            dscp_mode=config.meaning_of_word(("TUNNEL", name), row, "dscp_mode", _DSCP_MODE_BY_WORD),
            near=row.get("dst_ip", UNKNOWN),
            far=far if name == _MUX_TUNNEL_NAME else None,
            sender=row.get("src_ip"),
            tc_to_dscp=_read_tunnel_qos_map(config, name, row, "tc_to_dscp"),
            tc_to_queue=_read_tunnel_qos_map(config, name, row, "tc_to_queue"),
            dscp_to_tc=_read_tunnel_qos_map(config, name, row, "dscp_to_tc"),
            tc_to_priority_group=_read_tunnel_qos_map(config, name, row, "tc_to_priority_group"),
        )
        for name, row in config.rows("TUNNEL").items()
    ]
    tunnels += [Tunnel(name=name, kind="vxlan", dscp_mode=None) for name in config.rows("VXLAN_TUNNEL")]
    return tuple(sorted(tunnels, key=lambda tunnel: natural_sort_key(tunnel.name)))


def _read_tunnel_qos_map(config: DeviceTables, name: str, row: RowFields, attribute: str) -> NumberMap | None | Unknown:
    """Return a map of a tunnel; UNKNOWN where no table has the one that is named."""
    table, _, size = TABLE_BY_MAP_ATTRIBUTE[attribute]
    field = FIELD_BY_TUNNEL_MAP[attribute]
    if field not in row:
        return None
    map_row = config.row_of_reference(("TUNNEL", name), row, field, table, ("@tunnels", name, attribute))
    if map_row is None:
        return UNKNOWN
    return parse_map_row(config, (table, name_in_reference(row[field])), map_row, size)
