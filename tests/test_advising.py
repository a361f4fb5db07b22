"""What to type for a finding: commands of the platform at hand, all of its ports in one line, as `fix` would edit."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.command import nodrop
from support.places import ROOT, TESTS
from support.sonic_configs import stock

NVUE = """\
# model: SN5600, release 5.16
nv set system hostname tor1
nv set qos roce
nv set interface swp1-4 link speed 400G
"""
ONYX = """\
##
## Running database "initial"
## Generated at 2026/01/01 00:00:00 +0000
## Hostname: tor1
## Product release: 3.10.4100
##
dcb priority-flow-control enable force
dcb priority-flow-control priority 3 enable
interface ethernet 1/1-1/4 dcb priority-flow-control mode on force
interface ethernet 1/1-1/4 qos trust L3
"""


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a folder to itself."""
    monkeypatch.chdir(tmp_path)


def commands(*args: str, rule: str) -> list[list[dict[str, Any]]]:
    """Return the commands of each finding of a rule."""
    told = json.loads(nodrop("lint", *args, "--format", "json", "--strictness", "auditor").out)
    return [finding["fix"]["commands"] for finding in told["findings"] if finding["rule"] == rule]


def sonic(ports: int = 2, **tables: Any) -> None:
    """Write a stock SONiC switch with so many ports, some tables changed."""
    config = stock(**tables)
    first = config["PORT"]["Ethernet0"]
    for number in range(2, ports):
        lanes = ",".join(str(lane) for lane in range(8 * number, 8 * number + 8))
        config["PORT"][f"Ethernet{8 * number}"] = {**first, "index": str(number + 1), "lanes": lanes}
        config["PORT_QOS_MAP"][f"Ethernet{8 * number}"] = config["PORT_QOS_MAP"]["Ethernet0"]
    Path("config_db.json").write_text(json.dumps(config, indent=1))


def test_a_missing_watchdog_of_a_stock_sonic_switch_is_one_line_for_all_ports() -> None:
    sonic(4)
    told = commands("config_db.json", rule="pfc-without-watchdog")
    line = "sudo pfcwd start --action drop --restoration-time 400 Ethernet{0..24..8} 200"
    lines = [line, "sudo config save -y"]
    assert told == [[{"device": "sw1", "language": "sonic", "lines": lines, "impact": "", "ports": []}]] * 4


def test_a_command_for_one_port_is_repeated_by_a_loop() -> None:
    sonic(4)
    config = json.loads(Path("config_db.json").read_text())
    for port in ("Ethernet0", "Ethernet8", "Ethernet16"):
        config["PORT"][port] |= {"fec": "none"}
    Path("config_db.json").write_text(json.dumps(config))
    (told, *_) = commands("config_db.json", rule="pam4-without-rs-fec")
    assert told[0]["lines"][0] == "for port in Ethernet{0..16..8}; do sudo config interface fec $port rs; done"


def test_the_commands_for_a_dangling_reference_correct_that_reference_only() -> None:
    sonic(4)
    config = json.loads(Path("config_db.json").read_text())
    watched = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    config["PFC_WD"] = {port: dict(watched) for port in config["PORT"]} | {
        "Ethernet0": {**watched, "detection_time": "300"}
    }
    config["PORT_QOS_MAP"]["Ethernet0"] = {**config["PORT_QOS_MAP"]["Ethernet0"], "dscp_to_tc_map": "GONE"}
    Path("config_db.json").write_text(json.dumps(config))
    line = 'sudo sonic-db-cli CONFIG_DB HSET "PORT_QOS_MAP|Ethernet0" dscp_to_tc_map AZURE'
    told = commands("config_db.json", rule="dangling-reference")
    ((advised,),) = told
    assert advised.pop("impact").startswith("traffic-affecting: packets take another class from then on")
    assert advised == {"device": "sw1", "language": "sonic", "lines": [line, "sudo config save -y"], "ports": []}


def _all_lines() -> list[tuple[str, str]]:
    """Return every command of every finding of the files here, with its switch."""
    report = json.loads(nodrop("lint", ".", "--format", "json", "--strictness", "auditor").out)
    return [
        (device["device"], line)
        for finding in report["findings"]
        for device in (finding["fix"] or {"commands": []})["commands"]
        for line in device["lines"]
    ]


