"""Telemetry: what an intent asks for, each platform as it can, the rest noted or refused."""

import json

import pytest

import nodrop
from nodrop.design import find_adaptations
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.model.fabric import Collector, Fabric
from nodrop.model.index import Index
from nodrop.model.values import replace_fields
from nodrop.platforms import writer_of_platform
from support.designs import Data, build, load, shipped

BOTH = {"gnmi": True, "otlp": ["192.0.2.31:4317", "192.0.2.30:4317", "[2001:DB8::30]:8443"]}
NVUE = {"topology.spines.platform": "nvue", "topology.spines.version": "5.16"}
COLLECTORS = (
    Collector(address="192.0.2.30", port=4317),
    Collector(address="192.0.2.31", port=4317),
    Collector(address="2001:db8::30", port=8443),
)


def wanting(telemetry: Data, **changes: object) -> Data:
    return shipped("two-by-two", {"services.telemetry": telemetry} | changes)


def carried(fabric: Fabric) -> dict[str, tuple[object, object]]:
    return {device.name: (device.gnmi_port, device.otlp_collectors) for device in fabric.devices}


def test_gnmi_on_sonic_and_back() -> None:
    fabric = build(wanting({"gnmi": True}))
    artifacts = list(nodrop.write(fabric))
    tables = json.loads(next(one.text for one in artifacts if one.path == "config_db.json"))
    assert tables["GNMI"] == {"gnmi": {"client_auth": "true", "log_level": "2", "port": "9339"}}
    assert set(carried(nodrop.read_back(artifacts, fabric).fabric).values()) == {(9339, ())}


def test_without_it_nothing_is_written() -> None:
    for telemetry in ({}, {"gnmi": False}):
        fabric = build(wanting(telemetry))
        artifacts = list(nodrop.write(fabric))
        assert not any("GNMI" in one.text for one in artifacts)
        assert set(carried(nodrop.read_back(artifacts, fabric).fabric).values()) == {(None, ())}


def test_every_switch_has_what_its_platform_can_do() -> None:
    data = wanting(BOTH, **NVUE)
    assert carried(build(data)) == {
        "leaf1": (9339, ()),
        "leaf2": (9339, ()),
        "spine1": (None, COLLECTORS),
        "spine2": (None, COLLECTORS),
    }
    told = {one.path: (one.wanted, one.made) for one in find_adaptations(load(data))}
    assert told["leaf*/@otlp_collectors"] == ("192.0.2.30:4317, 192.0.2.31:4317, [2001:db8::30]:8443", "none")
    assert told["spine*/@gnmi_port"] == ("9339", "none")


SPECTRUM_1 = {"platform": "nvue", "version": "5.16", "model": "SN2700"}


@pytest.mark.parametrize(
    ("telemetry", "changes", "said"),
    [
        ({"otlp": ["192.0.2.30:4317"]}, {}, "services.telemetry.otlp: SONiC sends nothing by OTLP"),
        (
            {"otlp": ["192.0.2.30:4317"]},
            {f"topology.{tier}.{key}": value for tier in ("leaves", "spines") for key, value in SPECTRUM_1.items()},
            "services.telemetry.otlp: NVUE on spectrum-1 sends nothing by OTLP",
        ),
        (
            BOTH,
            NVUE | {"topology.leaves.platform": "nvue", "topology.leaves.version": "5.16"},
            "services.telemetry.gnmi: NVUE is not to run gNMI beside OTLP",
        ),
    ],
)
def test_what_no_switch_can_do_is_refused(telemetry: Data, changes: Data, said: str) -> None:
    with pytest.raises(InputProblems) as caught:
        build(wanting(telemetry, **changes))
    assert any(said in str(problem) for problem in caught.value.problems)


def test_sonic_refuses_what_it_cannot_say() -> None:
    fabric = build(shipped("two-by-two"))
    for change, path in (({"gnmi_port": 0}, "gnmi_port"), ({"otlp_collectors": COLLECTORS}, "otlp_collectors")):
        with pytest.raises(UnsupportedByPlatform) as caught:
            writer_of_platform("sonic").write(replace_fields(fabric.devices[0], **change), Index(fabric))
        assert caught.value.path == path


def test_what_nvue_is_told_reads_back() -> None:
    for telemetry in ({"gnmi": True}, BOTH):
        fabric = build(wanting(telemetry, **NVUE))
        assert carried(nodrop.read_back(list(nodrop.write(fabric)), fabric).fabric) == carried(fabric)
