"""Every release of Cumulus Linux that is written: in which words, and what it cannot say at all."""

from dataclasses import replace
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.design import find_adaptations
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.model.fabric import Collector, Device, Trimming
from nodrop.model.index import Index
from nodrop.model.qos import COLORS, PfcWatchdog, QosProfile, WatchdogConditions, WredColor, WredProfile
from nodrop.model.routing import Bgp, CommunityList
from nodrop.model.states import require_fact
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.releases import FIRST_RELEASE_BY_FEATURE, RELEASES, has_feature
from nodrop.platforms.nvue.schema import schema_root
from support.designs import Data, build, load, shipped
from support.nvue_devices import as_nvue, fabric
from support.nvue_startup import read, state


def leaf(release: str) -> Device:
    return as_nvue(fabric().device("leaf1"), release)


def commands(device: Device) -> list[str]:
    (text,) = (
        one.text
        for one in platforms.writer_of_platform("nvue").write(device, Index(fabric()))
        if one.path.endswith(".nv")
    )
    return [line.removeprefix("nv set ") for line in text.splitlines()]


def on_spectrum_4(release: str) -> Device:
    """A switch that trims in a release that does, told not to."""
    device = next(one for one in build(on_nvue("5.19", "lossy", **SN5600)).devices if one.role == "leaf")
    return replace(device, version=release, watchdog_conditions=leaf(release).watchdog_conditions)


SN5600 = {f"topology.{tier}.model": "SN5600" for tier in ("leaves", "spines")}


def on_nvue(release: str, name: str = "two-by-two", **changes: object) -> Data:
    tiers = {f"topology.{tier}.platform": "nvue" for tier in ("leaves", "spines")}
    releases = {f"topology.{tier}.version": release for tier in ("leaves", "spines")}
    return shipped(name, tiers | releases | changes)


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_builds_clean(release: str) -> None:
    built = build(on_nvue(release))
    reading = nodrop.read_back(list(nodrop.write(built)), built)
    assert {device.version for device in reading.fabric.devices} == {release}
    assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
    assert [(one.rule, str(one.subject)) for one in nodrop.lint(reading).findings] == []


OLD = ("5.9", "5.10", "5.11", "5.12", "5.13", "5.14")


@pytest.mark.parametrize("release", RELEASES)
def test_the_words_change_with_the_dialect(release: str) -> None:
    found = [line for line in commands(leaf(release)) if line.startswith("qos roce ")]
    switched = "qos roce enable on" if release in OLD else "qos roce state enabled"
    assert sorted(found) == sorted(["qos roce cable-length 3", "qos roce mode lossless", switched])


