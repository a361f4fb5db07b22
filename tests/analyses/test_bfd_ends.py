"""Which end of a session does not watch it by BFD, however the session names the other end."""

from functools import cache

from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.subject import parse_subject
from support.analysis_results import say
from support.designs import build, shipped


@cache
def _unnumbered() -> Fabric:
    return build(
        shipped("two-by-two", {"routing.bfd": True, "routing.sessions": "unnumbered", "addressing.links": None})
    )


def test_a_session_over_an_interface_is_found_at_the_other_end_of_the_cable() -> None:
    assert say("bfd_ends", _unnumbered()) == {}
    changed = set_value(_unnumbered(), parse_subject("spine1/@neighbors/Ethernet0/bfd"), False)
    assert say("bfd_ends", changed) == {
        "spine1/@neighbors/Ethernet0": {"device": "spine1", "session": "Ethernet0", "far": "leaf1"}
    }
