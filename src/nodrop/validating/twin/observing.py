"""Observations of a fabric's twin, in the shape that all validators use."""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from nodrop.errors import ServiceUnavailable
from nodrop.model.index import Index
from nodrop.model.reading import FilePlace, Reading
from nodrop.report.names import format_count
from nodrop.routing.legs import unknown_leg_fact
from nodrop.routing.observation import (
    OBSERVATION_CHECKS,
    ObservationCheck,
    RefusedLine,
    ValidatorObservation,
    address_item,
)
from nodrop.routing.stand_ins import index_with_stand_ins
from nodrop.validating import compute_observation
from nodrop.validating.twin import box, looking
from nodrop.validating.twin.acts import observe_packets_and_failures
from nodrop.validating.twin.daemons import FRR_FOLDER, RefusedFrrLine
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.links import observe_links
from nodrop.validating.twin.sampling import (
    MAX_PROCESSES_PER_DEVICE,
    compute_sample_observation,
    limit_observation_to_sample,
    max_devices_of_machine,
    sample_fabric,
)
from nodrop.validating.twin.starting import TwinStartConfigurations, prepare_start_configurations
from nodrop.validating.twin.waiting import (
    MAX_PATIENCE_FACTOR,
    UNEXPECTED_SESSION_TIMEOUT_S,
    SettledState,
    wait_until_settled,
)
from nodrop.validating.twin.work import NOT_ASKED_REASON, ObservationWork, PartialObservation, TwinOptions

OBSERVER_NAME: Final = "real FRR"

TwinExperiment = Callable[[TwinLab, ObservationWork, box.ReportProgress], PartialObservation]
"""Something that is done with a twin that has come to rest, and leaves it as it was; what is seen of it is returned."""

TWIN_EXPERIMENTS: Final[tuple[TwinExperiment, ...]] = (observe_packets_and_failures,)
"""What is done with it, in this order."""

_FABRIC_WIDE_CHECKS: Final[tuple[ObservationCheck, ...]] = ("routes", "reach", "failures", "recoveries")
"""What hangs on every interface and route of a fabric."""

FLAPPING_LABEL: Final = "going up and down"
"""What is seen of a session that never settles."""

_ROUTE_POLL_INTERVAL_S: Final = 0.5
"""Between two looks at the routes of all devices."""

_OLDER_PATH_REASON: Final = "Older Path"
"""FRR's word for why it prefers one of two paths that are equal in all else (bgpd/bgp_route.c, bgp_path_info_cmp)."""
ARRIVAL_ORDER_REASON: Final = "of equal paths the one that came first is used, which is another each time"

_HARMLESS_LINE = re.compile(
    r"\s*(?:no )?(?:fpm |log |hostname |domainname |password |enable password |service |agentx|username |line vty|"
    r"zebra nexthop-group |zebra route-map |mgmt |debug |banner |frr version|frr defaults|bgp no-rib|"
    r"neighbor \S+ capability software-version|bgp suppress-fib-pending|ip nht resolve-via-default|"
    r"ipv6 nht resolve-via-default|exec-timeout|netns)"
)
"""Lines about logs, names, the ASIC and who may log in, which decide no session and no route. Releases of SONiC and of
Cumulus Linux have such lines that Debian's FRR does not take."""


_PACKAGE_BY_PROGRAM: Final = {
    **dict.fromkeys(("vtysh", *(str(FRR_FOLDER / daemon) for daemon in ("zebra", "staticd", "bgpd", "bfdd"))), "frr"),
    **dict.fromkeys(("ip", "tc"), "iproute2"),
    "sysctl": "procps",
    "stdbuf": "coreutils",
}


def require_twin_support() -> None:
    """Check that a twin can be run here; ServiceUnavailable if FRR, `ip` or separate namespaces are missing."""
    box.require_programs(_PACKAGE_BY_PROGRAM)
    box.usable_unshare_command()


