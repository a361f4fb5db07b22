"""BGP in the tables of SONiC's management framework: one row per field, used by reader, writer, places and limits.

Two programs of sonic-buildimage src/sonic-frr-mgmt-framework translate the tables: templates/bgpd fill in frr.conf when
the bgp container starts, and frrcfgd/frrcfgd.py types each change. A column is written only if both of them take it.
Rows decode columns that earlier releases and other owners write, too.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from nodrop.limits import MAX_UINT32
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, LocalAsnMode, PrivateAsnRemoval
from nodrop.platforms.frr.words import password_digest
from nodrop.platforms.kit.bindings import (
    FieldBinding,
    NumberRangeCheck,
    RefusalCheck,
    bound_fields,
    check_fields,
    refuse_unless_default,
)
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.sonic.config import DeviceTables, RowFields

RowColumns = Mapping[str, "str | list[str]"]
"""Fields of a row of config_db.json."""


class TableRow(NamedTuple):
    """A row of a table, and where it is."""

    config: DeviceTables
    table: str
    key: str
    columns: RowFields

    def integer(self, column: str) -> int | None:
        """Return a column as a number; None if it is absent or no number, which is remarked."""
        return self.config.integer((self.table, self.key), self.columns, column)


BgpBinding = FieldBinding[str, TableRow, None, RowColumns]

DEFAULT_VRF = "default"
"""The name of the default VRF."""
SONIC_WORD_BY_FAMILY = {"ipv4": "ipv4_unicast", "ipv6": "ipv6_unicast"}
"""Address families by the model's names."""
EVPN_FAMILY = "l2vpn_evpn"
"""The address family of EVPN, whose sessions alone are read."""
DATACENTER_DEFAULT_COLUMNS: Mapping[str, RowColumns] = {
    "BGP_GLOBALS": {"log_nbr_state_changes": "true"},
    "BGP_NEIGHBOR": {"conn_retry": "10"},
}
"""Columns that give a process the defaults of `frr defaults datacenter` (bgpd/bgp_vty.c), which no table states: with
tables, bgpd has those of `traditional`, which retries far later."""
DATACENTER_HOLD_S = 9
"""The hold time of `frr defaults datacenter`; that of `traditional` is 180."""
MOST_PATHS = 256
"""What `max_ebgp_paths` takes (sonic-bgp-global.yang)."""
_DEFAULT_EBGP_MULTIHOP_TTL = 255
"""Where `ebgp_multihop` comes without a number (bgpd.conf.db.nbr_or_peer.j2)."""
_DEFAULT_ALLOW_AS_COUNT = 3
"""How often bgpd allows the own AS number where `allow_as_in` comes without a number."""
_UP_WORDS = ("true", "up")
_DOWN_WORDS = ("false", "down")
NO_COLUMN_REASON = "no table has a column for it"
LEFT_OUT_BY_TEMPLATE_REASON = "SONiC's template leaves it out when the bgp container starts"


def _bind_text(field: str, column: str, *refuses: RefusalCheck) -> BgpBinding:
    def encode(value: str, _: None) -> RowColumns:
        return {column: value}

    return FieldBinding(
        field=field, where=(column,), decode=lambda row: row.columns.get(column), encode=encode, refuses=refuses
    )


def _bind_single_entry_list(field: str, column: str) -> BgpBinding:
    """Bind a name to a column that is a list of one entry; the templates take a text for a list of characters."""

    def decode(row: TableRow) -> str | None:
        return row.columns[column].split(",")[0] if column in row.columns else None

    return FieldBinding(field=field, where=(column,), decode=decode, encode=lambda value, _: {column: [value]})


def _bind_number(field: str, column: str, *refuses: RefusalCheck) -> BgpBinding:
    def encode(value: int, _: None) -> RowColumns:
        return {column: str(value)}

    return FieldBinding(
        field=field, where=(column,), decode=lambda row: row.integer(column), encode=encode, refuses=refuses
    )


def _bind_flag(field: str, column: str) -> BgpBinding:
    """Bind a flag that is written only if it is on: of some, the templates ask only whether the column is there."""
    return FieldBinding(
        field=field,
        where=(column,),
        decode=_make_column_test(column, "true"),
        encode=lambda value, _: {column: "true"} if value else {},
    )


