"""Labs of containerlab: every cable once, every file where it is looked for, and nothing changed that is not told."""

import json
import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nodrop
from nodrop.errors import UnsupportedByPlatform
from nodrop.export.containerlab import Lab, export_lab
from nodrop.model.fabric import Device, Fabric
from nodrop.model.reading import Reading, Source
from nodrop.model.values import replace_fields
from nodrop.platforms import reader
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml
from support.command import nodrop as run
from support.designs import Data, build, shipped
from support.designs import changed as altered
from support.places import TESTS
from support.random_designs import intents

INTENTS = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))

INTERFACES = {"sonic-vs": r"eth[1-9][0-9]*", "nvidia_cumulusvx": r"(swp|eth)[1-9][0-9]*", "linux": r"eth[1-9][0-9]*"}
"""What each kind takes (containerlab nodes/<kind>; the virtual machine's swpN is its ethN)."""
RELEASES = {"sonic": "202505", "nvue": "5.14"}
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")
"""Of labs and nodes (containerlab schemas/clab.schema.json, nodes/default_node.go)."""


@cache
def fabric_of(intent: str) -> tuple[Fabric, Reading]:
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / f"{intent}.yaml"))
    return fabric, nodrop.read_back(list(nodrop.write(fabric)), fabric)


@cache
def lab_of(intent: str) -> Lab:
    return export_lab(fabric_of(intent)[1])


def topology(made: Lab) -> dict[str, Any]:
    data: dict[str, Any] = parse_yaml(made.files[made.topology], made.topology).data
    return data


def cables(made: Lab) -> list[tuple[str, str]]:
    return [tuple(link["endpoints"]) for link in topology(made)["topology"].get("links", ()) if "endpoints" in link]


def dummies(made: Lab) -> list[str]:
    links = topology(made)["topology"].get("links", ())
    return ["{node}:{interface}".format(**link["endpoint"]) for link in links if link.get("type") == "dummy"]


def interfaces(made: Lab, device: Device) -> dict[str, str]:
    """Work out from a switch's files alone which interface of its container is which port."""
    tables = made.files.get(f"{device.name}/config_db.json")
    if tables is not None:
        lanes = {fields["lanes"]: name for name, fields in json.loads(tables)["PORT"].items()}
        rows = (line.split(":") for line in made.files[f"{device.name}/lanemap.ini"].splitlines())
        return {interface: lanes[of] for interface, of in rows}
    widths = [line.split("=") for line in made.files[f"{device.name}/ports.conf"].splitlines()]
    assert [int(panel) for panel, _ in widths] == list(range(1, len(widths) + 1))
    parts = [f"swp{panel}s{part}" for panel, width in widths if width != "1x" for part in range(int(width[:-1]))]
    return {f"swp{panel}": f"swp{panel}" for panel, _ in widths} | {
        f"eth{card}": part for card, part in enumerate(parts, len(widths) + 1)
    }


def require_cables(fabric: Fabric, made: Lab) -> None:
    """Every cable of the fabric is there once, and no other."""
    called = {device.name: interfaces(made, device) for device in fabric.devices}
    called |= {host.name: {f"eth{at}": port.name for at, port in enumerate(host.ports, 1)} for host in fabric.hosts}
    ends = [[end.split(":") for end in both] for both in cables(made)]
    found = [frozenset((node, called[node][port]) for node, port in both) for both in ends]
    outside = {neighbor.name for neighbor in fabric.external}
    inside = [link for link in fabric.links if {link.a.node, link.b.node}.isdisjoint(outside)]
    assert Counter(found) == Counter(frozenset((tuple(link.a), tuple(link.b))) for link in inside)


def require_taken(made: Lab) -> None:
    """Names, kinds, interfaces and files are such as containerlab takes."""
    data = topology(made)
    nodes = data["topology"]["nodes"]
    assert all(map(NAME.fullmatch, (data["name"], *nodes)))
    used = [end for ends in cables(made) for end in ends] + dummies(made)
    for node, port in (end.split(":") for end in used):
        assert re.fullmatch(INTERFACES[nodes[node]["kind"]], port), (node, port)
        assert len(port) <= 15
    assert not [end for end, times in Counter(end.replace(":swp", ":eth") for end in used).items() if times > 1]
    assert {node["kind"] for node in nodes.values()} == data["topology"]["kinds"].keys()
    binds = [bind for part in (*nodes.values(), *data["topology"]["kinds"].values()) for bind in part.get("binds", ())]
    assert {bind.split(":")[0] for bind in binds} == made.files.keys() - {made.topology}
    assert all(re.fullmatch(r"[^:]+:/[^:]+:ro", bind) for bind in binds)


