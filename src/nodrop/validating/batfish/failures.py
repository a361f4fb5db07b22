"""Batfish's results for failures: for each a snapshot without the failed part, compared with the complete one.

Batfish accepts names that it does not know as a failure of nothing, so the failing part is looked up first. Which leaf
loses anything is asked for packets to every destination at once; which routes are gone is asked for those leaves alone:
a fabric of 200 switches has 900,000 routes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, ip_address, ip_network
from typing import Final

from nodrop.model.fabric import End, Fabric
from nodrop.model.index import Index
from nodrop.model.subject import Subject
from nodrop.model.subject import link_subject as link_subject
from nodrop.routing.legs import routed_interfaces
from nodrop.routing.observation import ValidatorObservation
from nodrop.routing.prefixes import Address, parse_address
from nodrop.routing.stand_ins import addresses_outside, index_with_stand_ins
from nodrop.validating import leaves_by_destination_prefix
from nodrop.validating.batfish.names import ExportedSnapshot, NodeNames, format_node_specifier
from nodrop.validating.batfish.service import AnswerRow, LoadedSnapshot

MAX_SWITCHES_RECOMPUTED: Final = 1600
"""How many switches' routes are computed anew for all failures together: three to seven minutes on two cores, where a
failure of 50 switches takes 6 s and one of 200 takes 48 s."""
MIN_TRIED_FAILURES: Final = 4
"""So many failures are tried of a fabric of any size."""
NO_RECOVERIES_REASON: Final = "Batfish has no time: what has come back is the snapshot that it began with"
SUCCESS_DISPOSITIONS: Final = frozenset({"ACCEPTED", "DELIVERED_TO_SUBNET", "EXITS_NETWORK"})
"""Dispositions of packets that get where they should."""
MAX_SHOWN_PACKET_PATHS: Final = 4
"""So many ways of a packet are shown in an answer; there may be dozens."""

LostDevicePrefixes = frozenset[tuple[str, str]]
"""Pairs of a device and the prefix that it no longer reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatfishNames:
    """What Batfish calls the devices and ports that it has."""

    nodes: Mapping[str, str]
    """By the model's name of the device."""
    ports: Mapping[End, End]
    """By the model's names."""

    @classmethod
    def of(cls, exported: ExportedSnapshot, loaded: LoadedSnapshot) -> "BatfishNames":
        """Ask a snapshot."""
        names = NodeNames(exported)
        interfaces = [row["Interface"] for row in loaded.ask("interfaceProperties", properties="MTU")]
        ports = {
            names.end_of_interface_cell(interface): End(interface["hostname"], interface["interface"])
            for interface in interfaces
        }
        return cls(nodes=names.node_by_device, ports={end: name for end, name in ports.items() if end is not None})


