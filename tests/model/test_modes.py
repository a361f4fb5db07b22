"""The mode of switches that nobody states: by group of cabled switches, never by lost PFC of a single switch."""

from dataclasses import replace

import pytest

from nodrop.analyses import siblings
from nodrop.engine.finding import FabricVerdict, UnknownVerdict
from nodrop.engine.verdicts import judge
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Device, End, Host, Interface, Link
from nodrop.model.index import Index
from nodrop.model.modes import keep_former_modes
from nodrop.model.nics import Nic
from nodrop.model.reading import CableEvidence, DeviceReading, HostReading, Reading, Remark
from nodrop.model.subject import subject_text
from support.small_fabrics import LOSSLESS, LOSSY, device, port, rule

NEEDS_PFC = {
    "when": "interface.enabled != false",
    "claim": "interface.qos.pfc_priorities",
    "modes": ["lossless"],
    "message": "{{ interface.name }} has no PFC",
}


def switch(name: str, *, pfc: bool, to: str | None = None, **changes: object) -> DeviceReading:
    """Return a leaf of one port, with PFC or without, and perhaps a neighbor in its file."""
    qos = LOSSLESS if pfc else replace(LOSSY, pfc_rx_priorities=(), pfc_tx_priorities=(), pfc_watchdog=None)
    own = device(name, port(0, qos=qos, enabled=True, mtu_bytes=9216), role="leaf", model="SN4700", **changes)
    cables = (CableEvidence(local_port="Ethernet0", remote=End(to, "Ethernet0"), evidence="LLDP"),) if to else ()
    return DeviceReading(device=own, cables=cables)


def modes(reading: Reading) -> dict[str, set[str]]:
    """Return the possible modes of each switch."""
    if not reading.possible:
        return {one.name: {reading.fabric.mode} for one in reading.fabric.devices}
    found: dict[str, set[str]] = {}
    for one in reading.possible:
        for name in one.devices:
            found.setdefault(name, set()).add(one.mode)
    return found


def lint(*readings: DeviceReading, **stated: object) -> FabricVerdict:
    return judge(assemble_fabric(readings, DeclaredFacts(**stated)), [rule(**NEEDS_PFC)])  # type: ignore[arg-type]


def found(verdict: FabricVerdict) -> list[str]:
    return [subject_text(one.subject) for one in verdict.findings]


OPEN = UnknownVerdict(
    rule="test-rule",
    missing="fabric.mode",
    subjects_count=1,
    devices=("leaf1",),
    resolved_by="the mode: --assume mode=lossless or mode=lossy, or `mode: lossless` in fabric.yaml",
)


def test_lost_pfc_of_a_single_switch_decides_nothing() -> None:
    verdict = lint(switch("leaf1", pfc=False))
    assert found(verdict) == []
    assert [replace(one, rule="test-rule") for one in verdict.unknown] == [OPEN]


@pytest.mark.parametrize(("mode", "subjects"), [("lossless", ["leaf1/Ethernet0"]), ("lossy", [])])
def test_a_stated_mode_decides_it(mode: str, subjects: list[str]) -> None:
    verdict = lint(switch("leaf1", pfc=False), mode=mode)
    assert (found(verdict), verdict.unknown) == (subjects, ())


def test_pfc_of_another_switch_of_the_run_decides_it() -> None:
    verdict = lint(switch("leaf1", pfc=False), switch("leaf2", pfc=True))
    assert (found(verdict), verdict.unknown) == (["leaf1/Ethernet0"], ())


def test_pfc_of_a_single_switch_decides_its_mode() -> None:
    reading = assemble_fabric([switch("leaf1", pfc=True)], DeclaredFacts())
    assert (modes(reading), reading.possible) == ({"leaf1": {"lossless"}}, ())


def test_switches_without_pfc_that_a_cable_joins_are_lossy() -> None:
    reading = assemble_fabric([switch("leaf1", pfc=False, to="leaf2"), switch("leaf2", pfc=False)], DeclaredFacts())
    assert modes(reading) == {"leaf1": {"lossy"}, "leaf2": {"lossy"}}


def test_a_neighbor_that_was_not_read_joins_nothing() -> None:
    pair = [switch(name, pfc=False, to="spine1") for name in ("leaf1", "leaf2")]
    assert modes(assemble_fabric(pair, DeclaredFacts())) == {one.device.name: {"lossy", "lossless"} for one in pair}


def test_nics_with_pfc_decide_the_mode_of_a_single_switch() -> None:
    hosts = [HostReading(name="gpu1", nics=(Nic(host="gpu1", file="gpu1.sh", pfc_priorities=(3,)),))]
    reading = assemble_fabric([switch("leaf1", pfc=False)], DeclaredFacts(), hosts)
    assert modes(reading) == {"leaf1": {"lossless"}}