@pytest.mark.parametrize("release", RELEASES)
def test_servers_of_syslog_move_with_the_release(release: str) -> None:
    device = replace(leaf(release), syslog_servers=("192.0.2.20",))
    of_vrf = release in OLD[:4]
    assert [line for line in commands(device) if " syslog " in line] == [
        "service syslog mgmt server 192.0.2.20" if of_vrf else "system syslog server 192.0.2.20 vrf mgmt"
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_the_community_internet_is_spelt_as_the_release_does(release: str) -> None:
    device = leaf(release)
    assert isinstance(device.bgp, Bgp)
    lists = (CommunityList(name="C", rules=(("permit", ("internet",)),)),)
    spelt = "internet" if release in OLD[:5] else "0:0"
    assert f"router policy community-list C rule 10 community {spelt}" in commands(
        replace(device, bgp=replace(device.bgp, community_lists=lists))
    )


WANTED = {
    "export by OTLP": ("otlp_collectors", (Collector(address="192.0.2.30", port=4317),)),
    "a gNMI server": ("gnmi_port", 9339),
    "packet trimming": ("trimming", Trimming(size_bytes=256, dscp=1, tc=0, queue=0)),
}


@pytest.mark.parametrize(
    ("what", "path"),
    [
        ("a gNMI server", ("system", "gnmi-server")),
        ("packet trimming", ("system", "forwarding", "packet-trim")),
        ("a time of restoration", ("qos", "pfc-watchdog", "recovery-interval")),
    ],
)
def test_the_schema_has_what_is_written_since_the_same_release(what: str, path: tuple[str, ...]) -> None:
    place: Any = schema_root()
    for word in path:
        place = place.words[word]
    assert place.span.since == tuple(map(int, FIRST_RELEASE_BY_FEATURE[what].split(".")))


def test_all_that_older_releases_lack_is_tried() -> None:
    assert list(WANTED) == [row.since for row in SWITCH_BINDINGS if row.since]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("what", WANTED)
def test_what_a_release_lacks_is_refused_with_the_first_that_has_it(what: str, release: str) -> None:
    name, value = WANTED[what]
    device = replace(on_spectrum_4(release), **{name: value})
    if has_feature(release, what):
        assert commands(device)
        return
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(device, Index(fabric()))
    assert (
        str(refused.value) == f"{name}: NVUE has {what} since {FIRST_RELEASE_BY_FEATURE[what]}, and this is {release}"
    )


@pytest.mark.parametrize("release", RELEASES)
def test_the_design_knows_what_a_release_lacks(release: str) -> None:
    held = traits_of_platform("nvue", release)
    assert held.otlp == has_feature(release, "export by OTLP")
    assert held.gnmi == has_feature(release, "a gNMI server")
    assert bool(held.trimming.asics) == has_feature(release, "packet trimming")


def test_trimming_is_refused_with_the_release_that_has_it() -> None:
    with pytest.raises(InputProblems) as caught:
        build(on_nvue("5.13", "trim"))
    assert [(one.where, one.found, one.expected) for one in caught.value.problems] == [
        (f"topology.{tier}.version", "NVUE 5.13 does not trim packets", "5.14 or later")
        for tier in ("spines", "leaves")
    ]


@pytest.mark.parametrize(
    ("release", "telemetry", "where", "found", "hint"),
    [
        (
            "5.11",
            {"otlp": ["192.0.2.30:4317"]},
            "otlp",
            "NVUE 5.11 sends nothing by OTLP by itself",
            "or NVUE 5.12 or later",
        ),
        ("5.12", {"gnmi": True}, "gnmi", "NVUE 5.12 does not answer gNMI", "or NVUE 5.13 or later"),
    ],
)
def test_telemetry_is_refused_with_the_release_that_has_it(
    release: str, telemetry: Data, where: str, found: str, hint: str
) -> None:
    with pytest.raises(InputProblems) as caught:
        build(on_nvue(release, **{"services.telemetry": telemetry}))
    assert [(one.where, one.found, one.hint) for one in caught.value.problems] == [
        (f"services.telemetry.{where}", found, hint)
    ]


def test_telemetry_that_one_tier_lacks_is_noted() -> None:
    changes = {"services.telemetry": {"gnmi": True}, "topology.spines.version": "5.12"}
    data = on_nvue("5.16", **changes)
    assert {device.name: device.gnmi_port for device in build(data).devices} == {
        "leaf1": 9339,
        "leaf2": 9339,
        "spine1": None,
        "spine2": None,
    }
    told = {one.path: (one.wanted, one.made, one.reason) for one in find_adaptations(load(data))}
    assert told["spine*/@gnmi_port"] == (
        "9339",
        "none",
        "Cumulus Linux has gNMI since 5.13, and is not to run it beside OTLP",
    )


# --- the watchdog's time of restoration


@pytest.mark.parametrize("release", RELEASES)
def test_a_queue_is_freed_after_pollings_without_pause_where_the_release_says_so(release: str) -> None:
    found = [line for line in commands(leaf(release)) if line.startswith("qos pfc-watchdog ")]
    recovery = ["recovery-interval 2"] if release == "5.19" else []
    assert [line.removeprefix("qos pfc-watchdog ") for line in found] == [
        "polling-interval 100",
        *recovery,
        "robustness 3",
    ]


@pytest.mark.parametrize(
    ("said", "release", "restoration_ms", "derived"),
    [
        ("{}", "5.18.0", None, False),
        ("{}", "5.19.0", 200, True),
        ("{polling-interval: 300}", "5.19.0", 600, True),
        ("{polling-interval: 300, recovery-interval: 5}", "5.19.0", 1500, False),
        ("{recovery-interval: 5}", "5.19.0", 500, True),
    ],
)
def test_restoration_is_read_as_polling_times_recovery(
    said: str, release: str, restoration_ms: int | None, derived: bool
) -> None:
    port = "interface:\n  swp1: {qos: {pfc-watchdog: {state: enable}}}\n"
    body = f"{port}qos:\n  roce: {{}}\n  pfc-watchdog: {said}\n"
    reading = read(state(body, release))
    qos = reading.device.interfaces[0].qos
    assert isinstance(qos, QosProfile)
    watchdog = qos.pfc_watchdog
    assert isinstance(watchdog, PfcWatchdog)
    assert watchdog.restoration_ms == restoration_ms
    subject = (reading.device.name, "swp1", "qos", "pfc_watchdog", "restoration_ms")
    assert (subject in reading.derived) is derived


def test_a_restoration_of_the_intent_is_carried_or_refused_with_the_nearest() -> None:
    def data(restoration: str) -> Data:
        return on_nvue("5.19", **{"pfc.watchdog.hosts.restoration": restoration, "pfc.watchdog.polling": "100ms"})

    (port, *_) = build(data("700ms")).device("leaf1").interfaces
    assert isinstance(port.qos, QosProfile)
    assert isinstance(port.qos.pfc_watchdog, PfcWatchdog)
    assert port.qos.pfc_watchdog.restoration_ms == 700
    with pytest.raises(InputProblems) as caught:
        build(data("750ms"))
    assert [(one.where, one.found, one.expected, one.hint) for one in caught.value.problems] == [
        (
            "pfc.watchdog.hosts.restoration",
            "750 ms",
            "700 ms or 800 ms",
            "restoration is polling × recovery interval on NVUE, whole numbers",
        )
    ]


@pytest.mark.parametrize("restoration_ms", [None, 250, 100_100])
def test_a_restoration_that_is_no_count_of_pollings_is_not_written(restoration_ms: int | None) -> None:
    device = leaf("5.19")
    qos = device.interfaces[0].qos
    assert isinstance(qos, QosProfile)
    assert isinstance(qos.pfc_watchdog, PfcWatchdog)
    other = replace(qos, pfc_watchdog=replace(qos.pfc_watchdog, restoration_ms=restoration_ms))
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(
            replace(device, interfaces=tuple(replace(port, qos=other) for port in device.interfaces)), Index(fabric())
        )
    assert str(refused.value) == (
        "interfaces/swp1/qos/pfc_watchdog/restoration_ms: "
        "is no multiple of the polling interval, 100 ms, up to 1000 times"
    )


# --- models


def test_a_model_is_refused_in_a_release_older_than_it() -> None:
    models = {f"topology.{tier}.model": "SN5400" for tier in ("leaves", "spines")}
    with pytest.raises(InputProblems) as caught:
        build(on_nvue("5.9", **models))
    assert [(one.where, one.found, one.expected) for one in caught.value.problems] == [
        (f"topology.{tier}.version", "NVUE 5.9 does not know SN5400", "5.10 or later") for tier in ("spines", "leaves")
    ]
    device = build(on_nvue("5.10", **models)).devices[0]
    assert platforms.writer_of_platform("nvue").write(device, Index(fabric()))
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(replace(device, version="5.9"), Index(fabric()))
    assert str(refused.value) == "version: NVUE knows SN5400 since 5.10, and this is 5.9"


# --- what the watchdog takes for stuck


@pytest.mark.parametrize("release", RELEASES)
def test_a_switch_that_is_told_no_conditions_has_those_of_its_release(release: str) -> None:
    usual = WatchdogConditions(pause_ten_thousandths=9900, sent_frames=0, queue_percent=None, recovery_pause_frames=0)
    reading = read(state("qos:\n  roce: {}\n", f"{release}.0"))
    assert reading.device.watchdog_conditions == (usual if release == "5.19" else None)
    assert ((reading.device.name, "@watchdog_conditions") in reading.derived) is (release == "5.19")
    assert leaf(release).watchdog_conditions == (usual if release == "5.19" else None)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("transmit-queue-threshold: {state: enabled, percent: 10}", (9900, 0, 10, 0)),
        ("transmit-queue-threshold: {state: enabled}", (9900, 0, 0, 0)),
        ("transmit-queue-threshold: {percent: 10}", (9900, 0, None, 0)),
        ("tx-frames-threshold: {value: 10}", (9900, 10, None, 0)),
        ("tx-frames-threshold: {state: disabled}", (9900, None, None, 0)),
        ("rx-pause-duration: {state: disabled}", (None, 0, None, 0)),
        ("rx-pause-duration: {multiplier: 5000}", (5000, 0, None, 0)),
        ("rx-pause-duration: {multiplier: 10000}", (9900, 0, None, 0)),
        ("rx-pause-threshold: 7", (9900, 0, None, 7)),
    ],
)
@pytest.mark.parametrize("release", ["5.16.0", "5.19.0"])
def test_conditions_are_read_in_any_release(said: str, found: tuple[int | None, ...], release: str) -> None:
    reading = read(state(f"qos:\n  roce: {{}}\n  pfc-watchdog:\n    {said}\n", release))
    conditions = reading.device.watchdog_conditions
    assert isinstance(conditions, WatchdogConditions)
    assert (
        conditions.pause_ten_thousandths,
        conditions.sent_frames,
        conditions.queue_percent,
        conditions.recovery_pause_frames,
    ) == found
    assert (reading.device.name, "@watchdog_conditions") not in reading.derived


