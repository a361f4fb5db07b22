"""Faults of how a SONiC switch routes that a reader sees: BFD without its daemon, lists and maps that are not there."""

from nodrop.fabric.reading import Remark
from nodrop.fabric.states import Unknown
from nodrop.platforms import frr
from nodrop.platforms.sonic.config import Config, Row
from nodrop.platforms.sonic.frr_text import FrrText


def check_routing(config: Config, localhost: Row, text: FrrText | None, routing: frr.Routing | None) -> None:
    """Remark sessions with BFD where the container does not start its daemon, and references to nothing."""
    if routing is None:
        return
    bgp = routing.bgp
    if bgp is not None and not isinstance(bgp.neighbors, Unknown) and config.whole:
        watched = [neighbor.key for neighbor in bgp.neighbors if neighbor.bfd]
        if watched and localhost.get("frr_mgmt_framework_config") != "true":
            keys = ("DEVICE_METADATA", "localhost")
            config.remark("bfd-without-daemon", ("@bgp",), keys, neighbors=", ".join(watched))
    for statement, kind, name in routing.undefined:
        place = text.place(statement.span) if text else None
        facts = {"kind": kind, "name": name, "field": statement.text}
        config.remarks.append(
            Remark(kind="dangling-reference", subject=(config.device, "@bgp"), place=place, facts=facts)
        )
