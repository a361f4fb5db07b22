"""Drift beside the model: what was said and does not run, and what runs and nobody said, told by table and row."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading, Source
from nodrop.plan.drifting import declared_facts_of
from nodrop.plan.effects import switch_files_if_unchanged
from nodrop.plan.model import Drift
from nodrop.plan.patches import make_patches
from nodrop.platforms.kit.own_additions import is_self_written_setting
from nodrop.report.drift_document import KEY_VERBS
from nodrop.report.plan_document import format_other_file_changes
from nodrop.syntax.yaml import parse_yaml
from support.as_it_runs import as_it_runs
from support.json_text import applied
from support.plan_pairs import reading, reading_of
from support.running_files import running

SECRET = "hunter2-in-the-clear"
Tables = dict[str, Any]
Change = Callable[[Tables], object]


def read(platform: str, files: dict[str, bytes], stated: Fabric | None = None) -> Reading:
    sources = [(Source(name=name, display=name, held=raw), raw) for name, raw in files.items()]
    found = platforms.reader(platform).read_device("leaf1", sources)
    return assemble_fabric([found], declared_facts_of(stated) if stated else DeclaredFacts())


def files_of(platform: str = "sonic") -> dict[str, bytes]:
    return dict(switch_files_if_unchanged(reading(platform), "leaf1") or {})


def sonic(change: Change, want: Change = lambda _: None) -> tuple[Reading, Reading]:
    """What a switch shows, with a change to its tables, and what is wanted of it, with another."""
    files = files_of()
    wanted = json.loads(files["config_db.json"])
    want(wanted)
    shown = as_it_runs("sonic", {**files, "config_db.json": json.dumps(wanted).encode()}, Random(1))
    tables = json.loads(shown["config_db.json"])
    change(tables)
    said = read("sonic", {**files, "config_db.json": json.dumps(wanted).encode()})
    return read("sonic", {**shown, "config_db.json": json.dumps(tables).encode()}, said.fabric), said


def told(found: Drift) -> list[tuple[str, list[tuple[str, str]]]]:
    """Of each part its name, and keys with what is the matter with them: `removed` runs alone, `added` is missing."""
    return [
        (" ".join(one.at[1:]), [(" ".join(key.path[len(one.at) :]), key.kind) for key in one.keys])
        for one in found.plan.outside_model
    ]


def drifted(change: Change, want: Change = lambda _: None) -> Any:
    found = nodrop.drift(*sonic(change, want))
    assert found.plan.changes == ()
    assert found.is_empty == (not found.plan.outside_model)
    return told(found)


def test_an_access_list_that_somebody_has_added() -> None:
    def by_hand(tables: Tables) -> None:
        tables["ACL_TABLE"] = {"DATA": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0"]}}
        tables["ACL_RULE"] = {"DATA|RULE_1": {"PRIORITY": "9999", "PACKET_ACTION": "DROP", "SRC_IP": "192.0.2.0/24"}}

    before, wanted = sonic(by_hand)
    found = nodrop.drift(before, wanted)
    (fact,) = found.plan.changes[0].facts
    assert ([entry.path for entry in fact.entries], told(found)) == ([("access_lists", "DATA")], [])
    (patch,) = make_patches(found.plan, before, wanted)
    assert [step["path"] for step in json.loads(patch.files["patch.json"])] == ["/ACL_RULE", "/ACL_TABLE"]
    assert patch.by_hand == ()


def test_what_was_said_and_does_not_run() -> None:
    def extra(tables: Tables) -> None:
        tables["CRM"] = {"Config": {"polling_interval": 60}}
        tables["SYSLOG_CONFIG"] = {"GLOBAL": {"severity": "notice"}}

    def without(tables: Tables) -> None:
        tables["CRM"]["Config"]["polling_interval"] = "300"
        del tables["SYSLOG_CONFIG"]

    assert drifted(lambda _: None, extra) == []
    assert drifted(without, extra) == [
        ("CRM", [("Config polling_interval", "changed")]),
        ("SYSLOG_CONFIG", [("GLOBAL", "added")]),
    ]


def test_what_a_switch_would_write_otherwise_is_somebodys() -> None:
    """Of a row that the image brings along, that alone which is not the image's."""

    def stopped(tables: Tables) -> None:
        tables["FEATURE"]["lldp"]["state"] = "disabled"
        tables["FEATURE"]["what-just-happened"] = {"state": "enabled"}
        tables["LOGGER"]["orchagent"]["LOGLEVEL"] = "DEBUG"

    assert drifted(stopped) == [
        ("FEATURE", [("lldp state", "removed"), ("what-just-happened", "removed")]),
        ("LOGGER", [("orchagent LOGLEVEL", "removed")]),
    ]


