"""What a change reaches: the cabled ports that it is made on, and the links, hosts and GPUs at them."""

from dataclasses import replace

import pytest

from nodrop.checking.reach import compute_blast_radius_of_plan
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.model.subject import parse_subject
from nodrop.plan.planning import plan
from nodrop.report.check_document import format_reach
from nodrop.results.checked import ChangeReach
from support.single_faults import clean

FABRIC = clean("two-by-two", "sonic", "202505", "{}")


def reach_of(after: Fabric, before: Fabric = FABRIC) -> ChangeReach | None:
    """Return what the changes of two-by-two reach."""
    return compute_blast_radius_of_plan(plan(Reading(fabric=before), Reading(fabric=after)), (before, after))


@pytest.mark.parametrize(
    ("subject", "value", "expected"),
    [
        ("leaf1/Ethernet224/mtu_bytes", 1500, ChangeReach(ports=1, links=1, hosts=0, gpus=0)),
        ("leaf1/Ethernet0/mtu_bytes", 1500, ChangeReach(ports=1, links=0, hosts=1, gpus=8)),
        ("leaf1/Ethernet32/mtu_bytes", 1500, ChangeReach(ports=0, links=0, hosts=0, gpus=0)),
        ("leaf1/@bgp/asn", 65000, ChangeReach(ports=7, links=4, hosts=3, gpus=16)),
    ],
)
def test_a_change_reaches_what_is_cabled_to_its_ports(subject: str, value: object, expected: ChangeReach) -> None:
    assert reach_of(set_value(FABRIC, parse_subject(subject), value)) == expected


def test_a_switch_that_is_removed_reaches_all_of_its_ports() -> None:
    after = replace(FABRIC, devices=tuple(device for device in FABRIC.devices if device.name != "spine2"))
    assert reach_of(after) == ChangeReach(ports=4, links=4, hosts=0, gpus=0)


def test_nothing_is_said_without_cables() -> None:
    before = replace(FABRIC, links=())
    after = set_value(before, parse_subject("leaf1/Ethernet0/mtu_bytes"), 1500)
    assert reach_of(after, before) is None
    assert format_reach(None) == format_reach(ChangeReach(ports=0, links=0, hosts=0, gpus=0)) == ""


def test_a_reach_is_one_line() -> None:
    assert (
        format_reach(ChangeReach(ports=96, links=4, hosts=64, gpus=512))
        == "reach: 96 cabled ports: 64 hosts with 512 GPUs, 4 links between switches"
    )