@pytest.mark.parametrize("intent", INTENTS)
def test_the_lab_of_an_intent_has_its_cables_and_is_one_that_containerlab_takes(intent: str) -> None:
    require_cables(fabric_of(intent)[0], lab_of(intent))
    require_taken(lab_of(intent))


@given(intents(), st.sampled_from(("sonic", "nvue")), st.sampled_from(("sonic", "nvue")))
@settings(max_examples=10)
def test_so_has_and_is_that_of_any_fabric(data: Data, leaves: str, spines: str) -> None:
    tiers = {"leaves": leaves, "spines": spines}
    platforms = {f"topology.{tier}.platform": platform for tier, platform in tiers.items()}
    versions = {f"topology.{tier}.version": RELEASES[platform] for tier, platform in tiers.items()}
    fabric = build(altered(data, {**platforms, **versions}))
    made = export_lab(nodrop.read_back(list(nodrop.write(fabric)), fabric))
    require_cables(fabric, made)
    require_taken(made)


@pytest.mark.parametrize("intent", ["two-by-two", "broadcom", "storage-vlan"])
def test_sonic_starts_with_its_own_files_and_every_port_of_theirs_is_there(intent: str) -> None:
    fabric, _ = fabric_of(intent)
    made = lab_of(intent)
    assert made.changed == ()
    for one in nodrop.write(fabric):
        if one.device and one.path in reader("sonic").CANONICAL_FILES:
            assert made.files[f"{one.device}/{one.path}"] == one.text
    there = {end for ends in cables(made) for end in ends} | set(dummies(made))
    for device in fabric.devices:
        ports = json.loads(made.files[f"{device.name}/config_db.json"])["PORT"]
        assert {f"{device.name}:{name}" for name in interfaces(made, device)} <= there
        assert sorted(interfaces(made, device).values()) == sorted(ports)
        rows = made.files[f"{device.name}/port_config.ini"].splitlines()
        assert rows[0].startswith("# name")  # the image's start-up script ends where no line begins so
        assert [row.split()[:4] for row in rows[1:]] == [
            [name, fields["lanes"], fields["alias"], fields["index"]] for name, fields in ports.items()
        ]


@pytest.mark.parametrize("intent", ["adaptive", "reference-256-nvue-leaves"])
def test_cumulus_starts_with_its_own_settings_but_for_eth0(intent: str) -> None:
    _, reading = fabric_of(intent)
    made = lab_of(intent)
    of_nvue = [device for device in reading.fabric.devices if device.platform == "nvue"]
    assert made.changed == (
        f"{', '.join(one.name for one in of_nvue)}: nothing is said of eth0, whose address containerlab gives",
    )
    for device in of_nvue:
        raw = made.files[f"{device.name}/startup.yaml"].encode()
        again = (
            reader("nvue").read_device(device.name, [(Source(name="startup.yaml", display="startup.yaml"), raw)]).device
        )
        alone = (
            reader("nvue")
            .read_device(device.name, [(source, source.held or b"") for source in reading.sources[device.name]])
            .device
        )
        assert alone.management is not None
        assert again == replace_fields(alone, management=None)


def test_parts_of_ports_are_cards_behind_those_of_the_whole_ones() -> None:
    """As the image has it: 65 ports, then swp1s0, swp1s1, swp2s0, swp2s1, swp61s0 …"""
    made = lab_of("adaptive")
    device = fabric_of("adaptive")[0].device("leaf1")
    assert {name: port for port, name in interfaces(made, device).items() if "s" in name[3:]}["swp61s1"] == "eth71"
    assert any("leaf1:eth71" in ends for ends in cables(made))


