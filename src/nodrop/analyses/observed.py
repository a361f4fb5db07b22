"""Unexpected observations of other validators, check by check, and their differences from nodrop's computation."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from nodrop.analyses import AnalysisHit
from nodrop.analyses._aims import required_destinations_of
from nodrop.analyses._computed import compute_observation
from nodrop.analyses._expected import NOTHING_SEEN, ObservedFault, expected_ports_by_route, find_observed_faults
from nodrop.analyses._naming import (
    abbreviate_list,
    describe_cable_ends,
    format_item_name,
    format_observed_value,
    names_left_out,
    subject_and_part_to_point_at,
)
from nodrop.analyses._plane import control_plane_of
from nodrop.model.index import Index
from nodrop.model.subject import Subject
from nodrop.routing.observation import (
    OBSERVATION_CHECKS,
    OBSERVATIONS_CHANNEL,
    DifferingFlow,
    ObservationCheck,
    ValidatorObservation,
)

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True
REPORTS_STAND_INS = True
NEEDS_OBSERVATIONS = True


def find(index: Index, *, check: str) -> Iterator[AnalysisHit]:
    """Yield the faults that each validator saw in one check (routing.observation.Check).

    Three are no such check: the `differences` from nodrop's computation, the `silence` of a validator that reports
    neither its view of an item nor the reason for not doing so, and the `flows` that another build of the fabric
    delivered. The facts are `what` it is about, how that is `observation` and how it is `expected`, and the message of
    the validator (`said`), after a colon.
    """
    for seen in index.get_channel_value(OBSERVATIONS_CHANNEL, ()):
        own_faults = [
            fault for fault in find_observed_faults(index, seen) if fault.check == check and fault.seen != NOTHING_SEEN
        ]
        match check:
            case "differences":
                yield from _computation_difference_hits(index, seen)
            case "silence":
                yield from _hits_of_items_validator_did_not_answer(index, seen)
            case "flows":
                yield from _hits_of_packets_lost_since_other_build(seen)
            case "configuration":
                yield from _rejected_line_hits(seen, own_faults)
            case "addresses":
                yield from _shared_address_hits(index, seen, own_faults)
            case "routes":
                yield from _missing_path_hits(index, seen, own_faults)
            case "reach":
                yield from _unreached_hits(index, seen, own_faults)
            case _:
                yield from (_build_hit(index, seen, fault) for fault in own_faults)


def _finding_facts(
    seen: ValidatorObservation, subject_text: str, fault: ObservedFault, validator_message: str = ""
) -> Mapping[str, str]:
    return {
        "validator": seen.by,
        "what": subject_text,
        "seen": format_observed_value(fault.seen),
        "expected": format_observed_value(fault.expected),
        "said": f": {validator_message}" if validator_message else "",
    }


def _build_hit(index: Index, seen: ValidatorObservation, fault: ObservedFault) -> AnalysisHit:
    subject, at = subject_and_part_to_point_at(index, fault.item)
    validator_message = seen.said.get((fault.check, fault.item), "")
    subject_text = describe_cable_ends(index, fault.item) if fault.check == "links" else format_item_name(fault.item)
    facts = _finding_facts(seen, subject_text, fault, validator_message)
    return AnalysisHit(subject=subject, at=at, facts=facts, discriminator=f"{seen.by} {fault.item[-1]}")


def _rejected_line_hits(observation: ValidatorObservation, own_faults: list[ObservedFault]) -> Iterator[AnalysisHit]:
    """Yield the lines that a validator rejected, and devices that it rejected completely without naming a line."""
    named_devices = set()
    for rejected_line in observation.refused:
        if rejected_line.matters:
            named_devices.add(rejected_line.device)
            fault = ObservedFault("configuration", (rejected_line.device,), "refused", "whole")
            yield AnalysisHit(
                subject=(rejected_line.device,),
                facts=_finding_facts(observation, f"`{rejected_line.text}`", fault, rejected_line.said),
                place=rejected_line.place,
                discriminator=f"{observation.by} {rejected_line.text}",
            )
    for fault in own_faults:
        if fault.item[0] not in named_devices:
            validator_message = observation.said.get((fault.check, fault.item), "")
            facts = _finding_facts(observation, f"the configuration of {fault.item[0]}", fault, validator_message)
            yield AnalysisHit(subject=fault.item, facts=facts, discriminator=observation.by)


def _shared_address_hits(
    index: Index, seen: ValidatorObservation, own_faults: list[ObservedFault]
) -> Iterator[AnalysisHit]:
    """Yield which devices have the same addresses, once for all that the same ones share."""
    together: defaultdict[tuple[str, ...], list[ObservedFault]] = defaultdict(list)
    for fault in own_faults:
        owners = fault.seen if isinstance(fault.seen, tuple) else ()
        together[tuple(dict.fromkeys(str(owner).partition(":")[0] for owner in owners))].append(fault)
    for devices, rows in together.items():
        subject, at = subject_and_part_to_point_at(index, rows[0].item)
        facts = _finding_facts(seen, abbreviate_list([row.item[2] for row in rows]), rows[0])
        left_out = names_left_out([row.item[2] for row in rows], 3)
        discriminator = f"{seen.by} {' '.join(devices)}"
        yield AnalysisHit(subject=subject, at=at, facts=facts, discriminator=discriminator, left_out=left_out)


def _missing_path_hits(
    index: Index, seen: ValidatorObservation, own_faults: list[ObservedFault]
) -> Iterator[AnalysisHit]:
    """Yield, by router, the ports over which it does not send as it should; one hit for prefixes that are alike."""
    should = expected_ports_by_route(index, seen)
    together: defaultdict[tuple[Subject, frozenset[str], frozenset[str]], list[ObservedFault]] = defaultdict(list)
    for fault in own_faults:
        subject, _ = subject_and_part_to_point_at(index, fault.item)
        used = fault.seen if isinstance(fault.seen, frozenset) else frozenset[str]()
        together[subject, used, should[fault.item]].append(fault)
    for (subject, used, expected), rows in together.items():
        facts = _finding_facts(
            seen, f"{rows[0].item[0]} to {abbreviate_list([row.item[3] for row in rows], 1)}", rows[0]
        )
        counts = {"seen": f"{len(used & expected)}", "expected": f"{len(expected)}"}
        unused_text = f": not over {abbreviate_list(sorted(expected - used))}"
        yield AnalysisHit(
            subject=subject,
            facts={**facts, **counts, "said": unused_text},
            discriminator=f"{seen.by} {' '.join(sorted(expected - used))}",
            left_out=(*names_left_out([row.item[3] for row in rows]), *names_left_out(sorted(expected - used), 3)),
        )


def _unreached_hits(index: Index, seen: ValidatorObservation, own_faults: list[ObservedFault]) -> Iterator[AnalysisHit]:
    """Yield the failed reachability checks, by source or by unreached destination: the grouping with fewer hits."""
    plane = control_plane_of(index)
    holders = {str(aim.prefix): plane.routers[aim.router].device.name for aim in required_destinations_of(index)}
    by_source: defaultdict[tuple[str, Hashable], list[ObservedFault]] = defaultdict(list)
    by_holder: defaultdict[tuple[str, Hashable], list[ObservedFault]] = defaultdict(list)
    for fault in own_faults:
        by_source[fault.item[0], fault.seen].append(fault)
        by_holder[holders.get(fault.item[3], fault.item[0]), fault.seen].append(fault)
    for (device, how), rows in (by_source if len(by_source) < len(by_holder) else by_holder).items():
        prefixes = list(dict.fromkeys(row.item[3] for row in rows))
        sources = list(dict.fromkeys(row.item[0] for row in rows))
        yield AnalysisHit(
            subject=(device, "@bgp"),
            facts=_finding_facts(
                seen,
                f"{abbreviate_list(sources, 1)} to {abbreviate_list(prefixes, 1)}",
                rows[0],
                _find_drop_message(seen, rows),
            ),
            discriminator=f"{seen.by} {how}",
            left_out=(*names_left_out(sources), *names_left_out(prefixes)),
        )


def _find_drop_message(seen: ValidatorObservation, rows: list[ObservedFault]) -> str:
    """Return a validator's message on the first item that names the access list that drops packets."""
    explanations = (seen.said.get((row.check, row.item), "") for row in rows)
    return next((explanation for explanation in explanations if " of access list " in explanation), "")


