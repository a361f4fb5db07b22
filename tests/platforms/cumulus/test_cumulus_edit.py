"""Changes of a switch whose files are edited by hand: the line, the file and the command are told."""

import pytest

from nodrop.model.change import Change
from nodrop.model.qos import PfcWatchdog
from nodrop.platforms import find_editor
from nodrop.platforms.cumulus.command_lines import SHELL_HEADING, drop_openings_of_open_context

WATCHDOG = PfcWatchdog(priorities=(3,), detection_ms=300, restoration_ms=None, action=None)


def told(subject: tuple[str, ...], new: object, file: str = "qos_features.conf", text: str = "") -> str:
    cumulus = find_editor("cumulus")
    assert cumulus is not None
    edit = cumulus.edit({file: text.encode()}, [Change(subject=("sw1", *subject), old=None, new=new)])
    assert (edit.files, edit.steps) == ({}, ())
    (hand,) = edit.by_hand
    return hand.line.partition(": ")[2]


@pytest.mark.parametrize(
    ("subject", "new", "line"),
    [
        (
            ("swp1", "mtu_bytes"),
            9216,
            "write `mtu 9216` into the stanza of swp1 in interfaces, then type `sudo ifreload -a`",
        ),
        (
            ("swp1", "adaptive_routing"),
            True,
            "write `interface.swp1.adaptive_routing.enable = TRUE` into adaptive_routing.conf, "
            "then type `sudo systemctl reload switchd`",
        ),
        (
            ("@adaptive_routing",),
            False,
            "write `adaptive_routing.enable = FALSE` into adaptive_routing.conf, "
            "then type `sudo systemctl reload switchd`",
        ),
        (
            ("swp1", "qos", "trust"),
            "dscp",
            "write `traffic.packet_priority_source_set = [dscp]` into qos_features.conf, "
            "then type `sudo systemctl reload switchd`",
        ),
        (
            ("swp1", "qos", "pfc_watchdog"),
            WATCHDOG,
            "write `pfc_watchdog.port_group_list = [watched]`, `pfc_watchdog.watched.port_set = swp1` "
            "into qos_features.conf, then type `sudo systemctl reload switchd`",
        ),
        (
            ("@watchdog_polling_ms",),
            200,
            "write `pfc_wd.poll_interval = 200` into switchd.conf, then type `sudo systemctl reload switchd`",
        ),
    ],
)
def test_the_line_to_write(subject: tuple[str, ...], new: object, line: str) -> None:
    assert told(subject, new) == line


def test_before_release_5_there_is_no_watchdog() -> None:
    assert told(("swp1", "qos", "trust"), "pcp", "traffic.conf").startswith(
        "write `traffic.packet_priority_source_set = [802.1p]` into traffic.conf"
    )
    said = told(("swp1", "qos", "pfc_watchdog"), WATCHDOG, "traffic.conf")
    assert said == "which line changes this is not known here"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "pfc_watchdog.port_group_list = [watch]\npfc_watchdog.watched.port_set = swp1-swp2,swp31\n",
            "`pfc_watchdog.port_group_list = [watched]`",
        ),
        (
            "pfc_watchdog.port_group_list = [up]\npfc_watchdog.up.port_set = swp31\n",
            "`pfc_watchdog.port_group_list = [up,watched]`, `pfc_watchdog.watched.port_set = swp1`",
        ),
        (
            "pfc_watchdog.port_group_list = [watched]\npfc_watchdog.watched.port_set = swp31-swp32\n",
            "`pfc_watchdog.port_group_list = [watched]`, `pfc_watchdog.watched.port_set = swp31-swp32,swp1`",
        ),
    ],
)
def test_the_watchdog_keeps_the_ports_that_it_is_on(text: str, lines: str) -> None:
    found = told(("swp1", "qos", "pfc_watchdog"), WATCHDOG, text=text)
    assert found == f"write {lines} into qos_features.conf, then type `sudo systemctl reload switchd`"


def test_what_is_typed_stands_apart_from_the_lines_of_files_and_last() -> None:
    change = [
        Change(subject=("leaf", "@watchdog_polling_ms"), old=100, new=200),
        Change(subject=("leaf", "swp1", "mtu_bytes"), old=1500, new=9216),
        Change(subject=("leaf", "@adaptive_routing"), old=False, new=True),
    ]
    cumulus = find_editor("cumulus")
    assert cumulus is not None
    steps = cumulus.edit({}, change).by_hand
    blocks = [line.replace("{ports}", "swp1") for step in steps for line in step.commands]
    lines = drop_openings_of_open_context([line for block in blocks for line in block.split("\n")])
    shell = lines.index(SHELL_HEADING)
    assert lines[shell:] == (SHELL_HEADING, "sudo systemctl reload switchd", "sudo ifreload -a")
    assert [line for line in lines[:shell] if not line.startswith("# ")] == [
        "pfc_wd.poll_interval = 200",
        "mtu 9216",
        "adaptive_routing.enable = TRUE",
    ]