def observe_in_twin(
    reading: Reading, index: Index, *, options: TwinOptions | None = None, progress: box.ReportProgress | None = None
) -> ValidatorObservation:
    """Run a fabric in real FRR daemons, and return the observations there of the computed items.

    `index` is of the fabric of the reading. ServiceUnavailable if no twin can be run here; InputProblems if a file has
    changed since it was read.
    """
    require_twin_support()
    index = index_with_stand_ins(index)
    begun, chosen = time.monotonic(), options or TwinOptions()
    taken = sample_fabric(index, chosen.devices or max_devices_of_machine())
    whole_observation = compute_observation(index)
    own_observation = whole_observation if taken.is_whole else compute_sample_observation(taken, whole_observation)
    if not taken.is_whole and progress is not None:
        progress(taken.sample_note)
    twin_start = prepare_start_configurations(replace(reading, fabric=taken.fabric))
    work = ObservationWork(
        fabric=taken.fabric,
        boots=twin_start.boots,
        without=twin_start.without,
        computed={check: dict(check_items) for check, check_items in own_observation.seen.items()},
        options=chosen,
    )
    observed_part, refused, version = box.call_in_sandbox(
        run_and_observe_twin,
        work,
        progress=progress,
        processes=box.MAX_PROCESSES + MAX_PROCESSES_PER_DEVICE * len(twin_start.boots),
    )
    for device in taken.fabric.devices:
        if path := unknown_leg_fact(device):
            for check in _FABRIC_WIDE_CHECKS:
                observed_part.unseen.setdefault(check, {})[()] = (
                    f"{path} of {device.name} is not known, and the twin is without it"
                )
    for item, why in own_observation.unseen.get("sessions", {}).items():
        observed_part.seen.get("sessions", {}).pop(item, None)
        observed_part.unseen.setdefault("sessions", {})[item] = why
    if not taken.is_whole:
        observed_part = limit_observation_to_sample(observed_part, taken, own_observation, whole_observation)
    seconds = time.monotonic() - begun
    notes = (
        f"FRR {version} ran on {format_count(len(twin_start.boots), 'device')} for {seconds:.0f} s",
        *twin_start.notes,
        *observed_part.notes,
        *twin_start.left_out,
    )
    return ValidatorObservation(
        by=OBSERVER_NAME,
        seen=observed_part.seen,
        said=observed_part.said,
        unseen=observed_part.unseen,
        refused=tuple(_list_refusals(twin_start, refused)),
        notes=notes,
    )


def run_and_observe_twin(
    tell: box.ReportProgress, twin_work: ObservationWork
) -> tuple[PartialObservation, dict[str, tuple[RefusedFrrLine, ...]], str]:
    """Start the twin and look at it; inside its own process tree. With it come the lines refused, and FRR's version."""
    lab = TwinLab(twin_work.fabric, twin_work.boots)
    tell(f"starting {format_count(len(twin_work.boots), 'device')}")
    lab.start()
    if not lab.running_devices and twin_work.boots:
        raise ServiceUnavailable(f"no daemon of FRR starts: {next(iter(lab.dead.values()))}")
    wanted_expected_sessions = twin_work.expected_sessions
    settled = wait_until_settled(
        lab,
        wanted_expected_sessions,
        patience_s=twin_work.options.patience_s,
        report_up=lambda up: tell(f"{up} of {len(wanted_expected_sessions)} sessions are up"),
    )
    if not settled.moving:
        _wait_for_stable_routes(lab, twin_work)
    observed_part = PartialObservation(notes=[*lab.plan.notes, *lab.filters.rendered_notes])
    for check, look in _OBSERVE_BY_CHECK.items():
        if check in twin_work.options.checks:
            observed_part.merge_part(look(lab, twin_work))
    asked = twin_work
    if settled.moving:
        observed_part.merge_part(_mark_checks_unseen_if_unsettled(observed_part, settled))
        asked = replace(
            twin_work, options=replace(twin_work.options, checks=twin_work.options.checks - {*_FABRIC_WIDE_CHECKS})
        )
    for run_act in TWIN_EXPERIMENTS:
        observed_part.merge_part(run_act(lab, asked, tell))
    observed_part.merge_part(_checks_unseen_for_access_lists(lab))
    _add_unseen_reasons(observed_part, twin_work, lab.dead)
    return observed_part, lab.refused, _frr_version(lab)


