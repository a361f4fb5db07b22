"""What the Generic Config Updater takes and what it does to a switch: verdicts that its own code has given."""

import json
from typing import Any

import pytest

from nodrop.model.change import Change, EditResult, PatchStep
from nodrop.model.qos import PfcWatchdog
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.platforms.sonic.edit import edit, edit_between_file_versions
from nodrop.platforms.sonic.gcu import annotate_steps_with_effects, chip_of
from nodrop.platforms.sonic.patch import diff_tables
from support.sonic_configs import NAME
from support.sonic_gcu import OTHER, PORT, TIMES, switch

WATCHDOG = PfcWatchdog(priorities=(3, 4), detection_ms=200, restoration_ms=400, action="drop")


def made(config: dict[str, Any], *changes: tuple[str, Any]) -> EditResult:
    wanted = [Change(subject=(NAME, *parse_subject(subject)), old=UNKNOWN, new=new) for subject, new in changes]
    one = edit({"config_db.json": json.dumps(config, indent=2).encode()}, wanted)
    assert one.by_hand == ()
    return one


def for_both(part: str, new: Any) -> list[tuple[str, Any]]:
    return [(f"{port}/qos/{part}", new) for port in (PORT, OTHER)]


SHARED = [*for_both("queues/3/wred/green/max_bytes", 1500000), *for_both("queues/4/wred/green/max_bytes", 1500000)]
ALONE = [(f"{PORT}/qos/queues/3/wred/green/max_bytes", 1500000)]
MARKED = {"min_bytes": 1000, "max_bytes": 2000, "probability_percent": 5}
YELLOW = [*for_both("queues/3/wred/yellow", MARKED), *for_both("queues/4/wred/yellow", MARKED)]
ALPHA = for_both("priority_groups/0/buffer/dynamic_th", 1)


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ([(f"{PORT}/qos/pfc_watchdog/detection_ms", 300)], {"202305": "none", "202505": "none", "202605": "none"}),
        ([("@watchdog_polling_ms", 200)], {"202305": "none", "202605": "none"}),
        ([("@watchdog_polling_ms", None)], {"202305": "refused", "202605": "refused"}),
        (SHARED, {"202305": "none", "202411": "none", "202505": "none", "202511": "none", "202605": "none"}),
        (ALONE, {"202411": "refused", "202505": "refused", "202511": "port bounce", "202605": "port bounce"}),
        (YELLOW, {"202411": "typed", "202505": "typed", "202511": "none"}),
        (ALPHA, {"202411": "typed", "202505": "typed", "202511": "none", "202605": "none"}),
        (
            [("@buffer_pools/egress_lossy/size_bytes", 50_000_000)],
            {"202411": "none", "202505": "none", "202511": "refused"},
        ),
        (
            [(f"{PORT}/cable_length_m", 40)],
            {"202305": "traffic-affecting", "202505": "traffic-affecting", "202511": "none", "202605": "none"},
        ),
        ([(f"{PORT}/mtu_bytes", 9216)], {"202305": "none", "202605": "none"}),
        ([(f"{PORT}/qos/pfc_rx_priorities", (3,))], {"202305": "port bounce", "202605": "port bounce"}),
        ([(f"{PORT}/qos/queues/0/scheduler/weight", 20)], {"202305": "port bounce", "202605": "port bounce"}),
        ([(f"{PORT}/fec", "rs")], {"202305": "port bounce"}),
        ([("@ntp_servers", ("192.0.2.1", "192.0.2.2"))], {"202305": "service restart", "202605": "service restart"}),
    ],
)
def test_what_the_updater_of_a_release_takes(changes: list[tuple[str, Any]], verdicts: dict[str, str]) -> None:
    for release, verdict in verdicts.items():
        one = made(switch(release), *changes)
        assert ("typed" if one.commands_outside_patch else one.disruption) == verdict, release


