"""Buffers of a config_db.json that hold for the whole switch, and profiles."""

from collections.abc import Mapping
from typing import Any

from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Trimming
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.platforms.sonic.config import DeviceTables, RowFields, name_in_reference
from nodrop.platforms.sonic.tables import POOL_SUFFIX


def read_buffer_profile(config: DeviceTables, name: str, table_row: RowFields) -> BufferProfile:
    """Read a row of BUFFER_PROFILE; a profile with `xoff` is lossless (sonic-swss buffermgrdyn.cpp)."""
    keys = ("BUFFER_PROFILE", name)
    pool = table_row.get("pool")
    if pool is not None:
        pool = name_in_reference(pool)
        config.row_of_reference(keys, table_row, "pool", "BUFFER_POOL", ("@buffer_pools", model_pool_name(pool)))
    xoff = config.integer(keys, table_row, "xoff")
    headroom = None
    if xoff is not None:
        headroom = Headroom(
            xoff_bytes=xoff,
            xon_bytes=config.integer(keys, table_row, "xon"),
            xon_offset_bytes=config.integer(keys, table_row, "xon_offset"),
        )
    size = config.integer(keys, table_row, "size")
    return BufferProfile(
        pool=None if pool is None else model_pool_name(pool),
        size_bytes=UNKNOWN if size is None else size,
        dynamic_th=config.integer(keys, table_row, "dynamic_th"),
        static_th_bytes=config.integer(keys, table_row, "static_th"),
        headroom=headroom,
        discard=config.meaning_of_word(keys, table_row, "packet_discard_action", {"drop": "drop", "trim": "trim"}),
    )


def read_buffer_pools(config: DeviceTables, dynamic: bool) -> tuple[BufferPool, ...] | Unknown:
    """Return the pools, sorted by name; in the dynamic model one without a size is computed."""
    if not config.is_conclusive_about_table("BUFFER_POOL"):
        return UNKNOWN
    found_pools = []
    for name, row in config.rows("BUFFER_POOL").items():
        keys = ("BUFFER_POOL", name)
        size = config.integer(keys, row, "size")
        computed = dynamic and size is None
        found_pools.append(
            BufferPool(
                name=model_pool_name(name),
                direction=config.meaning_of_word(
                    keys, row, "type", {"ingress": "ingress", "egress": "egress", "both": "both"}
                )
                or "both",
                mode=config.meaning_of_word(keys, row, "mode", {"static": "static", "dynamic": "dynamic"}) or "dynamic",
                size_bytes=UNKNOWN if computed else size,
                shared_headroom_bytes=config.integer(keys, row, "xoff"),
                percentage=config.integer(keys, row, "percentage"),
                computed=computed,
            )
        )
    return tuple(sorted(found_pools, key=lambda pool: pool.name))


def read_dynamic_buffers(config: DeviceTables) -> DynamicBuffers | None | Unknown:
    """Return the settings of the dynamic buffer model."""
    if not config.is_conclusive_about_table("DEFAULT_LOSSLESS_BUFFER_PARAMETER"):
        return UNKNOWN
    parameters = _first_row(config.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER"))
    if parameters is None:
        return None
    name, row = parameters
    keys = ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", name)
    pattern_name, pattern = _first_row(config.rows("LOSSLESS_TRAFFIC_PATTERN")) or ("", {})
    pattern_keys = ("LOSSLESS_TRAFFIC_PATTERN", pattern_name)
    return DynamicBuffers(
        dynamic_th=config.integer(keys, row, "default_dynamic_th") or 0,
        pattern_mtu_bytes=config.integer(pattern_keys, pattern, "mtu"),
        small_packet_percent=config.integer(pattern_keys, pattern, "small_packet_percentage"),
        over_subscribe_ratio=config.integer(keys, row, "over_subscribe_ratio"),
    )


def read_trimming(config: DeviceTables) -> Trimming | None | Unknown:
    """Return the switch's packet trimming."""
    keys = ("SWITCH_TRIMMING", "GLOBAL")
    if not config.is_conclusive_about_table("SWITCH_TRIMMING"):
        return UNKNOWN
    row = config.rows("SWITCH_TRIMMING").get("GLOBAL")
    if row is None:
        return None
    by_tc, by_port = row.get("dscp_value") == "from-tc", row.get("queue_index") == "dynamic"
    return Trimming(
        size_bytes=config.integer(keys, row, "size"),
        dscp="from-tc" if by_tc else config.integer(keys, row, "dscp_value"),
        tc=config.integer(keys, row, "tc_value"),
        queue="dynamic" if by_port else config.integer(keys, row, "queue_index"),
    )


def _first_row(rows: Mapping[str, object]) -> tuple[str, Any] | None:
    return next(iter(rows.items()), None)


def model_pool_name(name: str) -> str:
    """Return a pool's name in the model: SONiC's without its `_pool`."""
    return name.removesuffix(POOL_SUFFIX)