def _hits_of_items_validator_did_not_answer(index: Index, seen: ValidatorObservation) -> Iterator[AnalysisHit]:
    """Yield, by check and device, the items that a validator does not answer, with the first."""
    together: defaultdict[tuple[ObservationCheck, str], list[ObservedFault]] = defaultdict(list)
    for fault in find_observed_faults(index, seen):
        if fault.seen == NOTHING_SEEN:
            together[fault.check, subject_and_part_to_point_at(index, fault.item)[0][0]].append(fault)
    for (check, _), rows in together.items():
        subject, at = subject_and_part_to_point_at(index, rows[0].item)
        facts = _finding_facts(seen, f"{abbreviate_list([format_item_name(row.item) for row in rows], 1)}", rows[0])
        left_out = names_left_out([format_item_name(row.item) for row in rows])
        discriminator = f"{seen.by} {check}"
        yield AnalysisHit(
            subject=subject, at=at, facts={**facts, "check": check}, discriminator=discriminator, left_out=left_out
        )


def _hits_of_packets_lost_since_other_build(seen: ValidatorObservation) -> Iterator[AnalysisHit]:
    """Yield the packets that arrived in the other build and do not in this one, once for each device and their fate."""
    together: defaultdict[tuple[str, str], list[DifferingFlow]] = defaultdict(list)
    for flow in seen.flows:
        if flow.lost:
            together[flow.source, flow.new].append(flow)
    for (start, after), rows in together.items():
        fault = ObservedFault("reach", (start,), after, rows[0].old)
        prefixes_text = abbreviate_list(list(dict.fromkeys(row.prefix for row in rows)))
        yield AnalysisHit(
            subject=(start, "@bgp"),
            facts=_finding_facts(seen, f"{start} to {prefixes_text}", fault),
            discriminator=f"{seen.by} {after}",
        )


