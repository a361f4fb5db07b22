"""`extra`: settings of one's own, merged last, kept off the model, read and linted with all else."""

import json
from typing import Any

import pytest

import nodrop
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.fabric_readings import build_and_read_back
from nodrop.intent.load import loads
from nodrop.model.compare import differences
from nodrop.model.fabric import Extra, Fabric
from nodrop.model.index import Index
from nodrop.model.values import replace_fields
from nodrop.platforms import writer_of_platform
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml
from support.designs import Data, build, shipped

PLACE = {"BANNER_MESSAGE": {"global": {"motd": "row 7"}}}


def adding(extra: Data) -> Fabric:
    return build(shipped("two-by-two", {"extra": extra}))


def files(fabric: Fabric, path: str) -> dict[str, str]:
    return {one.device: one.text for one in nodrop.write(fabric) if one.path == path}


def tables(fabric: Fabric) -> dict[str, Any]:
    return {device: json.loads(text) for device, text in files(fabric, "config_db.json").items()}


PLAIN = build(shipped("two-by-two"))


def test_a_table_of_a_platform_reaches_all_its_switches_and_nothing_else_changes() -> None:
    for device, found in tables(adding({"sonic": {"tables": PLACE}})).items():
        assert found.pop("BANNER_MESSAGE") == PLACE["BANNER_MESSAGE"]
        assert found == tables(PLAIN)[device]


def test_what_was_there_stays_as_it_was_spelt() -> None:
    for device, text in files(adding({"sonic": {"tables": PLACE}}), "config_db.json").items():
        plain = files(PLAIN, "config_db.json")[device].removesuffix("\n}\n")
        assert text.startswith(plain + ",\n")
        assert text.endswith("\n}\n")


def test_the_switch_wins_over_its_role_and_that_over_the_platform() -> None:
    def at(where: str) -> Data:
        return {"tables": {"BANNER_MESSAGE": {"global": {"motd": where}}}, "lines": [f"banner motd line {where}"]}

    fabric = adding({"leaf1": at("leaf1"), "leaf": at("leaf"), "sonic": at("sonic")})
    assert {device: found["BANNER_MESSAGE"]["global"]["motd"] for device, found in tables(fabric).items()} == {
        "leaf1": "leaf1",
        "leaf2": "leaf",
        "spine1": "sonic",
        "spine2": "sonic",
    }
    ends = {
        device: text.partition("line vty\nexit\n!\n")[2].splitlines()
        for device, text in files(fabric, "frr.conf").items()
    }
    banner = "banner motd line"
    assert ends["spine1"] == [f"{banner} sonic"]
    assert ends["leaf1"] == [f"{banner} sonic", f"{banner} leaf", f"{banner} leaf1"]


def test_fields_lists_and_rows_without_fields() -> None:
    own = {
        "PORT": {"Ethernet0": {"tpid": "0x8100"}},
        "GNMI": {"certs": {"ca_crt": "/etc/sonic/ca.cer"}},
        "ACL_TABLE": {"A": {"ports": ["Ethernet0", "Ethernet8"], "on": True}},
        "BANNER_MESSAGE": {"global": {}},
    }
    found = tables(adding({"leaf1": {"tables": own}}))["leaf1"]
    assert found["PORT"]["Ethernet0"]["tpid"] == "0x8100"
    assert found["PORT"]["Ethernet0"]["mtu"] == "9216"
    assert found["GNMI"] == own["GNMI"]
    assert found["ACL_TABLE"] == {"A": {"ports": ["Ethernet0", "Ethernet8"], "on": "true"}}
    assert found["BANNER_MESSAGE"] == {"global": {}}


def test_a_row_without_fields_gives_way_to_one_with_fields() -> None:
    fabric = adding({"sonic": {"tables": {"BANNER_MESSAGE": {"global": {}}}}, "leaf": {"tables": PLACE}})
    assert {device: found["BANNER_MESSAGE"] for device, found in tables(fabric).items()} == {
        "leaf1": PLACE["BANNER_MESSAGE"],
        "leaf2": PLACE["BANNER_MESSAGE"],
        "spine1": {"global": {}},
        "spine2": {"global": {}},
    }


