"""`nodrop check` of a change to an access list that an intent states under `extra:`."""

import json
from pathlib import Path

import pytest

from support.check_repositories import Git, commit
from support.command import nodrop
from support.extra_lists import OWNERS, PORTS, Entry, intent_with


def state(platform: str, *more: Entry) -> list[str]:
    """Write the intent with a list of the owner, and return its lines."""
    data = intent_with(platform, ("SITE", (*more, *OWNERS), PORTS[platform][:1]))
    text = "".join(f"{key}: {json.dumps(value, indent=1)}\n".replace("\n", "\n ")[:-1] for key, value in data.items())
    Path("intents/fabric.yaml").write_text(text)
    return text.splitlines()


@pytest.mark.parametrize(("platform", "row"), [("sonic", '"SITE|5": {'), ("nvue", '"5": {')])
@pytest.mark.slow
def test_a_new_rule_that_drops_roce_stops_the_change_at_its_line(intent: Git, platform: str, row: str) -> None:
    state(platform)
    commit(intent)
    assert nodrop("check", "--base", "HEAD").code == 0
    lines = state(platform, (5, "udp", "4791"))
    done = nodrop("check", "--base", "HEAD")
    assert done.code == 1
    assert "access list SITE: entry 5: added" in done.out
    at = next(number for number, line in enumerate(lines, 1) if line.strip() == row)
    assert f"--> intents/fabric.yaml:{at}:" in done.out
    for rule in ("access-list-drops-rdma", "access-list-drops-cnp"):
        assert f"error[{rule}]" in done.out


@pytest.mark.slow
def test_a_rule_that_drops_roce_and_is_taken_out_is_mended(intent: Git) -> None:
    state("sonic", (5, "udp", "4791"))
    commit(intent)
    state("sonic")
    done = nodrop("check", "--base", "HEAD")
    assert done.code == 0
    assert "access list SITE: entry 5: removed" in done.out
    assert "traffic-affecting" in done.out
    before, _, fixed = done.out.partition("\nfixed\n")
    assert "error[" not in before
    assert "error[access-list-drops-cnp]: 2 findings on leaf1, leaf2" in fixed