def pile(*, alone: bool) -> list[DeviceReading]:
    """Return a lossy pair, a lossless pair, and perhaps a switch without cables."""
    lossy = [switch("a1", pfc=False, to="a2"), switch("a2", pfc=False)]
    lossless = [switch("b1", pfc=True, to="b2"), switch("b2", pfc=True)]
    return [*lossy, *lossless, *([switch("c1", pfc=False)] if alone else [])]


def test_each_group_that_cables_join_has_its_own_mode() -> None:
    reading = assemble_fabric(pile(alone=True), DeclaredFacts())
    assert modes(reading) == {
        "a1": {"lossy"},
        "a2": {"lossy"},
        "b1": {"lossless"},
        "b2": {"lossless"},
        "c1": {"lossless"},
    }
    assert found(judge(reading, [rule(**NEEDS_PFC)])) == ["c1/Ethernet0"]
    (note,) = [one for one in reading.notes if one.kind == "groups"]
    assert note.message == (
        "no known cable joins these 3 groups, so each has its own mode and siblings: a1, a2 (lossy); "
        "b1, b2 (lossless); c1 (lossless). If they are one fabric, state its cables in fabric.yaml"
    )
    assert [(one.value, one.reason) for one in reading.assumed if one.fact == "mode"] == [
        ("lossy", "a1, a2: nothing pauses, and no priority group is lossless"),
        ("lossless", "b1, b2: ports have PFC, a lossless priority group or a PFC watchdog"),
        ("lossless", "c1: as b1, b2, since no cable decides it"),
    ]


def test_findings_of_one_part_are_all_kept() -> None:
    remarks = (Remark(kind="odd-word", subject=("leaf1",), place=None),) * 2
    reading = assemble_fabric([replace(switch("leaf1", pfc=False), remarks=remarks)], DeclaredFacts())
    assert found(judge(reading, [rule(remark="odd-word", message="an odd word")])) == ["leaf1", "leaf1"]


def test_a_switch_of_unknown_mode_keeps_that_of_its_former_state() -> None:
    former = assemble_fabric([switch("leaf1", pfc=True)], DeclaredFacts())
    now = keep_former_modes(assemble_fabric([switch("leaf1", pfc=False)], DeclaredFacts()), former)
    assert (modes(now), now.possible) == ({"leaf1": {"lossless"}}, ())
    assert [(one.value, one.reason) for one in now.assumed if one.fact == "mode"] == [
        ("lossless", "as before the change")
    ]
    assert found(judge(now, [rule(**NEEDS_PFC)])) == ["leaf1/Ethernet0"]


def test_groups_of_one_stated_fabric_have_one_mode() -> None:
    reading = assemble_fabric(pile(alone=False), DeclaredFacts(name="pod1"))
    assert modes(reading) == {name: {"lossless"} for name in ("a1", "a2", "b1", "b2")}
    assert [one for one in reading.notes if one.kind == "groups"] == []


def test_switches_are_compared_within_their_group() -> None:
    def odd(*links: Link) -> list[str]:
        trusting = replace(LOSSLESS, trust="pcp")
        rows = {"a1": trusting, "a2": trusting, "b1": LOSSLESS, "b2": LOSSLESS, "b3": LOSSLESS}
        leaves = [leaf(name, port(0, qos=qos)) for name, qos in rows.items()]
        fabric = assemble_fabric([DeviceReading(device=one) for one in leaves], DeclaredFacts(mode="lossless")).fabric
        sided = tuple(replace(one, interfaces=tuple(map(facing_a_host, one.interfaces))) for one in fabric.devices)
        return [subject_text(hit.subject) for hit in siblings.find(Index(replace(fabric, devices=sided, links=links)))]

    cables = [Link(a=End(a, "Ethernet8"), b=End(b, "Ethernet8")) for a, b in (("a1", "a2"), ("b1", "b2"), ("b2", "b3"))]
    assert odd() == ["a1/Ethernet0", "a2/Ethernet0"]
    assert odd(*cables) == []


def leaf(name: str, *ports: Interface) -> Device:
    return device(name, *ports, role="leaf", model="SN4700")


def facing_a_host(one: Interface) -> Interface:
    return replace(one, side="host")


def test_stated_hosts_join_the_planes_of_a_fabric() -> None:
    host = Host(name="gpu1", group="gpu", gpus=8, nic="ConnectX-7", ports=())
    names = ("a1", "a2", "b1", "b2")
    links = [Link(a=End("gpu1", f"nic{at}"), b=End(name, "Ethernet0")) for at, name in enumerate(names)]
    pair = [Link(a=End(a, "Ethernet8"), b=End(b, "Ethernet8")) for a, b in (("a1", "a2"), ("b1", "b2"))]
    devices = assemble_fabric([switch(name, pfc=True) for name in names], DeclaredFacts(mode="lossless")).fabric
    joined = Index(replace(devices, hosts=(host,), links=(*links, *pair)))
    assert joined.cable_group_by_device == dict.fromkeys(names, "")
    assert Index(replace(devices, links=(*links, *pair))).cable_group_by_device == {
        "a1": "a1",
        "a2": "a1",
        "b1": "b1",
        "b2": "b1",
    }
