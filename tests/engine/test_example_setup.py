"""What is kept of a former example fabric: only what would be written the same again."""

from collections.abc import Callable

import pytest

import nodrop
from nodrop.engine.example_setup import merge_overlay, write_fabric_with_cache
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.subject import parse_subject
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.examples import TIER_CHANGES_BY_PLATFORM
from support.designs import build, shipped


def setting(subject: str, value: object) -> Callable[[Fabric], Fabric]:
    return lambda fabric: set_value(fabric, parse_subject(subject), value)


def promoted(fabric: Fabric) -> Fabric:
    """With spine1 a superspine, which SONiC gives a hash of its own."""
    return setting("spine1/@hash_seed", 25)(setting("spine1/@role", "superspine")(fabric))


def readdressed(fabric: Fabric) -> Fabric:
    """All ports of spine1 without addresses, so that sessions of the leaves have no group there."""
    spine = fabric.device("spine1")
    ports = tuple(replace_fields(port, addresses=()) for port in spine.interfaces)
    others = tuple(device for device in fabric.devices if device.name != "spine1")
    return replace_fields(fabric, devices=(*others, replace_fields(spine, interfaces=ports)))


CHANGES = {
    "a role at the far end": promoted,
    "addresses at the far end": readdressed,
    "a setting of a switch": setting("leaf1/@ntp_servers", ("10.9.9.9",)),
    "cables": lambda fabric: replace_fields(fabric, links=fabric.links[::2]),
    "hosts": lambda fabric: replace_fields(fabric, hosts=()),
    "the name": lambda fabric: replace_fields(fabric, name="other"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("platform", TIER_CHANGES_BY_PLATFORM)
def test_a_changed_fabric_is_written_as_if_nothing_were_kept(platform: str, change: Callable[[Fabric], Fabric]) -> None:
    fabric = build(merge_overlay(shipped("two-by-two"), {"topology": TIER_CHANGES_BY_PLATFORM[platform]}))
    former, changed = list(write_fabric_with_cache(fabric)), change(fabric)
    assert former == list(nodrop.write(fabric))
    assert list(write_fabric_with_cache(changed)) == list(nodrop.write(changed)) != former


def test_a_switch_that_is_the_same_object_between_the_same_far_ends_is_written_once() -> None:
    fabric = build(shipped("two-by-two"))
    former = {file.path: file for file in write_fabric_with_cache(fabric) if file.device == "leaf2"}
    for file in write_fabric_with_cache(setting("leaf1/@ntp_servers", ("10.9.9.9",))(fabric)):
        assert file.device != "leaf2" or file is former[file.path]