def _make_column_test(column: str, *words: str) -> Callable[[TableRow], bool | None]:
    return lambda row: row.columns[column] in words if column in row.columns else None


def _apostrophe_refusal(value: str | None, _: object) -> str | None:
    """Refuse a value that ends the quotes around a command that frrcfgd of 202511 passes on."""
    return "an apostrophe ends the command of frrcfgd" if value is not None and "'" in value else None


def _refuse_unless_on(reason: str) -> RefusalCheck:
    return lambda value, _: None if value is True else reason


PROCESS_BINDINGS: tuple[BgpBinding, ...] = (
    _bind_number("asn", "local_asn"),
    _bind_text("router_id", "router_id"),
    _bind_flag("multipath_relax", "load_balance_mp_relax"),
    _bind_flag("compare_router_id", "external_compare_router_id"),
    _bind_flag("always_compare_med", "always_compare_med"),
    _bind_number("default_preference", "default_local_preference", NumberRangeCheck(0, MAX_UINT32)),
    FieldBinding(
        field="default_ipv4_unicast",
        where=("default_ipv4_unicast",),
        decode=lambda row: row.columns.get("default_ipv4_unicast") == "true",
        encode=lambda value, _: {"default_ipv4_unicast": "true" if value else "false"},
    ),
    FieldBinding(
        field="import_check",
        where=("network_import_check",),
        decode=lambda row: row.columns.get("network_import_check") != "false",
        refuses=(_refuse_unless_on(LEFT_OUT_BY_TEMPLATE_REASON),),
    ),
    _bind_flag("graceful_restart", "graceful_restart_enable"),
    _bind_flag("preserve_forwarding", "gr_preserve_fw_state"),
    _bind_number("restart_s", "gr_restart_time", NumberRangeCheck(1, 3600)),
    _bind_flag("graceful_shutdown", "graceful_shutdown"),
    FieldBinding(
        field="cluster_id", refuses=(refuse_unless_default("nodrop does not write route reflection into tables"),)
    ),
    FieldBinding(
        field="maximum_paths_internal",
        refuses=(refuse_unless_default("nodrop does not write paths of the own AS into tables"),),
    ),
    FieldBinding(
        field="maximum_paths_internal_ipv6",
        refuses=(refuse_unless_default("nodrop does not write paths of the own AS into tables"),),
    ),
    FieldBinding(field="requires_policy", refuses=(_refuse_unless_on(NO_COLUMN_REASON),)),
    FieldBinding(field="session_dscp", refuses=(refuse_unless_default(NO_COLUMN_REASON),)),
)
"""BGP_GLOBALS: fields of Bgp."""

MAXIMUM_PATHS_BINDINGS: Mapping[str, BgpBinding] = {
    "ipv4": _bind_number("maximum_paths", "max_ebgp_paths", NumberRangeCheck(1, MOST_PATHS)),
    "ipv6": _bind_number("maximum_paths_ipv6", "max_ebgp_paths", NumberRangeCheck(1, MOST_PATHS)),
}
"""BGP_GLOBALS_AF: fields of Bgp by address family."""


_COLUMNS_BY_LOCAL_AS_MODE: Mapping[LocalAsnMode, tuple[str, ...]] = {
    "replace-as": ("local_as_no_prepend", "local_as_replace_as"),
    "no-prepend": ("local_as_no_prepend",),
    "prepend": (),
}
"""What is done with a local AS number, and the columns that are true for it; the first of which all are counts."""


def _decode_local_as_mode(row: TableRow) -> LocalAsnMode:
    modes = _COLUMNS_BY_LOCAL_AS_MODE.items()
    return next(mode for mode, columns in modes if all(row.columns.get(column) == "true" for column in columns))


def _decode_remote_asn(row: TableRow) -> object:
    return row.columns["peer_type"] if "peer_type" in row.columns else row.integer("asn")


def _decode_multihop(row: TableRow) -> int | None:
    return (
        (row.integer("ebgp_multihop_ttl") or _DEFAULT_EBGP_MULTIHOP_TTL)
        if row.columns.get("ebgp_multihop") == "true"
        else None
    )


