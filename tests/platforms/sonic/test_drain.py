"""How a SONiC switch is drained: by SONiC's traffic shift only where that changes the export policies of its sessions.

bgpcfgd's traffic shift passes over every route map whose name has neither V4 nor V6 (sonic-buildimage
src/sonic-bgpcfgd/bgpcfgd/managers_device_global.py): it drains nothing where all route maps have other names.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import cache

import pytest

import nodrop
from nodrop import platforms
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.resources import resource_folder


@cache
def leaf() -> Device:
    return nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml")).device("leaf1")


def drain_by(*policies: str | Unknown | None, files: Collection[str] = ()) -> str:
    """Return the word of the command that drains a switch whose sessions have these export policies."""
    sessions = tuple(
        BgpNeighbor(address=f"10.9.0.{number}", remote_asn=65002, export_policy=policy)  # type: ignore[arg-type]
        for number, policy in enumerate(policies)
    )
    device = replace(leaf(), bgp=Bgp(asn=65001, neighbors=sessions))
    start, end = platforms.drain_commands(device, "sonic", files)
    assert ("TSA" in start) == ("TSB" in end)
    return "shift" if "TSA" in start else "graceful-shutdown"


@pytest.mark.parametrize(
    ("policies", "how"),
    [
        (("TO_TIER2_V4", "TO_TIER0_V6"), "shift"),
        ((UNKNOWN, UNKNOWN), "shift"),  # bgpcfgd's templates name them
        (("FABRIC-OUT",), "graceful-shutdown"),
        ((None,), "graceful-shutdown"),
        (("TO_TIER2_V4", "FABRIC-OUT"), "graceful-shutdown"),
    ],
)
def test_the_shift_is_used_where_it_changes_every_session(policies: tuple[str | Unknown | None, ...], how: str) -> None:
    assert drain_by(*policies) == how


def test_a_router_of_which_only_frr_conf_is_there_is_drained_by_frr() -> None:
    assert drain_by("TO_TIER2_V4", files=["frr.conf"]) == "graceful-shutdown"
    assert drain_by("TO_TIER2_V4", files=["frr.conf", "config_db.json"]) == "shift"


def test_a_switch_with_the_built_policies_is_drained_by_frr() -> None:
    assert platforms.drain_commands(leaf(), "sonic") == (
        "sudo vtysh -c 'configure terminal' -c 'router bgp' -c 'bgp graceful-shutdown'",
        "sudo vtysh -c 'configure terminal' -c 'router bgp' -c 'no bgp graceful-shutdown' -c end -c 'write memory'",
    )
