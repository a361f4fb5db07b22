"""A plan between a fabric and the same with other names: nobody is told to take cables away."""

import nodrop
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.plan.model import RolloutStage
from support.designs import build, shipped


def read(fabric: Fabric) -> Reading:
    return nodrop.read_back(list(nodrop.write(fabric)), fabric)


def order(changes: dict[str, object]) -> tuple[RolloutStage, ...]:
    old, new = build(shipped("two-by-two")), build(shipped("two-by-two", changes))
    return nodrop.plan(read(old), read(new)).order


def test_a_renamed_switch_changes_its_name_first_and_keeps_its_cables() -> None:
    first, *others = order({"names.devices.leaf1": "r12-tor1"})
    assert (first.devices, first.why) == (
        ("leaf1", "r12-tor1"), "renamed, by their management addresses: leaf1 -> r12-tor1; keep all cables",
    )  # fmt: skip
    assert [stage.devices for stage in others] == [("spine1",), ("spine2",)]


def test_another_model_or_address_is_no_rename() -> None:
    stages = order({"names.devices.leaf1": "r12-tor1", "addressing.oob": "192.168.200.0/24"})
    assert not any("renamed" in stage.why for stage in stages)
