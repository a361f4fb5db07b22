"""Names of parts: what was put together comes apart again."""

import pytest

from nodrop.fabric.fabric import End
from nodrop.fabric.subject import cable_ends, link


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (End("leaf1", "Ethernet0"), End("spine1", "Ethernet8")),
        (End("leaf--1", "Ethernet0"), End("spine--1", "Ethernet8")),
        (End("leaf1", "swp1s0"), End("leaf1--", "swp1")),
    ],
)
def test_the_ends_of_a_cable(a: End, b: End) -> None:
    assert cable_ends(link(a, b)[-1]) == tuple(sorted((a, b)))


@pytest.mark.parametrize("name", ["leaf1", "leaf--1", "", "*", "leaf1:Ethernet0"])
def test_what_is_no_cable_has_no_ends(name: str) -> None:
    assert cable_ends(name) == ()