@dataclass(slots=True)
class FailureResults:
    """What became of failures, by item of the check."""

    seen: dict[Subject, LostDevicePrefixes] = field(default_factory=dict)
    said: dict[Subject, str] = field(default_factory=dict)
    unseen: dict[Subject, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def add_failure_observations(
    observation: ValidatorObservation,
    index: Index,
    computed: ValidatorObservation,
    snapshot: ExportedSnapshot,
    base: LoadedSnapshot,
    progress: Callable[[str], None] | None = None,
) -> ValidatorObservation:
    """Add the effects of failures to the observation `observation` of a snapshot.

    If routes are not seen whole, the routes left after a failure are not either.
    """
    hidden = [observation.unseen.get(check, {}) for check in ("routes", "reach")]
    reasons = [reason for items in hidden for item, reason in items.items() if not item or ":" not in item[-1]]
    if reasons:
        failure = FailureResults(unseen={(): reasons[0]})
    else:
        called = BatfishNames.of(snapshot, base)
        index = index_with_stand_ins(index)
        failure = try_failures(base, called, index.fabric, computed, leaves_by_destination_prefix(index), progress)
    return replace(
        observation,
        seen={**observation.seen, **({"failures": failure.seen} if failure.seen else {})},
        said={**observation.said, **{("failures", item): explanation for item, explanation in failure.said.items()}},
        unseen={**observation.unseen, "failures": failure.unseen, "recoveries": {(): NO_RECOVERIES_REASON}},
        notes=(*observation.notes, *failure.notes),
    )


def try_failures(
    base: LoadedSnapshot,
    called: BatfishNames,
    fabric: Fabric,
    computed: ValidatorObservation,
    announced: Mapping[str, frozenset[str]],
    progress: Callable[[str], None] | None = None,
) -> FailureResults:
    """Try the failures that `computed` has, and find which leaf loses which of the `announced` prefixes.

    `announced` has the devices by prefix; a prefix that only the failed device announces does not count as lost. A
    failure of a device or cable that is not in the snapshot is unseen, and so are those beyond the limit for a fabric
    of this size.
    """
    failure = FailureResults()
    outside = {str(prefix): tuple(map(str, found)) for prefix, found in addresses_outside(fabric).items()}
    trial = _FailureTrials(base, called, computed, announced, addresses_behind_one_device(fabric), outside)
    failures = dict(_failures_in_snapshot(fabric, called, computed, failure))
    most = max(MIN_TRIED_FAILURES, MAX_SWITCHES_RECOMPUTED // max(1, len(called.nodes)))
    chosen = _sample_items(list(failures), most)
    for item in failures:
        if item not in chosen:
            failure.unseen[item] = f"of {len(failures)} failures {most} are tried in a fabric of this size"
    if any(":" in prefix for prefix in announced):
        failure.notes.append("failures are tried for IPv4 alone: Batfish reads no IPv6 routes")
    if len(chosen) < len(failures):
        failure.notes.append(f"failures: {len(chosen)} of {len(failures)} were tried")
    for number, item in enumerate(chosen, start=1):
        if progress is not None:
            progress(f"failures: {number} of {len(chosen)}")
        _record_failure_outcome(failure, item, trial.find_losses_without(item[-1], failures[item]), computed)
    return failure


def _record_failure_outcome(
    trial_record: FailureResults, item: Subject, outcome: "_TrialOutcome", computed: ValidatorObservation
) -> None:
    """Record the observed outcome; a loss in IPv6 alone is unseen, as Batfish reads no IPv6."""
    computed_loss = computed.seen.get("failures", {}).get(item)
    expected: LostDevicePrefixes = computed_loss if isinstance(computed_loss, frozenset) else frozenset()
    ipv6 = {pair for pair in expected if ":" in pair[1]}
    if ipv6 and outcome.lost == expected - ipv6:
        trial_record.unseen[item] = "it also loses IPv6 prefixes, and Batfish reads no IPv6 routes"
        return
    trial_record.seen[item] = outcome.lost
    if outcome.said:
        trial_record.said[item] = outcome.said


@dataclass(frozen=True, slots=True)
class _TrialOutcome:
    lost: LostDevicePrefixes
    said: str = ""


@dataclass(frozen=True, slots=True)
class _FailedParts:
    """The nodes and ports that fail, by Batfish's names."""

    nodes: tuple[str, ...] = ()
    ports: tuple[End, ...] = ()


def _failures_in_snapshot(
    fabric: Fabric, called: BatfishNames, computed: ValidatorObservation, trial_record: FailureResults
) -> Iterator[tuple[Subject, _FailedParts]]:
    links = {link_subject(link.a, link.b)[-1]: link for link in fabric.links}
    for item in computed.seen.get("failures", {}):
        failed_name = item[-1]
        if (link := links.get(failed_name)) is not None:
            missing = [str(end) for end in (link.a, link.b) if end not in called.ports]
            if not missing:
                yield item, _FailedParts(ports=(called.ports[link.a], called.ports[link.b]))
        elif missing := [] if failed_name in called.nodes else [failed_name]:
            pass
        else:
            yield item, _FailedParts(nodes=(called.nodes[failed_name],))
        if missing:
            trial_record.unseen[item] = f"{' and '.join(missing)} is not in the snapshot that Batfish reads"


def _sample_items(items: Sequence[Subject], most: int) -> Sequence[Subject]:
    """At most so many of the items, from the first to the last."""
    if len(items) <= most:
        return items
    return [items[number * len(items) // most] for number in range(most)]


class _FailureTrials:
    """Failures of one snapshot."""

    def __init__(
        self,
        base: LoadedSnapshot,
        called: BatfishNames,
        computed: ValidatorObservation,
        announced: Mapping[str, frozenset[str]],
        behind: Mapping[str, Sequence[Address]],
        outside: Mapping[str, Sequence[str]],
    ) -> None:
        self._base, self._called, self._announced, self._behind = base, called, announced, behind
        self._outside = outside
        self._devices = {node: device for device, node in called.nodes.items()}
        self._prefixes = {
            prefix: network for prefix in announced if isinstance(network := ip_network(prefix), IPv4Network)
        }
        leaves = dict.fromkeys(item[0] for item in computed.seen.get("reach", {}))
        self._leaves = [leaf for leaf in leaves if leaf in called.nodes]
        inside = {prefix: network for prefix, network in self._prefixes.items() if prefix not in outside}
        routes = [item for item in computed.seen.get("routes", {}) if item[-1] not in outside]
        self._nested = frozenset(_devices_with_covering_route(routes, inside))

    def find_losses_without(self, failed_name: str, failure: _FailedParts) -> _TrialOutcome:
        """Return the routes that the leaves lose."""
        starts = [leaf for leaf in self._leaves if leaf != failed_name]
        missed = [prefix for prefix in self._prefixes if self._announced[prefix] != {failed_name}]
        if not starts or not missed:
            return _TrialOutcome(frozenset())
        snapshot = self._base.fork_without(
            f"{self._base.name}-without-{failed_name.replace(':', '-')}", nodes=failure.nodes, ports=failure.ports
        )
        rows = snapshot.ask(
            "differentialReachability",
            reference=self._base,
            pathConstraints={"startLocation": format_node_specifier([self._called.nodes[leaf] for leaf in starts])},
            headers={"dstIps": ", ".join(self._left_destinations(prefix, failed_name) for prefix in missed)},
            maxTraces=MAX_SHOWN_PACKET_PATHS,
        )
        witnesses = [DifferingPacket.of(row, self._devices) for row in rows]
        hit = [candidate for candidate in witnesses if candidate.lost]
        lost = set(
            self._lost_prefixes(snapshot, {candidate.start for candidate in hit} | (self._nested & set(starts)), missed)
        )
        loss_texts = []
        for witness in hit:
            within = [prefix for prefix in missed if ip_address(witness.to) in self._prefixes[prefix]]
            if not any((witness.start, prefix) in lost for prefix in within):
                lost.add((witness.start, max(within, key=lambda prefix: self._prefixes[prefix].prefixlen)))
                loss_texts.append(f"{witness.start} to {witness.to}: {witness.after}")
        snapshot.delete_snapshot()
        return _TrialOutcome(frozenset(lost), ", ".join(loss_texts))

    def _left_destinations(self, prefix: str, failed_name: str) -> str:
        """Return a prefix in Batfish's words, without the addresses in it that are gone with what fails.

        Of one outside the fabric, such as that of the default route, they are those that a stand-in has.
        """
        if prefix in self._outside:
            return ", ".join(self._outside[prefix])
        gone = self._behind.get(failed_name, ()) if failed_name in self._announced[prefix] else ()
        inside = [text for text in map(str, gone) if ip_address(text) in self._prefixes[prefix]]
        return f"({prefix} \\ ({', '.join(inside)}))" if inside else prefix

    def _lost_prefixes(
        self, snapshot: LoadedSnapshot, devices: Iterable[str], missed: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Yield the prefixes that devices have no route of BGP to any more."""
        for device in sorted(devices):
            route_presence: dict[str, bool] = {}
            rows = snapshot.ask(
                "routes",
                reference=self._base,
                nodes=format_node_specifier([self._called.nodes[device]]),
                protocols="bgp",
            )
            for row in rows:
                is_present = row["Entry_Presence"] != "Only in Reference"
                route_presence[row["Network"]] = route_presence.get(row["Network"], False) or is_present
            yield from ((device, prefix) for prefix in missed if route_presence.get(prefix) is False)


def addresses_behind_one_device(fabric: Fabric) -> Mapping[str, Sequence[Address]]:
    """Return the addresses of IPv4 that are at one device alone: its own, and those of hosts that are cabled to it."""
    devices: dict[Address, set[str]] = {}
    for device in fabric.devices:
        for leg in routed_interfaces(device):
            for address in leg.addresses:
                devices.setdefault(address, set()).add(device.name)
    names = {device.name for device in fabric.devices}
    far_nodes = {end: far.node for link in fabric.links for end, far in ((link.a, link.b), (link.b, link.a))}
    for host in fabric.hosts:
        for port in host.ports:
            node = far_nodes.get(End(host.name, port.name))
            if node is not None and node in names:
                for host_address in filter(None, map(parse_address, port.addresses)):
                    devices.setdefault(host_address, set()).add(node)
    behind: dict[str, list[Address]] = {}
    for found_address, owners in sorted(devices.items()):
        if found_address.family == "ipv4" and len(owners) == 1:
            behind.setdefault(next(iter(owners)), []).append(found_address)
    return behind


def _devices_with_covering_route(routes: Iterable[Subject], prefixes: Mapping[str, IPv4Network]) -> Iterator[str]:
    """Yield the devices with a route to a prefix around a destination: they deliver, though its own route is gone."""
    networks = {
        network.supernet(new_prefix=length) for network in prefixes.values() for length in range(network.prefixlen)
    }
    wide = {str(network) for network in networks}
    for device, _, _, prefix in routes:
        if prefix in wide:
            yield device


@dataclass(frozen=True, slots=True)
class DifferingPacket:
    """A packet whose fate differs between two snapshots: one of those that are alike from where it starts."""

    start: str
    port: str
    """Where it comes in, by Batfish's name of the port; "" where the device itself sends it."""
    to: str
    before: str
    """Dispositions in the reference, in the order of the ways that are shown: `ACCEPTED`, `NO_ROUTE`."""
    after: str
    lost: bool

    @classmethod
    def of(cls, row: AnswerRow, devices: Mapping[str, str]) -> "DifferingPacket":
        """Read a row of differentialReachability."""
        after, before = (
            tuple(dict.fromkeys(trace["disposition"] for trace in row[f"{which}_Traces"]))
            for which in ("Snapshot", "Reference")
        )
        flow = row["Flow"]
        node = flow["ingressNode"]
        lost = not SUCCESS_DISPOSITIONS.intersection(after)
        return cls(
            devices.get(node, node),
            flow.get("ingressInterface") or "",
            flow["dstIp"],
            ", ".join(before),
            ", ".join(after),
            lost,
        )
