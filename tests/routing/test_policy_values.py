"""Every value of a route map is computed, or what hangs on it is unknown and the line is named: none is a crash."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, CommunityList, RouteMap, RouteMapRule
from nodrop.platforms import frr
from nodrop.routing import ControlPlane, compute_control_plane
from support.command import nodrop
from support.places import TESTS
from support.wired_routers import fabric, port, router, to

CASES: list[dict[str, str]] = YAML(typ="safe").load((TESTS / "routing" / "policy_values.yaml").read_text())
LISTS = """bgp as-path access-list P seq 5 permit ^[0-9]+$
bgp as-path access-list ODD seq 5 permit (1
bgp as-path access-list LONG seq 5 permit ((1{100}){100}){100}
bgp community-list standard C permit 65000:1
bgp community-list expanded ODD permit \\<65000
bgp large-community-list standard L permit 1:2:3
route-map OTHER permit 10
"""
PATHS = ("route_maps", "as_path_lists", "community_lists", "prefix_lists")
END = "router bgp 65001\n neighbor 10.1.0.1 remote-as 65002\n"


def read(line: str, lists: str = LISTS) -> tuple[frr.FrrRouting, int]:
    """Read a route map with this line in it, whose number is returned."""
    before = f"{lists}route-map IN permit 10\n"
    return frr.read_frr(f"{before} {line}\nexit\n{END}"), before.count("\n") + 1


def plane(said: frr.FrrRouting) -> ControlPlane:
    """What comes of two routers, of which one has these policies, and applies IN to what it hears."""
    assert said.bgp is not None
    policies = {name: getattr(said.bgp, name) for name in PATHS}
    here = [to("10.1.0.1", 65002, import_policy="IN")]
    one = router("r1", 65001, [port("e0", "10.1.0.0/31")], here, bgp=policies)
    other = router(
        "r2", 65002, [port("e0", "10.1.0.1/31")], [to("10.1.0.0", 65001)], bgp={"networks": ("10.1.0.0/31",)}
    )
    return compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0"])))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["line"][:50])
def test_a_line_of_a_route_map_is_computed_or_unknown(case: dict[str, str]) -> None:
    said, number = read(case["line"])
    refused = {statement.line for statement in said.not_understood}
    found = plane(said)
    gaps = {gap.subject for gap in found.gaps}
    assert found.ipv4 is not None
    assert (("r1", "@bgp", "route_maps", "IN", "10") in gaps) == (case["is"] != "computed")
    if case["is"] != "gap":
        assert (number in refused) == (case["is"] == "refused")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["line"][:50])
def test_a_value_that_another_reader_gives_is_no_crash_either(case: dict[str, str]) -> None:
    """NVUE and Onyx give any text as a value; `refused` of FRR's lines is then a gap."""
    said, _ = read("set metric 1")
    assert said.bgp is not None
    verb, rest = case["line"].split(" ", 1)
    kind = "as-path prepend" if rest.startswith("as-path prepend") else rest.split()[0]
    pairs = ((kind, rest.removeprefix(kind).strip()) if verb in ("set", "match") else (verb, rest),)
    entry = {"matches": pairs} if verb == "match" else {"sets": pairs}
    said.bgp = changed_bgp(said.bgp, RouteMapRule(sequence=10, action="permit", **entry))
    found = plane(said)
    assert found.ipv4 is not None
    assert bool(found.gaps) == (case["is"] != "computed")


def changed_bgp(bgp: Bgp, rule: RouteMapRule) -> Bgp:
    """Return a process with one route map of one rule."""
    return replace(bgp, route_maps=(RouteMap(name="IN", rules=(rule,)),))


def test_maps_that_call_each_other_are_unknown_and_those_below_are_not() -> None:
    said, _ = read(
        "call A", "route-map A permit 10\n call B\nroute-map B permit 10\n call A\nroute-map B permit 20\n call C\n"
    )
    assert said.bgp is not None
    assert {gap.subject[-2:] for gap in plane(said).gaps} == {("A", "10"), ("B", "10")}


@pytest.mark.parametrize("expression", ["(1", "((1{100}){100}){100}", "[", "1**", "1x", "a"])
@pytest.mark.parametrize("seq", ["", "seq 5 "])
def test_an_expression_that_is_not_compiled_is_named_at_its_line(expression: str, seq: str) -> None:
    said, _ = read("match as-path ZZ", f"bgp as-path access-list ZZ {seq}permit {expression}\n")
    assert 1 in {one.line for one in said.not_understood}
    assert [gap.what for gap in plane(said).gaps] == ["match as-path ZZ"]


@pytest.mark.parametrize("kind", ["large-community", "extcommunity", "community"])
def test_a_list_of_communities_that_is_not_read_is_unknown(kind: str) -> None:
    said, _ = read(f"match {kind} L", f"bgp {kind}-list expanded L permit \\w+\n")
    assert 1 in {one.line for one in said.not_understood}
    assert [gap.subject[-2:] for gap in plane(said).gaps] == [("IN", "10")]


@pytest.mark.parametrize("length", [10_000, 300])
def test_a_prepend_of_more_words_than_frr_takes_is_unknown(length: int) -> None:
    said, number = read("set as-path prepend " + "65001 " * length)
    assert number in {one.line for one in said.not_understood}
    assert plane(said).gaps


@pytest.mark.parametrize(
    "lines",
    [
        "ip prefix-list P seq 5 permit 10.0.0.0/8 le 99999999999999999999",
        "ip prefix-list P seq 5 permit 10.0.0.0/8 ge 200 le 4294967295",
        "ip prefix-list P seq 99999999999999 permit 10.0.0.0/8",
        "route-map IN permit 99999999999999999999999",
        "route-map IN permit -1",
        "route-map IN permit",
        "route-map IN permit 10\n match community\n match as-path\n set as-path prepend\n set metric\n call",
        "route-map A permit 10\n call B\nroute-map B permit 10\n call A",
        "route-map IN permit 10\n on-match goto 10\nroute-map IN permit 20\n on-match next\n continue 10",
        "bgp as-path access-list P seq 99999999999999999 permit 1",
        "bgp community-list expanded",
        "bgp community-list expanded E permit",
        "bgp community-list expanded E seq x permit 1",
    ],
)
def test_absurd_policies_end(lines: str) -> None:
    found = plane(frr.read_frr(f"{lines}\n{LISTS}{END}"))
    assert found.ipv4 is not None


def test_lists_of_communities_are_read_in_the_order_of_their_numbers() -> None:
    lists = """bgp community-list expanded E seq 20 permit ^65000:.* 1:1$
bgp community-list expanded E seq 10 deny _65000:9_
bgp community-list 101 permit 65000:.*
bgp community-list 99 seq 7 permit 1:1 2:2
bgp community-list 99 permit 3:3
bgp community-list standard E permit 1:1
"""
    said, _ = read("match community E", lists)
    assert [one.line for one in said.not_understood] == [6], "a list has one style"
    assert said.bgp is not None
    assert said.bgp.community_lists == (
        CommunityList(name="101", rules=(("permit", ("65000:.*",)),), expanded=True),
        CommunityList(name="99", rules=(("permit", ("1:1", "2:2")), ("permit", ("3:3",)))),
        CommunityList(name="E", rules=(("deny", ("_65000:9_",)), ("permit", ("^65000:.* 1:1$",))), expanded=True),
    )
    device = Device(name="a", platform="sonic", bgp=said.bgp)
    assert frr.read_frr(frr.render_frr_conf(device)).bgp == said.bgp


def test_lists_of_more_states_than_the_limit_are_unknown() -> None:
    lines = [f"bgp as-path access-list BIG seq {number} permit ^{number}(1{{100}}){{15}}$\n" for number in range(1, 15)]
    said, _ = read("match as-path BIG", "".join(lines))
    assert [gap.what for gap in plane(said).gaps] == ["match as-path BIG"]
    said, _ = read("match as-path BIG", "".join(lines[:-1]))
    assert plane(said).gaps == ()


@pytest.fixture
def lab(two_by_two: Path, tmp_path: Path) -> Path:
    """A build of which the frr.conf of one leaf is to be changed."""
    shutil.copytree(two_by_two, tmp_path / "lab")
    (tmp_path / "lab/.nodrop.json").unlink()
    return tmp_path / "lab"


def changed(lab: Path, lists: str, line: str) -> None:
    """Put a line into the route map through which leaf1 takes what its neighbors tell."""
    file = lab / "leaf1/frr.conf"
    file.write_text(lists + file.read_text().replace("FABRIC-IN permit 20\n", f"FABRIC-IN permit 20\n {line}\n"))


def test_validate_says_unknown_and_not_that_nothing_matches(lab: Path) -> None:
    changed(lab, "bgp as-path access-list ODD seq 5 permit (1\n", "match as-path ODD")
    found = json.loads(nodrop("validate", lab, "--format", "json").out)
    assert "not computed: match as-path ODD" in {one["missing"] for one in found["unknown"]}
    named = [one for one in found["notes"] if (one["file"] or "").endswith("leaf1/frr.conf") and one["line"] == 1]
    assert named


def test_the_expression_of_the_attack_ends(lab: Path) -> None:
    """An expression of this form held `validate` for more than 40 s; here it is one that FRR takes."""
    slow = "bgp as-path access-list SLOW seq 5 permit ^(([0-9]+)+[ ]?)+,$\n"
    changed(lab, slow, "match as-path SLOW\n set as-path prepend " + "4200000001 " * 20)
    done = nodrop("validate", lab)
    assert done.code == 1, done.err
