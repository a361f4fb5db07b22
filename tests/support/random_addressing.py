"""Random pools of addresses, and how sessions go: numbered or over interfaces, of IPv4, IPv6 or both."""

from typing import Any

from hypothesis import strategies as st

_POOLS = {
    "loopbacks": ("10.0.0.0/16", "fd00::/48"),
    "links": ("10.1.0.0/16", "fd00:1::/48"),
    "endpoints": ("10.2.0.0/16", "fd00:2::/48"),
}
FAMILIES = st.sampled_from([(0,), (0,), (1,), (0, 1), (1, 0)])
"""IPv4 and IPv6 by number, in the order in which a person may write them."""


@st.composite
def addressing(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `routing` says of sessions, and the pools: those of links have the families of the others, or none."""
    sessions = draw(st.sampled_from(["numbered", "numbered", "unnumbered"]))
    loopbacks, endpoints = draw(FAMILIES), draw(FAMILIES)
    chosen = {"loopbacks": loopbacks, "endpoints": endpoints}
    if sessions == "numbered":
        chosen["links"] = tuple(sorted({*loopbacks, *endpoints}))
    pools = {key: [_POOLS[key][family] for family in families] for key, families in chosen.items()}
    return {"sessions": sessions}, pools