def _wait_for_stable_routes(lab: TwinLab, work: ObservationWork) -> None:
    """Wait until routes are as computed, or until none changes any more: a busy machine reports sessions first.

    For `MAX_SHOWN_MOVING` times the patience at most.
    """
    computed_routes, before = work.computed.get("routes", {}), None
    end = time.monotonic() + UNEXPECTED_SESSION_TIMEOUT_S
    last = time.monotonic() + work.options.patience_s * MAX_PATIENCE_FACTOR
    while (routes := _observe_routes(lab, work).seen["routes"]) != computed_routes and time.monotonic() < min(
        end, last
    ):
        if routes != before:
            before, end = routes, time.monotonic() + UNEXPECTED_SESSION_TIMEOUT_S
        time.sleep(_ROUTE_POLL_INTERVAL_S)


def _mark_checks_unseen_if_unsettled(observed_part: PartialObservation, settled: SettledState) -> PartialObservation:
    """Return the unseen checks of a twin that never came to rest: sessions that go up and down are seen as that."""
    unsettled_part = PartialObservation(seen={"sessions": {}})
    for item, times in settled.unsteady.items():
        unsettled_part.seen["sessions"][item] = FLAPPING_LABEL
        unsettled_part.said["sessions", item] = f"went down {times} times"
    why = "sessions go up and down" if settled.unsteady else "routes never stopped changing"
    for check in _FABRIC_WIDE_CHECKS:
        observed_part.seen.pop(check, None)
        unsettled_part.unseen[check] = {(): why}
    unsettled_part.notes.append(f"the twin did not converge: {why}")
    return unsettled_part


def _checks_unseen_for_access_lists(lab: TwinLab) -> PartialObservation:
    """Return the checks that are not compared because access lists act on switches and not in the twin."""
    unfiltered_part = PartialObservation()
    refused = [f"access lists of {name}, for the kernel refuses them: {why}" for name, why in lab.unfiltered.items()]
    unfiltered_part.notes += [f"not applied in the twin: {refusal}" for refusal in refused]
    for why in (*lab.filters.lacking, *refused)[:1]:
        for check in ("sessions", *_FABRIC_WIDE_CHECKS):
            unfiltered_part.unseen[check] = {(): f"the twin does not apply {why}"}
    return unfiltered_part


def _frr_version(lab: TwinLab) -> str:
    for name in lab.running_devices:
        match = re.search(r"FRRouting (\S+)", lab.answer_of_daemon(name, "show version", "zebra"))
        if match:
            return match[1]
    return "of unknown version"


def _observe_refused_configuration(lab: TwinLab, work: ObservationWork) -> PartialObservation:
    configuration = PartialObservation(seen={"configuration": {}}, unseen={"configuration": {}})
    for device in work.fabric.devices:
        name = device.name
        if name in work.without:
            configuration.unseen["configuration"][name,] = work.without[name]
        elif name in lab.dead:
            configuration.seen["configuration"][name,] = "refused"
            configuration.said["configuration", (name,)] = lab.dead[name]
        else:
            bad = [refusal for refusal in lab.refused[name] if may_refused_line_matter(refusal, work.boots[name].text)]
            configuration.seen["configuration"][name,] = "in part" if bad else "whole"
            if bad:
                configuration.said["configuration", (name,)] = bad[0].said
    return configuration


def _observe_sessions(lab: TwinLab, work: ObservationWork) -> PartialObservation:
    session_part = PartialObservation(seen={"sessions": {}})
    sessions = {
        item: session for name in lab.running_devices for item, session in looking.bgpd_sessions(lab, name).items()
    }
    up_at_one_end = looking.sessions_up_at_one_end(sessions)
    for item, session in sessions.items():
        up = session.state == looking.ESTABLISHED_STATE and item not in up_at_one_end
        session_part.seen["sessions"][item] = "up" if up else "down"
        session_part.said["sessions", item] = session.describe_state + " at this end only" * (item in up_at_one_end)
    for name in lab.running_devices:
        for item in looking.stated_sessions_of_device(lab, name).values():
            if item not in sessions:
                session_part.seen["sessions"][item] = "down"
                session_part.said["sessions", item] = "bgpd has no such neighbor"
    return session_part


