"""Access lists at both ends of a session, in real FRR: the computed states are those of the daemons."""

import pytest

from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.values import replace_fields
from nodrop.validating import compute_observation
from nodrop.validating.twin import TwinOptions, observe_in_twin
from support.filtered_sessions import ALL, FROM_BGP, REST6, SIX, TCP6, TO_BGP, site, wired
from support.twin_runs import needed
from support.wired_routers import to

pytestmark = pytest.mark.nightly
OVER = {"one": to("e0", ipv6=SIX), "other": to("e0", ipv6=SIX), "ports": ()}


@pytest.mark.parametrize(
    ("made", "state"),
    [
        pytest.param(wired(site(TO_BGP, FROM_BGP)), "down", id="to and from port 179"),
        pytest.param(wired(site(TO_BGP)), "up", id="to port 179: this end opens the session"),
        pytest.param(wired(site(TO_BGP), there=(site(TO_BGP),)), "down", id="to port 179 at both ends"),
        pytest.param(wired(site(ALL, stage="control-plane-out")), "down", id="what the switch itself sends"),
        pytest.param(wired(site(ALL, stage="transit")), "up", id="what is forwarded"),
        pytest.param(wired(site(ALL, stage="egress", own_packets=False)), "up", id="egress, not its own packets"),
        pytest.param(wired(site(TCP6, REST6), **OVER), "down", id="no neighbor discovery"),  # type: ignore[arg-type]
        pytest.param(
            wired(site(TCP6, replace_fields(TCP6, protocol=58), REST6), **OVER),  # type: ignore[arg-type]
            "up",
            id="neighbor discovery and BGP alone",
        ),
    ],
)
def test_sessions_are_those_of_frr(made: Fabric, state: str) -> None:
    needed()
    index = Index(made)
    own = compute_observation(index).seen["sessions"]
    seen = observe_in_twin(
        Reading(fabric=made), index, options=TwinOptions(patience_s=30.0, checks=frozenset({"sessions"}))
    )
    assert dict(seen.seen["sessions"]) == dict(own)
    assert set(own.values()) == {state}
