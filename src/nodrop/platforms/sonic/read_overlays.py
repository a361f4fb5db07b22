"""MCLAG, DualToR and tunnels of a config_db.json: read for rules, never written."""

from collections.abc import Mapping
from typing import Any, Literal

from nodrop.model.overlays import MultiChassis, Tunnel
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.sonic.config import DeviceTables, RowFields

_DSCP_MODE_BY_WORD: Mapping[str, Literal["uniform", "pipe"]] = {"uniform": "uniform", "pipe": "pipe"}
_TUNNEL_REMAP_FIELDS = ("encap_tc_to_queue_map", "encap_tc_to_dscp_map", "decap_dscp_to_tc_map", "decap_tc_to_pg_map")
"""The maps that DualToR gives a tunnel (sonic-buildimage files/build_templates/qos_config.j2, tunnel_qos_remap)."""


def read_pairing_and_tunnel_fields(config: DeviceTables, localhost: RowFields) -> dict[str, Any]:
    """Return the fields of a device that state its links to the other switch of a pair, and its tunnels."""
    return {
        "multi_chassis": _read_multi_chassis(config),
        "dual_tor": localhost.get("subtype") == "DualToR" if config.covers("DEVICE_METADATA") else UNKNOWN,
        "tunnels": _read_tunnels(config),
    }


def _read_multi_chassis(config: DeviceTables) -> MultiChassis | None | Unknown:
    if not config.covers("MCLAG_DOMAIN"):
        return UNKNOWN
    for domain, row in config.rows("MCLAG_DOMAIN").items():
        pairs = (key.partition("|")[::2] for key in config.rows("MCLAG_INTERFACE"))
        channels = sorted((name for owner, name in pairs if owner == domain), key=natural_sort_key)
        return MultiChassis(peer_link=row.get("peer_link"), port_channels=tuple(channels))
    return None


def _read_tunnels(config: DeviceTables) -> tuple[Tunnel, ...] | Unknown:
    """Return the tunnels, sorted by name; SONiC has no field for how VXLAN treats the DSCP."""
    if not config.covers("TUNNEL") or not config.covers("VXLAN_TUNNEL"):
        return UNKNOWN
    tunnels = [
        Tunnel(
            name=name,
            kind="ip-in-ip",
            dscp_mode=config.word(("TUNNEL", name), row, "dscp_mode", _DSCP_MODE_BY_WORD),
            remapped=all(field in row for field in _TUNNEL_REMAP_FIELDS),
        )
        for name, row in config.rows("TUNNEL").items()
    ]
    tunnels += [Tunnel(name=name, kind="vxlan", dscp_mode=None, remapped=False) for name in config.rows("VXLAN_TUNNEL")]
    return tuple(sorted(tunnels, key=lambda tunnel: natural_sort_key(tunnel.name)))