def _observe_routes(lab: TwinLab, work: ObservationWork) -> PartialObservation:
    route = PartialObservation(seen={"routes": {}})
    for device_routes in lab.map_concurrently(
        lambda name: looking.installed_protocol_routes(lab, name), lab.running_devices
    ):
        route.seen["routes"].update({item: hops for item, (_, hops) in device_routes.items()})
    for item, hops in work.computed.get("routes", {}).items():
        ports = route.seen["routes"].get(item)
        if isinstance(hops, frozenset) and isinstance(ports, frozenset) and ports != hops and len(ports) == len(hops):
            name, _, vrf, prefix = item
            why = looking.best_path_reason(lab, name, prefix, vrf) if name in lab.running_devices else ""
            route.said["routes", item] = f"{', '.join(sorted(ports))} ({why})" if why else ", ".join(sorted(ports))
            if why == _OLDER_PATH_REASON:
                route.unseen.setdefault("routes", {})[item] = ARRIVAL_ORDER_REASON
    return route


def _observe_addresses(lab: TwinLab, work: ObservationWork) -> PartialObservation:
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for name in (device.name for device in work.fabric.devices):
        for address, leg in looking.kernel_addresses(lab, name):
            owners[address].add(f"{name}:{leg}")
    for name in lab.running_devices:
        owners[f"router id {looking.observed_router_id(lab, name)}"].add(name)
    items = work.computed.get("addresses", {})
    seen = {item: tuple(sorted(owners[owner])) for owner in owners if (item := address_item(owner)) in items}
    return PartialObservation(seen={"addresses": dict(seen)})


def _observe_links(twin_lab: TwinLab, twin_work: ObservationWork) -> PartialObservation:
    return observe_links(twin_lab, twin_work.computed.get("links", {}))


_OBSERVE_BY_CHECK: Final[Mapping[ObservationCheck, Callable[[TwinLab, ObservationWork], PartialObservation]]] = {
    "configuration": _observe_refused_configuration,
    "sessions": _observe_sessions,
    "routes": _observe_routes,
    "addresses": _observe_addresses,
    "links": _observe_links,
}
"""What is looked at without anything being done, one check each."""


def may_refused_line_matter(refusal: RefusedFrrLine, frr_text: str) -> bool:
    """Whether a refused line may change the checked items."""
    lines = frr_text.split("\n")
    return refusal.line is None or not _HARMLESS_LINE.match(lines[refusal.line - 1])


def _list_refusals(
    twin_start: TwinStartConfigurations, rows: dict[str, tuple[RefusedFrrLine, ...]]
) -> Iterator[RefusedLine]:
    for device, refusals in sorted(rows.items()):
        conf = twin_start.confs[device]
        lines = conf.text.split("\n")
        for refusal in refusals:
            place: FilePlace | None = conf.place(refusal.line) if refusal.line else None
            text = lines[refusal.line - 1].strip() if refusal.line else ""
            yield RefusedLine(
                device=device,
                text=text,
                said=refusal.said,
                place=place,
                matters=may_refused_line_matter(refusal, conf.text),
            )


def _add_unseen_reasons(observed_part: PartialObservation, work: ObservationWork, dead: Mapping[str, str]) -> None:
    """Record the reasons why items of devices without daemons are unseen, and checks that nobody made."""
    silent = {**work.without, **dead}
    for check in ("sessions", "routes"):
        for item in work.computed.get(check, {}):
            if item[0] in silent:
                observed_part.unseen.setdefault(check, {})[item] = f"{item[0]} runs no daemons: {silent[item[0]]}"
    for check in OBSERVATION_CHECKS:
        if check not in observed_part.seen and () not in observed_part.unseen.get(check, {}):
            observed_part.unseen.setdefault(check, {})[()] = NOT_ASKED_REASON
