"""Lines that decide whether a session opens: the computed states are those of real FRR, session by session."""

import pytest

import nodrop
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.values import replace_fields
from nodrop.routing.observation import ObservationCheck
from nodrop.validating import compute_observation
from nodrop.validating.twin import TwinOptions, observe_in_twin
from support.designs import build, shipped
from support.twin_runs import needed

ONLY: frozenset[ObservationCheck] = frozenset({"sessions"})
Lines = dict[str, dict[str, tuple[str, ...]]]
"""By switch and neighbor, what is stated of the neighbor besides."""


def with_lines(fabric: Fabric, lines: Lines, families: dict[str, tuple[str, ...]] | None = None) -> Reading:
    """Return a fabric as it is read back with lines added behind the sessions of its switches."""
    artifacts = []
    for artifact in nodrop.write(fabric):
        text = artifact.text
        if artifact.path == "frr.conf":
            own = [f" neighbor {key} {line}\n" for key, said in lines.get(artifact.device, {}).items() for line in said]
            own += [f" {line}\n" for line in (families or {}).get(artifact.device, ())]
            head, mark, tail = text.partition(" !\n address-family ipv4 unicast\n")
            assert mark
            text = head + "".join(own) + mark + tail
        artifacts.append(replace_fields(artifact, text=text))
    return nodrop.read_back(artifacts, fabric)


def states(reading: Reading) -> tuple[dict[str, object], dict[str, object]]:
    """Return the states of all sessions by subject: those computed, and those of FRR."""
    needed()
    index = Index(reading.fabric)
    own, twin = compute_observation(index), observe_in_twin(reading, index, options=TwinOptions(checks=ONLY))
    assert twin.refused == ()
    return tuple({"/".join(item): state for item, state in one.seen["sessions"].items()} for one in (own, twin))  # type: ignore[return-value]


def pairs(*rows: tuple[str, str, str, str, tuple[str, ...], tuple[str, ...]]) -> Lines:
    """Return lines for both ends of sessions: (switch, its neighbor, the other switch, its neighbor, lines, lines)."""
    found: Lines = {}
    for one, to, other, back, said, there in rows:
        found.setdefault(one, {})[to] = said
        found.setdefault(other, {})[back] = there
    return found


SPREAD = pairs(
    ("leaf1", "10.1.1.225", "spine1", "10.1.1.224", ("passive",), ("passive",)),
    ("leaf1", "10.1.1.233", "spine1", "10.1.1.232", ("passive",), ()),
    ("leaf1", "10.1.1.241", "spine2", "10.1.1.240", ("password example",), ()),
    ("leaf1", "10.1.1.249", "spine2", "10.1.1.248", ("password example",), ("password example",)),
    ("leaf2", "10.1.2.225", "spine1", "10.1.2.224", ("ttl-security hops 1",), ("ttl-security hops 2",)),
    ("leaf2", "10.1.2.233", "spine1", "10.1.2.232", ("ttl-security hops 1",), ("ebgp-multihop 255",)),
    ("leaf2", "10.1.2.241", "spine2", "10.1.2.240", ("password example",), ("password another",)),
    ("leaf2", "10.1.2.249", "spine2", "10.1.2.248", ("disable-connected-check",), ("shutdown message for work",)),
)
DOWN = {"10.1.1.224", "10.1.1.225", "10.1.1.240", "10.1.1.241", "10.1.2.240", "10.1.2.241", "10.1.2.248", "10.1.2.249"}


@pytest.mark.nightly
def test_what_each_line_does_to_its_session() -> None:
    own, twin = states(with_lines(build(shipped("two-by-two")), SPREAD))
    assert own == twin
    assert {item.rpartition("/")[2] for item, state in own.items() if state == "down"} == DOWN


HOPS = pairs(
    ("leaf1", "10.1.1.225", "spine1", "10.1.1.224", ("ttl-security hops 1",), ()),
    ("leaf1", "10.1.1.233", "spine1", "10.1.1.232", ("ttl-security hops 1",), ("ebgp-multihop 5",)),
    ("leaf1", "10.1.1.241", "spine2", "10.1.1.240", ("ttl-security hops 254",), ("ebgp-multihop 2",)),
)


@pytest.mark.nightly
def test_where_packets_with_too_few_hops_are_dropped() -> None:
    own, twin = states(with_lines(build(shipped("two-by-two")), HOPS))
    assert own == twin
    assert {item.rpartition("/")[2] for item, state in own.items() if state == "down"} == {
        *("10.1.1.224", "10.1.1.225", "10.1.1.232", "10.1.1.233"),
    }


def overlay(hops: int, source: bool) -> tuple[Lines, dict[str, tuple[str, ...]]]:
    """Return the lines of a session of EVPN between the loopbacks of the leaves."""
    lines: Lines = {}
    blocks = {}
    for one, other in (("leaf1", "10.0.0.2"), ("leaf2", "10.0.0.1")):
        own = "10.0.0.1" if one == "leaf1" else "10.0.0.2"
        said = (f"ebgp-multihop {hops}", *((f"update-source {own}",) if source else ()))
        lines[one] = {other: ("remote-as external", *said)}
        blocks[one] = ("address-family l2vpn evpn", f"neighbor {other} activate", "exit-address-family")
    return lines, blocks


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("hops", "source", "state"), [(2, True, "up"), (255, True, "up"), (2, False, "down"), (1, True, "down")]
)
def test_an_overlay_between_loopbacks(hops: int, source: bool, state: str) -> None:
    own, twin = states(with_lines(build(shipped("two-by-two")), *overlay(hops, source)))
    assert own == twin
    assert own["leaf1/@neighbors/10.0.0.2"] == state


@pytest.mark.nightly
def test_a_member_does_not_take_back_a_flag_of_its_group() -> None:
    lines: Lines = {
        "leaf1": {"SPINES": ("shutdown",), "10.1.1.225": ()},
        "leaf2": {"SPINES": ("passive",), "10.1.2.225": ()},
    }
    lines["leaf1"]["10.1.1.225"] = ("shutdown",)
    reading = with_lines(build(shipped("two-by-two")), lines, {"leaf1": ("no neighbor 10.1.1.225 shutdown",)})
    own, twin = states(reading)
    assert own == twin
    assert {state for item, state in own.items() if item.startswith("leaf1/")} == {"down"}
    assert {state for item, state in own.items() if item.startswith("leaf2/")} == {"up"}
