"""One intent on SONiC, on NVUE and on both: the same fabric but for what is noted, and clean on every mix."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nodrop
from nodrop.design import find_adaptations
from nodrop.design.adapting import PlatformAdaptation, subject_of_attribute_path
from nodrop.engine.rules import shipped_rules as rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems
from nodrop.model.bridging import Vlan
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Port
from nodrop.model.qos import QosProfile, Queue, Scheduler
from nodrop.model.reading import Reading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import require_fact
from nodrop.model.subject import Subject, matches, natural_sort_key, parse_subject, subject_text
from nodrop.model.values import replace_fields
from nodrop.platforms import unsupported_paths
from support.designs import Data, build, load
from support.designs import changed as altered
from support.places import TESTS
from support.platform_mixes import INTENTS, MIXES, RELEASES, on
from support.random_designs import intents

NOTES = TESTS / "design" / "notes"


@cache
def read_back(name: str, leaves: str, spines: str, release: int = -1) -> Reading:
    fabric = build(on(name, leaves, spines, release))
    return nodrop.read_back([*nodrop.write(fabric), *nodrop.host_files(fabric)], fabric)


@cache
def notes(name: str, leaves: str, spines: str) -> tuple[PlatformAdaptation, ...]:
    return find_adaptations(load(on(name, leaves, spines)))


@pytest.mark.slow
@pytest.mark.parametrize("mix", MIXES, ids="-".join)
@pytest.mark.parametrize("name", INTENTS)
def test_every_intent_is_clean_on_every_mix(name: str, mix: tuple[str, str]) -> None:
    for release in (0, -1) if "nvue" in mix else (-1,):
        reading = read_back(name, *mix, release)
        assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
        verdict = judge(reading, rules())
        assert [(finding.rule, finding.subject) for finding in verdict.findings] == []
        assert [(one.rule, one.missing) for one in verdict.unknown] == []


# --- the same fabric


def named_by_port(fabric: Fabric) -> Fabric:
    """The fabric with every port of a switch called by what it is, wherever it is named."""
    ports = {End(device.name, port.name): _port(port.port) for device in fabric.devices for port in device.interfaces}

    def of_port(device: Device, port: Interface) -> Interface:
        far = str(port.description).rpartition(":")
        end = End(far[0], far[2])
        description = f"{end.node}:{ports[end]}" if end in ports else port.description
        return replace_fields(port, name=ports[End(device.name, port.name)], description=description)

    def of_link(link: Link) -> Link:
        a, b = (End(end.node, ports.get(end, end.port)) for end in (link.a, link.b))
        return replace_fields(link, a=min(a, b), b=max(a, b))

    def of_bgp(device: Device) -> Bgp | None:
        bgp = device.bgp
        if bgp is None:
            return None
        sessions = (
            replace_fields(one, interface=ports[End(device.name, one.interface)]) if one.interface else one
            for one in bgp.neighbors
        )
        return replace_fields(bgp, neighbors=tuple(sorted(sessions, key=session_key)))

    def of_vlan(device: Device, vlan: Vlan) -> Vlan:
        members = (replace_fields(one, interface=ports[End(device.name, one.interface)]) for one in vlan.members)
        return replace_fields(vlan, members=tuple(members))

    devices = tuple(
        replace_fields(
            device,
            interfaces=tuple(of_port(device, port) for port in device.interfaces),
            bgp=of_bgp(device),
            vlans=tuple(of_vlan(device, vlan) for vlan in require_fact(device.vlans)),
        )
        for device in fabric.devices
    )
    links = tuple(sorted(map(of_link, fabric.links), key=lambda link: (link.a, link.b)))
    return replace_fields(fabric, devices=devices, links=links)


def session_key(session: BgpNeighbor) -> Any:
    return natural_sort_key(session.key)


def _port(port: Any) -> str:
    assert isinstance(port, Port)
    return f"{port.panel}.{port.split}"


def comparable(device: Device) -> Device:
    """The device without what either platform cannot say, and without what the intent says of its platform."""
    unsaid = dict.fromkeys([*unsupported_paths("sonic"), *unsupported_paths("nvue")])
    whole = replace_fields(device, interfaces=tuple(map(_stated, device.interfaces)))
    return replace_fields(mask_unsupported_fields(whole, unsaid), platform="", version="", qos_style=None)


def _stated(port: Interface) -> Interface:
    """The port without what its platform gives ports without a cable, and rates that SONiC takes beside caps only."""
    if isinstance(port.qos, QosProfile):
        port = replace_fields(
            port, qos=replace_fields(port.qos, queues=tuple(map(_capped, require_fact(port.qos.queues))))
        )
    if port.description is None:  # no cable; the port for cut packets is such a one, and has a speed where it is up
        port = replace_fields(port, fec=None, mtu_bytes=None, speed_mbps=port.speed_mbps if port.enabled else None)
    return port


def _capped(queue: Queue) -> Queue:
    scheduler = queue.scheduler
    if not isinstance(scheduler, Scheduler) or scheduler.guaranteed_bytes_per_s != scheduler.peak_bytes_per_s:
        return queue
    return replace_fields(queue, scheduler=replace_fields(scheduler, guaranteed_bytes_per_s=None))


@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_ports_without_a_cable_have_what_their_platform_gives_them(mix: tuple[str, str]) -> None:
    of_platform = {
        "sonic": {"fec": None, "autoneg": None, "mtu_bytes": 9100},
        "nvue": {"fec": "auto", "autoneg": True, "mtu_bytes": 9216, "speed_mbps": None},
    }
    for device in build(on("two-by-two", *mix, -1)).devices:
        spare = [port for port in device.interfaces if port.description is None]
        given = of_platform[device.platform]
        assert [{name: getattr(port, name) for name in given} for port in spare] == [given] * len(spare)
        assert spare
        assert {port.enabled for port in spare} == {False}


def subjects(name: str, mix: tuple[str, str]) -> Iterator[Subject]:
    """Yield where an intent's fabric on a mix differs from what it is on SONiC, as both are read back."""
    base, other = (named_by_port(read_back(name, *one).fabric) for one in (MIXES[0], mix))
    for device, its in zip(base.devices, other.devices, strict=True):
        for difference in differences(comparable(device), comparable(its)):
            yield (device.name, *subject_of_attribute_path(difference.path))


