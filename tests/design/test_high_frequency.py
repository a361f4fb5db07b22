"""High-frequency telemetry: the cases of high_frequency.yaml, and the bandwidth of a stream."""

import json
import re
from typing import Any, get_args

import pytest

import nodrop
from nodrop.design import find_adaptations
from nodrop.design.high_frequency import COUNTERS_BY_KIND
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.hardware import asic, asics
from nodrop.model.fabric import CounterStream, Fabric, SampledCounters, SampledKind
from nodrop.model.index import Index
from nodrop.model.values import replace_fields
from nodrop.platforms import writer_of_platform
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.fabric import fabric_facts
from nodrop.report.streams import stream_facts
from support.designs import Data, build, data_of, load, shipped
from support.pages import text_of_fabric
from support.places import TESTS

CASES = data_of((TESTS / "design" / "high_frequency.yaml").read_text())
KEY = "services.telemetry.high_frequency"
BASE = {f"topology.{tier}.model": "SN5600" for tier in ("leaves", "spines")}
BASE |= {f"topology.{tier}.version": "202511" for tier in ("leaves", "spines")}
BASE |= {f"{part}.split": "2" for part in ("topology.uplinks", "endpoints.gpu", "endpoints.storage")}
BASE |= {"endpoints.gpu.leaf_ports": "1"}


def intent(case: Data) -> Data:
    return shipped("two-by-two", BASE | {KEY: case["wanted"]} | case.get("changes", {}))


def tables(fabric: Fabric, device: str = "leaf1") -> Any:
    artifacts = nodrop.write(fabric)
    return json.loads(next(one.text for one in artifacts if (one.device, one.path) == (device, "config_db.json")))


def named(part: str) -> Any:
    return pytest.mark.parametrize("case", CASES[part], ids=lambda case: case["case"])


@named("written")
def test_a_stream_is_written_and_read_back(case: Data) -> None:
    fabric = build(intent(case))
    made = tables(fabric)
    for table, rows in case.get("tables", {}).items():
        assert made[table] == rows
    (group,) = made["HIGH_FREQUENCY_TELEMETRY_GROUP"].values()
    assert group["object_counters"] == case.get("counters", group["object_counters"])
    assert group["object_names"] == case.get("objects", group["object_names"])
    again = nodrop.read_back(list(nodrop.write(fabric)), fabric).fabric
    assert [one.high_frequency for one in again.devices] == [one.high_frequency for one in fabric.devices]


@named("noted")
def test_a_tier_without_streams_has_a_note(case: Data) -> None:
    data = intent(case)
    streams = {device.name: str(len(known_streams(device))) for device in build(data).devices}
    assert streams == case["streams"]
    told = {one.path: (one.wanted, one.made) for one in find_adaptations(load(data))}
    assert told[case["path"]] == ("queues", "none")


def known_streams(device: Any) -> tuple[CounterStream, ...]:
    assert isinstance(device.high_frequency, tuple)
    return device.high_frequency


@named("refused")
def test_a_stream_is_refused_with_what_would_do(case: Data) -> None:
    with pytest.raises(InputProblems) as caught:
        build(intent(case))
    (problem,) = caught.value.problems
    assert problem.where == case["where"]
    said = str(problem)
    assert [word for word in case["words"] if word not in said] == []


@named("fits")
def test_a_stream_that_fits_is_built(case: Data) -> None:
    assert all(map(known_streams, build(intent(case)).devices))


def test_the_interval_that_a_refusal_names_is_the_shortest_that_fits() -> None:
    case = next(one for one in CASES["refused"] if one["case"] == "more than the management port")
    for interval, fits in (("150us", False), ("200us", True)):
        data = intent(case | {"wanted": {"interval": interval}})
        if fits:
            build(data)
            continue
        with pytest.raises(InputProblems):
            build(data)


def test_every_counter_that_is_wanted_is_sampled_by_an_asic_but_for_drops_of_priority_groups() -> None:
    sampled = {
        (kind, one) for name in asics() if (facts := asic(name).sampling) for kind in facts.counters
        for one in facts.counters[kind]
    }  # fmt: skip
    wanted = {(kind, one) for kind in get_args(SampledKind) for one in COUNTERS_BY_KIND[kind]}
    assert wanted - sampled == {("priority-groups", "DROPPED_PACKETS")}


@pytest.mark.parametrize(("counters", "interval", "mbps"), [(96, 100, 1536), (96, 150, 1024), (1, 12750, 1)])
def test_bandwidth_is_counters_by_size_by_rate_rounded_up(counters: int, interval: int, mbps: int) -> None:
    held = traits_of_platform("sonic", "202511").streams
    assert held is not None
    assert held.stream_bandwidth_mbps(counters, interval) == mbps


ROW = SampledCounters(kind="queues", objects=("Ethernet0/3",), counters=("PACKETS",))
STREAM = CounterStream(name="a", enabled=True, interval_us=10000, samples=(ROW,))
OF_QUEUES = "high_frequency/a/samples/queues"


@pytest.mark.parametrize(
    ("stream", "path"),
    [
        (replace_fields(STREAM, interval_us=None), "high_frequency/a/interval_us"),
        (replace_fields(STREAM, interval_us=2**32), "high_frequency/a/interval_us"),
        (replace_fields(STREAM, samples=(ROW, ROW)), "high_frequency/a/samples"),
        (
            replace_fields(STREAM, samples=(replace_fields(ROW, counters=("PACKETS", "BYTES")),)),
            f"{OF_QUEUES}/counters",
        ),
        (replace_fields(STREAM, samples=(replace_fields(ROW, objects=("a/1", "a/1")),)), f"{OF_QUEUES}/objects"),
        (replace_fields(STREAM, samples=(replace_fields(ROW, objects=("a|1",)),)), f"{OF_QUEUES}/objects/0"),
    ],
)  # fmt: skip
def test_sonic_refuses_streams_that_it_cannot_say(stream: CounterStream, path: str) -> None:
    fabric = build(shipped("two-by-two", BASE))
    with pytest.raises(UnsupportedByPlatform) as caught:
        writer_of_platform("sonic").write(replace_fields(fabric.devices[0], high_frequency=(stream,)), Index(fabric))
    assert caught.value.path == path


def test_nvue_refuses_streams() -> None:
    nvue = {f"topology.{tier}.{key}": value for tier in ("leaves", "spines") for key, value in
            (("platform", "nvue"), ("version", "5.16"))}  # fmt: skip
    fabric = build(shipped("two-by-two", nvue))
    with pytest.raises(UnsupportedByPlatform) as caught:
        writer_of_platform("nvue").write(replace_fields(fabric.devices[0], high_frequency=(STREAM,)), Index(fabric))
    assert caught.value.path == "high_frequency"


def test_show_has_the_bandwidth_of_the_switch_that_samples_most() -> None:
    fabric = build(intent({"wanted": {"interval": "500us"}}))
    keys = ("role", "objects", "interval_us", "counters", "mbps")
    assert [tuple(one[key] for key in keys) for one in stream_facts(fabric)] == [
        ("leaf", ["queues"], 500, 21, 68),
        ("spine", ["queues"], 500, 12, 39),
    ]
    printed = text_of_fabric(fabric_facts(fabric, []))
    assert re.search(r"leaf \(sonic\) +SN5600 +queues +500us +21 of 200 B +68Mb/s +1Gb/s\n", printed)
    assert "High-frequency" not in text_of_fabric(fabric_facts(build(shipped("two-by-two")), []))
