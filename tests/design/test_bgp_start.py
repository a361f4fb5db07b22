"""When BGP announces routes and how it restarts, by platform, release and tier."""

import json

import pytest

import nodrop
from nodrop.design.defaults import applied_defaults
from nodrop.model.routing import Bgp
from support.designs import build, changed, load, shipped

RESTART = [
    "bgp graceful-restart restart-time 240",
    "bgp graceful-restart",
    "bgp graceful-restart preserve-fw-state",
    "bgp graceful-restart select-defer-time 45",
]
SONIC = {
    "202305": False,
    "202311": False,
    "202405": False,
    "202411": True,
    "202505": True,
    "202605": True,
    "master": True,
}


def written(platform: str, release: str) -> tuple[dict[tuple[str, str], str], dict[str, Bgp]]:
    tiers = {
        f"topology.{tier}.{key}": value
        for tier in ("leaves", "spines")
        for key, value in (("platform", platform), ("version", release))
    }
    fabric = build(changed(shipped("two-by-two"), tiers))
    texts = {(one.device, one.path): one.text for one in nodrop.write(fabric)}
    return texts, {one.name: one.bgp for one in fabric.devices if isinstance(one.bgp, Bgp)}


@pytest.mark.parametrize(("release", "waits"), SONIC.items())
def test_sonic_states_in_both_files_that_announcements_wait(release: str, waits: bool) -> None:
    texts, processes = written("sonic", release)
    for name, bgp in processes.items():
        lines = [line.strip() for line in texts[name, "frr.conf"].splitlines()]
        localhost = json.loads(texts[name, "config_db.json"])["DEVICE_METADATA"]["localhost"]
        assert bgp.suppress_fib_pending is waits
        assert ("bgp suppress-fib-pending" in lines) is waits
        assert localhost.get("suppress-fib-pending") == ("enabled" if waits else None)
        is_leaf = localhost["type"] == "ToRRouter"
        assert [line for line in lines if "graceful-restart" in line] == (RESTART if is_leaf else [])


@pytest.mark.parametrize(("release", "on"), [("5.14", "on"), ("5.16", "enabled")])
def test_nvue_states_it_for_all_vrfs(release: str, on: str) -> None:
    texts, processes = written("nvue", release)
    for name in processes:
        commands = next(
            text
            for (device, path), text in texts.items()
            if device == name and "router bgp" in text and "nv set" in text
        )
        restart = [
            line.removeprefix("nv set router bgp ") for line in commands.splitlines() if "graceful-restart" in line
        ]
        assert f"nv set router bgp wait-for-install {on}\n" in commands
        assert restart == (
            [
                "graceful-restart mode full",
                "graceful-restart path-selection-deferral-time 45",
                "graceful-restart restart-time 240",
            ]
            if name.startswith("leaf")
            else []
        )


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        ("202505", {"BGP announces routes": "once installed"}),
        (
            "202405",
            {
                "BGP of spines announces routes": "once installed",
                "BGP of leaves announces routes": "at once",
            },
        ),
    ],
)
def test_show_names_when_bgp_announces_and_how_long_neighbors_wait(leaves: str, expected: dict[str, str]) -> None:
    intent = load(changed(shipped("two-by-two"), {"topology.leaves.version": leaves}))
    shown = {one.key: one.value for one in applied_defaults(intent)}
    assert {key: value for key, value in shown.items() if key.startswith("BGP")} == expected
    assert shown["graceful restart of leaves"] == "240s"


@pytest.mark.parametrize(
    ("leaves", "spines", "tiers"),
    [
        ("202411", "202505", "leaves and spines"),
        ("202511", "202505", "spines"),
        ("202405", "202411", "spines"),
        ("202511", "202605", ""),
        ("202405", "202511", ""),
    ],
)
def test_show_names_the_tiers_whose_bgpd_can_lose_the_wait(leaves: str, spines: str, tiers: str) -> None:
    versions = {"topology.leaves.version": leaves, "topology.spines.version": spines}
    intent = load(changed(shipped("two-by-two"), versions))
    (source,) = (one.source for one in applied_defaults(intent) if one.value == "once installed")
    _, _, fault = source.partition("; ")
    lost = "bgpd can lose the setting at its start and then announces no routes; fixed in 202511"
    assert fault == (f"{tiers}: {lost}" if tiers else "")