def covers(note: PlatformAdaptation, subject: Subject) -> bool:
    return matches((*parse_subject(note.path), "**"), subject)


@pytest.mark.parametrize("mix", MIXES[1:], ids="-".join)
@pytest.mark.parametrize("name", INTENTS)
@pytest.mark.nightly
def test_platforms_differ_in_what_is_noted_and_in_nothing_else(name: str, mix: tuple[str, str]) -> None:
    noted, found = notes(name, *mix), set(subjects(name, mix))
    assert [subject_text(one) for one in sorted(found) if not any(covers(note, one) for note in noted)] == []
    unsaid = [f"*/{'/'.join(subject_of_attribute_path(tuple(path.split('/'))))}" for path in unsupported_paths("nvue")]
    idle = [note.path for note in noted if not any(covers(note, one) for one in found)]
    assert [path for path in idle if not any(matches(parse_subject(one), parse_subject(path)) for one in unsaid)] == []


@pytest.mark.parametrize("mix", MIXES[1:], ids="-".join)
@pytest.mark.parametrize("name", INTENTS)
def test_what_no_switch_says_is_the_same(name: str, mix: tuple[str, str]) -> None:
    base, other = (named_by_port(read_back(name, *one).fabric) for one in (MIXES[0], mix))
    for part in ("name", "mode", "hosts", "classes", "links"):
        assert getattr(base, part) == getattr(other, part)
    unwatched = ("leaf",) if mix[0] == "nvue" and base.policy.fabric_watchdog else ()
    assert other.policy == replace_fields(base.policy, fabric_unwatched_roles=unwatched)


@pytest.mark.parametrize("name", INTENTS)
def test_notes_of_an_intent_on_nvue(name: str, update_golden: bool) -> None:
    said = "".join(
        f"{one.path}\n    wanted: {one.wanted}\n    made: {one.made}\n    because: {one.reason}\n"
        for one in notes(name, "nvue", "nvue")
    )
    golden = NOTES / f"{name}.txt"
    if update_golden:
        NOTES.mkdir(exist_ok=True)
        golden.write_text(said)
    assert said == golden.read_text()


def test_every_note_has_its_intent_and_sonic_needs_none() -> None:
    assert sorted(path.stem for path in NOTES.iterdir()) == INTENTS
    for name in INTENTS:
        assert notes(name, "sonic", "sonic") == ()


@pytest.mark.parametrize("mix", MIXES[1:], ids="-".join)
def test_notes_of_a_mix_are_those_of_its_tiers(mix: tuple[str, str]) -> None:
    roles = {f"{role}*" for role, platform in zip(("leaf", "spine"), mix, strict=True) if platform == "nvue"}
    both = notes("reference-256", "nvue", "nvue")
    assert notes("reference-256", *mix) == tuple(one for one in both if parse_subject(one.path)[0] in roles)


# --- random intents