def test_the_same_in_other_words_is_no_drift() -> None:
    def renamed(tables: Tables) -> None:
        tables["WRED_PROFILE"] = {"MINE": next(iter(tables["WRED_PROFILE"].values()))}
        for row in tables["QUEUE"].values():
            row |= {"wred_profile": "MINE"} if "wred_profile" in row else {}
        tables["DSCP_TO_TC_MAP"]["SITE"] = tables["DSCP_TO_TC_MAP"].pop("AZURE")
        for row in tables["PORT_QOS_MAP"].values():
            row["dscp_to_tc_map"] = "SITE"

    assert drifted(renamed) == []


def test_cables_that_a_switch_no_longer_knows() -> None:
    """The table is what LLDP is held against; that cables themselves are stated elsewhere is no matter."""
    assert drifted(lambda tables: tables["DEVICE_NEIGHBOR"].pop("Ethernet0")) == [
        ("DEVICE_NEIGHBOR", [("Ethernet0", "added")])
    ]


def test_servers_of_time_that_an_image_has_of_itself() -> None:
    given: list[Tables] = parsed(files_of("nvue")["startup.yaml"])
    shown = json.loads(json.dumps(given))
    pool = {f"{number}.cumulusnetworks.pool.ntp.org": {} for number in range(4)}
    shown[1]["set"].setdefault("system", {})["ntp"] = {"server": pool}
    running, wanted = (read("nvue", {"startup.yaml": json.dumps(one).encode()}) for one in (shown, given))
    assert len(running.fabric.devices[0].ntp_servers) == len(pool)
    assert nodrop.drift(running, wanted).is_empty
    assert not nodrop.drift(wanted, running).is_empty


def test_what_the_model_holds_is_told_by_its_facts() -> None:
    def of_snmp(location: str) -> Change:
        return lambda tables: tables.update(
            SNMP={"LOCATION": {"Location": location}}, SNMP_COMMUNITY={"public": {"TYPE": "RO"}}
        )

    assert nodrop.drift(*sonic(of_snmp("public"))).is_empty
    found = nodrop.drift(*sonic(of_snmp("hall 4")))
    assert {entry.path for one in found.plan.changes for fact in one.facts for entry in fact.entries} == {
        ("snmp_location",)
    }
    assert found.plan.outside_model == ()


def test_secrets_are_missed_but_not_compared() -> None:
    def given(tables: Tables) -> None:
        tables["TACPLUS"] = {"global": {"passkey": SECRET, "auth_type": "login"}}
        tables["SNMP_COMMUNITY"] = {SECRET: {"TYPE": "RO"}}

    def scrambled(tables: Tables) -> None:
        tables["TACPLUS"]["global"]["passkey"] = "U2FsdGVkX1"

    def taken_out(tables: Tables) -> None:
        del tables["TACPLUS"], tables["SNMP_COMMUNITY"]

    assert drifted(scrambled, given) == []
    assert drifted(taken_out, given) == [("SNMP_COMMUNITY", [("…", "added")]), ("TACPLUS", [("global", "added")])]


def test_a_part_of_a_configuration_is_silent_of_the_rest() -> None:
    def extra(tables: Tables) -> None:
        tables["CRM"] = {"Config": {"polling_interval": "60"}}

    def part(tables: Tables) -> None:
        for table in tables.keys() - {"DEVICE_METADATA", "SYSLOG_CONFIG"}:
            del tables[table]
        tables["SYSLOG_CONFIG"]["GLOBAL"]["severity"] = "debug"

    found = nodrop.drift(*sonic(part, extra))
    assert told(found) == [("SYSLOG_CONFIG", [("GLOBAL severity", "removed")])]


def test_tables_in_several_files_are_those_of_one() -> None:
    shown = as_it_runs("sonic", files_of(), Random(1))
    files = files_of()
    tables = json.loads(files["config_db.json"])
    qos = {table: tables.pop(table) for table in ("PFC_WD", "CABLE_LENGTH", "LOSSLESS_TRAFFIC_PATTERN")}
    apart = {**files, "config_db.json": json.dumps(tables).encode(), "init_cfg.json": json.dumps(qos).encode()}
    assert nodrop.drift(read("sonic", shown), read("sonic", apart)).is_empty
    log = b"admin@leaf1:~$ show runningconfiguration all\n" + shown["config_db.json"] + b"\nadmin@leaf1:~$ "
    assert nodrop.drift(read("sonic", {**shown, "config_db.json": log}), read("sonic", apart)).is_empty


def test_lines_of_the_routing_daemon_are_not_compared() -> None:
    files = files_of()
    shown = {**files, "frr.conf": files["frr.conf"] + b"log timestamp precision 3\n"}
    assert nodrop.drift(read("sonic", shown), read("sonic", files)).is_empty


