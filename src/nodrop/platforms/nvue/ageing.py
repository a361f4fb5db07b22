"""How long the switch keeps MAC addresses: a setting of its bridge.

Source: Cumulus Linux 5.14, Ethernet Bridging (MAC address ageing: 0 to 65535 s, 1800 s unless set).
"""

from collections.abc import Iterator

from nodrop.model.states import UNKNOWN, Unknown
from nodrop.platforms.nvue.bridging import DEFAULT_BRIDGE_DOMAIN
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path

MAC_AGEING_RANGE_S = (0, 65_535)
USUAL_MAC_AGEING_S, USUAL_REACHABLE_S = 1800, 1080

_AGEING_KEY = "ageing"


def read_mac_ageing_s(root_view: ConfigNodeView) -> int | None | Unknown:
    """Return the time in seconds, None where it is left to the switch; several bridges state no one time."""
    domains = [view for _, view in root_view.below("bridge", "domain").items()]
    if len(domains) > 1:
        return UNKNOWN
    return domains[0].integer(_AGEING_KEY, *MAC_AGEING_RANGE_S, "s") if domains else None


def mac_ageing_paths(root_view: ConfigNodeView) -> Iterator[Path]:
    """Yield where the time is stated, or could be."""
    for domain in (*(name for name, _ in root_view.below("bridge", "domain").items()), DEFAULT_BRIDGE_DOMAIN):
        yield ("bridge", "domain", domain, _AGEING_KEY)