def _computation_difference_hits(index: Index, seen: ValidatorObservation) -> Iterator[AnalysisHit]:
    """Yield, by check and device, how many items a validator sees differently from nodrop, with the first."""
    own_observation = compute_observation(index)
    for check in OBSERVATION_CHECKS[1:]:  # whether a configuration is taken is theirs to say
        own_states, validator_states = own_observation.seen.get(check, {}), seen.seen.get(check, {})
        together: defaultdict[str, list[Subject]] = defaultdict(list)
        for item in dict.fromkeys((*own_states, *(validator_states if check == "routes" else ()))):
            blind = own_observation.reason_unseen(check, item) or seen.reason_unseen(check, item)
            silent = item not in validator_states and check != "routes"
            if (
                not blind
                and not silent
                and own_states.get(item, NOTHING_SEEN) != validator_states.get(item, NOTHING_SEEN)
            ):
                together[subject_and_part_to_point_at(index, item)[0][0]].append(item)
        for rows in together.values():
            subject, at = subject_and_part_to_point_at(index, rows[0])
            fault = ObservedFault(
                check, rows[0], validator_states.get(rows[0], NOTHING_SEEN), own_states.get(rows[0], NOTHING_SEEN)
            )
            count_suffix = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
            facts = _finding_facts(
                seen, f"{format_item_name(rows[0])}{count_suffix}", fault, seen.said.get((check, rows[0]), "")
            )
            yield AnalysisHit(
                subject=subject,
                at=at,
                facts={**facts, "check": check},
                discriminator=f"{seen.by} {check}",
                left_out=names_left_out(list(map(format_item_name, rows))),
            )
