"""Which hosts are reported whose rails no switch joins, and what their own files say about it."""

from typing import Any

import pytest

from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.fabric import End, Fabric, Link
from nodrop.model.nics import Nic
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import say, with_changes

UPLINKS = [f"leaf1/Ethernet{lane}" for lane in (224, 232, 240, 248)]
SHUT = {f"{port}/enabled": False for port in UPLINKS}
RAILS = {f"@fabric/hosts/gpu{number}/spread": "rails" for number in (1, 2)}
APART = {
    "kind": "rail", "number": 1, "leaf": "leaf1", "other_number": 2, "other_leaf": "leaf2", "forwarding": "not stated",
}  # fmt: skip
BOTH = {"@fabric/hosts/gpu1": APART, "@fabric/hosts/gpu2": APART}


def parted(**fields: Any) -> Fabric:
    """Return two-by-two in rails without uplinks of leaf1; with a file of gpu1 that has these fields, if any."""
    nics = (Nic(host="gpu1", file="job.env", **fields),) if fields else ()
    return replace_fields(with_changes(RAILS | SHUT), nics=nics)


def test_hosts_in_rails_are_reported_where_no_cable_in_service_joins_the_leaves() -> None:
    assert say("joined_rails", with_changes(RAILS)) == {}
    assert say("joined_rails", parted()) == BOTH
    assert say("joined_rails", with_changes(RAILS | dict(list(SHUT.items())[1:]))) == {}


def test_ports_on_several_leaves_are_reported_as_ports() -> None:
    """Hosts of storage have one port; those of gpu are spread over leaves."""
    port = APART | {"kind": "port"}
    assert say("joined_rails", with_changes(SHUT)) == dict.fromkeys(BOTH, port)


def test_a_file_about_rails_is_no_answer_where_the_owner_expects_them_joined() -> None:
    fabric = parted(cross_nic=False)
    fabric = replace_fields(fabric, policy=replace_fields(fabric.policy, rails="joined"))
    only_way = APART | {"forwarding": "the only way (NCCL_CROSS_NIC=0)"}
    assert say("joined_rails", fabric) == BOTH | {"@fabric/hosts/gpu1": only_way}


def test_a_host_whose_spread_is_not_known_is_in_no_rails() -> None:
    hosts = tuple(replace_fields(host, spread=UNKNOWN) for host in parted().hosts)
    assert say("joined_rails", replace_fields(parted(), hosts=hosts)) == {}


@pytest.mark.parametrize(
    ("fields", "forwarding"),
    [
        ({"cross_nic": False}, None),
        ({"cross_nic": False, "pxn": True}, None),
        ({"cross_nic": False, "pxn": False}, "off"),
        ({"cross_nic": True}, "not stated"),
        ({"pxn": True}, "not stated"),
        ({"pxn": False}, "off"),
    ],
)
def test_files_of_a_host_state_whether_its_gpus_forward(fields: dict[str, bool], forwarding: str | None) -> None:
    found = say("joined_rails", parted(**fields))
    assert found.pop("@fabric/hosts/gpu2") == APART
    assert found == ({} if forwarding is None else {"@fabric/hosts/gpu1": APART | {"forwarding": forwarding}})


def test_a_leaf_with_a_cable_that_is_not_known_may_be_joined() -> None:
    fabric = parted()
    port = {"leaf1/Ethernet216/enabled": True, "leaf1/Ethernet216/side": UNKNOWN}
    assert say("joined_rails", replace_fields(with_changes(RAILS | SHUT | port), nics=fabric.nics)) == {
        "leaf1": "interface.side"
    }


def test_a_switch_that_was_not_read_joins_what_is_cabled_to_it_and_may_join_more() -> None:
    ports = {f"leaf{number}/Ethernet216/enabled": True for number in (1, 2)}
    fabric = with_changes(RAILS | SHUT | ports)
    cables = tuple(Link(a=End(f"leaf{at}", "Ethernet216"), b=End("unread", f"port{at}")) for at in (1, 2))
    assert say("joined_rails", replace_fields(fabric, links=(*fabric.links, *cables))) == {}
    one_cable = replace_fields(fabric, links=(*fabric.links, *cables[:1]))
    assert say("joined_rails", one_cable) == {"leaf1": "the other end of a link"}


@pytest.mark.parametrize(("policy", "severity"), [("isolated", "note"), (UNKNOWN, "warning")])
def test_rails_that_the_owner_calls_isolated_are_a_note(policy: Any, severity: str) -> None:
    fabric = parted(pxn=False)
    reading = Reading(fabric=replace_fields(fabric, policy=replace_fields(fabric.policy, rails=policy)))
    verdict = judge(reading, [rule for rule in shipped_rules() if rule.name == "rails-not-joined"])
    assert {(finding.subject[-1], finding.severity) for finding in verdict.findings} == {
        ("gpu1", severity),
        ("gpu2", severity),
    }
