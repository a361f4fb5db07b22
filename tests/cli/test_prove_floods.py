"""`nodrop prove` on leaves of SONiC whose VLAN of servers is on uplinks too, and what the checker says of it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.command import built, nodrop
from support.places import ROOT

SUBNETS = {"leaf1": "10.2.101", "leaf2": "10.2.102"}


def bridge_servers(folder: Path, name: str, *uplinks: str) -> None:
    """Put the server at Ethernet0 of a leaf into a VLAN, with an address of the leaf, and uplinks into it too."""
    path = folder / name / "config_db.json"
    tables: dict[str, Any] = json.loads(path.read_text())
    tables["INTERFACE"] = {key: row for key, row in tables["INTERFACE"].items() if key.partition("|")[0] != "Ethernet0"}
    tables["VLAN"] = {"Vlan100": {"vlanid": "100"}}
    tables["VLAN_MEMBER"] = {
        "Vlan100|Ethernet0": {"tagging_mode": "untagged"},
        **{f"Vlan100|{port}": {"tagging_mode": "tagged"} for port in uplinks},
    }
    tables["VLAN_INTERFACE"] = {"Vlan100": {}, f"Vlan100|{SUBNETS[name]}.1/24": {}}
    path.write_text(json.dumps(tables))
    frr, network = folder / name / "frr.conf", f"{SUBNETS[name]}.0/24"
    text = frr.read_text().replace(" network 10.0.0.", f" network {network}\n  network 10.0.0.", 1)
    listed = f"ip prefix-list OWN seq 1 permit {network}\nip prefix-list OWN"
    frr.write_text(text.replace("ip prefix-list OWN", listed, 1))


@pytest.mark.parametrize("bridged", [True, False], ids=["uplinks in the VLAN", "servers alone in it"])
def test_floods_have_certificates(bridged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built(str(ROOT / "intents/two-by-two.yaml"), "build")
    ports = json.loads(Path("build/leaf1/config_db.json").read_text())["PORT"]
    uplinks = [port for port in ports if port.startswith("Ethernet2") and len(port) == len("Ethernet224")]
    for name in SUBNETS:
        bridge_servers(tmp_path / "build", name, *(uplinks if bridged else ()))
    done = nodrop("prove", "build", "--format", "json", "--certificate", "certificate.json", "--fail-on", "never")
    found = json.loads(done.out)
    assert (found["verdict"], found["missing"]) == ("possible" if bridged else "free", [])
    certificate = json.loads(Path("certificate.json").read_text())
    assert len(certificate["premises"]["floods"]) == (2 if bridged else 0)
    floods = " ".join(hop["packets"] for hop in found["circle"])
    for name in SUBNETS:
        assert (f"which {name} floods in VLAN 100" in floods) is bridged
    check = [sys.executable, "-I", ROOT / "scripts/check_certificate.py", "--files", ".", "certificate.json"]
    accepted = subprocess.run(check, capture_output=True, text=True, check=True).stdout
    assert f"is {certificate['claim']}" in accepted
