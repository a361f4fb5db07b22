"""Reports of bgpd about its sessions: which are up at both ends of their connection."""

import pytest

from nodrop.validating.twin.looking import ObservedSession, TcpConnection, sessions_up_at_one_end

LEAF, SPINE = ("leaf1", "@neighbors", "10.1.1.233"), ("spine1", "@neighbors", "10.1.1.232")
OWN = TcpConnection("10.1.1.232", 40001, "10.1.1.233", 179)
AGAIN = OWN._replace(own_port=40002)


@pytest.mark.parametrize(
    ("leaf", "spine", "expected"),
    [
        pytest.param(("Established", OWN), ("Established", OWN.seen_from_far_end), set(), id="both ends"),
        pytest.param(("OpenConfirm", OWN), ("Established", OWN.seen_from_far_end), {SPINE}, id="one waits"),
        pytest.param(("Active", None), ("Established", OWN.seen_from_far_end), {SPINE}, id="one without a connection"),
        pytest.param(
            ("Established", AGAIN), ("Established", OWN.seen_from_far_end), {LEAF, SPINE}, id="two connections"
        ),
        pytest.param(("Active", None), ("Connect", None), set(), id="none"),
    ],
)
def test_sessions_that_only_one_end_has_up(
    leaf: tuple[str, TcpConnection | None], spine: tuple[str, TcpConnection | None], expected: set[object]
) -> None:
    sessions = {item: ObservedSession(state, "", at) for item, (state, at) in ((LEAF, leaf), (SPINE, spine))}
    assert sessions_up_at_one_end(sessions) == expected