def test_conditions_are_written_as_far_as_they_are_not_the_usual_ones() -> None:
    def said(**changes: int | None) -> list[str]:
        device = leaf("5.19")
        conditions = device.watchdog_conditions
        assert isinstance(conditions, WatchdogConditions)
        found = commands(replace(device, watchdog_conditions=replace(conditions, **changes)))  # type: ignore[arg-type]
        own = [line.removeprefix("qos pfc-watchdog ") for line in found if line.startswith("qos pfc-watchdog ")]
        return own[3:]

    assert said() == []
    assert said(queue_percent=10, sent_frames=None, pause_ten_thousandths=5000, recovery_pause_frames=3) == [
        "rx-pause-duration multiplier 5000",
        "rx-pause-duration state enabled",
        "rx-pause-threshold 3",
        "transmit-queue-threshold percent 10",
        "transmit-queue-threshold state enabled",
        "tx-frames-threshold state disabled",
    ]


@pytest.mark.parametrize(
    ("release", "conditions", "path", "reason"),
    [
        (
            "5.18",
            (9900, 0, None, 0),
            "watchdog_conditions",
            "NVUE has conditions of the watchdog since 5.19, and this is 5.18",
        ),
        ("5.19", None, "watchdog_conditions", "a switch of 5.19 has some"),
        ("5.19", (0, 0, None, 0), "watchdog_conditions/pause_ten_thousandths", "is not from 1 to 9999"),
        ("5.19", (9900, 100_001, None, 0), "watchdog_conditions/sent_frames", "is not from 0 to 100000"),
        ("5.19", (9900, 0, 101, 0), "watchdog_conditions/queue_percent", "is not from 0 to 100"),
        ("5.19", (9900, 0, None, -1), "watchdog_conditions/recovery_pause_frames", "is not from 0 to 100000"),
    ],
)
def test_conditions_that_a_release_has_not_are_not_written(
    release: str, conditions: tuple[int | None, ...] | None, path: str, reason: str
) -> None:
    names = ("pause_ten_thousandths", "sent_frames", "queue_percent", "recovery_pause_frames")
    found = conditions and WatchdogConditions(**dict(zip(names, conditions, strict=True)))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(replace(leaf(release), watchdog_conditions=found), Index(fabric()))
    assert (refused.value.path, refused.value.reason) == (path, reason)


