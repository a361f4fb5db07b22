"""Access lists under `extra:` that drop what the fabric lives by: findings at the intent's line."""

import json

import pytest

from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.fabric_readings import build_and_read_back
from nodrop.intent.load import loads
from nodrop.locate import add_finding_places
from nodrop.platforms import make_place_finder
from support.extra_lists import OWNERS, PORTS, Entry, intent_with

DROPS: dict[str, tuple[Entry, str]] = {
    "access-list-drops-rdma": ((5, "udp", "4791"), "host"),
    "access-list-drops-cnp": ((5, "udp", "4791"), "host"),
    "access-list-drops-bgp": ((5, "tcp", "179"), "uplink"),
    "access-list-drops-bfd": ((5, "udp", "3784"), "uplink"),
}


def told(platform: str, entries: tuple[Entry, ...], port: str) -> dict[str, set[str]]:
    """The places of findings about access lists, by rule: the key that decides, and the line of the intent."""
    text = json.dumps(intent_with(platform, ("SITE", entries, (port,)), bfd=True), indent=1)
    _, reading = build_and_read_back(loads(text.encode(), "pod.yaml"), "pod.yaml", "out")
    found: dict[str, set[str]] = {}
    for one in add_finding_places(
        judge(reading, select_lint_rules(shipped_rules())).findings, reading, make_place_finder
    ).findings:
        if one.rule.startswith("access-list"):
            place = next(each for each in one.related if each.message.startswith("decided here: "))
            assert place.located is not None
            assert place.located.span is not None
            line = text.splitlines()[place.located.span.line - 1].strip()
            found.setdefault(one.rule, set()).add(f"{place.message.removeprefix('decided here: ')} {line}")
    return found


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@pytest.mark.parametrize("rule", DROPS)
@pytest.mark.slow
def test_a_drop_is_found_at_the_line_of_its_rule(platform: str, rule: str) -> None:
    entry, side = DROPS[rule]
    port = PORTS[platform][0 if side == "host" else 1]
    at = {
        "sonic": 'extra.leaf.tables.ACL_RULE.SITE|5 "SITE|5": {',
        "nvue": 'extra.leaf.paths.acl.SITE.rule.5 "5": {',
    }
    found = told(platform, (entry, *OWNERS), port)
    assert found[rule] == {at[platform]}


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@pytest.mark.slow
def test_a_list_of_addresses_that_the_fabric_lacks_is_no_finding(platform: str) -> None:
    for port in PORTS[platform]:
        assert told(platform, OWNERS, port) == {}
