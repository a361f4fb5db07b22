"""How long the switch keeps MAC addresses and the neighbors that it resolved: settings of the bridge and of the system.

Sources: Cumulus Linux 5.14, Ethernet Bridging (MAC address ageing: 0 to 65535 s, 1800 s unless set) and Address
Resolution Protocol (base reachable time: 30 to 2147483 s; `auto` is the 1080 s of /etc/sysctl.d/neigh.conf).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.states import UNKNOWN
from nodrop.platforms.nvue.bridging import DOMAIN
from nodrop.platforms.nvue.read_values import View
from nodrop.platforms.nvue.tree import Path

MAC_AGEING_S = (0, 65_535)
REACHABLE_S = (30, 2_147_483)
USUAL_MAC_AGEING_S, USUAL_REACHABLE_S = 1800, 1080

_AUTO = "auto"
_AGEING = "ageing"
_REACHABLE = "base-reachable-time"
_GLOBAL: Mapping[str, str] = {"arp_reachable_s": "arp", "nd_reachable_s": "nd"}
FIELDS = ("mac_ageing_s", *_GLOBAL)
"""The fields of a device that say it."""


def ageing(top: View) -> dict[str, Any]:
    """Return the fields of a device, None where a time is left to the switch; several bridges tell no one time."""
    domains = [view for _, view in top.below("bridge", "domain").items()]
    found: dict[str, Any] = {"mac_ageing_s": UNKNOWN if len(domains) > 1 else None}
    if len(domains) == 1:
        found["mac_ageing_s"] = domains[0].integer(_AGEING, *MAC_AGEING_S, "s")
    for field, word in _GLOBAL.items():
        view = top.below("system", "global", word)
        stated = view.has(_REACHABLE) and view.text(_REACHABLE) != _AUTO
        found[field] = view.integer(_REACHABLE, *REACHABLE_S, "s") if stated else None
    return found


def paths(top: View, field: str) -> Iterator[Path]:
    """Yield where a field stands, those that are not there too."""
    if field in _GLOBAL:
        yield ("system", "global", _GLOBAL[field], _REACHABLE)
        return
    for domain in (*(name for name, _ in top.below("bridge", "domain").items()), DOMAIN):
        yield ("bridge", "domain", domain, _AGEING)
