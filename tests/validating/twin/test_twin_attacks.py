"""Hostile configurations in real FRR daemons: nothing of the host changes, also where no line is left out."""

import hashlib
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link
from nodrop.model.states import UNKNOWN
from nodrop.validating.twin import box
from nodrop.validating.twin.outward import comment_out_outward_lines
from support import twin_attacked
from support.twin_attacked import given, plant
from support.twin_attacks import ATTACKS, OTHERS, PORTS, TRIAL, VRFS, Attack
from support.twin_runs import needed
from support.twin_user import STAND_INS, USERS, as_user, prepare

_LIBRARY = '__attribute__((constructor)) void ran(void) { FILE *f = fopen("%s", "a"); if (f) fclose(f); }'

_TRIED = ("log f", "dump bgp", "can't open logfile")
_UNKNOWN = ("log-extended",)


def digests(folder: Path) -> dict[str, str]:
    """What a folder has: of each path the kind, owner, mode and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        body = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        link = str(path.readlink()) if path.is_symlink() else ""
        words = (oct(state.st_mode), state.st_uid, state.st_gid, link, hashlib.sha256(body).hexdigest())
        found[str(path.relative_to(folder))] = " ".join(map(str, words))
    return found


def test_the_list_is_that_of_the_trial_and_more_than_thirty_of_our_own() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names))
    assert len(TRIAL) == 9
    assert len(OTHERS) >= 30


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda one: one.name)
def test_lines_with_effects_outside_routing_are_left_out_and_the_rest_keeps_its_numbers(attack: Attack) -> None:
    lines = ["router bgp 1", "exit", *given(attack.lines, "/guard", "token"), "ip route 10.0.0.0/8 Null0"]
    wanted = given(attack.left_out, "/guard", "token")
    found = comment_out_outward_lines("\n".join(lines))
    kept = found.text.split("\n")
    assert len(kept) == len(lines)
    assert [lines[number - 1] for number in found.lines] == wanted
    assert [line for number, line in enumerate(lines, 1) if number not in found.lines] == [
        line for number, line in enumerate(kept, 1) if number not in found.lines
    ]
    assert {kept[number - 1] for number in found.lines} <= {"!"}


def test_lines_about_hardware_and_restarts_are_left_out_and_not_listed() -> None:
    waits = [" bgp suppress-fib-pending", " bgp graceful-restart", " bgp graceful-restart restart-time 240"]
    found = comment_out_outward_lines("\n".join(["router bgp 1", *waits, " bgp router-id 10.0.0.1"]))
    assert found == ("router bgp 1\n!\n!\n!\n bgp router-id 10.0.0.1", ())


@pytest.mark.slow
@pytest.mark.parametrize("filtered", ["unfiltered", "filtered"])
@pytest.mark.parametrize("user", USERS)
def test_no_reproducer_changes_a_byte_outside_the_twin(tmp_path: Path, user: str, filtered: str) -> None:
    needed()
    plant(tmp_path)
    if shutil.which("cc"):
        (tmp_path / "ran").mkdir()
        source = "#include <stdio.h>\n" + _LIBRARY % "/srv/ran/by-preload"
        words = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(tmp_path / "evil.so")]
        subprocess.run(words, input=source, text=True, check=True)
    prepare(tmp_path, user)
    token = f"twin-{uuid.uuid4().hex}"
    before, outside = digests(tmp_path), _with(token)
    ran = as_user(user, tmp_path, "support.twin_attacked:run", token, filtered)
    after = digests(tmp_path)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == set(), ran.errors
    assert _with(token) == outside == []
    assert ran.value is not None, ran.errors
    assert ran.value.keys() == {attack.name for attack in ATTACKS}
    running = {name: text.splitlines() for name, text in ran.value.items()}
    tried = {name for name, rows in running.items() if any(row.startswith(_TRIED) for row in rows)}
    assert {name for name, rows in running.items() if "router bgp 65000" not in rows} == set()
    assert tried == (set() if filtered == "filtered" else {one.name for one in ATTACKS if _writes(one)})


@pytest.mark.slow
def test_hostile_names_of_ports_vrfs_and_hosts_are_names() -> None:
    needed()
    devices = [
        Device(
            name=name,
            platform="nvue",
            interfaces=tuple(
                Interface(name=port, addresses=(f"10.1.{number}.{side}/31",)) for number, port in enumerate(PORTS)
            ),
        )
        for side, name in enumerate(("../a", "b; id"))
    ]
    devices += [
        Device(
            name=f"vrf{number}",
            platform="nvue",
            interfaces=(Interface(name="swp1", addresses=("10.2.0.1/31",), vrf=vrf),),
        )
        for number, vrf in enumerate(VRFS)
    ]
    links = [Link(a=End("../a", port), b=End("b; id", port)) for port in PORTS]
    port = HostPort(name="a#b", addresses=("10.3.0.1/31",), speed_mbps=400_000, lanes=8)
    hosts = (Host(name="$(id)\n#", group="x", gpus=8, nic=UNKNOWN, ports=(port,)),)
    fabric = Fabric(name="names", mode="lossless", devices=tuple(devices), links=tuple(links), hosts=hosts)
    crossed, dead, alive = box.call_in_sandbox(twin_attacked.named, fabric)
    assert crossed == dict.fromkeys(PORTS, True)
    assert dead.keys() == {f"vrf{number}" for number, vrf in enumerate(VRFS) if vrf not in ("$(id)", "-")}
    assert all("cannot be the name of a VRF" in why for why in dead.values())
    assert alive == dict.fromkeys({device.name for device in devices} - dead.keys(), "10.0.0.1")


def _writes(attack: Attack) -> bool:
    """Whether daemons of FRR 8.4 try to write what the attack has them; other commands they do not know."""
    own = ("log-", "dump-", "filtered", "bashrc", "preload", "abbreviated")
    return attack.name.startswith(own) and attack.name not in _UNKNOWN


def _with(token: str) -> list[str]:
    """The files that an attack has left where the host has files for a while."""
    folders = [Path(folder) for folder in (*STAND_INS, "/", "/run", "/dev")]
    return [str(path) for folder in folders if folder.is_dir() for path in folder.iterdir() if token in path.name]