def _decode_allowed_as_count(row: TableRow) -> int | None:
    return (
        (row.integer("allow_as_count") or _DEFAULT_ALLOW_AS_COUNT) if row.columns.get("allow_as_in") == "true" else None
    )


_COLUMNS_BY_PRIVATE_ASNS: Mapping[PrivateAsnRemoval, RowColumns] = {
    "remove": {"remove_private_as_enabled": "true"},
    "remove-all": {"remove_private_as_enabled": "true", "remove_private_as_all": "true"},
    "replace": {"remove_private_as_enabled": "true", "replace_private_as": "true"},
    "replace-all": {
        "remove_private_as_enabled": "true",
        "remove_private_as_all": "true",
        "replace_private_as": "true",
    },
}


def _decode_private_as(row: TableRow) -> PrivateAsnRemoval | None:
    columns = ("remove_private_as_enabled", "remove_private_as_all", "replace_private_as")
    on = {column: "true" for column in columns if row.columns.get(column) == "true"}
    return next((private for private, row_columns in _COLUMNS_BY_PRIVATE_ASNS.items() if row_columns == on), None)


def _decode_prefix_limit(row: TableRow) -> int | None:
    """Return of how many prefixes a session goes down; of none where it only warns."""
    return None if row.columns.get("max_prefix_warning_only") == "true" else row.integer("max_prefix_limit")


def _decode_password(row: TableRow) -> str | None:
    """Return the digest of a password and the word that the template writes behind it, which FRR takes with it."""
    stated = row.columns.get("auth_password")
    return None if stated is None else password_digest(f"{stated} encrypted")


def _decode_enabled_state(row: TableRow) -> bool | None:
    return row.columns["admin_status"] not in _DOWN_WORDS if "admin_status" in row.columns else None


def _encode_admin_status(value: object, _: None) -> RowColumns:
    return {"admin_status": "up" if value else "down"}


