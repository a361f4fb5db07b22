"""Faults of how a SONiC switch routes that a reader sees: BFD without its daemon, lists and maps that are not there."""

from nodrop.fabric.reading import Remark
from nodrop.fabric.states import Unknown
from nodrop.platforms import frr
from nodrop.platforms.sonic.config import Config, Row
from nodrop.platforms.sonic.frr_text import FrrText
from nodrop.platforms.sonic.read_bgp import framework, own_files

_OF_FRRCFGD = (
    *("BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_NETWORK", "BGP_GLOBALS_AF_AGGREGATE_ADDR"),
    *("BGP_GLOBALS_LISTEN_PREFIX", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP", "BGP_PEER_GROUP_AF", "ROUTE_REDISTRIBUTE"),
)
"""Tables of BGP that frrcfgd alone reads (sonic-frr-mgmt-framework frrcfgd/frrcfgd.py, table_handler_list)."""


def check_routing(config: Config, localhost: Row, text: FrrText | None, routing: frr.Routing | None) -> None:
    """Remark tables that no daemon reads, sessions with BFD but without its daemon, and references to nothing."""
    unread = [table for table in _OF_FRRCFGD if config.rows(table)]
    is_own = own_files(localhost) and text is not None and text.says_bgp
    if unread and config.whole and not framework(localhost) and not is_own:
        config.remark("bgp-tables-unread", (), (unread[0],), tables=", ".join(unread))
    if routing is None:
        return
    bgp = routing.bgp
    if bgp is not None and not isinstance(bgp.neighbors, Unknown) and config.whole:
        watched = [neighbor.key for neighbor in bgp.neighbors if neighbor.bfd]
        if watched and not framework(localhost):
            keys = ("DEVICE_METADATA", "localhost")
            config.remark("bfd-without-daemon", ("@bgp",), keys, neighbors=", ".join(watched))
    for statement, kind, name in routing.undefined:
        place = text.place(statement.span) if text else None
        facts = {"kind": kind, "name": name, "field": statement.text}
        config.remarks.append(
            Remark(kind="dangling-reference", subject=(config.device, "@bgp"), place=place, facts=facts)
        )
