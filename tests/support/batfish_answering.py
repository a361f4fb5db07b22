"""A leaf and a spine, and Batfish's answers about them as a service gives them, to be changed row by row."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Loopback
from nodrop.model.index import Index
from nodrop.model.reading import FilePlace, Reading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.subject import Subject
from nodrop.platforms import frr
from nodrop.routing.observation import ValidatorObservation
from nodrop.syntax.places import Span
from nodrop.validating.batfish.observing import SnapshotObserver

Rows = list[dict[str, Any]]
NODES = ("leaf1", "spine1")


def _switch(name: str, role: str, asn: int, own: str, far: str, loopback: str, port: str) -> Device:
    return Device(
        name=name,
        platform="sonic",
        role=role,
        interfaces=(Interface(name=port, addresses=(f"{own}/31",), mtu_bytes=9216),),
        loopbacks=(Loopback(name="Loopback0", addresses=(f"{loopback}/32",)),),
        bgp=Bgp(
            asn=asn,
            router_id=loopback,
            networks=(f"{loopback}/32",),
            maximum_paths=64,
            neighbors=(BgpNeighbor(address=far, remote_asn="external"),),
        ),
    )


FABRIC = Fabric(
    name="pair",
    mode="lossless",
    devices=(
        _switch("leaf1", "leaf", 65001, "10.1.0.1", "10.1.0.0", "10.0.0.1", "Ethernet0"),
        _switch("spine1", "spine", 65100, "10.1.0.0", "10.1.0.1", "10.0.0.9", "Ethernet8"),
    ),
    links=(Link(a=End("leaf1", "Ethernet0"), b=End("spine1", "Ethernet8")),),
)


@dataclass(frozen=True)
class Exported:
    """A snapshot of it."""

    files: Mapping[str, str]
    where: Mapping[str, tuple[str, Callable[[int], FilePlace | None]]]
    names: Mapping[str, str]
    ports: Mapping[tuple[str, str], str]
    unseen: Mapping[Subject, str] = field(default_factory=dict)


def exported(fabric: Fabric = FABRIC, above: Mapping[str, str] | None = None) -> Exported:
    """A snapshot of a fabric; `above` has lines that a device's frr.conf begins with, by its name."""

    def place(line: int) -> FilePlace:
        return FilePlace("frr.conf", Span(line, 1, line, 2))

    texts = {one.name: (above or {}).get(one.name, "") + frr.render_frr_conf(one) for one in fabric.devices}
    return Exported(
        files={f"sonic_configs/{name}/frr.conf": text for name, text in texts.items()},
        where={f"sonic_configs/{name}/frr.conf": (name, place) for name in texts},
        names={**{name.lower(): name for name in texts}, "host1": "host1"},
        ports={
            (one.name, port): port
            for one in fabric.devices
            for port in (*(each.name for each in one.interfaces), "Loopback0")
        },
    )


def node(name: str) -> dict[str, str]:
    return {"id": f"node-{name}", "name": name}


def interface(name: str, port: str) -> dict[str, str]:
    return {"hostname": name, "interface": port}


def session(name: str, own: str, far: str, peer: str, **words: str) -> dict[str, Any]:
    return {
        "Node": node(name), "VRF": "default", "Local_Interface": None, "Local_IP": own, "Remote_Node": node(peer),
        "Remote_IP": {"schema": "Ip", "value": far}, "Remote_Interface": None, "Address_Families": ["IPV4_UNICAST"],
        **words,
    }  # fmt: skip


def owner(name: str, port: str, address: str, mask: int) -> dict[str, Any]:
    return {"Node": node(name), "VRF": "default", "Interface": port, "IP": address, "Mask": mask, "Active": True}


def route(name: str, network: str, protocol: str, **hop: str) -> dict[str, Any]:
    return {"Node": node(name), "VRF": "default", "Network": network, "Next_Hop": hop, "Protocol": protocol}


def flow(name: str, to: str, *ends: str) -> dict[str, Any]:
    return {
        "Flow": {"ingressNode": name, "ingressVrf": "default", "dstIp": to},
        "Traces": [{"disposition": one, "hops": []} for one in ends],
    }


