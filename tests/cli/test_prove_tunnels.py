"""`nodrop prove` on leaves of SONiC that share servers, before and after the cure, and what the checker says of it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.command import built, nodrop
from support.places import ROOT

LOOPBACKS = {"leaf1": "10.0.0.1", "leaf2": "10.0.0.2"}
MAPS = dict.fromkeys(
    ("encap_tc_to_queue_map", "encap_tc_to_dscp_map", "decap_dscp_to_tc_map", "decap_tc_to_pg_map"), "TUNNEL"
)


def share_server(folder: Path, name: str, *, cured: bool, state: str) -> None:
    """Give a leaf the server of both, and the tunnel to the other leaf."""
    other = next(one for one in LOOPBACKS if one != name)
    path = folder / name / "config_db.json"
    tables: dict[str, Any] = json.loads(path.read_text())
    tables["DEVICE_METADATA"]["localhost"]["subtype"] = "DualToR"
    tables["INTERFACE"] = {key: row for key, row in tables["INTERFACE"].items() if key.partition("|")[0] != "Ethernet0"}
    tables["VLAN"] = {"Vlan100": {"vlanid": "100"}}
    tables["VLAN_MEMBER"] = {"Vlan100|Ethernet0": {"tagging_mode": "untagged"}}
    tables["VLAN_INTERFACE"] = {"Vlan100": {}, "Vlan100|10.2.100.1/24": {}}
    tables["MUX_CABLE"] = {"Ethernet0": {"server_ipv4": "10.2.100.20/32", "state": state}}
    tables["PEER_SWITCH"] = {other: {"address_ipv4": LOOPBACKS[other]}}
    tunnel = {"tunnel_type": "IPINIP", "dst_ip": LOOPBACKS[name], "src_ip": LOOPBACKS[other]}
    tables["TUNNEL"] = {
        "MuxTunnel0": {**tunnel, "dscp_mode": "pipe" if cured else "uniform", **(MAPS if cured else {})}
    }
    if cured:
        tables["DSCP_TO_TC_MAP"]["TUNNEL"] = {"26": "3"}
        tables["TC_TO_DSCP_MAP"] = {"TUNNEL": {"3": "34"}}
        tables["TC_TO_QUEUE_MAP"]["TUNNEL"] = {"3": "4"}
        tables["TC_TO_PRIORITY_GROUP_MAP"]["TUNNEL"] = {"3": "4"}
    path.write_text(json.dumps(tables))
    frr = folder / name / "frr.conf"
    text = frr.read_text().replace(" network 10.0.0.", " network 10.2.100.0/24\n  network 10.0.0.")
    frr.write_text(
        text.replace("ip prefix-list OWN", "ip prefix-list OWN seq 5 permit 10.2.100.0/24\nip prefix-list OWN", 1)
    )


def add_lossless_priority(folder: Path, name: str, ports: str) -> None:
    """Let ports between leaves and spines have priority 4 for DSCP 34."""
    path = folder / name / "config_db.json"
    tables = json.loads(path.read_text())
    tables["DSCP_TO_TC_MAP"]["UPLINK"] = tables["DSCP_TO_TC_MAP"]["AZURE"] | {"34": "4"}
    for port, row in tables["PORT_QOS_MAP"].items():
        if port.startswith(ports):
            row |= {"dscp_to_tc_map": "UPLINK", "pfc_enable": "3,4"}
            row.pop("pfc_to_pg_map", None)
    tables["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["4"] = "4"
    path.write_text(json.dumps(tables))


@pytest.mark.parametrize(
    ("cured", "states", "verdict"),
    [
        (False, ("auto", "auto"), "possible"),
        (False, ("active", "standby"), "free"),
        (True, ("auto", "auto"), "free"),
    ],
    ids=["before", "one leaf is always active", "after"],
)
def test_both_states_of_a_pair_have_certificates(
    cured: bool, states: tuple[str, str], verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "intents/two-by-two.yaml").read_text()
    more = text.replace("leaves: {ids: 1-2", "leaves: {ids: 1-3").replace("storage: {ids: 1-2", "storage: {ids: 1-3")
    Path("intent.yaml").write_text(more)
    built("intent.yaml", "build")
    for name, state in zip(LOOPBACKS, states, strict=True):
        share_server(tmp_path / "build", name, cured=cured, state=state)
    for name in ("leaf1", "leaf2", "leaf3", "spine1", "spine2") if cured else ():
        add_lossless_priority(tmp_path / "build", name, "Ethernet2" if name[0] == "l" else "Ethernet")
    done = nodrop("prove", "build", "--format", "json", "--certificate", "certificate.json", "--fail-on", "never")
    found = json.loads(done.out)
    assert (found["verdict"], found["missing"]) == (verdict, [])
    certificate = json.loads(Path("certificate.json").read_text())
    assert certificate["claim"] == ("deadlock-possible" if verdict == "possible" else "deadlock-free")
    assert len(certificate["premises"]["tunnels"]) == sum(state != "active" for state in states)
    if verdict == "possible":
        journeys = " ".join(hop["packets"] for hop in found["circle"])
        assert "which go into tunnel MuxTunnel0 from leaf1 to leaf2" in journeys
        assert "which go into tunnel MuxTunnel0 from leaf2 to leaf1" in journeys
    check = [sys.executable, "-I", ROOT / "scripts/check_certificate.py", "--files", ".", "certificate.json"]
    accepted = subprocess.run(check, capture_output=True, text=True, check=True).stdout
    assert f"is {certificate['claim']}" in accepted