# --- marking by what a queue may take


def marking_relatively(device: Device, **changes: int | None) -> Device:
    """The device, every queue that marks doing so from 20 % to 80 %."""
    color = WredColor(min_percent=20, max_percent=80, probability_percent=5, enabled=False)
    color = replace(color, **changes)  # type: ignore[arg-type]
    wred = WredProfile(ecn_colors=COLORS, green=color, yellow=color, red=color)
    made = []
    for port in device.interfaces:
        assert isinstance(port.qos, QosProfile)
        queues = tuple(replace(one, wred=wred if one.wred else None) for one in require_fact(port.qos.queues))
        made.append(replace(port, qos=replace(port.qos, queues=queues)))
    return replace(device, interfaces=tuple(made))


def on_sn5600(release: str) -> Device:
    return next(one for one in build(on_nvue(release, **SN5600)).devices if one.role == "leaf")


def test_relative_marking_is_written_since_5_17() -> None:
    found = commands(marking_relatively(on_sn5600("5.17")))
    path = "qos congestion-control default-global traffic-class 3 "
    assert [line.removeprefix(path) for line in found if line.startswith(path)] == [
        "max-threshold-percent 80",
        "min-threshold-percent 20",
        "mode relative",
        "probability 5",
    ]


@pytest.mark.parametrize(
    ("device", "field", "reason"),
    [
        (
            marking_relatively(on_sn5600("5.16")),
            "min_percent",
            "NVUE has relative marking since 5.17, and this is 5.16",
        ),
        (marking_relatively(leaf("5.17")), "min_percent", "SN4700 marks by bytes only"),
        (
            marking_relatively(on_sn5600("5.17"), min_bytes=1),
            "min_bytes",
            "NVUE goes by bytes or by percentages, not by both",
        ),
        (marking_relatively(on_sn5600("5.17"), max_percent=101), "max_percent", "is stated in NVUE, from 0 to 100"),
    ],
)
def test_relative_marking_that_cannot_be_is_not_written(device: Device, field: str, reason: str) -> None:
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(device, Index(fabric()))
    assert refused.value.path.endswith(f"/queues/3/wred/green/{field}")
    assert refused.value.reason == reason


