"""What changes in files and is no fact of the model: told by table and key, with its risk, and made by the patch."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import Reading, Source
from nodrop.plan.model import Plan
from nodrop.plan.patches import make_patches
from nodrop.platforms.kit.settings import DeviceFileSettings
from nodrop.report import plan_json
from nodrop.resources import resource_folder
from support.broken_fabrics import broken, said
from support.command import nodrop as command
from support.pages import markdown_of_plan, text_of_plan
from support.places import TESTS

SECRET = "hunter2-in-the-clear"
Tables = dict[str, Any]


def sonic(change: Callable[[Tables], None], *names: str) -> tuple[Reading, Reading]:
    """Return what switches say, and what they say with the tables of some of them changed."""
    old = broken("sonic", [])
    for name in names:
        tables = json.loads(old[f"{name}/config_db.json"])
        old[f"{name}/config_db.json"] = json.dumps(tables | {"NTP_SERVER": {"192.0.2.10": {}}})
    new = dict(old)
    for name in names:
        tables = json.loads(old[f"{name}/config_db.json"])
        change(tables)
        new[f"{name}/config_db.json"] = json.dumps(tables)
    return said(old), said(new)


def told(plan: Plan) -> list[tuple[tuple[str, ...], str, list[tuple[str, str]], str]]:
    """Return of each part its switches, its name, keys and kinds, and what it does."""
    return [
        (
            one.devices,
            " ".join(one.at[1:]),
            [(" ".join(key.path[len(one.at) :]), key.kind) for key in one.keys],
            one.effect.risk,
        )
        for one in plan.outside_model
    ]


def rules_and_time(tables: Tables) -> None:
    tables["MIRROR_SESSION"] = {"DATA": {"type": "SPAN", "dst_port": "Ethernet8", "src_port": "Ethernet0"}}
    tables["NTP_SERVER"]["192.0.2.10"] = {"association_type": "server"}
    tables["SNMP_COMMUNITY"] = {SECRET: {"TYPE": "RO"}}
    tables["TACPLUS"] = {"global": {"passkey": SECRET}}


def test_tables_that_the_model_does_not_hold_are_told_of_all_switches_once() -> None:
    old, new = sonic(rules_and_time, "leaf1", "leaf2")
    plan = nodrop.plan(old, new)
    both = ("leaf1", "leaf2")
    assert told(plan) == [
        (both, "MIRROR_SESSION", [("DATA", "added")], "unknown"),
        (both, "NTP_SERVER", [("192.0.2.10 association_type", "added")], "service restart"),
        (both, "SNMP_COMMUNITY", [("…", "added")], "unknown"),
        (both, "TACPLUS", [("global", "added")], "unknown"),
    ]
    assert (plan.changes, plan.is_empty, [one.devices for one in plan.order]) == ((), False, [("leaf1",), ("leaf2",)])
    assert plan.effects == dict.fromkeys(both, "service restart")
    assert SECRET not in text_of_plan(plan) + markdown_of_plan(plan) + plan_json.render([plan]).decode()
    for one in make_patches(plan, old, new):
        assert json.loads(one.result["config_db.json"]) == json.loads(new.sources[one.device][0].held or b"")
        assert not one.by_hand


def test_a_file_that_is_only_written_otherwise_has_not_changed() -> None:
    def turned(tables: Tables) -> None:
        both = dict(reversed(tables.items()))
        tables.clear()
        tables.update(both)
        tables["ACL_TABLE"] = {}

    plan = nodrop.plan(*sonic(turned, "leaf1"))
    assert (plan.is_empty, plan.outside_model) == (True, ())


def test_facts_of_the_model_are_not_told_twice() -> None:
    def both(tables: Tables) -> None:
        for row in tables["WRED_PROFILE"].values():
            row["green_min_threshold"] = "200000"
        tables["PORT"]["Ethernet0"]["tpid"] = "0x8100"
        tables["DEVICE_NEIGHBOR"]["Ethernet0"]["port"] = "mlx5_7"

    old, new = sonic(both, "leaf1")
    plan = nodrop.plan(old, new)
    assert [one.at[1:] for one in plan.outside_model] == [("PORT",)]
    assert told(plan)[0][2] == [("Ethernet0 tpid", "added")]
    assert plan.changes


def test_paths_of_nvue_and_lines_of_the_routing_daemon() -> None:
    old = broken("nvue", [])
    text = old["leaf1/startup.yaml"]
    new = said({**old, "leaf1/startup.yaml": text + "- set:\n    system:\n      aaa:\n        user:\n          ops:\n"
        f"            password: {SECRET}\n            role: nvue-admin\n"})  # fmt: skip
    plan = nodrop.plan(said(old), new)
    assert told(plan) == [(("leaf1",), "system aaa", [("user", "added")], "unknown")]
    assert SECRET not in plan_json.render([plan]).decode()
    frr = broken("sonic", [])
    more = {**frr, "leaf1/frr.conf": frr["leaf1/frr.conf"] + f"password {SECRET}\nlog timestamp precision 3\n"}
    (part,) = nodrop.plan(said(frr), said(more)).outside_model
    assert (part.at, [key.path[1] for key in part.keys]) == (("frr.conf",), ["password", "log timestamp precision"])


def test_lines_of_a_platform_without_settings() -> None:
    """Onyx, whose reader gathers settings of its own."""
    text = (TESTS / "platforms" / "onyx" / "good.txt").read_bytes()
    one, other = (read("onyx", raw) for raw in (text, text + b"   banner login hello\n"))
    (part,) = nodrop.plan(one, other).outside_model
    assert [key.path for key in part.keys] == [("running-config.txt", "banner login hello")]


def read(platform: str, raw: bytes) -> Reading:
    """Return what the one file of a switch says."""
    source = Source(name=platforms.reader(platform).CANONICAL_FILES[0], display="leaf1", held=raw)
    found = platforms.reader(platform).read_device("leaf1", [(source, raw)])
    return assemble_fabric([replace(found, sources=(source,))], DeclaredFacts())


@pytest.mark.parametrize(("base", "code"), [("plan", 1), ("check", 0)])
def test_additions_of_an_intent_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, code: int) -> None:
    monkeypatch.chdir(tmp_path)
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    Path("old").mkdir()
    Path("old/fabric.yaml").write_text(text)
    Path("fabric.yaml").write_text(text + "extra: {leaf: {tables: {CRM: {Config: {polling_interval: '60'}}}}}\n")
    words = (
        ("plan", "old/fabric.yaml", "fabric.yaml") if base == "plan" else ("check", "fabric.yaml", "--base", "./old")
    )
    done = command(*words)
    assert done.code == code
    assert "not covered by nodrop\n  leaf1, leaf2: CRM: Config added\n    = unknown: " in done.out


def test_settings_are_taken_in_the_order_of_their_paths() -> None:
    """And not in that of a set, which every run has otherwise: what is spelt has the same bytes."""
    means = platforms.find_settings_reader("nvue")
    none, some = (
        DeviceFileSettings({"startup.yaml": f"- set: {text}\n".encode()}, means)
        for text in (
            "{}",
            "{system: {hostname: leaf1}, qos: {roce: {enable: on, mode: lossless}}, interface: {swp1: {}}}",
        )
    )
    paths = [one.path for one in none.differences(some)]
    made = none.files_with_settings_from(some, paths)
    assert len(paths) == 4
    assert all(none.files_with_settings_from(some, paths[at:] + paths[:at]) == made for at in range(4))


def test_a_setting_that_states_its_default_is_harmless() -> None:
    """By the YANG model of the release, or by what the reader takes for a port without the setting."""

    def stated(tables: Tables) -> None:
        tables["PORT"]["Ethernet0"]["dhcp_rate_limit"] = "300"
        tables["PORT"]["Ethernet8"]["tpid"] = "0x8100"

    forth = nodrop.plan(*sonic(stated, "leaf1"))
    back = nodrop.plan(*reversed(sonic(stated, "leaf1")))
    for plan, kind in ((forth, "added"), (back, "removed")):
        assert told(plan) == [
            (("leaf1",), "PORT", [("Ethernet0 dhcp_rate_limit", kind)], "none"),
            (("leaf1",), "PORT", [("Ethernet8 tpid", kind)], "unknown"),
        ]
        assert plan.outside_model[0].effect.reasons == ("it states the default, which is in effect without it too",)
    old = broken("nvue", [])
    text = old["leaf1/startup.yaml"]
    without = said({**old, "leaf1/startup.yaml": text.replace("          mtu: 9216\n", "")})
    assert text.count("          mtu: 9216\n")
    for one, other in ((without, said(old)), (said(old), without)):
        assert {row[-1] for row in told(nodrop.plan(one, other))} == {"none"}
        assert nodrop.drift(one, other).is_empty


def test_settings_of_a_port_that_comes_into_use_or_is_shut_are_harmless() -> None:
    def used(tables: Tables) -> None:
        tables["PORT"]["Ethernet0"] |= {"admin_status": "up", "tpid": "0x8100"}

    def spare(tables: Tables) -> None:
        tables["PORT"]["Ethernet0"]["admin_status"] = "down"

    both = sonic(spare, "leaf1")[1], sonic(used, "leaf1")[1]
    for plan, kind, why in (
        (nodrop.plan(*both), "added", "the ports are shut before, and carry nothing"),
        (nodrop.plan(*reversed(both)), "removed", "the port is shut with this change, and carries nothing then"),
    ):
        assert told(plan) == [(("leaf1",), "PORT", [("Ethernet0 tpid", kind)], "none")]
        assert plan.outside_model[0].effect.reasons == (why,)


def test_a_session_that_joins_or_leaves_its_peer_group_is_reset() -> None:
    old = broken("sonic", [])
    text = old["leaf1/frr.conf"]
    session = " neighbor 10.1.1.225 peer-group SPINES\n"
    activate = "  neighbor SPINES activate\n"
    assert session in text
    assert activate in text
    alone = text.replace(session, " neighbor 10.1.1.225 timers 5 15\n").replace(
        activate, f"{activate}  neighbor 10.1.1.225 activate\n"
    )
    new = {**old, "leaf1/frr.conf": alone}
    leaves, joins = nodrop.plan(said(old), said(new)), nodrop.plan(said(new), said(old))
    for plan, reason in (
        (leaves, "leaves peer group SPINES, which changes.vtysh cannot do; load the new frr.conf with apply.sh"),
        (joins, "joins peer group SPINES"),
    ):
        (one,) = plan.combined_impact
        assert (one.devices, one.effect.risk) == (("leaf1",), "traffic-affecting")
        assert one.effect.reasons == (f"BGP session 10.1.1.225 is reset: it {reason}",)
        assert plan.effects["leaf1"] == "traffic-affecting"