def test_a_port_whose_name_a_shell_would_run_is_in_no_command() -> None:
    sonic(4)
    text = Path("config_db.json").read_text()
    port = "Ethernet0;$(reboot)`id`"
    assert [line for _, line in _all_lines() if "Ethernet{0..24..8}" in line]
    Path("config_db.json").write_text(text.replace('"Ethernet0"', f'"{port}"').replace('"Ethernet0|', f'"{port}|'))
    assert [line for _, line in _all_lines() if "reboot" in line or "`" in line] == []


def _one_port_unmarked(hostname: str, profile: str) -> str:
    """Return a switch of four ports of which one has no WRED profile, the others the one of that name."""
    sonic(4)
    config = json.loads(Path("config_db.json").read_text())
    config["DEVICE_METADATA"]["localhost"]["hostname"] = hostname
    for port in config["PORT"]:
        config["QUEUE"][f"{port}|3-4"] = {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
    del config["QUEUE"]["Ethernet8|3-4"]["wred_profile"]
    return json.dumps(config).replace("AZURE_LOSSLESS", profile)


def test_a_name_that_a_shell_would_run_is_quoted_as_a_value() -> None:
    Path("config_db.json").write_text(_one_port_unmarked("tor1", "$(reboot)"))
    write = "sudo sonic-db-cli CONFIG_DB HSET \"QUEUE|Ethernet8|3-4\" wred_profile '$(reboot)'"
    assert {line for _, line in _all_lines() if "reboot" in line} == {write}


def test_commands_name_the_profile_of_their_own_switch() -> None:
    for hostname, profile in (("tor1", "FIRST"), ("tor2", "SECOND")):
        text = _one_port_unmarked(hostname, profile)
        Path(hostname).mkdir()
        (Path(hostname) / "config_db.json").write_text(text)
    Path("config_db.json").unlink()
    write = 'sudo sonic-db-cli CONFIG_DB HSET "QUEUE|Ethernet8|3-4" wred_profile'
    named = {(device, line) for device, line in _all_lines() if "wred_profile" in line}
    assert named == {("tor1", f"{write} FIRST"), ("tor2", f"{write} SECOND")}


def test_an_unknown_cable_length_is_a_placeholder_and_a_stated_one_a_value() -> None:
    sonic()
    Path("tor1").mkdir()
    config = json.loads(Path("config_db.json").read_text())
    config["CABLE_LENGTH"] = {"AZURE": dict.fromkeys(config["PORT"], "30m") | {"Ethernet0": "0m"}}
    Path("tor1/config_db.json").write_text(json.dumps(config))
    write = 'sudo sonic-db-cli CONFIG_DB HSET "CABLE_LENGTH|AZURE" Ethernet0'
    (told,) = commands("tor1", rule="lossless-without-cable-length")
    assert told[0]["lines"][0] == f"{write} <length>m"
    Path("config_db.json").unlink()
    Path("fabric.yaml").write_text('hosts: {gpu1: {ports: {nic1: {}}}}\ncables: ["sw1:Ethernet0--gpu1:nic1 5m"]\n')
    (told,) = commands(".", rule="lossless-without-cable-length")
    assert told[0]["lines"][0] == f"{write} 5m"


def test_inverted_thresholds_of_onyx_have_no_command_that_ends_marking() -> None:
    marking = "interface ethernet 1/1-1/3 traffic-class 3 congestion-control ecn minimum-absolute 1500"
    Path("tor1.txt").write_text(f"{ONYX}{marking} maximum-absolute 150\n")
    assert commands("tor1.txt", rule="ecn-thresholds-inverted") == [[], [], []]


def _watched_port(**fields: str) -> None:
    """Write a switch whose ports have PFC and a watchdog on priority 3, the first with other fields in the QoS map."""
    sonic(4)
    config = json.loads(Path("config_db.json").read_text())
    watched = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    config["PFC_WD"] = dict.fromkeys(config["PORT"], watched)
    for port in config["PORT"]:
        config["PORT_QOS_MAP"][port] = {**config["PORT_QOS_MAP"][port], "pfc_enable": "3", "pfcwd_sw_enable": "3"}
        config.setdefault("BUFFER_PG", {})[f"{port}|3"] = {"profile": "NULL"}
    config["PORT_QOS_MAP"]["Ethernet0"] |= fields
    Path("config_db.json").write_text(json.dumps(config))


def _fixes(*rules: str) -> dict[str, tuple[str, list[str]]]:
    told = json.loads(nodrop("lint", "config_db.json", "--format", "json", "--select", ",".join(rules)).out)
    return {
        finding["rule"]: (
            finding["fix"]["text"],
            [line for device in finding["fix"]["commands"] for line in device["lines"]],
        )
        for finding in told["findings"]
    }


@pytest.mark.parametrize(("field", "watchdog_rule"), [("4", "watchdog-mask-differs"), ("", "watchdog-without-pfc")])
def test_a_watchdog_has_no_command_where_the_pfc_of_its_port_is_to_be_corrected(field: str, watchdog_rule: str) -> None:
    _watched_port(pfc_enable=field)
    told = _fixes("lossless-pg-without-pfc", watchdog_rule)
    write = 'sudo sonic-db-cli CONFIG_DB HSET "PORT_QOS_MAP|Ethernet0" pfc_enable 3'
    assert told["lossless-pg-without-pfc"][1] == [write, "sudo config save -y"]
    assert told[watchdog_rule][1] == []
    assert told[watchdog_rule][0].startswith("correct lossless-pg-without-pfc first, then check again: ")
    alone = _fixes(watchdog_rule)
    assert alone[watchdog_rule][1]
    assert "first, then check again" not in alone[watchdog_rule][0]


def test_nvue_has_ranges_and_an_apply() -> None:
    Path("tor1.nv").write_text(NVUE)
    told = commands("tor1.nv", rule="pfc-without-watchdog")
    assert told[0] == [
        {
            "device": "tor1",
            "language": "nvue",
            "lines": [
                "nv set interface swp1-4 qos pfc-watchdog state enable",
                "nv set qos pfc-watchdog robustness 3",
                "nv config apply",
            ],
            "impact": "",
            "ports": [],
        }
    ]


def test_onyx_has_ranges_though_its_files_are_not_edited() -> None:
    Path("tor1.txt").write_text(ONYX)
    told = commands("tor1.txt", rule="pfc-without-watchdog")
    assert told[0] == [
        {
            "device": "tor1",
            "language": "onyx",
            "lines": ["enable", "configure terminal", "interface ethernet 1/1-1/4 pfc-wd", "configuration write"],
            "impact": "",
            "ports": [],
        }
    ]


def test_the_text_shows_the_platform_at_hand_alone() -> None:
    Path("tor1.nv").write_text(NVUE)
    told = nodrop("lint", "tor1.nv").out
    assert "on tor1 (NVUE):\n      nv set interface swp1-4 qos pfc-watchdog state enable\n" in told
    assert "pfcwd" not in told


def test_a_switch_whose_commands_are_typed_has_the_fault_no_more() -> None:
    Path("tor1.nv").write_text(NVUE)
    (device, *_) = commands("tor1.nv", rule="pfc-without-watchdog")[0]
    Path("tor1.nv").write_text(NVUE + "".join(f"{line}\n" for line in device["lines"]))
    assert commands("tor1.nv", rule="pfc-without-watchdog") == []


def test_github_and_sarif_carry_the_commands() -> None:
    Path("tor1.nv").write_text(NVUE)
    assert "; on tor1 (NVUE):%0A  nv set interface swp1-4 qos pfc-watchdog state enable" in (
        nodrop("lint", "tor1.nv", "--format", "github").out
    )
    (run,) = json.loads(nodrop("lint", "tor1.nv", "--format", "sarif").out)["runs"]
    properties = [one["properties"] for one in run["results"] if one["ruleId"] == "pfc-without-watchdog"]
    assert properties[0]["commands"][0]["lines"][-1] == "nv config apply"


def test_an_intent_is_changed_and_built_again_so_it_has_no_commands() -> None:
    from nodrop.resources import resource_folder

    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    Path("intent.yaml").write_text(text.replace("mode: lossless", "mode: pfc-only"))
    told = json.loads(nodrop("lint", "intent.yaml", "--format", "json", "--strictness", "auditor").out)
    assert {str(finding["fix"]["commands"]) for finding in told["findings"] if finding["fix"]} <= {"[]"}


def test_fix_repairs_a_stock_sonic_switch_and_a_stock_nvue_switch() -> None:
    sonic()
    Path("tor1.nv").write_text(NVUE)
    done = nodrop("fix", "config_db.json", "--unsafe")
    assert "fixed: config_db.json: marks-not-counted, pfc-without-watchdog (2)\n" in done.out
    row = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    assert json.loads(Path("config_db.json").read_text())["PFC_WD"] == {"Ethernet0": row, "Ethernet8": row}
    done = nodrop("fix", "tor1.nv", "--unsafe")
    assert "fixed: tor1.nv: pfc-without-watchdog (4)\n" in done.out
    assert Path("tor1.nv").read_text().splitlines()[3:] == [
        "nv set qos pfc-watchdog robustness 3",
        "nv set interface swp1-4 link speed 400G",
        "nv set interface swp1-4 qos pfc-watchdog state enable",
    ]


def test_the_default_is_safe_where_the_port_is_known_to_face_a_host() -> None:
    Path("tor1").mkdir()
    sonic()
    Path("config_db.json").rename("tor1/config_db.json")
    Path("fabric.yaml").write_text(
        "roles: {sw1: leaf, sw2: spine}\n"
        "hosts: {gpu1: {ports: {nic1: {}}}}\n"
        'cables: ["sw1:Ethernet0--gpu1:nic1 40m", "sw1:Ethernet8--sw2:Ethernet8 40m"]\n'
    )
    told = json.loads(nodrop("fix", ".", "--format", "json").out)
    assert [finding["subject"] for finding in told["fixed"]] == ["sw1/Ethernet0"]


@pytest.mark.parametrize(
    ("edit", "rule", "expected"),
    [
        (
            {"pfc_enable": "4", "pfcwd_sw_enable": "4"},
            "nic-pfc-unlike-switch",
            "eight flags with 1 for priority 4; if the NIC is right: change PFC of leaf1 Ethernet0 to 3",
        ),
        (
            {"pfc_enable": "4", "pfcwd_sw_enable": "4"},
            "nic-does-not-slow-down",
            "if the NIC is right: turn ECN marking off for that priority on leaf1 Ethernet0 and all other ports, "
            "and set `mode: pfc-only`",
        ),
    ],
)
def test_where_nic_and_switch_differ_both_ends_are_named(edit: dict[str, str], rule: str, expected: str) -> None:
    from nodrop.resources import resource_folder
    from support.command import built

    built(resource_folder("intents") / "two-by-two.yaml", "build")
    path = Path("build/leaf1/config_db.json")
    config = json.loads(path.read_text())
    config["PORT_QOS_MAP"]["Ethernet0"] |= edit
    path.write_text(json.dumps(config))
    told = json.loads(nodrop("lint", "build", "--format", "json", "--select", rule).out)
    texts = {finding["fix"]["text"] for finding in told["findings"]}
    assert texts
    assert all(text.endswith(expected) for text in texts), texts
    assert not any("0,0,0,1" in text or "enable/3" in text for text in texts)


def test_commands_of_a_shared_map_name_the_ports_that_it_changes() -> None:
    sonic(4)
    config = json.loads(Path("config_db.json").read_text())
    del config["DSCP_TO_TC_MAP"]["AZURE"]["40"]
    Path("config_db.json").write_text(json.dumps(config))
    ((advised,), *_) = commands("config_db.json", rule="dscp-map-incomplete")
    assert advised["lines"][0] == 'sudo sonic-db-cli CONFIG_DB HSET "DSCP_TO_TC_MAP|AZURE" 40 0'
    assert advised["ports"] == ["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24"]
    told = nodrop("lint", "config_db.json").out
    assert "    on sw1 (SONiC), changing only the affected ports:\n" in told
    assert "; on sw1 (SONiC):%0Achanges 4 ports: Ethernet[0-24 by 8]%0A" in (
        nodrop("lint", "config_db.json", "--format", "github").out
    )


def bare_queues(*profiles: str) -> None:
    """Write a stock switch whose port Ethernet0 has no PFC and no queue with a buffer, and only some profiles."""
    config = stock()
    for field in ("pfc_enable", "pfcwd_sw_enable"):
        del config["PORT_QOS_MAP"]["Ethernet0"][field]
    config["BUFFER_QUEUE"] = {"Ethernet8|3-4": {"profile": "egress_lossless_profile"}}
    held = config["BUFFER_PROFILE"]
    config["BUFFER_PROFILE"] = {name: row for name, row in held.items() if "egress" not in name or name in profiles}
    Path("config_db.json").write_text(json.dumps(config, indent=1))


def test_no_command_names_a_profile_that_the_switch_does_not_have() -> None:
    bare_queues("egress_lossless_profile")
    assert commands("config_db.json", rule="queues-without-buffer") == [[]]


def test_queues_that_are_no_range_have_a_row_each() -> None:
    bare_queues("egress_lossless_profile", "egress_lossy_profile")
    ((told,),) = commands("config_db.json", rule="queues-without-buffer")
    assert told["lines"] == [
        *(
            f'sudo sonic-db-cli CONFIG_DB HSET "BUFFER_QUEUE|Ethernet0|{queue}" profile egress_lossy_profile'
            for queue in ("1", "3-6")
        ),
        "sudo config save -y",
    ]


def test_a_running_watchdog_whose_mask_changes_is_started_again() -> None:
    watchdog = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    sonic(4, PFC_WD={f"Ethernet{8 * number}": watchdog for number in range(4)} | {"GLOBAL": {"POLL_INTERVAL": "100"}})
    config = json.loads(Path("config_db.json").read_text())
    for row in config["PORT_QOS_MAP"].values():
        row["pfcwd_sw_enable"] = "3"
    Path("config_db.json").write_text(json.dumps(config, indent=1))
    ((first,), *_) = commands("config_db.json", rule="watchdog-mask-differs")
    ports = "Ethernet{0..24..8}"
    assert first["lines"][-3:] == [
        f"sudo pfcwd stop {ports}",
        f"sudo pfcwd start --action drop --restoration-time 400 {ports} 200",
        "sudo config save -y",
    ]
    assert "pfcwd_sw_enable 3,4" in first["lines"][0]


def test_allowas_in_is_removed_at_the_peer_group_that_states_it() -> None:
    nodrop("build", str(ROOT / "intents" / "two-by-two.yaml"), "-o", "build")
    path = Path("build/spine1/frr.conf")
    path.write_text(
        path.read_text().replace("neighbor LEAVES activate", "neighbor LEAVES activate\n  neighbor LEAVES allowas-in 1")
    )
    (told,) = commands("build", rule="loop-rejection-off")
    (line, _) = told[0]["lines"]
    assert "-c 'no neighbor LEAVES allowas-in 1'" in line
    assert "10.1." not in line


def test_the_pool_of_a_profile_needs_the_configuration_loaded_again() -> None:
    nodrop("build", str(ROOT / "intents" / "two-by-two.yaml"), "-o", "build")
    path = Path("build/leaf1/config_db.json")
    config = json.loads(path.read_text())
    profile = "pg_lossless_400000_3m_profile"
    config["BUFFER_PROFILE"][profile] = {
        "pool": "ingress_lossy_pool", "size": "400000", "xon": "37888", "xoff": "340000", "dynamic_th": "0",
    }  # fmt: skip
    config["BUFFER_PG"]["Ethernet0|3"] = {"profile": profile}
    path.write_text(json.dumps(config, indent=1))
    (told,) = commands("build", rule="lossless-group-in-lossy-pool")
    assert told[0]["lines"] == [
        f'sudo sonic-db-cli CONFIG_DB HSET "BUFFER_PROFILE|{profile}" pool ingress_lossless_pool',
        "sudo config save -y",
        "sudo config reload -y",
    ]


NONE_MEANT = (
    "if no route map is meant (then the session passes all routes; `show running-config` lists those there are)"
)
ONYX_SESSIONS = """\
router bgp 65001 vrf default
router bgp 65001 vrf default neighbor 10.1.0.1 remote-as 65100
router bgp 65001 vrf default neighbor 10.1.0.1 route-map FABRIC-IN in
route-map {name} permit 10 set local-preference 100
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "OTHER",
            {NONE_MEANT: ("no router bgp 65001 vrf default neighbor 10.1.0.1 route-map FABRIC-IN in")},
        ),
        (
            "FABRIC-IN2",
            {
                "if FABRIC-IN2 is meant": "router bgp 65001 vrf default neighbor 10.1.0.1 route-map FABRIC-IN2 in",
                NONE_MEANT: ("no router bgp 65001 vrf default neighbor 10.1.0.1 route-map FABRIC-IN in"),
            },
        ),
    ],
)
def test_a_session_of_onyx_is_changed_by_commands_of_onyx(name: str, expected: dict[str, str]) -> None:
    Path("tor1.txt").write_text(ONYX + ONYX_SESSIONS.format(name=name))
    (advised,) = commands("tor1.txt", rule="dangling-reference")
    frame = ["enable", "configure terminal", "{}", "configuration write"]
    assert {each["condition"]: each["lines"] for each in advised} == {
        condition: [line.format(typed) for line in frame] for condition, typed in expected.items()
    }
    assert {(each["language"], each["impact"]) for each in advised} == {("onyx", "")}


def test_frr_of_a_sonic_switch_is_typed_from_its_shell_with_the_as_of_the_process() -> None:
    nodrop("build", str(ROOT / "intents" / "two-by-two.yaml"), "-o", "build")
    path = Path("build/leaf1/frr.conf")
    (head,) = (line for line in path.read_text().splitlines() if line.startswith("router bgp "))
    path.write_text(path.read_text().replace(f"{head}\n", f"{head}\n bgp graceful-shutdown\n"))
    ((advised,),) = commands("build", rule="switch-drained")
    assert advised["language"] == "sonic"
    assert advised["lines"] == [
        f"sudo vtysh -c 'configure terminal' -c '{head}' -c 'no bgp graceful-shutdown' -c end -c 'write memory'",
        "sudo config save -y",
    ]


def test_a_missing_announcement_is_typed_in_its_address_family() -> None:
    nodrop("build", str(ROOT / "intents" / "dual-stack.yaml"), "-o", "build")
    path = Path("build/leaf1/frr.conf")
    text = path.read_text()
    for network in ("10.0.0.1/32", "10.2.1.0/24", "fd00::1/128"):
        assert f"  network {network}\n" in text
        text = text.replace(f"  network {network}\n", "")
    path.write_text(text)
    typed = {
        rule: [advised["lines"][0].split(" -c ")[3:-2] for ((advised),) in commands("build", rule=rule)]
        for rule in ("loopback-not-announced", "hosts-not-announced")
    }
    assert typed == {
        "loopback-not-announced": [
            ["'address-family ipv4 unicast'", "'network 10.0.0.1/32'", "exit-address-family"],
            ["'address-family ipv6 unicast'", "'network fd00::1/128'", "exit-address-family"],
        ],
        "hosts-not-announced": [["'address-family ipv4 unicast'", "'network 10.2.1.0/24'", "exit-address-family"]],
    }


def test_both_entries_of_a_draining_policy_are_typed_away() -> None:
    nodrop("build", str(ROOT / "intents" / "two-by-two.yaml"), "-o", "build")
    path = Path("build/spine2/frr.conf")
    entry = "route-map FABRIC-OUT permit 10\n"
    marked = f"{entry} set community graceful-shutdown\n"
    more = "route-map FABRIC-OUT permit 20\n set community graceful-shutdown\n"
    path.write_text(path.read_text().replace(entry, f"{marked}{more}{entry}"))
    ((advised,),) = commands("build", rule="switch-drained")
    assert advised["lines"][0].split(" -c ")[2:-2] == [
        "'route-map FABRIC-OUT permit 10'",
        "'no set community'",
        "'route-map FABRIC-OUT permit 20'",
        "'no set community'",
    ]
    path.write_text(path.read_text().replace("graceful-shutdown", "graceful-shutdown 65000:7"))
    assert commands("build", rule="switch-drained") == [[]]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            "SN5600",
            [
                "nv set router adaptive-routing state enabled",
                "nv set interface swp30-32 router adaptive-routing state enabled",
            ],
        ),
        ("SN4700", ["nv set interface swp29 router adaptive-routing state disabled"]),
    ],
)
def test_adaptive_routing_goes_on_with_all_ports_to_the_tier_or_off_where_the_chip_has_none(
    model: str, expected: list[str]
) -> None:
    text = (ROOT / "intents" / "two-by-two.yaml").read_text()
    text = text.replace(
        'model: SN4700, platform: sonic, version: "202505"', f'model: {model}, platform: nvue, version: "5.16"'
    )
    Path("intent.yaml").write_text(text)
    assert nodrop("build", "intent.yaml", "-o", "build").code == 0
    path = Path("build/leaf1/startup.yaml")
    head = "      swp29:\n"
    port = path.read_text().partition(head)[2]
    assert port
    body = "        router:\n          adaptive-routing:\n            state: enabled\n"
    path.write_text(path.read_text().replace(head, f"{head}{body}"))
    ((advised,),) = commands("build", rule="adaptive-routing-half-on")
    assert sorted(advised["lines"]) == sorted([*expected, "nv config apply"])


CLASS_CONDITION = "a class uses the queue and its hosts send ECN-capable packets"


@pytest.mark.parametrize(
    ("dscp", "expected"),
    [
        (26, {f"unless {CLASS_CONDITION}": "no dcb priority-flow-control priority 4 enable"}),
        (
            34,
            {
                f"if {CLASS_CONDITION}": (
                    "interface ethernet 1/1-1/4 traffic-class 4 congestion-control ecn minimum-absolute 150 "
                    "maximum-absolute 1500"
                ),
                "else": "no dcb priority-flow-control priority 4 enable",
            },
        ),
    ],
)
def test_a_paused_queue_is_marked_only_where_a_class_uses_it(dscp: int, expected: dict[str, str]) -> None:
    Path("tor1.txt").write_text(ONYX.replace("priority 3 enable", "priority 4 enable"))
    Path("fabric.yaml").write_text(
        "classes:\n  rdma: {purpose: rdma, dscp: [24], tc: 3, lossless: true}\n"
        f"  store: {{purpose: storage, dscp: [{dscp}], tc: {dscp // 8}, lossless: true}}\n"
    )
    (first, *_) = commands(".", rule="lossless-queue-without-ecn")
    assert {each["condition"]: each["lines"][2] for each in first} == expected


def test_a_hash_without_the_source_port_gets_addresses_protocol_and_both_ports() -> None:
    sonic(4, SWITCH_HASH={"GLOBAL": {"ecmp_hash": ["DST_IP", "SRC_IP"]}})
    ((advised,),) = commands("config_db.json", rule="hash-without-source-port")
    head, _, fields = advised["lines"][0].rpartition(" ")
    assert head == 'sudo sonic-db-cli CONFIG_DB HSET "SWITCH_HASH|GLOBAL" ecmp_hash@'
    assert {*fields.split(",")} == {"IP_PROTOCOL", "DST_IP", "SRC_IP", "L4_DST_PORT", "L4_SRC_PORT"}


def test_what_follows_from_a_slip_in_the_priority_of_pfc_waits_for_its_correction() -> None:
    """ECN on the queue of the wrong priority would be a second fault."""
    text = (TESTS / "platforms" / "onyx" / "good.txt").read_text()
    Path("running-config.txt").write_text(
        text.replace("priority-flow-control priority 3", "priority-flow-control priority 4")
    )
    told = json.loads(nodrop("lint", "running-config.txt", "--format", "json").out)["findings"]
    typed = {finding["rule"]: finding["fix"]["commands"] for finding in told}
    waiting = [finding for finding in told if finding["rule"] != "lossless-half-configured"]
    assert {finding["rule"] for finding in waiting} > {"ecn-missing-on-rdma-queue", "lossless-pg-without-pfc"}
    assert all(not finding["fix"]["commands"] for finding in waiting)
    assert all(finding["fix"]["text"].startswith("correct lossless-half-configured first") for finding in waiting)
    assert [commands["lines"][2:4] for commands in typed["lossless-half-configured"]] == [
        ["dcb priority-flow-control priority 3 enable", "no dcb priority-flow-control priority 4 enable"]
    ]
