"""RDMA where nobody states it: the DSCPs that the maps protect, and one note where the convention is lossy."""

import json
from pathlib import Path

import pytest

import nodrop
from nodrop import analyses
from nodrop.engine.rules import shipped_rules

NOTE = "conventional-rdma-dscp-lossy"
STOCK = dict.fromkeys(range(64), 1) | {3: 3, 4: 4}
"""SONiC's own map, files/build_templates/qos_config.j2, as far as it matters."""
IDENTITY = {str(number): str(number) for number in range(8)}


def write_switch(folder: Path, *, maps: dict[str, dict[int, int]], pfc: dict[str, str], groups: str = "") -> None:
    """Write a switch of SONiC with a map of DSCPs for each port, and PFC; `groups` is the group of each priority."""
    ports = [*maps]
    folder.mkdir()
    tables = {
        "DEVICE_METADATA": {"localhost": {"hostname": folder.name}},
        "PORT": {
            port: {"lanes": port.removeprefix("Ethernet"), "speed": "100000", "admin_status": "up"} for port in ports
        },
        "BUFFER_PG": {},
        "DSCP_TO_TC_MAP": {port: {str(dscp): str(tc) for dscp, tc in rows.items()} for port, rows in maps.items()},
        "TC_TO_QUEUE_MAP": {"AZURE": IDENTITY},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": IDENTITY | ({"3": groups, "4": groups} if groups else {})},
        "PORT_QOS_MAP": {
            port: {
                "dscp_to_tc_map": port,
                "tc_to_queue_map": "AZURE",
                "tc_to_pg_map": "AZURE",
                "pfc_enable": pfc[port],
            }
            for port in ports
        },
    }
    (folder / "config_db.json").write_text(json.dumps(tables))


def lossy_dscps(folder: Path) -> tuple[str, list[str], list[str]]:
    """Return what is assumed of RDMA, the notes, and the findings about lossy RDMA and PFC that no class uses."""
    reading = nodrop.read([str(folder)])
    (assumed,) = (f"{row.value}: {row.reason}" for row in reading.assumed if row.fact == "RDMA")
    rows = nodrop.lint(reading).findings
    others = ("rdma-dscp-in-lossy-class", "pfc-on-unintended-priority")
    return (
        assumed,
        [row.message for row in rows if row.rule == NOTE],
        [row.message for row in rows if row.rule in others],
    )


@pytest.mark.parametrize(
    ("maps", "pfc", "groups", "expected"),
    [
        (
            {"Ethernet0": STOCK, "Ethernet8": STOCK},
            {"Ethernet0": "3,4", "Ethernet8": "3,4"},
            "",
            (
                "DSCP 3-4: the only DSCPs in a lossless class",
                ["DSCP 26, NVIDIA's convention for RoCE, lands in lossy traffic class 1; lossless: DSCP 3-4"],
                [],
            ),
        ),
        (
            {"Ethernet0": STOCK, "Ethernet8": STOCK | {2: 2, 6: 6}},
            {"Ethernet0": "3,4", "Ethernet8": "2,3,4,6"},
            "",
            (
                "DSCP 3-4: the only DSCPs in a lossless class of every port",
                ["DSCP 26, NVIDIA's convention for RoCE, lands in lossy traffic class 1; lossless: DSCP 3-4"],
                [],
            ),
        ),
        (
            {"Ethernet0": STOCK, "Ethernet8": STOCK},
            {"Ethernet0": "3,4", "Ethernet8": ""},
            "",
            (
                "DSCP 3-4: the only DSCPs in a lossless class",
                ["DSCP 26, NVIDIA's convention for RoCE, lands in lossy traffic class 1; lossless: DSCP 3-4"],
                [
                    "DSCP 3-4 of RDMA lands in traffic class 3-4 on Ethernet8, which is lossy",
                ],
            ),
        ),
        (
            {"Ethernet0": STOCK},
            {"Ethernet0": "3,4"},
            "7",
            (
                "DSCP 3-4: the only DSCPs in a lossless class",
                ["DSCP 26, NVIDIA's convention for RoCE, lands in lossy traffic class 1; lossless: DSCP 3-4"],
                [],
            ),
        ),
        (
            {"Ethernet0": STOCK | {26: 3}},
            {"Ethernet0": "3"},
            "",
            ("DSCP 26: NVIDIA's convention", [], []),
        ),
        (
            {"Ethernet0": dict.fromkeys(range(64), 0)},
            {"Ethernet0": "3,4"},
            "",
            (
                "DSCP 26: NVIDIA's convention",
                [],
                ["DSCP 26 of RDMA lands in traffic class 0 on Ethernet0, which is lossy"],
            ),
        ),
    ],
    ids=["stock map", "dual ToR", "one port without PFC", "groups that do not pause", "convention", "none lossless"],
)
def test_rdma_has_the_dscps_that_maps_protect(
    tmp_path: Path,
    maps: dict[str, dict[int, int]],
    pfc: dict[str, str],
    groups: str,
    expected: tuple[str, list[str], list[str]],
) -> None:
    write_switch(tmp_path / "leaf1", maps=maps, pfc=pfc, groups=groups)
    assert lossy_dscps(tmp_path) == expected