def test_the_model_is_the_same_and_what_is_added_is_read() -> None:
    extra = {"leaf1": {"tables": PLACE, "lines": ["ip nht resolve-via-default", "log facility local3"]}}
    fabric = adding(extra)
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    plain = nodrop.read_back(list(nodrop.write(PLAIN)), PLAIN)
    assert list(differences(reading.fabric.devices, plain.fabric.devices)) == []
    assert [note.message for note in reading.notes] == []


@pytest.mark.parametrize(
    ("own", "path", "said"),
    [
        ({"NTP_SERVER": {"192.0.2.99": {}}}, "NTP_SERVER.192.0.2.99", "(use services.ntp)"),
        ({"SYSLOG_SERVER": {"192.0.2.99": {}}}, "SYSLOG_SERVER.192.0.2.99", "(use services.syslog)"),
        ({"GNMI": {"gnmi": {"port": "8080"}}}, "GNMI.gnmi.port", "(use services.telemetry.gnmi)"),
        ({"PORT": {"Ethernet0": {"mtu": "9000"}}}, "PORT.Ethernet0.mtu", "(use mtu)"),
        ({"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}}}, "PFC_WD.GLOBAL.POLL_INTERVAL", "(use pfc.watchdog.polling)"),
        ({"DSCP_TO_TC_MAP": {"AZURE": {"26": "0"}}}, "DSCP_TO_TC_MAP.AZURE.26", "(use classes.*.dscp)"),
        ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "9m"}}}, "CABLE_LENGTH.AZURE.Ethernet0", "(use topology.uplinks.len"),
        ({"PORT": {"Ethernet0": {"index": "1"}}}, "PORT.Ethernet0.index", "is written already"),
        ({"PORT": {"Ethernet0": {"mtu": "9216"}}}, "PORT.Ethernet0.mtu", "is written already"),
        ({"snmp": {"a": {"b": "c"}}}, "snmp.a.b", "is no table"),
        ({"BANNER_MESSAGE": {"global": "x"}}, "BANNER_MESSAGE.global", "is not table, row and field"),
    ],
)  # fmt: skip
def test_what_touches_the_model_is_refused_with_the_key_to_use(own: Data, path: str, said: str) -> None:
    with pytest.raises(InputProblems) as caught:
        adding({"leaf1": {"tables": own}})
    (problem,) = caught.value.problems
    assert problem.where == f"extra.leaf1.tables.{path}"
    assert said in str(problem)
    assert (problem.path, problem.line is not None) == ("intent.yaml", True)


@pytest.mark.parametrize(
    ("lines", "positions"),
    [
        (["router bgp 4200100001", " neighbor 10.1.1.225 timers 3 9", " maximum-paths 4"], [2]),
        (["ip route 0.0.0.0/0 10.0.0.1"], [0]),
        (["ip nht resolve-via-default", "ip prefix-list MINE seq 5 permit any"], [1]),
        (["bgp graceful-shutdown"], [0]),
        (["router bgp 4200100001", " neighbor 10.1.1.225 remote-as 65001"], [1]),
        ([" neighbor 10.1.1.225 remote-as 65001", "router bgp 65009"], [0, 1]),
        (["log facility local3", "  network 192.0.2.0/24", " bgp router-id 192.0.2.1"], [1, 2]),
        (["maximum-paths 4", "match tag 5"], [0, 1]),
        (
            ["router bgp", " neighbor 10.1.1.225 local-as 0", " bgp router-id x", " neighbor 192.0.2.9 weight x"],
            [1, 2, 3],
        ),
        (["router bgp", " match tag 5", " neighbor 10.1.1.225 route-map X in"], [1, 2]),
        (["router bgp 65001 view x"], [0]),
    ],
)
def test_lines_that_change_the_routing_or_mean_nothing_known_where_they_are_are_refused(
    lines: list[str], positions: list[int]
) -> None:
    with pytest.raises(InputProblems) as caught:
        adding({"leaf1": {"lines": lines}})
    assert [problem.where for problem in caught.value.problems] == [f"extra.leaf1.lines.{at}" for at in positions]


