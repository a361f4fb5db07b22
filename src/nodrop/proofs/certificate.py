"""A claim about deadlock as data that others can check: its premises and its witness (docs/certificates.md).

`schemas/certificate.schema.json` is the schema.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from nodrop.model.fabric import End
from nodrop.model.subject import subject_text as subject_text
from nodrop.proofs.behaviors import PortBehavior
from nodrop.proofs.deadlock import BufferInCircle, DeadlockCheckResult
from nodrop.proofs.floods import FloodedVlan
from nodrop.proofs.forwarding import Forwarding, bit_positions
from nodrop.proofs.invariants import DeadlockFreedomConditions
from nodrop.proofs.tunnels import TunnelWay

FORMAT_VERSION = 1
PROOF_ASSUMPTIONS = (
    "Hosts send and receive; they do not forward packets between ports: no file states whether one does.",
    "NICs of one host do not wait for one another: no file states whether they do. Packets inside a NIC drain over "
    "PCIe, and the graph has those between NICs.",
    "Switches route packets of lossless classes, or flood them in a VLAN of their configuration.",
    "Routing has converged.",
)
OUTSIDE_ASSUMPTION = "Neighbors outside the fabric send and obey no pauses."
TUNNELS_ASSUMPTION = "Either leaf of a server with two can be the standby one, unless a file says which one is."
FLOODS_ASSUMPTION = (
    "In a VLAN over several switches, any MAC address can be unknown. Hosts use the switch where they are as their "
    "gateway, if it has an address in the VLAN."
)
UNKNOWN_HOSTS_ASSUMPTION = "No port to hosts is known: packets enter at every switch that announces a destination."


def build_certificate(
    check: DeadlockCheckResult,
    invariants: DeadlockFreedomConditions | None,
    files: Iterable[tuple[str, str]],
    failed: Iterable[End] = (),
) -> dict[str, object]:
    """Return the certificate of a check, sealed; `files` are names and digests of the files that were read.

    With invariants that hold, the claim is for any number of failures.
    """
    writer = _PremiseWriter(check.traffic.forwarding)
    any_failures = check.is_free and invariants is not None and invariants.hold
    premises = writer.premises(check, invariants if any_failures else None)
    witness: dict[str, Any] = {"positions": [], "cycle": [], "levels": {}}
    for buffer, position in sorted((check.positions or {}).items()):
        witness["positions"].append([buffer.channel, buffer.group, position])
    if check.circles:
        witness["cycle"] = [writer.circle_buffer_record(turn) for turn in check.circles[0]]
    if any_failures and invariants is not None:
        witness["levels"] = {
            writer.forwarding_table_name(number): level for number, level in sorted(invariants.levels.items())
        }
    forwarding = check.traffic.forwarding
    document = {
        "version": FORMAT_VERSION,
        "claim": "deadlock-free" if check.is_free else "deadlock-possible",
        "failures": "any" if any_failures else "none" if check.is_free else "listed",
        "failed": sorted([end.node, end.port] for end in failed),
        "fabric": forwarding.index.fabric.name,
        "files": [{"path": path, "blake2b": digest} for path, digest in sorted(files)],
        "rests_on": [{"part": subject_text(fact.subject), "missing": fact.what} for fact in check.missing],
        "assumptions": list(assumptions_of(forwarding)),
        "premises": premises,
        "witness": witness,
    }
    return {**document, "seal": seal_digest(document)}


def assumptions_of(forwarding: Forwarding) -> tuple[str, ...]:
    """Return what the claims about a fabric assume."""
    tunnels = (TUNNELS_ASSUMPTION,) if forwarding.tunnels else ()
    floods = (FLOODS_ASSUMPTION,) if forwarding.flooded_vlans else ()
    outside = (OUTSIDE_ASSUMPTION,) if any(router.is_stand_in for router in forwarding.plane.routers) else ()
    hosts = (UNKNOWN_HOSTS_ASSUMPTION,) if forwarding.assumes_hosts else ()
    return (*PROOF_ASSUMPTIONS, *outside, *tunnels, *floods, *hosts)


def seal_digest(document: Mapping[str, object]) -> str:
    """Return the SHA-256 of a certificate without its seal, of the text that docs/certificates.md defines, in hex."""
    unsealed = {key: value for key, value in document.items() if key != "seal"}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class _PremiseWriter:
    """Writes premises: destinations get numbers without gaps, and equal sets are written once."""

    def __init__(self, forwarding: Forwarding) -> None:
        self._forwarding = forwarding
        self._destinations: dict[int, int] = {}
        self._known = 0
        self._sets: dict[int, int] = {}
        self._ranges: list[list[list[int]]] = []

    def forwarding_table_name(self, number: int) -> str:
        """Return the name of a forwarding table: the switch, with the VRF unless it is the default one."""
        return self._forwarding.plane.routers[number].name

    def premises(self, check: DeadlockCheckResult, invariants: DeadlockFreedomConditions | None) -> dict[str, object]:
        forwarding, traffic = self._forwarding, check.traffic
        outer = 0 if invariants is None else invariants.outer & ~forwarding.every
        self._known = forwarding.carried | outer
        numbers = list(bit_positions(self._known))
        self._destinations = {number: place for place, number in enumerate(numbers)}
        channels = [
            [
                self.forwarding_table_name(one.near),
                one.near_port,
                self.forwarding_table_name(one.far),
                one.far_port,
                left,
                entered,
            ]
            for one, left, entered in zip(forwarding.channels, traffic.left, traffic.entered, strict=True)
        ]
        tables = range(len(forwarding.rows))
        next_hops = {
            self.forwarding_table_name(number): [
                {"to": self._index_of_destination_set(row.bits), "over": list(row.channels)}
                for row in forwarding.rows[number]
            ]
            for number in tables
            if forwarding.rows[number]
        }
        ends = (
            forwarding.own
            if invariants is None
            else [forwarding.own[number] | invariants.ends.get(number, 0) for number in tables]
        )
        found = {
            "maps": [_behavior_record(behavior) for behavior in traffic.behaviors.all],
            "channels": channels,
            "destinations": [
                list(map(str, forwarding.destinations[number].prefixes)) if number in forwarding.destinations else []
                for number in numbers
            ],
            "entries": {self.forwarding_table_name(number): list(maps) for number, maps in traffic.entries.items()},
            "ends": {
                self.forwarding_table_name(number): self._index_of_destination_set(bits)
                for number, bits in enumerate(ends)
                if bits & self._known
            },
            "next_hops": next_hops,
            "tunnels": [self._tunnel_record(tunnel) for tunnel in forwarding.tunnels],
            "floods": [self._flood_record(vlan) for vlan in forwarding.flooded_vlans],
            "outer": self._index_of_destination_set(0 if invariants is None else invariants.outer),
            "as_numbers": {},
            "sessions": [],
            "session_kinds": [],
        }
        if invariants is not None:
            found |= self._sessions(invariants)
        return {**found, "sets": self._ranges}

    def _tunnel_record(self, tunnel: TunnelWay) -> dict[str, object]:
        return {
            "at": self.forwarding_table_name(tunnel.near),
            "servers": self._index_of_destination_set(tunnel.servers),
            "to": self._destinations[tunnel.to],
            "outside": list(tunnel.outside),
            "queue": list(tunnel.queue),
        }

    def _flood_record(self, vlan: FloodedVlan) -> dict[str, object]:
        return {
            "at": self.forwarding_table_name(vlan.router),
            "vlan": vlan.vlan,
            "to": self._index_of_destination_set(vlan.to),
            "members": [
                {"out": [list(way) for way in member.out], "in": sorted(member.arrivals)} for member in vlan.members
            ],
        }

    def _sessions(self, invariants: DeadlockFreedomConditions) -> dict[str, object]:
        routers = self._forwarding.plane.routers
        return {
            "as_numbers": {
                self.forwarding_table_name(number): bgp.asn
                for number in invariants.levels
                if (bgp := routers[number].bgp) is not None
            },
            "sessions": [
                [self.forwarding_table_name(way.announcer), self.forwarding_table_name(way.listener), way.kind]
                for way in invariants.sessions
            ],
            "session_kinds": [
                {
                    "passes": None if kind.passes == -1 else self._index_of_destination_set(kind.passes),
                    "keeps_path": kind.keeps_path,
                    "own_as": kind.own_as,
                }
                for kind in invariants.kinds
            ],
        }

    def _index_of_destination_set(self, bits: int) -> int:
        """Return the number of a set of destinations."""
        bits &= self._known
        if bits not in self._sets:
            self._sets[bits] = len(self._ranges)
            ranges: list[list[int]] = []
            for place in map(self._destinations.__getitem__, bit_positions(bits)):
                if ranges and ranges[-1][1] == place - 1:
                    ranges[-1][1] = place
                else:
                    ranges.append([place, place])
            self._ranges.append(ranges)
        return self._sets[bits]

    def circle_buffer_record(self, turn: BufferInCircle) -> dict[str, object]:
        return {
            "channel": turn.buffer.channel,
            "group": turn.buffer.group,
            "destination": self._destinations[turn.destination],
            "dscp": turn.dscp,
            "source": self.forwarding_table_name(turn.source),
            "source_dscp": turn.source_dscp,
            "tunnel": turn.tunnel,
            "flood": turn.flood,
        }


def _behavior_record(behavior: PortBehavior) -> dict[str, object]:
    return {
        "tc": list(behavior.tc),
        "group": list(behavior.group),
        "queue": list(behavior.queue),
        "dscp": list(behavior.dscp),
        "pauses": {str(group): list(priorities) for group, priorities in behavior.pauses.items()},
        "stops": {str(priority): queue for priority, queue in behavior.stops.items()},
    }