TWO_CLASSES = dict.fromkeys(range(64), 0) | {26: 3, 34: 4}


@pytest.mark.parametrize(
    ("tos_by_host", "expected", "wrong"),
    [
        ({"gpu1": 138, "gpu2": 138}, "DSCP 34: hosts send RDMA with it, and it is lossless", []),
        ({"gpu1": 106, "gpu2": 138}, "DSCP 26, 34: hosts send RDMA with it, and it is lossless", []),
        ({"gpu1": 138, "gpu2": 50}, "DSCP 34: hosts send RDMA with it, and it is lossless", ["gpu2"]),
        ({"gpu1": 50, "gpu2": 50}, "DSCP 26: NVIDIA's convention", ["gpu1", "gpu2"]),
        ({"gpu1": 106, "gpu2": 106}, "DSCP 26: NVIDIA's convention", []),
        (
            {"gpu1": 138, "gpu2": 138, "gpu3": 138, "gpu4": 106},
            "DSCP 34: hosts send RDMA with it, and it is lossless",
            ["gpu4"],
        ),
    ],
    ids=["all in the second class", "in both", "one lossy", "all lossy", "convention", "few in another"],
)
def test_rdma_has_the_lossless_dscps_that_hosts_send(
    tos_by_host: dict[str, int], expected: str, wrong: list[str], tmp_path: Path
) -> None:
    write_switch(tmp_path / "leaf1", maps={"Ethernet0": TWO_CLASSES}, pfc={"Ethernet0": "3,4"})
    for host, tos in tos_by_host.items():
        (tmp_path / "hosts" / host).mkdir(parents=True)
        (tmp_path / "hosts" / host / "roce.sh").write_text(f"cma_roce_tos -d mlx5_0 -t {tos}\n")
    reading = nodrop.read([str(tmp_path)])
    assert [f"{row.value}: {row.reason}" for row in reading.assumed if row.fact == "RDMA"] == [expected]
    findings = nodrop.lint(reading).findings
    assert sorted({row.subject[0] for row in findings if row.rule == "nic-tos-not-rdma"}) == wrong
    assert ("pfc-on-unintended-priority" in {row.rule for row in findings}) is expected.startswith("DSCP 26:")


def test_a_stated_class_has_no_note(tmp_path: Path) -> None:
    write_switch(tmp_path / "leaf1", maps={"Ethernet0": STOCK}, pfc={"Ethernet0": "3,4"})
    (tmp_path / "fabric.yaml").write_text("classes: {rdma: {purpose: rdma, dscp: [3], tc: 3, lossless: true}}\n")
    rows = nodrop.lint(nodrop.read([str(tmp_path)])).findings
    assert NOTE not in {row.rule for row in rows}


def test_only_what_reads_the_classes_is_unsure_for_want_of_them() -> None:
    reading = {rule.name for rule in shipped_rules() if "classes" in rule.topics}
    assert {
        "rdma-dscp-in-lossy-class",
        "nic-tos-not-rdma",
        "access-list-drops-rdma",
        "ecn-missing-on-rdma-queue",
    } <= reading
    assert not reading & {
        "access-list-drops-bgp",
        "dscp-map-incomplete",
        "loopback-rdma",
        "lossless-queue-without-ecn",
        "management-without-vrf",
        "nic-mtu-above-switch",
        "pause-for-other-group",
    }


def test_arguments_that_an_analysis_names_for_a_statement_are_those_of_rules() -> None:
    for name in analyses.analysis_names():
        named = getattr(analyses.analysis_module(name), "RESTS_ON_WITH", {})
        used = {value for rule in shipped_rules() if rule.analysis == name for value in rule.arguments.values()}
        assert frozenset().union(*named.values()) <= used, name