@pytest.mark.parametrize(
    ("intent", "host", "commands"),
    [
        (
            "two-by-two",
            "gpu1",
            [
                "ip address add 10.2.1.1/31 dev eth1",
                "ip address add 10.2.2.1/31 dev eth2",
                "ip route replace default nexthop via 10.2.1.0 nexthop via 10.2.2.0",
            ],
        ),
        (
            "storage-vlan",
            "storage2",
            ["ip address add 10.3.1.14/24 dev eth1", "ip route replace default via 10.3.1.1"],
        ),
        (
            "dual-stack",
            "storage1",
            [
                "ip address add 10.2.1.17/31 dev eth1",
                "ip address add fd00:2:0:1::19/127 dev eth1",
                "ip route replace default via 10.2.1.16",
                "ip -6 route replace default via fd00:2:0:1::18",
            ],
        ),
    ],
)
def test_hosts_have_their_addresses_and_the_switches_beside_them_as_gateways(
    intent: str, host: str, commands: list[str]
) -> None:
    assert topology(lab_of(intent))["topology"]["nodes"][host] == {"kind": "linux", "exec": commands}


def test_ports_of_a_bond_are_one_that_has_the_address() -> None:
    bonded = {"ports": 2, "bond": True, "leaf_ports": "3-6", "vlan": None}
    fabric = build(shipped("storage-vlan", {f"endpoints.storage.{key}": value for key, value in bonded.items()}))
    made = export_lab(nodrop.read_back(list(nodrop.write(fabric)), fabric))
    assert topology(made)["topology"]["nodes"]["storage1"]["exec"] == [
        "ip link add bond0 type bond mode 802.3ad miimon 100",
        "ip link set eth1 down",
        "ip link set eth1 master bond0",
        "ip link set eth2 down",
        "ip link set eth2 master bond0",
        "ip link set bond0 up",
        "ip address add 10.2.1.17/31 dev bond0",
        "ip route replace default via 10.2.1.16",
    ]


def configured(folder: Path, name: str = "leaf1", **tables: Any) -> Path:
    """Write a switch with two ports, and other tables."""
    ports = {"Ethernet0": {"lanes": "0,1,2,3", "alias": "etp1"}, "Ethernet4": {"lanes": "4,5,6,7"}}
    metadata = {"localhost": {"hostname": name}}
    (folder / name).mkdir(parents=True)
    (folder / name / "config_db.json").write_text(json.dumps({"DEVICE_METADATA": metadata, "PORT": ports} | tables))
    return folder


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, "Ethernet8 is not there: a port of the virtual switch has 1, 2, 4 or 8 lanes, not none"),
        (
            {"lanes": "8,9,10"},
            "Ethernet8 is not there: a port of the virtual switch has 1, 2, 4 or 8 lanes, not 8,9,10",
        ),
        ({"lanes": "3,4,5,6"}, "Ethernet8 is not there: its lanes 3,4,5,6 are another port's"),
    ],
)
def test_a_port_that_the_virtual_switch_cannot_have_is_told(row: dict[str, str], told: str, tmp_path: Path) -> None:
    ports = {"Ethernet0": {"lanes": "0,1,2,3"}, "Ethernet8": row, "Ethernet12": {"lanes": "12"}}
    made = export_lab(nodrop.read([str(configured(tmp_path, PORT=ports))]))
    assert f"leaf1: {told}" in made.changed
    assert made.files["leaf1/lanemap.ini"] == "eth1:0,1,2,3\neth2:12\n"
    assert dummies(made) == ["leaf1:eth1", "leaf1:eth2"]


def test_several_files_of_tables_are_one_and_that_is_told(tmp_path: Path) -> None:
    configured(tmp_path)
    (tmp_path / "leaf1" / "init_cfg.json").write_text(json.dumps({"SCHEDULER": {"one": {"type": "STRICT"}}}))
    made = export_lab(nodrop.read([str(tmp_path)]))
    tables = json.loads(made.files["leaf1/config_db.json"])
    assert (tables["SCHEDULER"], list(tables["PORT"])) == ({"one": {"type": "STRICT"}}, ["Ethernet0", "Ethernet4"])
    assert "leaf1: init_cfg.json, config_db.json are laid over each other as config_db.json" in made.changed


