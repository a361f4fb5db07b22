"""`nodrop import` of folders: what it prints, writes and refuses, and an intent held against files."""

import json
import re
import shutil
from pathlib import Path

import pytest

import nodrop
from nodrop.intent.load import loads
from nodrop.model.states import known_rows
from nodrop.resources import resource_folder
from support.command import nodrop as run
from support.designs import build
from support.imported_fabrics import filled
from support.platform_mixes import on


def test_the_command_writes_a_file_that_builds_to_what_was_read(two_by_two: Path, tmp_path: Path) -> None:
    to = tmp_path / "made" / "intent.yaml"
    done = run("import", two_by_two, "-o", to)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{to}: written; round trip: identical\n"
    assert run("build", to, "-o", tmp_path / "again").code == 0
    for one in sorted(two_by_two.rglob("*")):
        if one.is_file() and one.name != ".nodrop.json":
            assert (tmp_path / "again" / one.relative_to(two_by_two)).read_bytes() == one.read_bytes(), one


def test_the_command_says_what_is_not_carried_and_never_writes_over_a_file(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    text = (site / "spine1" / "config_db.json").read_text()
    (site / "spine1" / "config_db.json").write_text(text.replace('"202505"', '"202505"').replace("1500000", "1400000"))
    done = run("import", site)
    assert done.code == 1
    assert "# Not imported:" in done.out
    assert "spine1" in done.out.partition("# Not imported:")[2]
    there = tmp_path / "there.yaml"
    there.write_text("mine")
    refused = run("import", site, "-o", there)
    assert (refused.code, there.read_text()) == (2, "mine")
    assert run("import", tmp_path / "nowhere").code == 2


def test_settings_by_hand_are_carried_and_secrets_are_not(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    for name in ("leaf1", "leaf2"):
        at = site / name / "config_db.json"
        tables = json.loads(at.read_text())
        tables["TACPLUS"] = {"global": {"passkey": "open-sesame", "timeout": "5"}}
        tables["SNMP_AGENT_ADDRESS_CONFIG"] = {"192.0.2.7|161|": {}}
        at.write_text(json.dumps(tables, indent=4))
    done = run("import", site)
    assert "open-sesame" not in done.out
    assert "TACPLUS global passkey, which hold secrets" in done.out
    assert 'timeout: "5"' in done.out
    assert "192.0.2.7|161|" in done.out
    assert done.code == 1


def test_settings_that_no_fact_of_the_model_is_about_are_told(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    at = site / "leaf1" / "config_db.json"
    tables = json.loads(at.read_text())
    alias = tables["PORT"]["Ethernet0"]["alias"]
    tables["PORT"]["Ethernet0"]["alias"] = "first"
    at.write_text(json.dumps(tables, indent=4))
    done = run("import", site)
    assert f"#   leaf1: PORT Ethernet0 alias is first, this intent gives {alias}\n" in done.out
    assert done.code == 1


@pytest.mark.slow
def test_settings_that_go_with_facts_that_are_told_are_counted(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    shutil.rmtree(site / "leaf2")
    done = run("import", site)
    assert done.out.count("settings of its files that go with the settings above") == 2
    assert "PORT_QOS_MAP" not in done.out


def test_the_model_is_stated_where_no_file_says_it(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    (site / "fabric.yaml").unlink()
    for name in ("leaf1", "leaf2", "spine1", "spine2"):
        at = site / name / "config_db.json"
        tables = json.loads(at.read_text())
        tables["DEVICE_METADATA"]["localhost"] |= {"hwsku": "Acme-3200", "platform": "x86_64-acme-r0"}
        at.write_text(json.dumps(tables, indent=4))
    without = run("import", site)
    assert "# TODO: HWSKU Acme-3200 is of no model that nodrop knows; `nodrop hardware` lists them" in without.out
    done = run("import", site, "--model", "SN3700", "--model", "*=SN4700")
    assert "  leaves: {ids: 1-2, model: SN4700, platform: sonic" in done.out
    assert "ports: {endpoints: 1-3, uplinks: 29-32}}" in done.out
    for words, said in (
        (("--model", "SN4701"), "no switch model 'SN4701' (did you mean `SN4700`?)"),
        (("--model", "core*=SN4700"), "--model core*=SN4700: no switch is called so; there are leaf1, leaf2, spine1"),
    ):
        refused = run("import", site, *words)
        assert (refused.code, said in refused.err) == (2, True), refused.err
    known = run("import", two_by_two, "--model", "SN4700")
    assert "the files of leaf1, leaf2, spine1, spine2 say the model" in known.err


def test_lists_of_commands_in_a_folder_are_read_as_when_they_are_named(tmp_path: Path) -> None:
    for name in ("core-01.sh", "core-02.txt"):
        (tmp_path / name).write_text("#!/bin/bash\n# made by us\nnv set interface swp1 link mtu 9216\n")
    for paths in ((tmp_path,), (tmp_path / "core-01.sh", tmp_path / "core-02.txt")):
        assert 'names: {template: {leaf: "core-{id:02}"}}' in run("import", *paths).out


LEAF = """\
auto lo
iface lo inet loopback
    address 10.0.0.1{n}/32
auto swp1
iface swp1
auto swp2
iface swp2
auto swp51
iface swp51
    address {up1}
auto swp52
iface swp52
    address {up2}
"""
SPINE = """\
auto lo
iface lo inet loopback
    address 10.0.0.2{n}
    netmask 255.255.255.255
auto swp1
iface swp1
auto swp2
iface swp2
"""
BGP = "router bgp {asn}\n neighbor {one} remote-as external\n neighbor {other} remote-as external\n"


@pytest.fixture
def habits(tmp_path: Path) -> Path:
    """Two leaves and two spines of Cumulus Linux as they were ten years ago: spines' addresses are in frr.conf."""
    site = tmp_path / "hall"
    for n in (1, 2):
        leaf, spine = site / f"leaf0{n}", site / f"spine0{n}"
        leaf.mkdir(parents=True)
        spine.mkdir()
        ups = [f"10.1.{s}.{2 * n}/31" for s in (1, 2)]
        (leaf / "interfaces").write_text(LEAF.format(n=n, up1=ups[0], up2=ups[1]))
        (leaf / "frr.conf").write_text(
            BGP.format(asn=65100 + n, one=f"10.1.1.{2 * n + 1}", other=f"10.1.2.{2 * n + 1}")
        )
        downs = [f"interface swp{one}\n ip address 10.1.{n}.{2 * one + 1}/31\n" for one in (1, 2)]
        routing = BGP.format(asn=65000, one=f"10.1.{n}.2", other=f"10.1.{n}.4")
        (spine / "interfaces").write_text(SPINE.format(n=n))
        (spine / "frr.conf").write_text("".join(downs) + routing)
    return site


def test_what_is_to_be_added_builds_as_the_examples_have_it(habits: Path) -> None:
    done = run("import", habits)
    assert 'names: {template: "{role}{id:02}"}' in done.out
    assert "ports: {endpoints: 1-2, uplinks: 51-52}" in done.out
    assert "routing: {asn: {spines: 65000, leaves: 65100+}}" in done.out
    assert "  # guessed: addresses are not given out as here; 10.1.0.0/22 made wide enough for it\n" in done.out
    assert "  # endpoints: 10.2.0.0/16\n  # oob: 192.168.100.0/24\n" in done.out
    assert "does not build: 5 TODOs in it" in done.err
    intent = loads(filled(done.out).encode(), "hall.yaml")
    fabric = nodrop.build(intent)
    assert {one.model for one in fabric.devices} == {"SN2100", "SN4600"}
    assert [(one.a, one.b) for one in fabric.links if one.a.node == "leaf01" and one.b.node == "spine02"]


def test_a_filled_in_import_is_held_against_the_files(habits: Path, tmp_path: Path) -> None:
    intent = tmp_path / "hall.yaml"
    intent.write_text(filled(run("import", habits).out))
    done = run("import", habits, "--against", intent)
    assert done.code == 1
    lines = done.out.splitlines()
    assert not any("Names of" in line for line in lines)
    assert not any(": links is " in line or ": role is " in line or "asn" in line for line in lines)
    (addresses,) = (line for line in lines if ": addresses/0 is otherwise" in line)
    assert addresses.startswith("leaf01, leaf02 swp51, swp52; spine01, spine02 swp1, swp2: ")
    assert "such as 10.1.1.2/31, where this intent gives 10.1." in addresses
    assert f"{intent}: {len(lines)} kinds of facts differ\n" == done.err
    for words in (("-o", tmp_path / "new.yaml"), ("--model", "SN2100")):
        assert "expected no -o and --model" in run("import", habits, "--against", intent, *words).err
    assert run("import", habits, "--against", tmp_path / "none.yaml").code == 2


def test_addresses_of_the_routing_daemon_and_of_netmasks_are_the_ports(habits: Path) -> None:
    fabric = nodrop.read([habits]).fabric
    (spine,) = (one for one in fabric.devices if one.name == "spine01")
    assert spine.interfaces[0].addresses == ("10.1.1.3/31",)
    assert known_rows(spine.loopbacks)[0].addresses == ("10.0.0.21/32",)
    assert nodrop.read([habits]).notes == ()


@pytest.mark.parametrize("name", ["pfc-only", "uec", "border"])
def test_what_no_file_of_a_switch_says_is_taken_from_the_intent_that_is_held_against_it(
    name: str, tmp_path: Path
) -> None:
    """The mode, the names of neighbors outside, and those of hosts in descriptions."""
    intent = tmp_path / f"{name}.yaml"
    names = "names: {hosts: {gpu: 'dgx-{id:02}'}}\n"
    intent.write_text((resource_folder("intents") / f"{name}.yaml").read_text() + names)
    assert run("build", intent, "-o", tmp_path / "build", "--fail-on", "never").code == 0
    (tmp_path / "build" / "fabric.yaml").unlink()
    done = run("import", tmp_path / "build", "--against", intent)
    assert (done.code, done.out) == (0, "")


def test_an_intent_held_against_its_build_comes_to_it(two_by_two: Path, tmp_path: Path) -> None:
    intent = resource_folder("intents") / "two-by-two.yaml"
    done = run("import", two_by_two, "--against", intent)
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("two-by-two.yaml: equal to the files\n")
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    at = site / "leaf1" / "config_db.json"
    at.write_text(json.dumps(json.loads(at.read_text()) | {"BANNER_MESSAGE": {"global": {"motd": "row 7"}}}, indent=4))
    more = run("import", site, "--against", intent)
    assert more.out.endswith(
        'extra:\n  leaf1:\n    tables:\n      BANNER_MESSAGE:\n        global:\n          motd: "row 7"\n'
    )
    carrying = tmp_path / "carrying.yaml"
    carrying.write_text(intent.read_text() + more.out[more.out.index("extra:") :])
    assert run("import", site, "--against", carrying).code == 0
    tables = json.loads(at.read_text())
    at.write_text(json.dumps(tables | {"NTP_SERVER": {"192.0.2.99": {}}, "LOGGER": {"orchagent": {}}}, indent=4))
    odd = run("import", site, "--against", carrying)
    assert "leaf1: 1 setting of its files that goes with the settings above\n" in odd.out
    assert odd.out.endswith("extra:\n  leaf1:\n    tables:\n      LOGGER:\n        orchagent: {}\n")
    assert more.err.endswith("two-by-two.yaml: equal to the files, and there are settings beside the model\n")
    assert more.code == 1


def renamed(build: Path, site: Path) -> None:
    """Copy the switches of a build under names that an owner gave them, in every file that names one."""
    for at in sorted(build.glob("*/*")):
        if re.fullmatch("(leaf|spine)[0-9]+", at.parent.name) and at.is_file():
            to = site / f"dc1-{at.parent.name}-eu"
            to.mkdir(parents=True, exist_ok=True)
            (to / at.name).write_text(re.sub(r"\b(leaf|spine)[0-9]+\b", r"dc1-\g<0>-eu", at.read_text()))


@pytest.mark.parametrize("leaves", ["sonic", "nvue"])
def test_an_import_keeps_names_and_other_names_are_listed_once(leaves: str, tmp_path: Path) -> None:
    build_, site, intent = tmp_path / "build", tmp_path / "site", tmp_path / "renamed.yaml"
    for one in nodrop.write(build(on("two-by-two", leaves, "sonic"))):
        if one.device:
            at = build_ / one.device / one.path
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_text(one.text)
    renamed(build_, site)
    intent.write_text(run("import", site).out)
    assert 'names: {template: "dc1-{role}{id}-eu"}' in intent.read_text()
    done = run("import", site, "--against", intent)
    assert (done.code, done.out) == (0, "")
    unnamed = tmp_path / "unnamed.yaml"
    unnamed.write_text(intent.read_text().replace('names: {template: "dc1-{role}{id}-eu"}\n', ""))
    done = run("import", site, "--against", unnamed)
    assert (done.code, done.out) == (
        0,
        "Names of leaf switches: leaf1 is dc1-leaf1-eu, leaf2 is dc1-leaf2-eu.\n"
        "Names of spine switches: spine1 is dc1-spine1-eu, spine2 is dc1-spine2-eu.\n",
    )
    at = site / "dc1-spine1-eu" / "frr.conf"
    at.write_text(at.read_text().replace("description dc1-leaf1-eu port 29", "description dc1-leaf2-eu port 29"))
    odd = run("import", site, "--against", intent)
    assert "/description is dc1-leaf2-eu port 29, this intent gives dc1-leaf1-eu port 29" in odd.out
    assert odd.code == 1
