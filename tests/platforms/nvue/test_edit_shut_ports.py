"""A profile that only shut ports share beside the changed ones is changed in place, and they follow."""

import pytest

from nodrop.model.assemble import assemble_fabric
from nodrop.model.change import Change
from nodrop.model.declared import DeclaredFacts
from nodrop.model.edit import get_value
from nodrop.model.reading import Source
from nodrop.platforms.nvue.edit import edit
from nodrop.platforms.nvue.reader import read_device

TEXT = """- header: {model: SN5600, version: Cumulus Linux 5.16.0}
- set:
    system: {hostname: leaf1}
    interface:
      swp1-2:
        type: swp
        link: {state: {up: {}}}
      swp3-4:
        type: swp
        link: {state: {STATE: {}}}
    qos:
      roce: {state: enabled, mode: lossless}
      congestion-control:
        default-global:
          traffic-class:
            '3': {min-threshold: 1000, max-threshold: 2000}
"""
LEAST = ("qos", "queues", "3", "wred", "green", "min_bytes")


def _raised(state: str, *ports: str) -> tuple[str, set[str]]:
    """Return the commands that raise a threshold on some ports, and the other ports that it is raised on."""
    raw = TEXT.replace("STATE", state).encode()
    reading = read_device("leaf1", [(Source(name="startup.yaml", display="startup.yaml", held=raw), raw)])
    fabric = assemble_fabric([reading], DeclaredFacts()).fabric
    subjects = [("leaf1", port, *LEAST) for port in ports]
    changes = [Change(subject=subject, old=get_value(fabric, subject), new=1500) for subject in subjects]
    result = edit({"startup.yaml": raw}, changes, name="leaf1")
    assert result.by_hand == ()
    return result.forms["changes.nv"], {change.subject[1] for change in result.follows} - {*ports}


def test_shut_ports_follow_the_others_of_their_profile() -> None:
    commands, followers = _raised("down", "swp1", "swp2")
    assert commands == "nv set qos congestion-control default-global traffic-class 3 min-threshold 1500\n"
    assert followers == {"swp3", "swp4"}


@pytest.mark.parametrize(("state", "ports"), [("up", ("swp1", "swp2")), ("down", ("swp1",))])
def test_other_ports_get_a_profile_of_their_own(state: str, ports: tuple[str, ...]) -> None:
    commands, followers = _raised(state, *ports)
    assert "nv set qos congestion-control marking traffic-class 3 min-threshold 1500" in commands
    assert "default-global" not in commands
    assert followers == set()