UNKNOWN = ["zebra nexthop kernel enable", "router ospf", "  network 10.0.0.0/8 area 0", "exit"]
OF_PROCESS = ["router bgp", " bgp dampening", " neighbor SPINES addpath-tx-bestpath-per-AS", "exit"]


def test_lines_of_unknown_effect_are_placed_and_reported_at_the_intent() -> None:
    """nodrop does not refuse what FRR may have; it says that it does not know what these lines change."""
    intent = loads(shipped_text({"leaf": {"lines": OF_PROCESS}, "leaf2": {"lines": UNKNOWN}}), "pod.yaml")
    artifacts, reading = build_and_read_back(intent, "pod.yaml", "out")
    texts = {one.device: one.text for one in artifacts if one.path == "frr.conf"}
    ends = {name: text.partition("line vty\nexit\n!\n")[2].splitlines() for name, text in texts.items()}
    assert ends["spine1"] == []
    assert ends["leaf1"] == ["router bgp 4200100001", *OF_PROCESS[1:]]
    assert ends["leaf2"] == ["router bgp 4200100002", *OF_PROCESS[1:], *UNKNOWN]
    notes = [note for note in reading.notes if note.kind == "unknown-line"]
    assert {note.file for note in notes} == {"pod.yaml"}
    lines = intent.text.splitlines()
    for note in notes:
        assert note.line is not None
        assert note.text in lines[note.line - 1]
    of_process = [line.strip() for line in OF_PROCESS[1:-1]]
    assert {(note.device, note.text) for note in notes} == {
        *(("leaf1", line) for line in of_process),
        *(("leaf2", line) for line in (*of_process, *UNKNOWN[:2])),
    }


ON_NVUE = {'platform: sonic, version: "202505"': 'platform: nvue, version: "5.16"'}


@pytest.mark.parametrize(
    ("changes", "extra", "text"),
    [
        ({}, {"leaf1": {"tables": {"PBH_HASH": {"h": {"hash_field_list": ["a"]}}}}}, "PBH_HASH"),
        (
            ON_NVUE,
            {"leaf1": {"paths": {"vrf": {"default": {"router": {"ospf": {"enable": "on"}}}}}}},
            "vrf default router ospf",
        ),
        (
            ON_NVUE,
            {"leaf1": {"paths": {"system": {"config": {"snippet": {"frr.conf": "router ospf"}}}}}},
            "system config snippet frr.conf",
        ),
    ],
)
def test_settings_of_unknown_effect_are_reported_at_the_intent(changes: Data, extra: Data, text: str) -> None:
    intent = loads(shipped_text(extra, changes), "pod.yaml")
    _, reading = build_and_read_back(intent, "pod.yaml", "out")
    (note,) = (note for note in reading.notes if note.kind == "unknown-line")
    assert (note.text, note.file, note.line) == (text, "pod.yaml", len(intent.text.splitlines()))


def shipped_text(extra: Data, changes: Data | None = None) -> bytes:
    """Return the smallest intent as text, with a line for each switch or line of `extra`."""
    text = (resource_folder("intents") / "two-by-two.yaml").read_text() + "extra:\n"
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    for name, own in extra.items():
        lines = "".join(f"\n      - {json.dumps(line)}" for line in own.get("lines", ()))
        text += f"  {name}:\n    lines:{lines}\n" if lines else f"  {name}: {json.dumps(own)}\n"
    return text.encode()


def test_every_fault_is_told_once_however_many_switches_have_it() -> None:
    own = {"NTP_SERVER": {"192.0.2.99": {}}, "SYSLOG_SERVER": {"192.0.2.99": {}}, **PLACE}
    with pytest.raises(InputProblems) as caught:
        adding({"sonic": {"tables": own}})
    assert [one.where for one in caught.value.problems] == [
        "extra.sonic.tables.NTP_SERVER.192.0.2.99",
        "extra.sonic.tables.SYSLOG_SERVER.192.0.2.99",
    ]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"extra": (Extra(path=()),)}, "extra/"),
        ({"extra": (Extra(path=("BANNER_MESSAGE", "\ud800"), value=None),)}, "extra/BANNER_MESSAGE.\ud800"),
        ({"extra": (Extra(path=("KDUMP", "a", "b"), value="x"), Extra(path=("KDUMP", "a", "b"), value="y"))}, "extra"),
        ({"extra_lines": ("two\nlines",)}, "extra_lines/0"),
        ({"extra_lines": ("!",), "bgp": None, "static_routes": ()}, "extra_lines"),
    ],
)  # fmt: skip
def test_a_writer_refuses_what_it_cannot_add(change: dict[str, Any], path: str) -> None:
    with pytest.raises(UnsupportedByPlatform) as caught:
        writer_of_platform("sonic").write(replace_fields(PLAIN.devices[0], **change), Index(PLAIN))
    assert caught.value.path == path