@pytest.mark.parametrize("commands", [False, True])
def test_settings_of_nvue_in_either_form(commands: bool) -> None:
    files = files_of("nvue")
    given: list[Tables] = parsed(files["startup.yaml"])
    given[1]["set"]["system"]["message"] = {"pre-login": "keep out"}
    wanted = read("nvue", {"startup.yaml": json.dumps(given).encode()})
    more = json.loads(json.dumps(given))
    acl = {"type": "ipv4", "rule": {"10": {"action": {"deny": {}}, "match": {"ip": {"source-ip": "192.0.2.0/24"}}}}}
    more[1]["set"]["acl"] = {"SITE": acl}
    more[1]["set"]["system"]["message"] = {"pre-login": "welcome"}
    more[1]["set"]["system"].setdefault("aaa", {})["user"] = {"ops": {"password": SECRET, "role": "nvue-admin"}}
    seed = next(seed for seed in range(9) if _is_commands(more, seed) == commands)
    shown = as_it_runs("nvue", {"startup.yaml": json.dumps(more).encode()}, Random(seed))
    found = nodrop.drift(read("nvue", shown), wanted)
    assert told(found) == [
        ("system aaa", [("user ops", "removed")]),
        ("system message", [("pre-login", "changed")]),
    ]
    assert SECRET not in str(found.plan.outside_model)
    (patch,) = make_patches(found.plan, read("nvue", shown), wanted)
    assert (patch.by_hand, SECRET in str(patch.files)) == ((), False)
    lines = patch.files["changes.nv"].decode().splitlines()
    assert {"nv set system message pre-login 'keep out'", "nv unset acl", "nv unset system aaa user ops"} <= {*lines}


def parsed(raw: bytes) -> Any:
    return parse_yaml(raw, "startup.yaml").data


def _is_commands(given: Any, seed: int) -> bool:
    return as_it_runs("nvue", {"startup.yaml": json.dumps(given).encode()}, Random(seed))["startup.yaml"][:2] == b"nv"


def test_what_is_alike_on_several_switches_is_told_once() -> None:
    wanted = reading_of("sonic", {"extra": {"leaf": {"tables": {"CRM": {"Config": {"polling_interval": "60"}}}}}})
    found = nodrop.drift(running(reading(), 3, wanted.fabric), wanted)
    assert [(one.devices, told(found)) for one in found.plan.outside_model] == [
        (("leaf1", "leaf2"), [("CRM", [("Config polling_interval", "changed")])])
    ]


def test_the_way_back_is_in_the_patch_and_what_is_not_is_said() -> None:
    def by_hand(tables: Tables) -> None:
        tables["ACL_TABLE"] = {"DATA": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0"]}}
        tables["TACPLUS"] = {"global": {"passkey": SECRET}}
        tables["FEATURE"]["lldp"]["state"] = "disabled"
        tables["PORT"]["Ethernet0"]["mtu"] = "9100"
        del tables["NTP_SERVER"]["192.0.2.10"]["association_type"]

    def extra(tables: Tables) -> None:
        tables["NTP_SERVER"] = {"192.0.2.10": {"association_type": "server"}}

    before, wanted = sonic(by_hand, extra)
    found = nodrop.drift(before, wanted)
    (patch,) = make_patches(found.plan, before, wanted)
    assert patch.by_hand == ("FEATURE lldp state: left as it runs, to be set by hand",)
    assert SECRET not in str(patch.files)
    tables = json.loads(before.sources["leaf1"][0].held or b"")
    after = applied(json.loads(patch.files["patch.json"]), tables)
    assert "ACL_TABLE" not in after
    assert after["NTP_SERVER"] == {"192.0.2.10": {"association_type": "server"}}
    files = {source.name: source.held or b"" for source in before.sources["leaf1"]}
    then = nodrop.drift(read("sonic", {**files, "config_db.json": json.dumps(after).encode()}), wanted)
    assert (told(then), then.plan.changes) == ([("FEATURE", [("lldp state", "removed")])], ())


def test_what_is_written_over_what_was_given() -> None:
    """The version of the database is the image's own, whatever a configuration says; a polling interval is not."""
    version, polling = ("VERSIONS", "DATABASE", "VERSION"), ("CRM", "Config", "polling_interval")
    assert is_self_written_setting("sonic", version, "version_202505_02", overwrite=True)
    assert is_self_written_setting("sonic", polling, "300")
    assert not is_self_written_setting("sonic", polling, "300", overwrite=True)
    assert not is_self_written_setting("sonic", polling, "60")
    assert is_self_written_setting("nvue", ("system", "api", "state", "enabled"), {})
    assert not is_self_written_setting("nvue", ("system", "api", "state", "disabled"), {})


def test_ports_of_which_the_same_is_told_are_one_line() -> None:
    given: list[Tables] = parsed(files_of("nvue")["startup.yaml"])
    shown = json.loads(json.dumps(given))
    for port in ("swp1", "swp2", "swp3"):
        shown[1]["set"]["interface"].setdefault(port, {})["acl"] = {"SITE": {"inbound": {}}}
    both = (read("nvue", {"startup.yaml": json.dumps(one).encode()}) for one in (shown, given))
    plan = nodrop.drift(*both).plan
    assert [one.at[1:] for one in plan.outside_model] == [("interface", f"swp{number}") for number in (1, 2, 3)]
    assert [line for line, _ in format_other_file_changes(plan, KEY_VERBS)] == [
        "leaf1: interface swp[1-3]: acl not wanted"
    ]