SESSION_BINDINGS: tuple[BgpBinding, ...] = (
    FieldBinding(
        field="remote_asn",
        where=("asn", "peer_type"),
        decode=_decode_remote_asn,
        encode=lambda value, _: {"asn": str(value)} if isinstance(value, int) else {"peer_type": value},
    ),
    _bind_text("description", "name", _apostrophe_refusal),
    FieldBinding(field="enabled", where=("admin_status",), decode=_decode_enabled_state, encode=_encode_admin_status),
    _bind_flag("bfd", "bfd"),
    FieldBinding(
        field="hold_s",
        where=("holdtime",),
        decode=lambda row: row.integer("holdtime"),
        encode=lambda value, _: {"keepalive": str(value // 3), "holdtime": str(value)},
    ),
    _bind_text("update_source", "local_addr"),
    FieldBinding(
        field="ebgp_multihop",
        where=("ebgp_multihop_ttl", "ebgp_multihop"),
        decode=_decode_multihop,
        encode=lambda value, _: {"ebgp_multihop": "true", "ebgp_multihop_ttl": str(value)},
    ),
    _bind_flag("extended_next_hop", "capability_ext_nexthop"),
    _bind_flag("passive", "passive_mode"),
    _bind_number("local_asn", "local_asn", NumberRangeCheck(1, MAX_UINT32)),
    FieldBinding(
        field="local_asn_mode",
        where=("local_as_no_prepend", "local_as_replace_as"),
        decode=_decode_local_as_mode,
        encode=lambda value, _: dict.fromkeys(_COLUMNS_BY_LOCAL_AS_MODE[value], "true"),
    ),
    FieldBinding(
        field="local_asn_of_group",
        refuses=(
            refuse_unless_default(
                "the local AS number of a peer group that a session may not have is not written", default=False
            ),
        ),
    ),
    FieldBinding(
        field="password",
        where=("auth_password",),
        decode=_decode_password,
        refuses=(refuse_unless_default("nodrop keeps no password, and writes none"),),
    ),
    _bind_number("ttl_security_hops", "ttl_security_hops", NumberRangeCheck(1, 254)),
    FieldBinding(
        field="connected_check",
        where=("disable_ebgp_connected_route_check",),
        decode=lambda row: row.columns.get("disable_ebgp_connected_route_check") != "true",
        encode=lambda value, _: {} if value else {"disable_ebgp_connected_route_check": "true"},
    ),
)
"""BGP_NEIGHBOR and BGP_PEER_GROUP: fields of BgpNeighbor."""

SESSION_FAMILY_BINDINGS: tuple[BgpBinding, ...] = (
    FieldBinding(
        field="active",
        where=("admin_status",),
        decode=_make_column_test("admin_status", *_UP_WORDS),
        encode=_encode_admin_status,
    ),
    _bind_single_entry_list("import_policy", "route_map_in"),
    _bind_single_entry_list("export_policy", "route_map_out"),
    _bind_text("import_prefix_list", "prefix_list_in"),
    _bind_text("export_prefix_list", "prefix_list_out"),
    _bind_flag("next_hop_self", "nhself"),
    FieldBinding(
        field="next_hop_forced",
        refuses=(
            refuse_unless_default("nodrop does not write next hops of reflected routes into tables", default=False),
        ),
    ),
    FieldBinding(
        field="reflector_client",
        refuses=(refuse_unless_default("nodrop does not write route reflection into tables", default=False),),
    ),
    FieldBinding(
        field="allowas_in",
        where=("allow_as_count", "allow_as_in"),
        decode=_decode_allowed_as_count,
        encode=lambda value, _: {"allow_as_in": "true", "allow_as_count": str(value)},
    ),
    _bind_number("weight", "weight", NumberRangeCheck(0, 65535)),
    _bind_text("import_path_list", "filter_list_in"),
    _bind_text("export_path_list", "filter_list_out"),
    FieldBinding(
        field="private_asns",
        where=("remove_private_as_enabled", "remove_private_as_all", "replace_private_as"),
        decode=_decode_private_as,
        encode=lambda value, _: _COLUMNS_BY_PRIVATE_ASNS[value],
    ),
    _bind_flag("as_override", "as_override"),
    _bind_flag("default_originate", "send_default_route"),
    _bind_text("default_policy", "default_rmap"),
    FieldBinding(
        field="maximum_prefix",
        where=("max_prefix_limit",),
        decode=_decode_prefix_limit,
        encode=lambda value, _: {"max_prefix_limit": str(value)},
    ),
)
"""BGP_NEIGHBOR_AF and BGP_PEER_GROUP_AF: fields of BgpNeighbor for IPv4 unicast, and of Ipv6Unicast."""

FIELDS_OF_OTHER_TABLES: Mapping[type[object], frozenset[str]] = {
    Bgp: frozenset(
        {
            *("vrf", "networks", "redistributions", "neighbors"),
            *("prefix_lists", "community_lists", "as_path_lists", "route_maps"),
        }
    ),
    BgpNeighbor: frozenset({"address", "interface", "ipv6"}),
    Ipv6Unicast: frozenset(),
}
"""Fields that are keys or rows of other tables."""
BINDINGS_BY_CLASS: Mapping[type[Any], tuple[BgpBinding, ...]] = {
    Bgp: (*PROCESS_BINDINGS, *MAXIMUM_PATHS_BINDINGS.values()),
    BgpNeighbor: (*SESSION_BINDINGS, *SESSION_FAMILY_BINDINGS),
    Ipv6Unicast: SESSION_FAMILY_BINDINGS,
}


def check_bgp_part_fits_columns(model_part: Any, *path: object) -> None:
    """Raise UnsupportedByPlatform for the first field of a part, at `path`, that no column can hold as it is."""
    rows, kind = BINDINGS_BY_CLASS[type(model_part)], type(model_part)
    check_fields(rows, model_part, *path)
    for field in fields(kind):
        value = getattr(model_part, field.name)
        has_column = field.name in bound_fields(rows) or field.name in FIELDS_OF_OTHER_TABLES[kind]
        if not has_column and value is not field.default and value != field.default:
            raise unsupported_error((*path, field.name), NO_COLUMN_REASON)


def supported_fields(value_type: type[object]) -> frozenset[str]:
    """Return the fields of a class that tables can hold, including those with only one possible value."""
    rows = frozenset(
        row.field
        for row in BINDINGS_BY_CLASS[value_type]
        if row.encode or row.field in ("requires_policy", "import_check")
    )
    return rows | FIELDS_OF_OTHER_TABLES[value_type]