NVUE = {"topology.spines.platform": "nvue", "topology.spines.version": "5.16"}


def adding_paths(name: str, paths: Data) -> Fabric:
    return build(shipped("two-by-two", NVUE | {"extra": {name: {"paths": paths}}}))


def test_times_that_no_key_of_the_intent_decides_are_free_though_the_model_has_them() -> None:
    own = {"bridge": {"domain": {"br_default": {"ageing": "7200"}}}}
    text = files(adding_paths("nvue", own), "startup.yaml")["spine1"]
    assert "ageing: 7200" in text


def test_paths_reach_the_switches_that_have_paths() -> None:
    own = {"system": {"wjh": {"state": "enabled"}}}
    fabric, plain = adding_paths("nvue", own), build(shipped("two-by-two", NVUE))
    with_own, without = files(fabric, "startup.yaml"), files(plain, "startup.yaml")
    assert with_own.keys() == {"spine1", "spine2"}
    for device, text in with_own.items():
        tree, before = (parse_yaml(one.encode(), "startup.yaml").data[1]["set"] for one in (text, without[device]))
        assert tree["system"].pop("wjh") == {"state": "enabled"}
        assert tree == before
    assert tables(fabric) == tables(plain)


@pytest.mark.parametrize(
    ("own", "path", "said"),
    [
        ({"interface": {"swp1": {"link": {"mtu": "9000"}}}}, "interface.swp1.link.mtu", "(use mtu)"),
        ({"service": {"ntp": {"mgmt": {"server": {"192.0.2.99": {}}}}}}, "service.ntp.mgmt.server.192.0.2.99", "ntp)"),
        ({"router": {"bgp": {"autonomous-system": "7"}}}, "router.bgp.autonomous-system", "(use routing)"),
    ],
)
def test_paths_that_touch_the_model_are_refused_with_the_key_to_use(own: Data, path: str, said: str) -> None:
    with pytest.raises(InputProblems) as caught:
        adding_paths("spine", own)
    (problem,) = caught.value.problems
    assert problem.where == f"extra.spine.paths.{path}"
    assert said in str(problem)


@pytest.mark.parametrize(
    ("extra", "where"),
    [
        ({"spine": {"lines": ["!"]}}, "extra.spine.lines"),
        ({"spine1": {"tables": PLACE}}, "extra.spine1.tables"),
        ({"leaf": {"paths": {"system": {"wjh": {"state": "enabled"}}}}}, "extra.leaf.paths"),
        ({"onyx": {"paths": {"a": {}}}}, "extra.onyx"),
    ],
)
def test_what_a_platform_has_no_place_for_is_refused(extra: Data, where: str) -> None:
    with pytest.raises(InputProblems) as caught:
        build(shipped("two-by-two", NVUE | {"extra": extra}))
    assert [problem.where for problem in caught.value.problems] == [where]


def test_a_sub_interface_of_no_interface_is_refused_with_all_of_its_settings() -> None:
    def sub_interface(base: str) -> Data:
        return {"interface": {f"{base}.4094": {"base-interface": base, "type": "sub", "vlan": "4094"}}}

    with pytest.raises(InputProblems) as caught:
        adding_paths("spine1", sub_interface("peerlink"))
    head = "extra.spine1.paths.interface.peerlink.4094"
    assert {problem.where for problem in caught.value.problems} == {
        f"{head}.{word}" for word in ("base-interface", "type", "vlan")
    }