def test_what_the_updater_refuses_of_a_row_that_is_there_is_typed() -> None:
    old = switch("202505")
    one = made(old, *YELLOW, ("@ntp_servers", ("192.0.2.1", "192.0.2.2")))
    name = next(iter(old["WRED_PROFILE"]))
    assert one.commands_outside_patch == f"ecnconfig -p {name} -ymin 1000 -ymax 2000 -ydrop 5\n"
    assert one.forms["commands.sh"] == f"sudo {one.commands_outside_patch}"
    assert [step["path"] for step in json.loads(one.forms["patch.json"])] == ["/NTP_SERVER/192.0.2.2"]
    assert one.disruption == "service restart"
    (why, *_) = [step.reason for step in one.steps if step.command]
    assert why == "the updater of 202505 does not add yellow_min_threshold in WRED_PROFILE on spc3"
    alpha = made(switch("202505"), *ALPHA)
    assert (alpha.commands_outside_patch, set(alpha.forms)) == (
        "mmuconfig -p ingress_lossy_profile -a 1\n",
        {"commands.sh"},
    )


@pytest.mark.parametrize(("release", "commands"), [("202405", True), ("202411", False), ("202505", False)])
def test_a_value_that_a_command_passes_over_is_not_typed(release: str, commands: bool) -> None:
    """`mmuconfig -a 0` of some releases ends with 0, and the threshold stays as it was."""
    one = made(switch(release), *for_both("priority_groups/0/buffer/dynamic_th", 0))
    assert (one.commands_outside_patch == "mmuconfig -p ingress_lossy_profile -a 0\n") is commands
    assert (one.disruption == "none") is commands
    assert commands or one.steps[0].reason.endswith("on spc3; instead: `config reload` with the changed file")


def test_a_threshold_that_is_not_there_yet_is_not_typed() -> None:
    """`mmuconfig` ends with an error: such a profile is not using dynamic thresholding."""
    config = switch("202505")
    del config["BUFFER_PROFILE"]["ingress_lossy_profile"]["dynamic_th"]
    one = made(config, *ALPHA)
    assert (one.commands_outside_patch, one.disruption) == ("", "refused")


def test_a_row_that_is_not_there_yet_is_not_typed() -> None:
    new_profile = made(switch("202505"), *ALONE)
    assert (new_profile.commands_outside_patch, set(new_profile.forms)) == ("", {"patch.json"})


def test_a_table_that_is_not_there_cannot_be_guarded_row_by_row() -> None:
    """The updater compares whole configurations, and sees one table added, which its list of fields does not have."""
    new_table = made(switch("202505", PFC_WD=None), (f"{PORT}/qos/pfc_watchdog", WATCHDOG))
    assert [(step.path, step.disruption) for step in new_table.steps] == [("/PFC_WD", "refused")]
    assert "add a whole table in PFC_WD on spc3; instead: `pfcwd start" in new_table.steps[0].reason
    new_row = made(switch("202505"), (f"{OTHER}/qos/pfc_watchdog", WATCHDOG))
    assert [(step.path, step.disruption) for step in new_row.steps] == [("/PFC_WD/Ethernet8", "none")]


@pytest.mark.parametrize(
    ("hwsku", "release", "chip"),
    [
        ("ACS-MSN4700", "202305", "spc3"),
        ("acs-msn4700", "202305", "spc3"),
        ("ACS-MSN4700-X", "202305", None),
        ("Mellanox-SN5640-C512S2", "202405", None),
        ("Mellanox-SN5640-C512S2", "202505", "spc5"),
        ("Arista-7060X6-64PE-B-O128", "202605", "th5"),
        ("DellEMC-Z9664f-O64", "master", None),
        ("Cisco-8101-O32", "202505", "cisco-8000"),
    ],
)
def test_the_chip_that_a_release_takes_a_hwsku_for(hwsku: str, release: str, chip: str | None) -> None:
    assert chip_of(hwsku, release) == chip


