"""Adaptive routing in NVUE's files: what is read of the switch and its ports in any release, written and changed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.change import Change, EditResult
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject, subject_text
from nodrop.platforms.nvue.edit import edit
from nodrop.platforms.nvue.releases import RELEASES
from support.nvue_devices import as_nvue, fabric
from support.nvue_startup import FILE, NAME, device, port, read, state

OLD = RELEASES[: RELEASES.index("5.15")]
TOLD = RELEASES[RELEASES.index("5.13") :]


def leaf(version: str, **fields: Any) -> Device:
    """A leaf whose first port has the fields given."""
    made = as_nvue(fabric().device("leaf1"), version)
    first, *others = made.interfaces
    return replace(made, interfaces=(replace(first, **fields), *others))


def commands(made: Device) -> list[str]:
    (found,) = (
        one.text
        for one in platforms.writer_of_platform("nvue").write(made, Index(fabric()))
        if one.path.endswith(".nv")
    )
    return [line.removeprefix("nv set ") for line in found.splitlines() if "adaptive-routing" in line]


@pytest.mark.parametrize("release", RELEASES)
def test_it_is_written_in_the_words_of_the_release(release: str) -> None:
    made = replace(
        leaf(release, adaptive_routing=True, utilization_threshold_percent=60),
        adaptive_routing=True,
        weighs_utilization=True,
    )
    turned, flag = ("enable on", "on") if release in OLD else ("state enabled", "enabled")
    assert set(commands(made)) == {
        f"interface swp1 router adaptive-routing {turned}",
        "interface swp1 router adaptive-routing link-utilization-threshold 60",
        f"router adaptive-routing {turned}",
        f"router adaptive-routing link-utilization-threshold {flag}",
    }


@pytest.mark.parametrize(("release", "turned"), [("5.14", "enable off"), ("5.15", "state disabled")])
def test_a_switch_that_has_none_says_so_where_a_port_has_it(release: str, turned: str) -> None:
    on = "enable on" if release in OLD else "state enabled"
    assert set(commands(leaf(release, adaptive_routing=True))) == {
        f"interface swp1 router adaptive-routing {on}",
        f"router adaptive-routing {turned}",
    }
    assert commands(leaf(release)) == []


@pytest.mark.parametrize("percent", [0, 101])
def test_a_threshold_that_there_is_not_is_refused(percent: int) -> None:
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(leaf("5.16", utilization_threshold_percent=percent), Index(fabric()))
    assert (refused.value.path, refused.value.reason) == (
        "interfaces/swp1/utilization_threshold_percent",
        f"{percent} is not from 1 to 100",
    )


PORTS = "interface:\n  swp1: {router: {adaptive-routing: {enable: on}}}\n  swp2: {link: {mtu: 9216}}"


@pytest.mark.parametrize("release", RELEASES)
def test_up_to_5_12_a_port_turns_it_on_for_the_switch(release: str) -> None:
    made = device(PORTS if release in OLD else PORTS.replace("enable: on", "state: enabled"), f"{release}.0")
    assert (port(made, "swp1").adaptive_routing, port(made, "swp2").adaptive_routing) == (True, False)
    assert made.adaptive_routing is (release not in TOLD)


def test_what_follows_from_a_port_is_told_as_derived() -> None:
    subject = (NAME, "@adaptive_routing")
    assert read(state(PORTS, "5.12.0")).derived[subject] == (
        "up to Cumulus Linux 5.12 a port that has adaptive routing turns it on for the switch"
    )
    assert subject not in read(state(PORTS, "5.13.0")).derived


def test_without_a_release_it_is_not_known_what_follows_from_a_port() -> None:
    lines = "nv set interface swp1 router adaptive-routing enable on\n"
    assert read(lines).device.adaptive_routing is UNKNOWN
    assert read(f"{lines}nv set router adaptive-routing enable off\n").device.adaptive_routing is False
    assert read("nv set interface swp1 link mtu 9216\n").device.adaptive_routing is False


@pytest.mark.parametrize(
    ("body", "release", "expected"),
    [
        ("router: {adaptive-routing: {enable: on, link-utilization-threshold: on}}", "5.14.0", (True, True)),
        ("router: {adaptive-routing: {state: enabled}}", "5.16.0", (True, False)),
        ("router: {adaptive-routing: {enable: off}}\n" + PORTS, "5.12.0", (False, False)),
        ("router: {adaptive-routing: {link-utilization-threshold: off}}", "5.14.0", (False, False)),
        ("router: {adaptive-routing: {state: enabled, profile: profile-custom}}", "5.19.0", (True, False)),
    ],
)
def test_what_is_said_of_the_switch(body: str, release: str, expected: tuple[bool, bool]) -> None:
    made = device(body, release)
    assert (made.adaptive_routing, made.weighs_utilization) == expected


def test_a_threshold_of_several_ports_is_judged_once_for_its_place() -> None:
    body = "interface:\n  swp1-4: {router: {adaptive-routing: {state: enabled, link-utilization-threshold: %s}}}"
    made = device(body % 60, "5.16.0")
    assert [one.utilization_threshold_percent for one in made.interfaces] == [60] * 4
    wrong = [one for one in read(state(body % 101, "5.16.0")).remarks if one.kind == "malformed-value"]
    assert [(one.facts["found"], one.facts["expected"]) for one in wrong] == [
        ("'101'", "a whole number of percent from 1 to 100")
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("vlan10", "svi"), ("bond3", "bond"), ("swp1.100", "sub"), ("bond3", None), ("swp1.100", None)],
)
def test_an_interface_that_is_no_port_is_remarked(name: str, kind: str | None) -> None:
    typed = f", type: {kind}" if kind else ""
    body = "interface:\n  %s: {router: {adaptive-routing: {state: %s}}%s}"
    remarks = read(state(body % (name, "enabled", typed), "5.16.0")).remarks
    told = [(one.subject, dict(one.facts), one.place and one.place.span.line) for one in remarks]
    words = {"vlan10": "svi", "bond3": "bond", "swp1.100": "sub"}
    assert told == [((NAME, name), {"interface": name, "kind": words[name]}, 8)]
    assert read(state(body % (name, "disabled", typed), "5.16.0")).remarks == ()


def made(body: str, release: str, *changes: tuple[str, Any]) -> EditResult:
    wanted = [Change(subject=(NAME, *parse_subject(subject)), old=UNKNOWN, new=new) for subject, new in changes]
    return edit({FILE: state(body, release).encode()}, wanted, name=NAME)


@pytest.mark.parametrize(
    ("model", "release", "speed", "told"),
    [
        ("SN4700", "5.9.0", "400G", "swp1 has adaptive routing: spectrum-3 of SN4700 has none"),
        ("SN4700", "5.4.0", "400G", None),  # Spectrum-2 and later, as its documentation has it
        ("SN5600", "5.14.0", "400G", None),
        ("SN5600", "5.14.0", "200G", None),
        (
            "SN5600",
            "5.14.0",
            "800G",
            "swp1 has adaptive routing: spectrum-4 of SN5600 has it at 400G and 200G, and the port has 800G",
        ),
    ],
)
def test_a_chip_that_has_none_is_found_in_releases_that_are_known(
    model: str, release: str, speed: str, told: str | None, tmp_path: Path
) -> None:
    body = f"interface:\n  swp1: {{link: {{speed: {speed}}}, router: {{adaptive-routing: {{enable: on}}}}}}"
    (tmp_path / FILE).write_text(state(body, release, model))
    found = nodrop.lint(nodrop.read([str(tmp_path)])).findings
    assert [one.message for one in found if one.rule == "adaptive-routing-unsupported"] == ([told] if told else [])


ON = "router: {adaptive-routing: {enable: on}}\n" + PORTS


@pytest.mark.parametrize(
    ("release", "subject", "new", "line"),
    [
        ("5.14.0", "swp2/adaptive_routing", True, "nv set interface swp2 router adaptive-routing enable on"),
        ("5.16.0", "swp2/adaptive_routing", True, "nv set interface swp2 router adaptive-routing state enabled"),
        ("5.14.0", "@adaptive_routing", False, "nv set router adaptive-routing enable off"),
        ("5.14.0", "@weighs_utilization", True, "nv set router adaptive-routing link-utilization-threshold on"),
        ("5.16.0", "@weighs_utilization", True, "nv set router adaptive-routing link-utilization-threshold enabled"),
        (
            "5.14.0",
            "swp1/utilization_threshold_percent",
            80,
            "nv set interface swp1 router adaptive-routing link-utilization-threshold 80",
        ),
    ],
)
def test_a_change_is_one_command(release: str, subject: str, new: Any, line: str) -> None:
    body = ON if release == "5.14.0" else ON.replace("enable: on", "state: enabled")
    one = made(body, release, (subject, new))
    assert one.by_hand == ()
    assert one.forms["changes.nv"].splitlines() == [line]


def test_what_a_port_turns_on_for_the_switch_follows() -> None:
    one = made(PORTS, "5.12.0", ("swp1/adaptive_routing", False))
    assert one.by_hand == ()
    assert [(subject_text(each.subject), each.new) for each in one.follows] == [(f"{NAME}/@adaptive_routing", False)]


@pytest.mark.parametrize(
    ("release", "subject", "new", "disruption", "affected"),
    [
        ("5.12.0", "swp2/adaptive_routing", True, "port bounce", ("swp1", "swp2")),
        ("5.12.0", "@adaptive_routing", False, "port bounce", ("swp1", "swp2")),
        ("5.12.0", "swp1/utilization_threshold_percent", 80, "none", ()),
        ("5.13.0", "swp2/adaptive_routing", True, "none", ()),
        ("5.13.0", "swp1/adaptive_routing", False, "service restart", ("bgp",)),
        ("5.13.0", "@adaptive_routing", False, "service restart", ("bgp",)),
        ("5.13.0", "@weighs_utilization", True, "none", ()),
    ],
)
def test_turning_it_off_may_take_sessions_down_and_any_change_up_to_5_12_all_ports(
    release: str, subject: str, new: Any, disruption: str, affected: tuple[str, ...]
) -> None:
    one = made(ON, release, (subject, new))
    assert (one.by_hand, one.disruption) == ((), disruption)
    assert [step.affected for step in one.steps] == [affected]