_A, _B = interface("leaf1", "Ethernet0"), interface("spine1", "Ethernet8")
_SIDES = (("leaf1", "10.1.0.1", "10.1.0.0", "spine1"), ("spine1", "10.1.0.0", "10.1.0.1", "leaf1"))
_EDGES = [{"Interface": _A, "Remote_Interface": _B}, {"Interface": _B, "Remote_Interface": _A}]
SOUND: Mapping[str, Rows] = {
    "fileParseStatus": [
        {"File_Name": f"sonic_configs/{name}/frr.conf", "Status": "PASSED", "Nodes": [node(name)]} for name in NODES
    ],
    "initIssues": [],
    "parseWarning": [],
    "undefinedReferences": [],
    "nodeProperties": [{"Node": node(name), "Configuration_Format": "SONIC"} for name in (*NODES, "host1")],
    "layer1Edges": _EDGES,
    "layer3Edges": _EDGES,
    "interfaceProperties": [
        {"Interface": one, "MTU": 9216, "Active": True, "All_Prefixes": ["10.1.0.0/31"]} for one in (_A, _B)
    ],
    "bgpSessionCompatibility": [session(*one, Configured_Status="UNIQUE_MATCH") for one in _SIDES],
    "bgpSessionStatus": [session(*one, Established_Status="ESTABLISHED") for one in _SIDES],
    "bgpProcessConfiguration": [
        {"Node": node("leaf1"), "VRF": "default", "Router_ID": "10.0.0.1"},
        {"Node": node("spine1"), "VRF": "default", "Router_ID": "10.0.0.9"},
    ],
    "ipOwners": [
        owner("leaf1", "Ethernet0", "10.1.0.1", 31),
        owner("leaf1", "Loopback0", "10.0.0.1", 32),
        owner("spine1", "Ethernet8", "10.1.0.0", 31),
        owner("spine1", "Loopback0", "10.0.0.9", 32),
        owner("host1", "eth0", "10.2.0.1", 24),
    ],
    "routes": [
        route("leaf1", "10.1.0.0/31", "connected", type="interface", interface="Ethernet0"),
        route("leaf1", "10.0.0.9/32", "bgp", type="ip", ip="10.1.0.0"),
        route("spine1", "10.0.0.1/32", "bgp", type="ip", ip="10.1.0.1"),
    ],
    "detectLoops": [],
}


class Answers:
    """What stands in for a snapshot in a service: rows by question, and what was asked.

    `fates` has where packets end, by the device that sends them and where they go; elsewhere they arrive.
    """

    def __init__(self, changes: Mapping[str, Rows], fates: Mapping[tuple[str, str], str]) -> None:
        self.rows = {**copy.deepcopy(dict(SOUND)), **changes}
        self.fates = fates
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def ask(self, question: str, **parameters: Any) -> Sequence[Mapping[str, Any]]:
        self.asked.append((question, parameters))
        return self._packets(**parameters) if question == "reachability" else self.rows[question]

    def _packets(self, **parameters: Any) -> Rows:
        """One packet for each node that sends one: the last that ends as is asked."""
        asked = {"SUCCESS": ["ACCEPTED"], "FAILURE": []}.get(parameters["actions"], parameters["actions"].split(", "))
        found: dict[str, dict[str, Any]] = {}
        for name in parameters["pathConstraints"]["startLocation"].split(", "):
            for to in parameters["headers"]["dstIps"].split(", "):
                end = self.fates.get((name, to), "ACCEPTED")
                if end in asked or (not asked and end != "ACCEPTED"):
                    found[name] = flow(name, to, end)
        return list(found.values())


def observed(
    fabric: Fabric = FABRIC,
    *,
    snapshot: Exported | None = None,
    fates: Mapping[tuple[str, str], str] | None = None,
    **changes: Rows,
) -> ValidatorObservation:
    """What is seen of a fabric in such answers."""
    reading = Reading(fabric=fabric)
    answers: Any = Answers(changes, fates or {})
    return SnapshotObserver(reading, Index(fabric), snapshot or exported(fabric), answers).observe_snapshot("versions")
