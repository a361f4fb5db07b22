"""Batfish's view of a fabric, check by check, in the shape that all validators use for their observations.

Items come from the built-in computation, values from Batfish's answers alone. Items missing in an answer are left out,
never explained away: only facts about Batfish make an item unseen.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from nodrop.analyses._aims import may_be_leaf, required_destinations_of, required_destinations_per_leaf
from nodrop.analyses._plane import control_plane_of
from nodrop.model.effects import DEFAULT_RDMA_DSCP
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.reading import FilePlace, Reading
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.model.subject import link_subject as link_subject
from nodrop.report.names import format_count
from nodrop.routing.observation import (
    DELIVERY_FATES,
    OBSERVATION_CHECKS,
    ObservationCheck,
    RefusedLine,
    ValidatorObservation,
    route_item,
)
from nodrop.routing.prefixes import Address
from nodrop.routing.stand_ins import index_with_stand_ins
from nodrop.validating import compute_observation, reach_items_with_other_fate_than_dscp
from nodrop.validating.batfish import lines, questions
from nodrop.validating.batfish.blind import (
    ARRIVAL_ORDER_REASON,
    IPV6_UNSEEN_REASON,
    NEIGHBOR_UNSEEN_REASON,
    LineReadCheck,
    find_items_batfish_misreads,
    find_items_outside_snapshot,
)
from nodrop.validating.batfish.names import AddressOwners, ExportedSnapshot, NodeNames, format_node_specifier
from nodrop.validating.batfish.reaching import ReachabilityQuestions
from nodrop.validating.batfish.service import AnswerRow, LoadedSnapshot

OBSERVER_NAME: Final = "Batfish"
NODES_PER_ROUTE_QUESTION: Final = 25
"""Nodes whose routes are asked for at once: the answer for 25 switches of a fabric of 200 is 10 MB."""
_ADDRESS_CHECKS: Final[tuple[ObservationCheck, ...]] = ("sessions", "addresses", "routes", "reach")
PARTLY_READ_REASON: Final = "it does not read some of their lines, which are named below"
"""Why a device that Batfish has is not taken whole; what hangs on those lines is checked item by item."""
MAX_SHOWN_UNREAD_LINES: Final = 5
"""So many different lines are named."""


class SnapshotObserver:
    """One snapshot in a service, and the fabric that it was made of."""

    def __init__(
        self,
        reading: Reading,
        index: Index,
        exported: ExportedSnapshot,
        loaded: LoadedSnapshot,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.index = index_with_stand_ins(index)
        self.reading, self.exported, self.loaded = replace(reading, fabric=self.index.fabric), exported, loaded
        self.computed, self.names = compute_observation(self.index), NodeNames(exported)
        self.progress = progress
        self.seen: dict[ObservationCheck, dict[Subject, Hashable]] = {check: {} for check in OBSERVATION_CHECKS[:-2]}
        self.said: dict[tuple[ObservationCheck, Subject], str] = {}
        self.unseen: dict[ObservationCheck, dict[Subject, str]] = {check: {} for check in OBSERVATION_CHECKS}
        self.refused: list[RefusedLine] = []

    def observe_snapshot(self, *notes: str) -> ValidatorObservation:
        """Return all that Batfish sees; except failures and recoveries, which are separate snapshots."""
        started = time.monotonic()
        for step in (
            self._observe_configuration,
            self._observe_addresses,
            self._observe_links,
            self._observe_sessions,
            self._observe_routes,
            self._observe_reach,
        ):
            step()
        self._add_unseen_items()
        devices = format_count(len(self.names.node_by_device), "device")
        seconds = f"answers of {devices} in {time.monotonic() - started:.1f} s"
        return ValidatorObservation(
            by=OBSERVER_NAME,
            seen={check: items for check, items in self.seen.items() if items},
            said=self.said,
            unseen={check: items for check, items in self.unseen.items() if items},
            refused=tuple(self.refused),
            notes=(*notes, *self._format_unread_lines(), seconds),
        )

    def _ask_batfish(self, question: str, **parameters: Any) -> Sequence[AnswerRow]:
        if self.progress is not None:
            self.progress(f"asking Batfish: {question}")
        return self.loaded.ask(question, **parameters)

    def _computed_items(self, check: ObservationCheck) -> Iterator[Subject]:
        """Yield the existing items of a check."""
        yield from self.computed.seen.get(check, {})

    @cached_property
    def _skipped_lines(self) -> lines.SkippedLines:
        return lines.skipped_lines_of_parse_warnings(self._ask_batfish("parseWarning", aggregateDuplicates=False))

    @cached_property
    def _line_read_check(self) -> LineReadCheck:
        return LineReadCheck(self.exported)

    @cached_property
    def _unread_routing_lines(self) -> Mapping[str, Mapping[str, FilePlace | None]]:
        return lines.skipped_routing_lines_by_device(self._skipped_lines, self.names, self._line_read_check)

    def _format_unread_lines(self) -> Iterator[str]:
        """Yield which lines Batfish does not read though they bear on routing, in one sentence."""
        shown = []
        for text, places in list(self._unread_routing_lines.items())[:MAX_SHOWN_UNREAD_LINES]:
            device, place = min(places.items(), key=lambda device_place: natural_sort_key(device_place[0]))
            count_suffix = f" and {len(places) - 1} more" if len(places) > 1 else ""
            where = f"{place.file}:{place.span.line}" if place is not None else "frr.conf"
            shown.append(f"`{text}` ({device}, {where}{count_suffix})")
        if shown:
            omitted_count = len(self._unread_routing_lines) - len(shown)
            yield f"Batfish does not read {', '.join(shown)}{f', and {omitted_count} others' if omitted_count else ''}"

    def _observe_configuration(self) -> None:
        issues = self._ask_batfish("initIssues")
        self.refused += lines.lines_of_init_issues(issues, self.names)
        self.refused += lines.lines_of_parse_warnings(self._skipped_lines, self.names, self._line_read_check)
        self.refused += lines.lines_of_undefined_references(
            self._ask_batfish("undefinedReferences"), self._skipped_lines, self.names
        )
        node_rows = self._ask_batfish("nodeProperties", properties="Configuration_Format")
        loaded = {self.names.device(row["Node"]) for row in node_rows}
        harmed = {refusal.device for refusal in self.refused if refusal.matters}
        partial_devices = {device for devices in self._unread_routing_lines.values() for device in devices}
        for name in self.names.node_by_device:
            state = "refused" if name not in loaded else "in part" if name in harmed else "whole"
            self.seen["configuration"][name,] = state
            if state == "whole" and name in partial_devices:
                self.unseen["configuration"][name,] = PARTLY_READ_REASON
        for row in self._ask_batfish("fileParseStatus"):
            device, status = self.names.device_and_place_of_line(str(row["File_Name"]), None)[0], str(row["Status"])
            if device is None or status == "PASSED":
                continue
            self.said["configuration", (device,)] = status
            if str(row["File_Name"]) not in self._skipped_lines and device in loaded - harmed:
                self.seen["configuration"][device,] = "in part"

    @cached_property
    def _address_owners(self) -> AddressOwners:
        return AddressOwners(self._ask_batfish("ipOwners"), self.names)

    def _observe_addresses(self) -> None:
        plain = {
            End(router.device.name, leg.name)
            for router in control_plane_of(self.index).routers
            for leg in router.legs
            if not leg.ports or leg.ports == (leg.name,)
        }
        self.seen["addresses"].update(questions.devices_by_address(self._address_owners, plain))
        wanted_computed_items = set(self._computed_items("addresses"))
        for item, devices in questions.devices_by_router_id(
            self._ask_batfish("bgpProcessConfiguration"), self.names
        ).items():
            if item in wanted_computed_items or len(devices) > 1:
                self.seen["addresses"][item] = devices

    def _observe_links(self) -> None:
        joined = questions.link_subjects_of_edges(self._ask_batfish("layer3Edges"), self.names)
        cables = questions.link_subjects_of_edges(self._ask_batfish("layer1Edges"), self.names)
        rows = self._ask_batfish("interfaceProperties", properties="MTU, Active, All_Prefixes")
        ports = questions.port_states_by_end(rows, self.names)
        ends = {link_subject(link.a, link.b): (link.a, link.b) for link in self.reading.fabric.links}
        for item in self._computed_items("links"):
            a, b = (ports.get(end) for end in ends[item])
            if a is None or b is None:
                continue
            up = item in joined and item in cables
            self.seen["links"][item] = "up" if up else "down"
            if item not in cables:
                self.said["links", item] = "not in layer1Edges"
            elif not up and a.active and b.active and not (a.addressed or b.addressed):
                self.unseen["links"][item] = NEIGHBOR_UNSEEN_REASON
                up = True
            self.seen["packets"][item] = "crosses" if up and a.mtu_bytes == b.mtu_bytes else "lost"
            self.said["packets", item] = f"MTU {a.mtu_bytes} and {b.mtu_bytes}"

    @cached_property
    def _peers_by_neighbor(self) -> Mapping[Subject, questions.ExpectedPeer]:
        plane = control_plane_of(self.index)
        peer = {
            down.router.subject_of_neighbor(down.neighbor): questions.ExpectedPeer(
                "" if down.leg is None else down.leg.name, None
            )
            for down in plane.down
        }
        for session in plane.sessions:
            for side, far in ((session.a, session.b), (session.b, session.a)):
                item = plane.routers[side.router].subject_of_neighbor(side.neighbor)
                peer[item] = questions.ExpectedPeer(side.leg.name, plane.routers[far.router].device.name)
        return peer

    def _observe_sessions(self) -> None:
        compatibility = self._ask_batfish("bgpSessionCompatibility")
        status = self._ask_batfish("bgpSessionStatus")
        for session in questions.session_rows_with_down_reason(
            status, compatibility, self.names, self._address_owners, self._peers_by_neighbor
        ):
            self.seen["sessions"][session.item] = "up" if session.up else "down"
            self.said["sessions", session.item] = session.said

    def _observe_routes(self) -> None:
        nodes = sorted(self.names.node_by_device.values(), key=natural_sort_key)
        for start in range(0, len(nodes), NODES_PER_ROUTE_QUESTION):
            rows = self._ask_batfish(
                "routes",
                nodes=format_node_specifier(nodes[start : start + NODES_PER_ROUTE_QUESTION]),
                protocols="bgp, static",
            )
            self.seen["routes"].update(questions.next_hop_ports_by_route(rows, self.names, self._address_owners))

    def _observe_reach(self) -> None:
        plane, fates = control_plane_of(self.index), self.seen["reach"]
        starts = {
            (start_router.device.name, start_router.vrf) for start_router in plane.routers if may_be_leaf(start_router)
        }
        known_nodes = {
            device: node
            for device, node in self.names.node_by_device.items()
            if (device,) in self.seen["configuration"]
        }
        reaching = ReachabilityQuestions(self._ask_batfish, self.names, known_nodes, self._rdma_dscp)
        aimed = [aim for aim in required_destinations_of(self.index) if aim.prefix.family == "ipv4"]
        found_fates = reaching.fates(starts, {to for aim in aimed for to in aim.to})
        for item, destinations in self._addresses_by_reach_item().items():
            results = [(found_fates.get((item[0], item[2] or None, to)), to) for to in destinations]
            ends = [(*result, to) for result, to in results if result is not None]
            if item not in self.computed.seen.get("reach", {}) or len(ends) < len(results):
                continue
            fates[item], explanation, to = min(ends, key=lambda row: DELIVERY_FATES.index(row[0]))
            self.said["reach", item] = f"to {to}: {explanation}" if explanation else ""
        for device, vrf, remaining_address in reaching.left:
            for aim in (candidate_aim for candidate_aim in aimed if remaining_address in candidate_aim.to):
                item = route_item(device, str(aim.prefix), vrf, "reach")
                self.unseen["reach"][item] = reaching.reason_for_unasked_pairs
        looped = {to for (_, _, to), (fate, _) in found_fates.items() if fate == "loop"}
        for loop in sorted(
            reaching.looping_packets(), key=lambda witness: (witness.to, natural_sort_key(witness.device))
        ):
            if loop.to not in looped:
                looped.add(loop.to)
                item = route_item(loop.device, f"{loop.to}/32", loop.vrf, "reach")
                fates[item], self.said["reach", item] = "loop", loop.said

        for item in reach_items_with_other_fate_than_dscp(self.index, self._rdma_dscp):
            self.unseen["reach"][item] = f"Batfish is asked about packets of DSCP {self._rdma_dscp} alone"

    def _addresses_by_reach_item(self) -> Mapping[Subject, Sequence[Address]]:
        """Return the addresses behind each item: of all other routers that have the prefix, which may be several."""
        addresses: defaultdict[Subject, list[Address]] = defaultdict(list)
        for router, aim in required_destinations_per_leaf(self.index, control_plane_of(self.index)):
            if aim.prefix.family == "ipv4":
                addresses[route_item(router.device, str(aim.prefix), router.vrf, "reach")] += aim.to
        return addresses

    @cached_property
    def _rdma_dscp(self) -> int:
        marks = (
            traffic_class.dscp
            for traffic_class in self.reading.fabric.classes
            if traffic_class.purpose == "rdma" and traffic_class.dscp
        )
        return next(
            (found_marks[0] for found_marks in marks if not isinstance(found_marks, Unknown)), DEFAULT_RDMA_DSCP
        )

    def _add_unseen_items(self) -> None:
        """Add what Batfish drops, skips or does not follow; an item that is not seen has no value.

        What hangs on which route came first is seen as it is, and only not compared.
        """
        for check in _ADDRESS_CHECKS:
            for item in self._computed_items(check):
                if ":" in item[-1]:
                    self.unseen[check][item] = IPV6_UNSEEN_REASON
        for check, items in find_items_outside_snapshot(self.exported, self.computed).items():
            self.unseen[check].update(items)
        hanging = find_items_batfish_misreads(
            self.reading, self.computed, self.exported, self._skipped_lines, self._line_read_check
        )
        for check, items in hanging.items():
            for item, reason in items.items():
                self.unseen[check].setdefault(item, reason)
        for check, blind in self.unseen.items():
            gone = [item for item, reason in blind.items() if reason != ARRIVAL_ORDER_REASON]
            for item in gone if () not in blind else (*gone, *self.seen.get(check, {})):
                self.seen.get(check, {}).pop(item, None)
                self.said.pop((check, item), None)
