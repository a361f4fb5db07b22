"""`nodrop prove`: the verdict comes first, circles have their packets, and the exit code says whether one is there."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nodrop.resources import resource_folder
from nodrop.schemas import json_schema
from support.command import Done, nodrop
from support.places import TESTS

INTENTS = sorted(resource_folder("intents").glob("*.yaml"))


def ring_files(folder: Path, count: int = 5) -> Path:
    """Files of lossless SONiC switches in a ring: no fabric.yaml, no names of roles, no ports to hosts."""
    for number in range(count):
        before = (number - 1) % count
        ports = {"Ethernet0": f"10.1.{number}.0/31", "Ethernet8": f"10.1.{before}.1/31"}
        far = f"10.1.{number}.1", f"10.1.{before}.0"
        tables = {
            "DEVICE_METADATA": {
                "localhost": {"hostname": f"node{number + 1}", "docker_routing_config_mode": "split-unified"}
            },
            "PORT": {
                port: {"lanes": ",".join(str(8 * place + lane) for lane in range(8)), "speed": "400000",
                       "admin_status": "up"}
                for place, port in enumerate(ports)
            },
            "INTERFACE": {key: {} for port, address in ports.items() for key in (port, f"{port}|{address}")},
            "DSCP_TO_TC_MAP": {"M": {str(dscp): "3" if dscp == 26 else "0" for dscp in range(64)}},
            "TC_TO_QUEUE_MAP": {"M": {str(tc): str(tc) for tc in range(8)}},
            "TC_TO_PRIORITY_GROUP_MAP": {"M": {str(tc): str(tc) for tc in range(8)}},
            "PORT_QOS_MAP": {
                port: {"dscp_to_tc_map": "M", "tc_to_queue_map": "M", "tc_to_pg_map": "M", "pfc_enable": "3"}
                for port in ports
            },
        }  # fmt: skip
        frr = [
            f"hostname node{number + 1}",
            f"router bgp {65001 + number}",
            f" bgp router-id 10.9.0.{number + 1}",
            " no bgp ebgp-requires-policy",
            *(f" neighbor {address} remote-as external" for address in far),
            " address-family ipv4 unicast",
            f"  network 10.8.{number}.0/24",
            " exit-address-family",
            f"ip route 10.8.{number}.0/24 blackhole",
        ]
        device = folder / f"node{number + 1}"
        device.mkdir(parents=True)
        (device / "config_db.json").write_text(json.dumps(tables))
        (device / "frr.conf").write_text("\n".join(frr) + "\n")
    return folder


def facts(done: Done) -> Any:
    found = json.loads(done.out)
    Draft202012Validator(json_schema("proof")).validate(found)
    return found


@pytest.mark.parametrize("path", INTENTS, ids=lambda path: path.stem)
def test_shipped_intents_are_free_of_deadlock_whatever_fails(path: Path) -> None:
    done = nodrop("prove", path, "--format", "json")
    assert (done.code, done.err) == (0, "")
    found = facts(done)
    assert (found["verdict"], found["any_failures"], found["missing"]) == ("free", True, [])


def test_the_page_of_an_intent(update_golden: bool) -> None:
    page(nodrop("prove", resource_folder("intents") / "two-by-two.yaml"), 0, "free", update_golden=update_golden)


def test_a_ring_without_names_and_roles(tmp_path: Path, update_golden: bool) -> None:
    page(nodrop("prove", ring_files(tmp_path)), 1, "ring", update_golden=update_golden)


def page(done: Done, code: int, name: str, *, update_golden: bool) -> None:
    assert (done.code, done.err) == (code, "")
    path = TESTS / "cli" / "proofs" / f"{name}.txt"
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_text(done.out)
    assert done.out == path.read_text()


def test_lint_finds_the_ring_too(tmp_path: Path) -> None:
    done = nodrop("lint", ring_files(tmp_path), "--select", "cyclic-buffer-dependency", "--format", "concise")
    assert done.code == 1
    assert done.out.count("cyclic-buffer-dependency") == 2


def test_routes_that_are_not_read_prove_nothing(tmp_path: Path) -> None:
    for path in ring_files(tmp_path).rglob("frr.conf"):
        path.unlink()
    done = nodrop("prove", tmp_path, "--format", "json")
    assert done.code == 0
    found = facts(done)
    assert found["verdict"] == "unknown"
    assert "node1" in [fact["part"] for fact in found["missing"]]
    assert nodrop("prove", tmp_path, "--fail-on", "unknown").code == 1


def test_a_certificate_fits_its_schema(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    done = nodrop("prove", resource_folder("intents") / "two-by-two.yaml", "--certificate", file)
    assert done.code == 0
    found = json.loads(file.read_text())
    Draft202012Validator(json_schema("certificate")).validate(found)
    assert {row["path"].rpartition("/")[2] for row in found["files"]} >= {"config_db.json", "frr.conf"}


def test_storms_have_no_certificate(tmp_path: Path) -> None:
    done = nodrop(
        "prove", resource_folder("intents") / "two-by-two.yaml", "--claim", "storm", "--certificate", tmp_path / "c"
    )
    assert done.code == 2
    assert "are for --claim deadlock" in done.err


def test_the_page_of_storms(update_golden: bool) -> None:
    done = nodrop("prove", resource_folder("intents") / "two-by-two.yaml", "--claim", "storm")
    page(done, 0, "storm", update_golden=update_golden)


def test_the_thresholds(tmp_path: Path) -> None:
    ring = ring_files(tmp_path)
    assert nodrop("prove", ring, "--fail-on", "never").code == 0
    assert nodrop("prove", ring, "--fail-on", "error").code == 1
    assert nodrop("prove", tmp_path / "nothing").code == 2