def test_a_switch_of_which_only_frr_is_known_has_no_ports(tmp_path: Path) -> None:
    (tmp_path / "frr.conf").write_text("hostname leaf1\nrouter bgp 65001\n neighbor 10.0.0.1 remote-as 65002\n")
    made = export_lab(nodrop.read([str(tmp_path / "frr.conf")]))
    assert made.changed == ("leaf1: no file of tables was read, and so no port is there",)
    assert (made.files["leaf1/config_db.json"], made.files["leaf1/lanemap.ini"]) == ("{}\n", "")


def test_files_beside_settings_are_none_of_them(tmp_path: Path) -> None:
    text = "- set:\n    interface:\n      swp1:\n        type: swp\n"
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / "startup.yaml").write_text(text)
    (tmp_path / "leaf1" / "qos_features.conf").write_text("traffic.cos_0.priority_source.dscp = [0]\n")
    reading = nodrop.read([str(tmp_path)])
    assert {source.name for source in reading.sources["leaf1"]} == {"startup.yaml", "qos_features.conf"}
    assert export_lab(reading).files["leaf1/startup.yaml"] == text


def test_what_the_lab_has_no_place_for_is_told_once(tmp_path: Path) -> None:
    cabling = {f"Ethernet{at}": {"name": f"core{at}", "port": "Eth1"} for at in (0, 4)}
    configured(tmp_path, DEVICE_NEIGHBOR=cabling)
    shutil.copy(TESTS / "platforms" / "onyx" / "good.txt", tmp_path / "leaf9.txt")
    made = export_lab(nodrop.read([str(tmp_path)]))
    onyx = next(device.name for device in made_devices(tmp_path) if device.platform == "onyx")
    assert f"{onyx}: left out, cables too: containerlab has no image that takes files of onyx" in made.changed
    assert "core0, core4: not in the lab, cables either, for lack of a description" in made.changed
    assert cables(made) == []


def made_devices(folder: Path) -> tuple[Device, ...]:
    return nodrop.read([str(folder)]).fabric.devices


def test_a_fabric_without_any_image_is_no_lab(tmp_path: Path) -> None:
    shutil.copy(TESTS / "platforms" / "onyx" / "good.txt", tmp_path / "leaf1.txt")
    with pytest.raises(UnsupportedByPlatform, match="containerlab has no image that takes files of onyx"):
        export_lab(nodrop.read([str(tmp_path)]))


def test_names_are_those_that_containers_may_have(tmp_path: Path) -> None:
    reading = nodrop.read([str(configured(tmp_path))])
    (device,) = reading.fabric.devices
    twins = tuple(replace_fields(device, name=name) for name in ("-leaf 1", "leaf-1"))
    odd = Reading(
        fabric=replace_fields(reading.fabric, name="hall 2: öst", devices=twins),
        sources=dict.fromkeys(("-leaf 1", "leaf-1"), reading.sources["leaf1"]),
    )
    made = export_lab(odd)
    assert list(topology(made)["topology"]["nodes"]) == ["leaf-1", "leaf-1-2"]
    assert made.topology == "hall-2-st.clab.yml"
    assert {"-leaf 1: called leaf-1 in the lab", "leaf-1: called leaf-1-2 in the lab"} <= set(made.changed)


def test_what_tables_say_of_bgp_is_an_frr_conf_and_told(tmp_path: Path) -> None:
    """On a switch bgpcfgd makes one of them, which the container does not run in any release up to 202605."""
    configured(
        tmp_path,
        DEVICE_METADATA={"localhost": {"hostname": "leaf1", "bgp_asn": "65001"}},
        INTERFACE={"Ethernet0": {}, "Ethernet0|10.0.0.1/31": {}},
        BGP_NEIGHBOR={"10.0.0.0": {"asn": "65100", "local_addr": "10.0.0.1", "name": "spine1"}},
    )
    made = export_lab(nodrop.read([str(tmp_path)]))
    assert "leaf1: frr.conf is made by nodrop, for the files say routing in other words" in made.changed
    assert " neighbor 10.0.0.0 remote-as 65100\n" in made.files["leaf1/frr.conf"]
    assert lab_of("two-by-two").changed == ()


