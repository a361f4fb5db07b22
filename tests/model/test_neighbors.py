"""Neighbor tables and descriptions of ports, held against the cables that are stated, or inferred from elsewhere."""

from collections.abc import Mapping

import pytest

from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Device, End, Host, HostPort, Interface, Link
from nodrop.model.reading import CableEvidence, DeviceReading
from nodrop.model.states import UNKNOWN, Unknown

HOST = Host(
    name="gpu1", group="gpu", gpus=8, nic="any", ports=(HostPort(name="nic1", speed_mbps=UNKNOWN, lanes=UNKNOWN),)
)


def reading(
    name: str, ports: Mapping[str, str | Unknown | None], table: Mapping[str, tuple[str, str]]
) -> DeviceReading:
    """A switch with ports and their descriptions, and a neighbor table."""
    return DeviceReading(
        device=Device(
            name=name,
            platform="any",
            interfaces=tuple(Interface(name=port, description=text) for port, text in ports.items()),
        ),
        cables=tuple(CableEvidence(local_port=port, remote=End(*far), evidence="LLDP") for port, far in table.items()),
    )


def told(
    stated: str, table: Mapping[str, tuple[str, str]] | None = None, description: str | Unknown | None = None
) -> list[tuple[str, str, str]]:
    """What is remarked of `a`, which is cabled as stated (`p1 b q1`, none: nothing is stated)."""
    port, *far = stated.split() or ["", "", ""]
    cable = Link(a=End("a", port), b=End(*far)) if port else None
    ends = [reading("a", {"p1": description, "p2": None}, table or {}), reading("b", {"q1": None, "q2": None}, {})]
    ends.append(reading("c", {"q1": None}, {}))
    found = assemble_fabric(ends, DeclaredFacts(cables=(cable,) if cable else None, hosts=(HOST,)))
    return [("/".join(remark.subject), remark.facts["named"], remark.facts["truth"]) for remark in found.remarks]


@pytest.mark.parametrize(
    ("stated", "table", "expected"),
    [
        ("p1 b q1", {"p1": ("b", "q1")}, []),
        ("p1 b q1", {"p1": ("c", "q1")}, [("a/p1/neighbor", "c:q1", "its cable leads to b:q1")]),
        ("p1 b q1", {"p1": ("b", "q2")}, [("a/p1/neighbor", "b:q2", "its cable leads to b:q1")]),
        ("p1 b q1", {"p1": ("b", "etp1")}, []),
        ("p1 b q1", {"p1": ("PEER001", "q1")}, []),
        ("p1 b q1", {"p1": ("gpu1", "")}, [("a/p1/neighbor", "gpu1", "its cable leads to b:q1")]),
        ("p1 gpu1 nic1", {"p1": ("gpu1", "eth0")}, []),
        ("p1 b q1", {"p2": ("b", "q1")}, [("a/p2/neighbor", "b:q1", "b:q1 is cabled to a:p1")]),
        ("p1 b q1", {"p2": ("b", "q2")}, []),
        ("p1 d r1", {"p1": ("b", "q1")}, [("a/p1/neighbor", "b:q1", "its cable leads to d:r1")]),
        ("p1 d r1", {"p2": ("d", "r1")}, [("a/p2/neighbor", "d:r1", "d:r1 is cabled to a:p1")]),
        ("", {"p1": ("b", "q1")}, []),
        ("", {"p1": ("b", "q1"), "p2": ("b", "q1")}, [("a/p2/neighbor", "b:q1", "b:q1 is cabled to a:p1")]),
    ],
)
def test_neighbor_tables(stated: str, table: dict[str, tuple[str, str]], expected: list[tuple[str, str, str]]) -> None:
    assert told(stated, table) == expected


@pytest.mark.parametrize(
    ("description", "named"),
    [
        ("b:q1", None),
        ("c:q1", "c:q1"),
        ("to c q1 (400G)", "c:q1"),
        ("c et7", "c:et7"),
        ("c", "c"),
        ("gpu1:nic1", "gpu1:nic1"),
        ("b:q2", "b:q2"),
        ("b:et7", None),
        ("c is next", None),
        ("b q1, was c q1", None),
        ("d:q1", None),
        ("a:p2", None),
        ("hall 2", None),
        ("", None),
        (UNKNOWN, None),
    ],
)
def test_descriptions(description: str | Unknown, named: str | None) -> None:
    expected = [("a/p1/description", named, "its cable leads to b:q1")] if named else []
    assert told("p1 b q1", description=description) == expected


def test_a_port_that_is_told_by_its_table_is_not_told_by_its_description_too() -> None:
    found = told("p1 b q1", {"p1": ("c", "q1")}, "c:q1")
    assert [subject for subject, _, _ in found] == ["a/p1/neighbor"]
