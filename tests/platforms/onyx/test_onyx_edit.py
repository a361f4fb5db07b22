"""Changes of an Onyx switch: nothing is written, and the command to type is told."""

import pytest

from nodrop.model.change import Change
from nodrop.model.qos import PfcWatchdog, WredColor, WredProfile
from nodrop.model.states import require_fact
from nodrop.model.subject import parse_subject
from nodrop.platforms import find_editor
from support.legacy_platforms import read

COLOR = WredColor(min_bytes=153_600, max_bytes=1_536_000, probability_percent=100, enabled=False)
MARKING = WredProfile(ecn_colors=("green", "yellow", "red"), green=COLOR, yellow=COLOR, red=COLOR)
WATCHDOG = PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=400, action="drop")


def told(subject: str, new: object) -> str:
    onyx = find_editor("onyx")
    assert onyx is not None
    change = Change(subject=("sw1", *parse_subject(subject)), old=None, new=new)
    edit = onyx.edit({"running-config.txt": b"interface ethernet 1/1\n"}, [change])
    assert (edit.files, edit.steps) == ({}, ())
    (hand,) = edit.by_hand
    assert hand.change is change
    return hand.line


@pytest.mark.parametrize(
    ("subject", "new", "command"),
    [
        ("Eth1%2F1/mtu_bytes", 9216, "interface ethernet 1/1 mtu 9216 force"),
        ("Eth1%2F1%2F2/enabled", True, "interface ethernet 1/1/2 no shutdown"),
        ("Eth1%2F1/enabled", False, "interface ethernet 1/1 shutdown"),
        ("Eth1%2F1/speed_mbps", 100_000, "interface ethernet 1/1 speed 100G force"),
        ("Eth1%2F1/qos/trust", "dscp", "interface ethernet 1/1 qos trust L3"),
        ("Eth1%2F1/qos/dscp_to_tc/26", 3, "interface ethernet 1/1 qos map dscp 26 to switch-priority 3"),
        ("Eth1%2F1/qos/tc_to_queue/4", 3, "interface ethernet 1/1 traffic-class 3 bind switch-priority 4"),
        ("Eth1%2F1/qos/pfc_watchdog", WATCHDOG, "interface ethernet 1/1 pfc-wd"),
        ("Eth1%2F1/qos/pfc_watchdog", None, "interface ethernet 1/1 no pfc-wd"),
        ("Eth1%2F1/qos/queues/6/scheduler/type", "strict", "interface ethernet 1/1 traffic-class 6 dcb ets strict"),
        (
            "Eth1%2F1/qos/queues/3/wred",
            MARKING,
            "interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500",
        ),
    ],
)
def test_the_command_to_type(subject: str, new: object, command: str) -> None:
    assert told(subject, new) == f"sw1/{subject.replace('%2F', '/')}: type `{command}`"


def test_several_commands_in_their_order() -> None:
    assert told("Eth1%2F1/qos/pfc_rx_priorities", (3,)) == (
        "sw1/Eth1/1/qos/pfc_rx_priorities: type `dcb priority-flow-control enable force`, then "
        "`dcb priority-flow-control priority 3 enable`, then "
        "`interface ethernet 1/1 dcb priority-flow-control mode on force`"
    )


@pytest.mark.parametrize("subject", ["@hash_seed", "Eth1%2F1/lanes", "Eth1%2F1/qos/queues/3/buffer"])
def test_what_has_no_command_is_said(subject: str) -> None:
    assert told(subject, 7) == f"sw1/{subject.replace('%2F', '/')}: nodrop does not know the Onyx command"


def test_the_commands_read_back_to_what_was_asked_for() -> None:
    lines = [
        told("Eth1%2F1/qos/trust", "dscp"),
        told("Eth1%2F1/qos/pfc_rx_priorities", (3,)),
        told("Eth1%2F1/qos/queues/3/wred", MARKING),
    ]
    commands = [part for line in lines for part in line.split("`")[1::2]]
    (port,) = read("onyx", **{"running-config__txt": "\n".join(commands)}).device.interfaces
    found = require_fact(port.qos)
    assert found is not None
    assert (found.trust, found.pfc_rx_priorities) == ("dscp", (3,))
    assert require_fact(found.queues)[3].wred == MARKING
