"""Faults of how a SONiC switch routes that a reader sees.

BFD without its daemon, lists and maps that are not there, files of FRR that contradict what runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from nodrop.errors import Problem
from nodrop.model.change import CommandsForCase
from nodrop.model.fabric import Device
from nodrop.model.reading import Remark, Remedy
from nodrop.model.states import Unknown
from nodrop.platforms import frr
from nodrop.platforms.frr.faults import find_interface_faults
from nodrop.platforms.frr.files import FRR_FILE
from nodrop.platforms.frr.policies import BFD_PROFILE
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.platforms.sonic.document import LOCALHOST_PATH
from nodrop.platforms.sonic.frr_text import FrrText
from nodrop.platforms.sonic.read_bgp import fpmsyncd_waits_for_hardware, read_routing, uses_foreign_frr_files
from nodrop.platforms.sonic.routing_tables import uses_frrcfgd

_FRRCFGD_TABLES = (
    *("BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_NETWORK", "BGP_GLOBALS_AF_AGGREGATE_ADDR"),
    *("BGP_GLOBALS_LISTEN_PREFIX", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP", "BGP_PEER_GROUP_AF", "ROUTE_REDISTRIBUTE"),
)
"""Tables of BGP that frrcfgd alone reads (sonic-frr-mgmt-framework frrcfgd/frrcfgd.py, table_handler_list)."""

_WAIT_IN_FRR = (
    "sudo vtysh -c 'configure terminal' -c 'router bgp' -c 'bgp suppress-fib-pending' -c end -c 'write memory'"
)


def remark_routing_faults(
    config: DeviceTables, localhost: RowFields, frr_text: FrrText | None, routing: frr.FrrRouting | None, device: Device
) -> None:
    """Remark tables that no daemon reads, sessions with BFD but without its daemon, and references to nothing.

    And what zebra shuts or does not forward.
    """
    unread = [table for table in _FRRCFGD_TABLES if config.rows(table)]
    is_own = uses_foreign_frr_files(localhost) and frr_text is not None and frr_text.would_hold_bgp
    if unread and config.whole and not uses_frrcfgd(localhost) and not is_own:
        config.remark("bgp-tables-unread", (), (unread[0],), tables=", ".join(unread))
    if routing is None:
        return
    if config.whole and is_own:
        _remark_if_only_one_daemon_awaits_hardware(config, localhost, routing)
    for fault in find_interface_faults(routing, device):
        where = frr_text.place(fault.statement.span) if frr_text else None
        config.remarks.append(Remark(kind=fault.kind, subject=fault.subject, place=where, facts=fault.facts))
    bgp = routing.bgp
    if bgp is not None and not isinstance(bgp.neighbors, Unknown) and config.whole:
        watched = [neighbor.key for neighbor in bgp.neighbors if neighbor.bfd]
        if watched and not uses_frrcfgd(localhost):
            keys = LOCALHOST_PATH
            config.remark("bfd-without-daemon", ("@bgp",), keys, neighbors=", ".join(watched))
    for undefined in routing.undefined:
        if undefined.kind == BFD_PROFILE and frr_text is not None and FRR_FILE not in frr_text.names:
            continue  # bfdd has a file of its own, which is not read
        place = frr_text.place(undefined.statement.span) if frr_text else None
        config.remarks.append(undefined.remark(config.device, place, undefined.statement.text))


def _remark_if_only_one_daemon_awaits_hardware(
    config: DeviceTables, localhost: RowFields, routing: frr.FrrRouting
) -> None:
    """Remark that only one of bgpd and fpmsyncd waits until routes are in the hardware."""
    running = [bgp for bgp in (routing.bgp, *routing.vrf_bgp) if bgp is not None]
    waiting = {
        "frr.conf": any(bgp.suppress_fib_pending for bgp in running),
        "DEVICE_METADATA": fpmsyncd_waits_for_hardware(localhost),
    }
    if running and len(set(waiting.values())) > 1:
        waits, other_file = sorted(waiting, key=lambda file: not waiting[file])
        lines = (_WAIT_IN_FRR if waiting["DEVICE_METADATA"] else _format_wait_for_hardware(localhost),)
        remedy = Remedy(choices=(CommandsForCase(condition="", language="sonic", lines=lines),))
        config.remark("hardware-wait-half-set", ("@bgp",), LOCALHOST_PATH, remedy, waits=waits, other=other_file)


def _format_wait_for_hardware(localhost: RowFields) -> str:
    """Return the command that makes fpmsyncd wait for the hardware, with the missing settings alone."""
    settings = []
    if localhost.get("suppress-fib-pending") != "enabled":
        settings.append("suppress-fib-pending enabled")
    if localhost.get("synchronous_mode") == "disable":
        settings.append("synchronous_mode enable")
    return f'sudo sonic-db-cli CONFIG_DB HSET "DEVICE_METADATA|localhost" {" ".join(settings)}'


def find_differences_from_frr_files(
    config: DeviceTables, localhost: RowFields, frr_text: FrrText | None, routes: Mapping[str, object]
) -> Iterator[Problem]:
    """Yield a problem where FRR's files differ from the running configuration, given among the tables as `routes`.

    A switch starts with the files and never with that field: sonic-cfggen leaves out fields that are not tables.
    """
    beside = frr_text.beside if frr_text is not None else None
    if beside is None:
        return
    stated, _ = read_routing(config, localhost, beside, frr.read_frr(beside.text))
    if _normalize_order(stated) == _normalize_order(routes):
        return
    running = next(document for document in config.documents if document.running_frr is not None)
    span = running.locator.key_span(running.frr_keys)
    yield Problem(
        path=running.display,
        line=span.line if span else None,
        column=span.column if span else None,
        found=f"{running.frr_keys[-1]}, what FRR runs, configures routing unlike {' and '.join(beside.names)}",
        expected="the same in both",
        hint="a switch starts with the files: make both say the same, or take out one",
    )


def _normalize_order(model_part: object) -> object:
    """Return facts of routing in a form that ignores the order of sessions, routes and lists."""
    if isinstance(model_part, tuple):
        return sorted(map(repr, model_part))
    if isinstance(model_part, Mapping):
        return {name: _normalize_order(inner) for name, inner in model_part.items()}
    if is_dataclass(model_part):
        return {field.name: _normalize_order(getattr(model_part, field.name)) for field in fields(model_part)}
    return model_part
