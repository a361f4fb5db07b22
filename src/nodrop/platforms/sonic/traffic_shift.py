"""SONiC's traffic shift: what bgpcfgd changes where a switch is shifted away from traffic, and where one was left so.

bgpcfgd adds entries to the route maps of sessions that leave the routes of the loopback alone (`tsa_enabled`), or to
the one that its templates call on spines (`idf_isolation_state`). Sources, in sonic-buildimage:
src/sonic-bgpcfgd/bgpcfgd/managers_device_global.py; dockers/docker-fpm-frr/base_image_files (TSA, TSB, TS,
idf_isolation); dockers/docker-fpm-frr/frr/bgpd/idf_isolate and wcmp.
"""

from collections.abc import Iterable, Sequence

from nodrop.model.change import FILE_SETTING_AREA, CommandsForCase
from nodrop.model.fabric import Device
from nodrop.model.reading import FileCorrection, Remedy
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.platforms.sonic.frr_text import FrrText
from nodrop.platforms.sonic.routing_tables import uses_frrcfgd
from nodrop.platforms.sonic.schema import release_of_database_version, schema_of_release
from nodrop.syntax.shapes import value_at

_TABLE, _ROW = "BGP_DEVICE_GLOBAL", "STATE"
_SHIFT_FIELD, _ISOLATION_FIELD, _WEIGHTS_FIELD = "tsa_enabled", "idf_isolation_state", "wcmp_enabled"
_SHIFTED_POLICY_NAME_PARTS = ("V4", "V6")
"""What the name of an export policy has that the traffic shift changes; it passes over all others."""
_WEIGHTED_POLICY_NAMES = ("TO_BGP_PEER_V4", "TO_BGP_PEER_V6")
_ISOLATION_MAP_NAME = "CHECK_IDF_ISOLATION"
_ISOLATED_STATES = ("isolated_no_export", "isolated_withdraw_all")
_SPINE_TYPE_PART = "SpineRouter"
"""What the type of a switch has that isolates its downstream."""
_SHIFTED = "which shifts traffic away from the switch"
_UNREAD = "which changes nothing, because frrcfgd does not read it"


def is_shifted_policy(name: str | None) -> bool:
    """Whether the traffic shift changes a route map; None is a session without any."""
    return name is not None and any(part in name for part in _SHIFTED_POLICY_NAME_PARTS)


def export_policies(processes: Iterable[Bgp | Unknown | None]) -> tuple[str | None | Unknown, ...]:
    """Return the names of the export policies of the sessions of BGP processes, as far as these are known."""
    return tuple(
        session.export_policy
        for bgp in processes
        if isinstance(bgp, Bgp) and not isinstance(bgp.neighbors, Unknown)
        for session in bgp.neighbors
    )


def remark_traffic_shift(config: DeviceTables, localhost: RowFields, device: Device, text: FrrText | None) -> None:
    """Remark that a switch is shifted away or isolated, and weights that no policy gets; `text` is what FRR runs."""
    row = _fields_of_release(config)
    processes = (device.bgp, *(() if isinstance(device.vrf_bgp, Unknown) else device.vrf_bgp))
    policies = export_policies(processes)
    known = tuple(policy for policy in policies if not isinstance(policy, Unknown))
    stated = known if len(known) == len(policies) else ()
    unread = uses_frrcfgd(localhost)
    if row.get(_SHIFT_FIELD) == "true":
        _remark_state(config, _SHIFT_FIELD, "true", "false", _UNREAD if unread else _describe_shift(stated))
    if (state := row.get(_ISOLATION_FIELD)) in _ISOLATED_STATES:
        calls = not stated or (text is not None and f"call {_ISOLATION_MAP_NAME}" in text.text)
        effect = _UNREAD if unread else _describe_isolation(str(localhost.get("type") or ""), calls)
        _remark_state(config, _ISOLATION_FIELD, str(state), "unisolated", effect)
    if row.get(_WEIGHTS_FIELD) == "true" and stated and not {*stated} & {*_WEIGHTED_POLICY_NAMES} and not unread:
        _remark_unused_weights(config)


def _fields_of_release(config: DeviceTables) -> RowFields:
    """Return the fields of the row that the release of the switch reads; other rules report those that it does not."""
    row = config.rows(_TABLE).get(_ROW, {})
    if not row:
        return {}
    version = value_at(config.data, "VERSIONS", "DATABASE", "VERSION")
    table = schema_of_release(release_of_database_version(version)).table(_TABLE)
    known = table.row_schema_of_key(_ROW) if table is not None else None
    return {field: value for field, value in row.items() if known is not None and field in known.fields}


def _describe_isolation(kind: str, calls: bool) -> str:
    """Return what isolation from downstream does to a switch of a kind that calls the route map for it, or does not."""
    if kind and _SPINE_TYPE_PART not in kind:
        return f"which changes nothing, because the type of the switch is {kind}"
    return _SHIFTED if calls else f"which changes nothing, because no route map calls {_ISOLATION_MAP_NAME}"


def _describe_shift(policies: Sequence[str | None]) -> str:
    """Return what the traffic shift does to sessions with these export policies; without any, they are not known."""
    kept = [policy for policy in policies if not is_shifted_policy(policy)]
    if kept and len(kept) == len(policies):
        return "which changes nothing, because no export policy has V4 or V6 in its name"
    names = sorted({policy for policy in kept if policy is not None})
    parts = [
        *([f"with {', '.join(names)} (no V4 or V6 in the name)"] if names else []),
        *(["without an export policy"] if None in kept else []),
    ]
    return f"{_SHIFTED}, but sessions {' and '.join(parts)} stay as they are" if parts else _SHIFTED


def _remark_state(config: DeviceTables, field: str, value: str, usual: str, effect: str) -> None:
    keys = (_TABLE, _ROW, field)
    facts = {"device": config.device, "setting": f"{field} {value}", "effect": effect}
    remedy = Remedy(corrections=(FileCorrection((FILE_SETTING_AREA, *keys), value, usual),))
    config.remark("traffic-shifted-away", (), keys, remedy, **facts)


def _remark_unused_weights(config: DeviceTables) -> None:
    keys = (_TABLE, _ROW, _WEIGHTS_FIELD)
    lines = (f'sudo sonic-db-cli CONFIG_DB HSET "{_TABLE}|{_ROW}" {_WEIGHTS_FIELD} false',)
    choice = CommandsForCase(condition="if paths are not to be weighed", language="sonic", lines=lines)
    facts = {"policies": " or ".join(_WEIGHTED_POLICY_NAMES)}
    config.remark("weights-without-policy", (), keys, Remedy(choices=(choice,)), **facts)