def in_mode(data: Data, mode: str) -> Data:
    """An intent that is lossless, in another mode."""
    changes: dict[str, Any] = {"mode": mode}
    if mode == "pfc-only":
        return altered(data, changes | {"classes.rdma.ecn": None})
    if mode in ("lossy", "trim", "uec"):
        changes |= {f"classes.{name}.lossless": None for name in data["classes"]}
        changes |= {"pfc": None, "buffers": None, "hosts.pfc": None}
    if mode == "trim":
        changes["trimming"] = {"into": "control", "size": "512B"}
        changes |= {f"topology.{tier}.model": "SN5600" for tier in ("leaves", "spines")}
    return altered(data, changes)


def set_on(data: Data, drawn: st.DataObject) -> Data:
    """A random intent on a random mix, of any release, in any mode."""
    trims = {data["topology"][tier]["model"] for tier in ("leaves", "spines")} == {"SN5600"}
    modes = ["lossless", "pfc-only", "lossy", "uec", *(["trim"] if trims else [])]
    data = in_mode(data, drawn.draw(st.sampled_from(modes)))
    changes = {}
    for tier in ("leaves", "spines"):
        platform = drawn.draw(st.sampled_from(sorted(RELEASES)))
        changes[f"topology.{tier}.platform"] = platform
        changes[f"topology.{tier}.version"] = drawn.draw(st.sampled_from(RELEASES[platform]))
    return altered(data, changes)


def built(data: Data) -> Fabric:
    """The fabric of an intent whose detections are whole numbers of pollings, wherever that counts."""
    try:
        return build(data)
    except InputProblems as error:
        odd = all(problem.hint.endswith("whole numbers") for problem in error.problems)
        assume(not odd)
        raise


@pytest.mark.nightly
@given(intents(), st.data())
def test_random_intents_come_back_whole_from_any_mix(data: Data, drawn: st.DataObject) -> None:
    fabric = built(set_on(data, drawn))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
    for device, its in zip(fabric.devices, reading.fabric.devices, strict=True):
        unsaid = unsupported_paths(device.platform).keys() - {
            "role",
            "interfaces/*/side",
        }  # the plan beside the files says
        assert list(differences(mask_unsupported_fields(device, unsaid), its)) == []


@given(intents(), st.data())
def test_a_switch_with_one_set_of_timers_watches_one_side(data: Data, drawn: st.DataObject) -> None:
    fabric = built(set_on(data, drawn))
    for device in (one for one in fabric.devices if one.platform == "nvue"):
        watched: Any = {port.side: port.qos.pfc_watchdog for port in device.interfaces if port.qos.pfc_watchdog}  # type: ignore[union-attr]
        assert watched.keys() <= ({"host"} if device.role == "leaf" else {"fabric"})
        for watchdog in watched.values():
            robustness, left = divmod(watchdog.detection_ms, device.watchdog_polling_ms)
            assert (left, 2 <= robustness <= 1000, watchdog.action) == (0, True, None)
            assert (watchdog.restoration_ms is not None) == (device.version == "5.19")


@pytest.mark.parametrize(("platform", "enabled"), [("sonic", False), ("nvue", True)])
def test_the_service_port_is_left_to_cut_packets_where_they_take_it(platform: str, enabled: bool) -> None:
    for name, up in (("trim", enabled), ("rail-256", False)):
        for device in read_back(name, platform, platform).fabric.devices:
            service = device.interfaces[-1]
            assert (service.port, service.enabled, service.addresses) == (Port(65), up, ())


# --- refused on every mix that cannot carry it


@pytest.mark.parametrize("mix", MIXES, ids="-".join)
def test_trimming_is_refused_on_switches_that_do_not_trim(mix: tuple[str, str]) -> None:
    data = on("trim", *mix)
    for tier in ("leaves", "spines"):
        data["topology"][tier]["model"] = "SN4700"
    data["topology"]["leaves"]["ports"] = {"endpoints": "1-8", "uplinks": "25-32"}
    with pytest.raises(InputProblems) as raised:
        build(data)
    found = [problem for problem in raised.value.problems if problem.where.endswith(".model")]
    titles = {"sonic": "SONiC", "nvue": "NVUE"}
    assert sorted(problem.found for problem in found) == sorted(
        f"spectrum-3 of SN4700 does not trim packets under {titles[platform]}" for platform in mix
    )
    able = {
        "sonic": "a model with spectrum-4 or spectrum-5 or spectrum-6 or tomahawk-5 or tomahawk-6",
        "nvue": "a model with spectrum-4 or spectrum-5",
    }
    assert {(one.expected, one.hint) for one in found} == {(able[platform], "or mode: lossy") for platform in mix}