def test_a_host_that_no_switch_is_a_gateway_of_is_told() -> None:
    reading = fabric_of("two-by-two")[1]
    leaf = reading.fabric.devices[0]
    bare = replace_fields(leaf, interfaces=tuple(replace_fields(port, addresses=()) for port in leaf.interfaces))
    fabric = replace_fields(reading.fabric, devices=(bare, *reading.fabric.devices[1:]))
    made = export_lab(Reading(fabric=fabric, sources=reading.sources))
    assert "storage1: no gateway: no switch at the ports has an address beside theirs" in made.changed
    nodes = topology(made)["topology"]["nodes"]
    assert nodes["storage1"]["exec"] == ["ip address add 10.2.1.17/31 dev eth1"]
    assert nodes["gpu1"]["exec"][-1] == "ip route replace default via 10.2.2.0"


def test_names_that_are_too_long_to_be_found_are_told(tmp_path: Path) -> None:
    reading = nodrop.read([str(configured(tmp_path, "leaf1"))])
    long = replace_fields(reading.fabric, name="f" * 49)
    assert not any("not found" in text for text in export_lab(Reading(fabric=long, sources=reading.sources)).changed)
    longer = replace_fields(reading.fabric, name="f" * 50)
    called = f"clab-{'f' * 50}-leaf1"
    told = f"leaf1: not found by its name, {called}, longer than 60 characters"
    assert told in export_lab(Reading(fabric=longer, sources=reading.sources)).changed


def test_nv_commands_are_given_as_one_document(tmp_path: Path) -> None:
    lines = [
        "nv set system hostname leaf1",
        "nv set interface swp1 ip address 10.0.0.1/31",
        "nv set interface swp2s1 type swp",
    ]
    (tmp_path / "leaf1.txt").write_text("\n".join(lines) + "\n")
    made = export_lab(nodrop.read([str(tmp_path / "leaf1.txt")]))
    assert "leaf1: its nv commands are one startup.yaml" in made.changed
    (entry,) = parse_yaml(made.files["leaf1/startup.yaml"], "startup.yaml").data
    assert list(entry["set"]["interface"]) == ["swp1", "swp2s1"]
    assert made.files["leaf1/ports.conf"] == "1=1x\n2=2x\n"


def test_users_that_settings_have_are_told(tmp_path: Path) -> None:
    text = "- set:\n    system:\n      aaa:\n        user:\n          ops:\n            role: system-admin\n"
    (tmp_path / "leaf1.yaml").write_text(text)
    made = export_lab(nodrop.read([str(tmp_path / "leaf1.yaml")]))
    assert "leaf1: users and passwords are those of the settings, no longer the image's" in made.changed
    assert made.files["leaf1/startup.yaml"] == text


@pytest.fixture
def container(tmp_path: Path) -> Path:
    """What stands for a container: the script with its paths below a folder, and commands that note their words."""
    text = lab_of("two-by-two").files["sonic.sh"]
    for path in ("/nodrop", "/etc/sonic", "/usr/share/sonic", "/usr/lib/frr", "/bin/bash\n"):
        text = text.replace(path, f"{tmp_path}{path}")
    (tmp_path / "script").write_text(text)
    for program in ("bin/bash", *(f"usr/lib/frr/{daemon}" for daemon in ("zebra", "staticd", "bgpd"))):
        (tmp_path / program).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / program).write_text("#!/bin/sh\n")
        (tmp_path / program).chmod(0o755)
    (tmp_path / "nodrop").mkdir()
    (tmp_path / "usr/share/sonic/device/x86_64-kvm_x86_64-r0/Force10-S6000").mkdir(parents=True)
    stub = '#!/bin/sh\necho "$(basename "$0") $*" >>{0}/said\n{1}\n'
    for name, answer in (
        ("vtysh", f'[ "$2" != bgpd ] || [ -e {tmp_path}/bgpd ]'),
        ("supervisorctl", f"touch {tmp_path}/bgpd"),
        ("sleep", "true"),
    ):
        (tmp_path / "bin" / name).write_text(stub.format(tmp_path, answer))
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def script(container: Path, word: str) -> subprocess.CompletedProcess[str]:
    path = f"{container / 'bin'}:/usr/bin:/bin"
    return subprocess.run(
        ["/bin/bash", container / "script", word], env={"PATH": path}, capture_output=True, text=True, check=False
    )


