"""Fabrics whose parts no switch joins: what is stated of them, what hosts get, what is reported, what `show` says."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

import nodrop
from nodrop.engine.finding import Finding
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN
from support.command import nodrop as run
from support.designs import Data, build, changed, shipped

SWITCH = {"model": "SN4700", "platform": "sonic", "version": "202505"}
HOSTS = {"nic": "ConnectX-7", "speed": "400G", "media": "DR4", "length": "5m"}


def planes(*, spread: str = "leaves", own_hosts: bool = False, **policy: str) -> Data:
    """Return two planes of a leaf and a spine: each host has a port in both, or each plane has hosts of its own."""
    groups = {
        "tor": {"tier": "1", "ids": "1-2", **SWITCH, "ports": {"endpoints": "1-4"}},
        "agg": {"tier": "2", "ids": "1-2", **SWITCH},
    }
    cables = "".join(f"tor{n},{31 + k},agg{n},{k + 1}\n" for n in (1, 2) for k in (0, 1))
    topology = {
        "kind": "cabling", "groups": groups, "speed": "400G", "media": "DR4", "length": "20m",
        "max_oversubscription": "2", "cables": f"device,port,device,port\n{cables}",
    }  # fmt: skip
    shared = {"ids": "1-4", "gpus": "8", "ports": "2", "spread": spread, "leaf_group": "4", **HOSTS}
    alone = {"ids": "1-4", "gpus": "8", "spread": "one-leaf", "leaf_group": "2", **HOSTS}
    changes = {
        "topology": topology,
        "endpoints": {"gpu": alone if own_hosts else shared},
        "routing": {"asn": {"tor": "4200100000+", "agg": "4200000000"}},
    }
    return changed(shipped("two-by-two"), changes | ({"policy": policy} if policy else {}))


def findings_of(fabric: Fabric) -> list[Finding]:
    names = ("rails-not-joined", "hosts-not-joined")
    return [finding for finding in nodrop.lint(Reading(fabric=fabric)).findings if finding.rule in names]


def host_environment(fabric: Fabric) -> str:
    (text,) = [one.text for one in nodrop.host_files(fabric) if one.path.endswith("nccl.env")]
    return text


@pytest.mark.parametrize("spread", ["leaves", "rails"])
def test_ports_in_two_planes_are_reported_unless_stated(spread: str) -> None:
    fabric = build(planes(spread=spread))
    assert {(one.rule, one.severity) for one in findings_of(fabric)} == {("rails-not-joined", "warning")}
    assert fabric.policy.rails == "joined"
    isolated = build(planes(spread=spread, rails="isolated"))
    assert {one.severity for one in findings_of(isolated)} == {"note"}
    for each in (fabric, isolated):
        assert "NCCL_CROSS_NIC=0\n" in host_environment(each)


def test_joined_leaves_need_no_statement() -> None:
    fabric = build(shipped("two-by-two"))
    assert (fabric.policy.rails, fabric.policy.parts) == (UNKNOWN, UNKNOWN)
    assert "CROSS_NIC" not in host_environment(fabric)
    assert findings_of(fabric) == []


def test_hosts_of_separate_planes_are_reported_unless_stated() -> None:
    fabric = build(planes(own_hosts=True))
    assert [(one.rule, one.subject[-1]) for one in findings_of(fabric)] == [("hosts-not-joined", "gpu3")]
    assert "CROSS_NIC" not in host_environment(fabric)
    assert findings_of(build(planes(own_hosts=True, parts="separate"))) == []


def test_a_build_with_the_statement_has_no_findings_and_comes_back(tmp_path: Path) -> None:
    intent, out = tmp_path / "planes.yaml", tmp_path / "out"
    for policy, code in (({}, 1), ({"rails": "isolated"}, 0)):
        with intent.open("w") as file:
            YAML().dump(planes(**policy), file)
        done = run("build", intent, "-o", out)
        assert (done.code, "rails-not-joined" in done.out) == (code, bool(code)), done.err
    assert run("lint", out).code == 0
    imported = tmp_path / "back.yaml"
    assert run("import", out, "-o", imported).code == 0
    assert "policy: {rails: isolated}" in imported.read_text()


def test_show_says_that_the_bisection_is_a_sum(tmp_path: Path) -> None:
    intent = tmp_path / "planes.yaml"
    for own_hosts, words in (
        (False, "one way, the sum over 2 parts that no cable joins\n"),
        (True, "the sum over 2 parts that no cable joins; hosts of different parts cannot reach each other\n"),
    ):
        with intent.open("w") as file:
            YAML().dump(planes(own_hosts=own_hosts), file)
        assert words in run("show", intent).out


def test_facts_of_the_configuration_are_not_used_for_an_intent(tmp_path: Path) -> None:
    intent = tmp_path / "planes.yaml"
    with intent.open("w") as file:
        YAML().dump(planes(), file)
    (tmp_path / "nodrop.yaml").write_text("fabric: {policy: {rails: isolated}}\n")
    for command in (("lint", intent), ("build", intent, "-o", tmp_path / "out")):
        done = run(*command)
        assert done.code == 1
        assert "is not used for an intent" in done.out + done.err