def test_a_hwsku_that_no_list_has_is_refused_what_is_guarded() -> None:
    config = switch("202605", hwsku="DellEMC-Z9664f-O64")
    refused = made(config, (f"{PORT}/qos/pfc_watchdog/detection_ms", 300))
    assert refused.disruption == "refused"
    assert "does not know the HWSKU DellEMC-Z9664f-O64" in refused.steps[0].reason
    assert made(config, *SHARED).disruption == "none"


def test_a_release_that_is_not_named_is_taken_for_any() -> None:
    config = switch("202605", VERSIONS=None)
    assert made(config, *SHARED).disruption == "none"
    assert made(config, *ALONE).steps[0].reason.startswith("not every release takes it, and the file names none: ")


def test_ports_that_are_down_are_not_shut() -> None:
    config = switch("202605")
    config["PORT"][PORT]["admin_status"] = "down"
    one = made(config, (f"{PORT}/qos/queues/0/scheduler/weight", 20))
    assert {step.disruption for step in one.steps} == {"none"}
    up = made(switch("202605"), (f"{PORT}/qos/queues/0/scheduler/weight", 20))
    assert [step.affected for step in up.steps] == [(), (PORT,)]


def test_a_watchdog_that_runs_keeps_the_priorities_that_it_had() -> None:
    one = made(switch("202605"), (f"{PORT}/qos/pfc_watchdog/priorities", (3,)))
    assert one.steps[0].reason.endswith(
        f"; a watchdog that runs keeps its priorities until PFC_WD|{PORT} is taken out and put in again"
    )


def steps(old: dict[str, Any], new: dict[str, Any]) -> list[PatchStep]:
    return list(annotate_steps_with_effects(diff_tables(old, new), old, new, "202605"))