def test_tables_and_the_lane_map_lie_where_the_image_looks_for_them(container: Path) -> None:
    for name in ("config_db.json", "lanemap.ini", "port_config.ini"):
        (container / "nodrop" / name).write_text(name)
    done = script(container, "before")
    assert (done.returncode, done.stderr) == (0, "")
    sku = container / "usr/share/sonic/device/x86_64-kvm_x86_64-r0/Force10-S6000"
    assert (container / "etc/sonic/config_db.json").read_text() == "config_db.json"
    assert {path.name: path.read_text() for path in sku.iterdir()} == {
        "lanemap.ini.orig": "lanemap.ini",
        "port_config.ini.orig": "port_config.ini",
    }


def test_frr_is_configured_once_its_daemons_run_and_bgpd_is_started(container: Path) -> None:
    (container / "nodrop" / "frr.conf").write_text("router bgp 1\n")
    (container / "usr/lib/frr/mgmtd").symlink_to("zebra")
    done = script(container, "after")
    assert (done.returncode, done.stderr) == (0, "")
    said = (container / "said").read_text().splitlines()
    assert "supervisorctl start bgpd" in said
    assert list(dict.fromkeys(line.split()[2] for line in said if "-d" in line)) == [
        "zebra",
        "mgmtd",
        "staticd",
        "bgpd",
    ]
    assert said[-1] == f"vtysh -f {container}/nodrop/frr.conf"
    assert [line for line in said if "-f" in line] == said[-1:]


def test_a_daemon_that_does_not_come_up_is_named(container: Path) -> None:
    (container / "nodrop" / "frr.conf").write_text("router bgp 1\n")
    (container / "bin" / "vtysh").write_text("#!/bin/sh\nexit 1\n")
    done = script(container, "after")
    assert (done.returncode, done.stderr) == (1, "zebra does not run after 180 s: see /var/log/syslog\n")


def test_the_command_writes_the_lab_and_says_what_is_otherwise(two_by_two: Path, tmp_path: Path) -> None:
    out = tmp_path / "lab"
    done = run("export", "containerlab", two_by_two, "-o", out, "--image", "sonic=registry/vs:202505")
    assert (done.code, done.out) == (0, "")
    made = export_lab(nodrop.read([str(two_by_two)]), {"sonic": "registry/vs:202505"})
    assert topology(made)["topology"]["kinds"]["sonic-vs"]["image"] == "registry/vs:202505"
    files = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*") if path.is_file()}
    assert {name: text for name, text in files.items() if name != ".nodrop.json"} == made.files
    assert done.err.splitlines() == [
        *made.remarks,
        f"{out}: 4 switches, 4 hosts, 14 cables, {len(made.files)} files",
        f"start it with: containerlab deploy -t {out}/two-by-two.clab.yml",
    ]
    head = made.files[made.topology].split("name:")[0]
    assert all(text.partition(": ")[2] in head for text in made.remarks)


def test_what_is_changed_stands_at_the_head_and_is_printed(tmp_path: Path) -> None:
    (tmp_path / "leaf1.yaml").write_bytes((TESTS / "platforms" / "nvue" / "full.yaml").read_bytes())
    done = run("export", "containerlab", tmp_path / "leaf1.yaml", "-o", tmp_path / "lab")
    text = "leaf1: nothing is said of eth0, whose address containerlab gives"
    assert f"changed: {text}\n" in done.err
    assert f"# - {text}\n" in (tmp_path / "lab" / "fabric.clab.yml").read_text().split("name:")[0]


def test_the_folder_of_a_build_is_left_alone(repository: Path) -> None:
    before = (repository / "build" / "leaf1" / "config_db.json").read_text()
    done = run("export", "containerlab", "build", "-o", "build")
    assert (done.code, "holds what another command of nodrop wrote" in done.err) == (2, True)
    assert (repository / "build" / "leaf1" / "config_db.json").read_text() == before


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("sonic", "--image sonic: expected PLATFORM=IMAGE"),
        ("sonic=", "--image sonic=: expected PLATFORM=IMAGE"),
        ("sonik=x", "no platform 'sonik' (did you mean `sonic`?)"),
    ],
)
def test_an_image_of_nothing_is_refused(image: str, told: str, two_by_two: Path, tmp_path: Path) -> None:
    done = run("export", "containerlab", two_by_two, "-o", tmp_path / "lab", "--image", image)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert not (tmp_path / "lab").exists()
