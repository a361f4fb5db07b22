"""What an import cannot say, guesses or lacks is told, each once and in the files' names."""

from dataclasses import fields, replace
from typing import Any

import pytest

import nodrop
from nodrop.design.decisions import FabricPart, format_deciding_keys
from nodrop.importing import derive_intent
from nodrop.importing.grouping import build_tier_view
from nodrop.importing.losses import render_differences
from nodrop.importing.trial_build import DifferenceFromImportedFact, find_unlike_facts, render_value
from nodrop.intent.load import loads
from nodrop.model.compare import mask_unsupported_fields
from nodrop.model.fabric import Device, Interface
from nodrop.model.states import UNKNOWN
from nodrop.resources import resource_folder
from support.imported_fabrics import bare, filled, fragments, odd


def test_what_one_switch_has_otherwise_is_told_by_the_names_of_the_files() -> None:
    found = derive_intent(odd(), source="site")
    assert not found.rebuilds_same_fabric
    told = "\n".join(found.left)
    assert "  spine2: {asn: " in found.text or "  core-sp2: {asn: " in found.text
    assert "rack-b Ethernet8: qos/pfc_watchdog is none, this intent gives present" in told
    assert "core-sp2: ntp_servers is 192.0.2.1, this intent gives none (services.ntp decides it)" in told


def test_without_stated_context_a_build_comes_back_with_guesses() -> None:
    found = derive_intent(bare("two-by-two"), source="build")
    assert found.rebuilds_same_fabric
    assert "endpoints: hosts were taken from descriptions and neighbor tables" in found.guessed
    assert "classes: no file says what traffic is for: names and purposes follow conventions" in found.guessed


def test_what_no_file_says_is_to_be_added() -> None:
    found = derive_intent(fragments(), source="site")
    assert not found.rebuilds_same_fabric
    assert found.intent is None
    assert {one.partition(":")[0] for one in found.lacking} >= {"classes", "routing.asn.leaves", "addressing.oob"}
    intent = loads(filled(found.text).encode(), "filled.yaml")
    assert (intent.topology.leaves.model, intent.topology.uplinks.per_spine) == ("SN4700", 2)
    assert {*intent.classes} == {"rdma", "cnp", "control", "default"}


@pytest.mark.parametrize("mode", ["lossless", "pfc-only", "lossy"])
def test_classes_to_be_added_are_those_of_the_mode(mode: Any) -> None:
    text = filled(derive_intent(replace(fragments(), mode=mode), source="site").text)
    rdma = loads(text.encode(), "filled.yaml").classes["rdma"]
    assert (rdma.lossless, rdma.ecn is not None) == (mode != "lossy", mode != "pfc-only")


FIELDS = sorted({field.name for field in fields(Device)} - {"name", "platform", "interfaces"})
PORT_FIELDS = sorted({field.name for field in fields(Interface)} - {"name"})


@pytest.mark.parametrize("name", [*FIELDS, *(f"interfaces/*/{one}" for one in PORT_FIELDS)])
def test_a_fact_that_no_file_says_is_no_difference(name: str) -> None:
    whole = bare("two-by-two")
    fabric = replace(whole, devices=tuple(mask_unsupported_fields(device, [name]) for device in whole.devices))
    found = derive_intent(fabric, source="site")
    assert name.rpartition("/")[2] not in {one.path for one in found.unlike}


def test_names_of_servers_are_left_and_told() -> None:
    whole = bare("two-by-two")
    fabric = replace(whole, devices=tuple(replace(one, ntp_servers=("pool.ntp.org",)) for one in whole.devices))
    found = derive_intent(fabric, source="site")
    assert "ntp_servers: pool.ntp.org; an intent has addresses" in found.left


def test_values_are_spelt_for_people() -> None:
    assert [render_value(one) for one in (None, True, (), (1, 2), UNKNOWN)] == ["none", "on", "none", "1, 2", "unknown"]


def test_keys_that_decide_are_told_without_what_stands_for_others() -> None:
    every = {format_deciding_keys(FabricPart(kind, ("addresses",))) for kind in ("port", "device")}
    assert not any("{" in one for one in every)
    assert "addressing.links or addressing.endpoints or external.*.links" in every


def test_ports_that_are_described_otherwise_are_one_line() -> None:
    whole = bare("two-by-two")
    ports = {one.name: tuple(replace(port, description=None) for port in one.interfaces) for one in whole.devices}
    fabric = replace(whole, devices=tuple(replace(one, interfaces=ports[one.name]) for one in whole.devices))
    found = derive_intent(fabric, source="site")
    (told,) = (one for one in found.left if ": description is " in one)
    assert told.partition(": description is ")[2].startswith("none, this intent gives the name of the other end (")


def test_facts_that_are_otherwise_in_many_ways_are_one_line() -> None:
    def moved(count: int) -> tuple[str, ...]:
        unlike = (
            DifferenceFromImportedFact(
                device="leaf1", part=f"Ethernet{8 * n}", path="addresses", has=f"10.9.0.{n}", built="none",
                key="addressing.links",
            )
            for n in range(count)
        )  # fmt: skip
        return render_differences(unlike, build_tier_view(bare("two-by-two")))

    assert len(moved(3)) == 3
    assert moved(4) == (
        "leaf1 Ethernet[0-24 by 8]: addresses is otherwise, such as 10.9.0.0, where this intent gives none "
        "(addressing.links decides it)",
    )


def test_a_cable_between_switches_is_compared_and_one_to_a_host_that_is_not_stated_is_not() -> None:
    whole = bare("two-by-two")
    built = nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml"))
    own = replace(whole, links=built.links, hosts=())

    def cut(*ends: str) -> list[str]:
        links = tuple(one for one in own.links if {one.a.node, one.b.node} != set(ends))
        assert len(links) < len(own.links)
        return [one.path for one in find_unlike_facts(build_tier_view(own), replace(own, links=links))]

    host = next(one.b.node for one in own.links if one.a.node == "leaf1" and not one.b.node.startswith("spine"))
    assert cut("leaf1", host) == []
    assert set(cut("leaf1", "spine1")) == {"links"}
