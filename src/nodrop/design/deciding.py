"""The decisions of an intent on parts of its fabric: the key, and its place in the text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from nodrop.design.additions import key_path_of_acl_addition, key_path_of_addition, key_path_of_setting
from nodrop.design.addressing import plan_addresses
from nodrop.design.boxes import PlannedSwitch, PlannedSwitches, switches_of
from nodrop.design.classes import dscps_without_class, purpose_of
from nodrop.design.decisions import FabricPart, deciding_key_groups
from nodrop.design.external_routing import ExternalPolicyNames
from nodrop.design.layout import FabricLayout, lay_out
from nodrop.design.naming import host_identities, name_of, naming_of
from nodrop.design.ports import cables_by_port, host_port_name, platform_port_name, port_channel_name
from nodrop.design.splits import SplitPort
from nodrop.design.topology import CABLES_KEY_PATH, topology_of
from nodrop.intent.schema import DeviceSettings, Intent, PassThroughSettings
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.fabric import Purpose
from nodrop.model.reading import IntentDecision, IntentDecisionBasis
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key
from nodrop.syntax.places import Span

IntentKeys = tuple[str | int, ...]
_WordsByPlaceholder = dict[str, tuple[str, ...]]


_WHOLE_PARTS = (FabricPart("device", ()), FabricPart("device", ("interfaces",)), FabricPart("port", ()))
"""What an intent states to be there, rather than how it is."""


def find_decision(intent: Intent, subject: Subject) -> IntentDecision | None:
    """Return where an intent that can be built decides a part; None if no key does, or its text is not known.

    The place is that of the key that decides it or, if that was left to its default, of the nearest stated key
    around it. The decision on the nearest field around a part applies to the part.
    """
    if intent.key_positions is None:
        return None
    return intent.compute_once(__name__, (intent,), lambda: _DecisionFinder(intent)).decision_of_part(subject)


def find_addition(intent: Intent, device: str, setting_text: str) -> IntentDecision | None:
    """Return the addition (`extra`) from which a switch has a setting, by the setting's words; None if none has them.

    The intent can be built.
    """
    if intent.key_positions is None or not intent.extra:
        return None
    finder = intent.compute_once(__name__, (intent,), lambda: _DecisionFinder(intent))
    return finder.addition_with_words(device, setting_text)


class _DecidingKeys(NamedTuple):
    """The keys that decide, how, and those whose place is shown."""

    keys: IntentKeys
    how: IntentDecisionBasis
    at: IntentKeys


class _DecisionFinder:
    """The questions about one intent, whose switches and cables are computed once."""

    def __init__(self, intent: Intent) -> None:
        self._intent, self._topology = intent, topology_of(intent)
        self._found: dict[Subject, IntentDecision | None] = {}

    def decision_of_part(self, subject: Subject) -> IntentDecision | None:
        if subject not in self._found:
            self._found[subject] = self._find_decision(subject)
        return self._found[subject]

    def addition_with_words(self, device: str, setting_text: str) -> IntentDecision | None:
        node = self._nodes_by_name.get(device)
        keys = key_path_of_setting(self._intent.extra, node, setting_text) if node else ()
        return self._make_intent_decision(keys, "stated") if keys else None

    def _find_decision(self, subject: Subject) -> IntentDecision | None:
        aspect = self._aspect_of_subject(subject)
        words = self._placeholder_values_of_part(subject, aspect)
        if aspect.kind == "device" and aspect.path[:1] == ("extra",) and (node := self._nodes_by_name.get(subject[0])):
            added = key_path_of_addition(self._intent.extra, node, *subject[2:3])
            return self._make_intent_decision(added, "stated") if len(added) > 1 else None
        if (
            aspect.kind == "device"
            and aspect.path[:1] == ("access_lists",)
            and (node := self._nodes_by_name.get(subject[0]))
        ):
            stated = key_path_of_acl_addition(self._intent.extra, node, aspect.path[1:])
            if stated:
                return self._make_intent_decision(stated, "stated")
        for group in deciding_key_groups(aspect):
            if (match := self._match_key_templates(group, words)) is not None:
                is_whole = aspect in _WHOLE_PARTS
                decision = self._make_intent_decision(
                    match.keys, "whole" if is_whole and match.how == "stated" else match.how, match.at
                )
                return self._at_row_of_sheet(subject, decision)
        return None

    def _match_key_templates(self, group: Sequence[str], words: _WordsByPlaceholder) -> _DecidingKeys | None:
        entries = self._intent.key_positions
        assert entries is not None
        candidates = [
            (template, keys) for template in group if (keys := _fill_key_template(template.removeprefix("!"), words))
        ]
        for _, keys in candidates:
            if entries.count_existing_keys(keys) == len(keys):
                return _DecidingKeys(keys, "stated", keys)
        first_template, keys = candidates[0] if candidates else ("!", ())
        around = keys[: entries.count_existing_keys(keys)]
        if first_template.startswith("!") or not around:
            return None
        return (
            _DecidingKeys(around, "stated", around)
            if entries.ends_at_scalar(around)
            else _DecidingKeys(keys, "default", around)
        )

    def _make_intent_decision(
        self, keys: IntentKeys, how: IntentDecisionBasis, at: IntentKeys | None = None
    ) -> IntentDecision:
        entries = self._intent.key_positions
        assert entries is not None
        span = entries.span(keys if at is None else at)
        return IntentDecision(keys=keys, how=how, file=self._intent.path, span=span, line=entries.line(span.line))

    def _at_row_of_sheet(self, subject: Subject, decision: IntentDecision) -> IntentDecision:
        """Return a decision of a cabling sheet at the row of the port or link; any other as it is."""
        sheet = self._topology.sheet
        end = ends_of_cable_key(subject[2])[0] if subject[:2] == (FABRIC_HEAD, "links") else subject[:2]
        row = self._sheet_row_by_port.get((end[0], end[1])) if len(end) > 1 else None
        if sheet is None or row is None or decision.keys != CABLES_KEY_PATH:
            return decision
        problem = sheet.places.problem(row, "")
        line = problem.quoted_line
        if problem.line is None or not line:
            return decision
        span = Span(problem.line, len(line) - len(line.lstrip()) + 1, problem.line, len(line.rstrip()) + 1)
        return replace(decision, file=problem.path, span=span, line=line)

    @cached_property
    def _sheet_row_by_port(self) -> Mapping[tuple[str, str], int]:
        """The index of the sheet's row at every port that one names, by switch and name."""
        nodes = {(node.group.name, node.id): node for node in self._planned_switches.all}
        rows: dict[tuple[str, str], int] = {}
        for cable in self._topology.sheet.cables if self._topology.sheet else ():
            for end in (cable.lower, cable.upper):
                node = nodes[end.group, end.id]
                rows[node.name, platform_port_name(node, SplitPort(*end.part))] = cable.row
        return rows

    def _aspect_of_subject(self, subject: Subject) -> FabricPart:
        if subject[0] == FABRIC_HEAD:
            return FabricPart("fabric", subject[1:])
        if subject[0] in self._intent.external:
            return FabricPart("fabric", ("external", subject[0]))
        if subject[0] not in self._nodes_by_name:
            return FabricPart("nic", subject[-1:])
        if subject[1:2] and not subject[1].startswith("@"):
            return FabricPart("port", subject[2:])
        path = (subject[1][1:], *subject[2:]) if subject[1:] else ()
        return FabricPart("device", path)

    def _placeholder_values_of_part(self, subject: Subject, aspect: FabricPart) -> _WordsByPlaceholder:
        """Return the values of the words in braces; those without a value are missing."""
        words = dict(self._placeholder_values_of_classes)
        node = self._nodes_by_name.get(subject[0])
        if node is not None:
            words |= _placeholder_words_of_switch(self._intent.devices, self._intent.extra, node)
        match aspect:
            case ["port", path] if node is not None:
                words |= self._placeholder_values_of_port(node, subject[1]) | self._placeholder_values_of_priority(path)
            case ["device", ("port_channels" | "vlans" as table, name, *_)] if node is not None:
                words |= self._placeholder_values_of_channel_or_vlan(node, table, name)
            case ["device", ("bgp", "neighbors", neighbor, *_) | ("neighbors", neighbor, *_)] if node is not None:
                words |= self._placeholder_values_of_neighbor(node, neighbor)
            case ["device", ("bgp", "prefix_lists" | "as_path_lists" | "route_maps", name, *_)]:
                words |= {"external": (outside,)} if (outside := self._external_by_policy.get(name)) else {}
            case ["fabric", ("external", name, *_)]:
                words["external"] = (name,)
            case ["fabric", ("links", ends, *_)]:
                words |= self._placeholder_values_of_link(ends)
            case ["fabric", ("hosts", name, *_)]:
                group = self._groups_by_host.get(name)
                words |= {"group": (group,)} if group else {}
            case ["fabric", ("classes", name, *_)]:
                words["named"] = (name,)
        return words

    @cached_property
    def _planned_switches(self) -> PlannedSwitches:
        return switches_of(self._intent)

    @cached_property
    def _layout(self) -> FabricLayout:
        return lay_out(
            self._topology,
            naming_of(self._intent),
            self._intent.devices,
            self._intent.external,
            self._planned_switches,
            [],
        )

    @cached_property
    def _nodes_by_name(self) -> Mapping[str, PlannedSwitch]:
        return {node.name: node for node in self._planned_switches.all}

    @cached_property
    def _link_keys_by_port(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """The keys of the link at every port and port channel that has one, by switch and name."""
        links: dict[tuple[str, str], tuple[str, ...]] = {}
        for cable in self._layout.fabric_cables:
            for node, jack in ((cable.lower, cable.lower_port), (cable.upper, cable.upper_port)):
                links[node.name, platform_port_name(node, jack)] = cable.cabling.keys
        for link in self._layout.host_cables:
            keys = ("endpoints", link.group)
            links[link.switch.name, platform_port_name(link.switch, link.switch_port)] = keys
            links[link.host, host_port_name(link)] = keys
            if link.bond:
                links[link.switch.name, port_channel_name(link, link.bond)] = keys
        for outside in self._layout.external_cables:
            keys = ("external", outside.neighbor)
            links[outside.switch.name, platform_port_name(outside.switch, outside.switch_port)] = keys
        return links

    def _placeholder_values_of_neighbor(self, node: PlannedSwitch, neighbor: str) -> _WordsByPlaceholder:
        """Return the key of the AS number of a neighbor, by its address or the port that leads to it.

        Of one outside the fabric, it is its name among those.
        """
        if outside := self._external_by_neighbor.get((node.name, neighbor)):
            return {"external": (outside,)}
        if any(settings.asn is not None for settings in self._intent.devices.values()):
            peer = self._switch_by_neighbor.get((node.name, neighbor))
            words = {} if peer is None else _placeholder_words_of_switch(self._intent.devices, {}, peer)
            return {} if peer is None else {"peers": peer.group.asn_keys[-1:], "peer": words["device"]}
        linked = {join.upper for join in self._topology.joins_above(node.group)}
        linked |= {join.lower for join in self._topology.joins_below(node.group)}
        peer = self._switch_by_neighbor.get((node.name, neighbor)) if len(linked) > 1 else None
        far = peer.group if peer else next(iter(linked), None) if len(linked) == 1 else None
        return {"peers": far.asn_keys[-1:]} if far else {}

    @cached_property
    def _external_by_policy(self) -> Mapping[str, str]:
        """The neighbor outside the fabric that each list and map is about, by its name."""
        return {
            policy: name
            for name in self._intent.external
            for family in ADDRESS_FAMILIES
            for policy in ExternalPolicyNames.of(name, family)
        }

    @cached_property
    def _external_by_neighbor(self) -> Mapping[tuple[str, str], str]:
        """The neighbor outside the fabric at the far end of each session with one, by switch and far address."""
        return {
            (cable.switch.name, address): cable.neighbor
            for cable in (self._layout.external_cables if self._intent.external else ())
            for address in cable.far_addresses
        }

    @cached_property
    def _switch_by_neighbor(self) -> Mapping[tuple[str, str], PlannedSwitch]:
        """The switch that every neighbor is, by switch and the neighbor's address or the port that leads to it."""
        cables = cables_by_port(self._layout, plan_addresses(self._intent, self._planned_switches, []))
        return {
            (node.name, key): wire.peer[0]
            for node in self._planned_switches.all
            for wire in cables[node.name].values()
            if wire.peer is not None
            for key in (*wire.far_addresses, platform_port_name(node, SplitPort(*wire.port, wire.splits)))
        }

    @cached_property
    def _groups_by_host(self) -> Mapping[str, str]:
        naming = naming_of(self._intent)
        return {name_of(naming, identity): identity.group for identity in host_identities(self._intent.endpoints)}

    @cached_property
    def _placeholder_values_of_classes(self) -> _WordsByPlaceholder:
        """Of the classes, the first of each purpose that a row names, and the first lossless one."""
        class_of_purpose = {
            purpose_of(name, wanted_traffic_class): name
            for name, wanted_traffic_class in reversed(self._intent.classes.items())
        }
        purposes: tuple[Purpose, ...] = ("rdma", "cnp", "control")
        class_words = {purpose: (class_of_purpose[purpose],) for purpose in purposes if purpose in class_of_purpose}
        lossless = [
            name for name, wanted_traffic_class in self._intent.classes.items() if wanted_traffic_class.lossless
        ]
        return class_words | ({"lossless": (lossless[0],)} if lossless else {})

    def _placeholder_values_of_port(self, node: PlannedSwitch, name: str) -> _WordsByPlaceholder:
        link = self._link_keys_by_port.get((node.name, name))
        panels = self._panel_keys(node)
        if link is None:
            return {"panels": panels}
        if link[0] == "external":
            return {"link": link, "external": link[1:], "panels": panels, "pool": (*link, "links")}
        to_host = link[0] == "endpoints"
        pool = {"pool": ("addressing", "endpoints" if to_host else "links")}
        return {"link": link, "panels": panels, "side": ("hosts" if to_host else "fabric",)} | pool

    def _panel_keys(self, node: PlannedSwitch) -> tuple[str, ...]:
        """Return the keys that decide the use of a switch's panel ports."""
        below = self._topology.joins_below(node.group)
        return below[0].keys if len(below) == 1 and below[0].upper_ports is None else node.group.ports_keys

    def _placeholder_values_of_priority(self, path: Subject) -> _WordsByPlaceholder:
        """Return the class of a queue, a priority group or a DSCP."""
        match path:
            case ["qos", ("queues" | "priority_groups"), index, *_]:
                for name, wanted_traffic_class in self._intent.classes.items():
                    if str(wanted_traffic_class.priority) == index:
                        return dict.fromkeys(
                            ("class", *(["pausing"] if wanted_traffic_class.lossless else [])), (name,)
                        )
            case ["qos", "dscp_to_tc", dscp, *_]:
                for name, traffic_class in self._intent.classes.items():
                    marked = (
                        dscps_without_class(self._intent.classes)
                        if traffic_class.dscp == "rest"
                        else traffic_class.dscp
                    )
                    if dscp in map(str, marked):
                        return {"marked": (name,)}
        return {}

    def _placeholder_values_of_channel_or_vlan(self, node: PlannedSwitch, table: str, name: str) -> _WordsByPlaceholder:
        if table == "port_channels":
            link = self._link_keys_by_port.get((node.name, name))
            return {"link": link} if link else {}
        for group, wanted_endpoint in self._intent.endpoints.items():
            if wanted_endpoint.vlan and str(wanted_endpoint.vlan.id) == name:
                return {"link": ("endpoints", group)}
        return {}

    def _placeholder_values_of_link(self, ends: str) -> _WordsByPlaceholder:
        link = next(
            (self._link_keys_by_port[end] for end in ends_of_cable_key(ends)[:1] if end in self._link_keys_by_port),
            None,
        )
        return {"link": link} if link else {}


def _placeholder_words_of_switch(
    devices: Mapping[str, DeviceSettings], extra: Mapping[str, PassThroughSettings], node: PlannedSwitch
) -> dict[str, tuple[str, ...]]:
    return {
        "tier": node.group.keys[1:],
        "asn": node.group.asn_keys[-1:],
        "device": (next((word for word in node.words if word in devices), node.name),),
        "addressee": (next((word for word in node.words if word in extra), node.name),),
        "role": (node.role,),
        "switches": (node.group.name,),
        "platform": (node.declaration.platform,),
    }


def _fill_key_template(template: str, words: _WordsByPlaceholder) -> tuple[str, ...]:
    """Return the keys of a path with its words filled in; none where one of them stands for nothing."""
    keys: list[str] = []
    for step in template.split("."):
        if not step.startswith("{"):
            keys.append(step)
        elif (filled := words.get(step[1:-1])) is not None:
            keys += filled
        else:
            return ()
    return tuple(keys)