def test_what_is_taken_out_and_put_in_elsewhere_is_a_move_and_no_guarded_table_takes_one() -> None:
    old = switch("202605")
    new = {**old, "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "100"}, OTHER: TIMES}}
    assert [(step.op, step.path, step.disruption) for step in steps(old, new)] == [
        ("remove", "/PFC_WD/Ethernet0", "none"),
        ("add", "/PFC_WD/Ethernet8", "refused"),
    ]


def test_a_field_of_a_port_that_the_updater_moves_to_another_is_refused() -> None:
    """Its check of `fec` takes the value that a move does not have, and ends with an AttributeError."""
    old, new = switch("202605"), switch("202605")
    old["PORT"][PORT]["fec"] = new["PORT"][OTHER]["fec"] = "rs"
    for tables, port in ((old, OTHER), (new, PORT)):
        tables["PORT"][port].pop("fec", None)
    assert [(step.path, step.disruption) for step in steps(old, new)] == [
        ("/PORT/Ethernet0/fec", "port bounce"),
        ("/PORT/Ethernet8/fec", "refused"),
    ]


@pytest.mark.parametrize(("autoneg", "disruption"), [("on", "port bounce"), ("off", "none"), (None, "none")])
def test_orchagent_takes_a_port_down_for_advertised_speeds_if_it_negotiates(
    autoneg: str | None, disruption: str
) -> None:
    """By sonic-swss orchagent/portsorch.cpp: `if (p.m_admin_state_up && p.m_autoneg)`."""
    old, new = switch("202505"), switch("202505")
    for tables, speeds in ((old, "100000,400000"), (new, "400000")):
        row = tables["PORT"][PORT]
        row.pop("autoneg", None)
        row |= {"adv_speeds": speeds, **({"autoneg": autoneg} if autoneg else {})}
    (step,) = annotate_steps_with_effects(diff_tables(old, new), old, new, "202505")
    assert (step.path, step.disruption) == ("/PORT/Ethernet0/adv_speeds", disruption)


@pytest.mark.parametrize("release", ["202505", "202605"])
def test_a_patch_to_a_configuration_that_yang_refuses_is_refused_and_not_typed(release: str) -> None:
    """`ecnconfig` does not take a minimum above its maximum either."""
    old, new = switch(release), switch(release)
    profile = next(iter(new["WRED_PROFILE"].values()))
    profile["green_min_threshold"] = str(int(profile["green_max_threshold"]) + 1)
    one = between_files(old, new)
    assert {step.disruption for step in one.steps} == {"refused"}
    assert "a patch whose result has a fault (broken-condition)" in one.steps[0].reason
    assert one.commands_outside_patch == ""


@pytest.mark.parametrize(
    ("lanes", "platform", "why"),
    [
        ("8,9,10,11", None, ""),
        ("7,8,9,10", None, "has a fault (a lane of two ports)"),
        ("7,8,9,10", "x86_64-arista_7050cx3_32s", ""),
        ("8, 9,10,11", None, ""),
        ("8,,10,11", None, "has a fault (a lane that is no number)"),
        ("8,x,10,11", "x86_64-arista_7050cx3_32s", "has a fault (a lane that is no number)"),
    ],
)
def test_the_updater_checks_lanes_before_any_patch(lanes: str, platform: str | None, why: str) -> None:
    old, new = switch("202505"), switch("202505")
    for one in (old, new):
        one["PORT"][OTHER]["lanes"] = lanes
        one["DEVICE_METADATA"]["localhost"] |= {"platform": platform} if platform else {}
    new["PORT"][PORT]["mtu"] = "9216"
    (step,) = between_files(old, new).steps
    assert (step.disruption == "refused", why in step.reason) == (bool(why), True)


def test_a_port_that_is_added_has_lanes_of_its_own() -> None:
    old, new = switch("202505"), switch("202505")
    new["PORT"]["Ethernet16"] = {**new["PORT"][OTHER], "index": "3"}
    (step,) = annotate_steps_with_effects(diff_tables(old, new), old, new, "202505")
    assert "a patch whose result has a fault (a lane of two ports)" in step.reason


def between_files(old: dict[str, Any], new: dict[str, Any], **others: bytes) -> EditResult:
    files = [{"config_db.json": json.dumps(tables, indent=2).encode(), **others} for tables in (old, new)]
    one = edit_between_file_versions(*files, name=NAME)
    assert one is not None
    return one


@pytest.mark.parametrize("key", ["Ethernet0|abc", "Ethernet0|99"])
def test_what_no_daemon_reads_is_refused_only_where_the_models_do(key: str) -> None:
    """The models take any text for the number of a queue."""
    old, new = switch("202505"), switch("202505")
    new["QUEUE"][key] = {"scheduler": "scheduler.0"}
    assert between_files(old, new).disruption == between_files(new, old).disruption == "port bounce"


def test_what_stands_in_another_file_is_no_fault_of_the_configuration() -> None:
    """FRR may name a route map that there is not; the models do not look there."""
    old, new = switch("202505"), switch("202505")
    for tables in (old, new):
        tables["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] = "split-unified"
    new["NTP_SERVER"]["192.0.2.2"] = {}
    lines = "router bgp 65001\n neighbor 192.0.2.9 remote-as 65002\n neighbor 192.0.2.9 route-map GONE in\n"
    assert between_files(old, new, **{"frr.conf": lines.encode()}).disruption == "service restart"


@pytest.mark.parametrize("release", ["202505", "202605"])
def test_a_table_without_a_model_is_not_changed(release: str) -> None:
    old, new = switch(release, ARS_PROFILE={"one": {"max_flows": "1"}}), switch(release)
    (step,) = between_files(old, new).steps
    assert (step.op, step.path, step.disruption) == ("remove", "/ARS_PROFILE", "refused")
    assert step.reason.endswith("as ARS_PROFILE; instead: `config apply-patch --ignore-non-yang-tables`")


def test_rows_that_others_name_come_first_and_go_last() -> None:
    old = {"SCHEDULER": {"a": {"type": "DWRR"}}, "QUEUE": {"Ethernet0|0": {"scheduler": "a"}}}
    new = {"QUEUE": {"Ethernet0|0": {"scheduler": "b"}}, "SCHEDULER": {"b": {"type": "STRICT"}}}
    assert [(step.op, step.path) for step in diff_tables(old, new)] == [
        ("add", "/SCHEDULER/b"),
        ("replace", "/QUEUE/Ethernet0|0/scheduler"),
        ("remove", "/SCHEDULER/a"),
    ]


def recabled(release: str, length: str, port: dict[str, str] | None = None, **tables: Any) -> list[tuple[str, str]]:
    """Return disruption and reason of each step that gives the first port another cable length."""
    old = switch(release, **tables)
    old["DEVICE_METADATA"]["localhost"]["buffer_model"] = "traditional"
    old["CABLE_LENGTH"] = {"AZURE": {PORT: "40m", OTHER: "40m"}}
    old["PORT_QOS_MAP"] = {PORT: {**old["PORT_QOS_MAP"].get(PORT, {}), "pfc_enable": "3,4"}}
    new = json.loads(json.dumps(old))
    new["CABLE_LENGTH"]["AZURE"][PORT] = length
    new["PORT"][PORT] |= port or {}
    made = annotate_steps_with_effects(diff_tables(old, new), old, new, release)
    return [(step.disruption, step.reason) for step in made if "/CABLE_LENGTH" in step.path]


def test_before_202511_a_traditional_switch_keeps_the_headroom_of_the_former_cable() -> None:
    kept = f"before 202511, {PORT} keeps the headroom of 40m until its speed or admin_status is set again"
    assert recabled("202411", "300m") == recabled("202505", "300m") == [("traffic-affecting", kept)]
    assert recabled("202505", "5m") == [("none", kept)]
    assert recabled("202511", "300m") == recabled("202605", "300m") == [("none", "")]
    assert recabled("202505", "300m", {"speed": "100000"}) == [("none", "")]


def test_the_dynamic_model_computes_headroom_of_a_cable_at_once() -> None:
    old = switch("202505")
    old["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    old["CABLE_LENGTH"] = {"AZURE": {PORT: "40m"}}
    new = json.loads(json.dumps(old))
    new["CABLE_LENGTH"]["AZURE"][PORT] = "300m"
    assert [
        (step.disruption, step.reason)
        for step in annotate_steps_with_effects(diff_tables(old, new), old, new, "202505")
    ] == [("none", "")]


def test_a_chip_may_keep_the_map_of_the_switch_that_is_removed() -> None:
    old, new = switch("202505", hwsku="DellEMC-Z9432f-O32"), switch("202505", hwsku="DellEMC-Z9432f-O32")
    name = next(iter(old["DSCP_TO_TC_MAP"]))
    old["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": name}
    kept = "the chip may keep the map of the switch after this: `config reload` removes it for certain"
    assert [step.reason for step in annotate_steps_with_effects(diff_tables(old, new), old, new, "202505")] == [kept]
    assert kept not in [step.reason for step in annotate_steps_with_effects(diff_tables(new, old), new, old, "202505")]


@pytest.mark.parametrize(("hwsku", "keeps"), [("DellEMC-Z9432f-O32", True), ("ACS-MSN4700", False), ("mine", True)])
def test_only_chips_of_broadcom_and_unknown_ones_may_keep_the_map_of_the_switch(hwsku: str, keeps: bool) -> None:
    old, new = switch("202505", hwsku=hwsku), switch("202505", hwsku=hwsku)
    old["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": next(iter(old["DSCP_TO_TC_MAP"]))}
    reasons = [step.reason or "" for step in annotate_steps_with_effects(diff_tables(old, new), old, new, "202505")]
    assert any("the chip may keep the map" in reason for reason in reasons) is keeps