# --- what an intent says of stuck queues

SLOW = {
    "pfc.watchdog.polling": "400ms",
    "pfc.watchdog.hosts.detection": "800ms",
    "pfc.watchdog.hosts.restoration": "1600ms",
}


def test_an_intent_says_what_a_queue_has_to_be_like() -> None:
    stuck = {"pfc.watchdog.stuck.paused": "50%", "pfc.watchdog.stuck.sent": 10, "pfc.watchdog.stuck.fill": "10%"}
    found = build(on_nvue("5.19", **SLOW, **stuck)).device("leaf1").watchdog_conditions
    assert found == WatchdogConditions(
        pause_ten_thousandths=5000, sent_frames=10, queue_percent=10, recovery_pause_frames=0
    )
    fill = build(on_nvue("5.19", **SLOW, **{"pfc.watchdog.stuck.fill": "10%"})).device("leaf1").watchdog_conditions
    assert fill == WatchdogConditions(
        pause_ten_thousandths=9900, sent_frames=0, queue_percent=10, recovery_pause_frames=0
    )


def test_what_cannot_be_told_is_noted() -> None:
    data = on_nvue("5.18", **SLOW, **{"pfc.watchdog.stuck.fill": "10%", "topology.leaves.platform": "sonic"})
    data["topology"]["leaves"]["version"] = "202505"
    assert {device.watchdog_conditions for device in build(data).devices} == {None}
    told = {one.path: (one.wanted, one.made, one.reason) for one in find_adaptations(load(data))}
    assert told["leaf*/@watchdog_conditions"] == (
        "more than 10 % full",
        "none",
        "SONiC's watchdog goes by what its daemon has for the ASIC",
    )
    assert told["spine*/@watchdog_conditions"][:2] == ("more than 10 % full", "none")


@pytest.mark.parametrize(("polling", "refused"), [("300ms", True), ("400ms", False)])
def test_how_full_queues_are_takes_a_slow_polling(polling: str, refused: bool) -> None:
    timers = {**SLOW, "pfc.watchdog.polling": polling, "pfc.watchdog.stuck.fill": "10%"}
    timers |= {"pfc.watchdog.hosts.detection": "1200ms", "pfc.watchdog.hosts.restoration": "2400ms"}
    data = on_nvue("5.19", **timers)
    if not refused:
        assert build(data)
        return
    with pytest.raises(InputProblems) as caught:
        build(data)
    assert [(one.where, one.found, one.expected, one.hint) for one in caught.value.problems] == [
        (
            "pfc.watchdog.polling",
            "300 ms",
            "more than 300 ms",
            "NVUE reads the fill level of queues only above this interval",
        )
    ]
