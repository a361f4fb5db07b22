"""What is written for an NVUE switch reads back as it was: shipped intents and random devices, in both dialects."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nodrop
from nodrop import collect, platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.intent.load import loads
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Device, Fabric, QosStyle
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.reading import DeviceReading
from nodrop.model.states import UNKNOWN
from nodrop.platforms import unsupported_paths
from nodrop.platforms.nvue.read_macro import ROCE_DEFAULTS_BY_MODE
from nodrop.platforms.nvue.releases import RELEASES
from nodrop.resources import resource_folder
from support import random_values
from support.marked import slow
from support.nvue_devices import as_nvue, fabric, split
from support.random_nvue import OF_MEANING, alone, devices

ALWAYS = {("@buffer_model",), ("@dynamic_buffers",), ("@watchdog_conditions",)}
WITHOUT_PFC = {("qos", "pfc_rx_priorities"), ("qos", "pfc_tx_priorities")}
"""What no file says: that there is no priority with pause is what is left where none is named."""

VERSIONS = [*slow(*list(RELEASES)[:-1]), list(RELEASES)[-1]]
"""Of whole fabrics, the quick tests try the newest release."""


def read_back(device: Device, within: Fabric) -> DeviceReading:
    written = [
        one for one in platforms.writer_of_platform("nvue").write(device, Index(within)) if one.path == "startup.yaml"
    ]
    (reading,) = collect.read_artifacts(written, {device.name: "nvue"}, "")
    return reading


def assert_round_trip(device: Device, within: Fabric, *, nonsense: frozenset[str] = frozenset()) -> None:
    """Read what was written: the same device, nothing else to remark, and the same bytes when it is written again."""
    reading = read_back(device, within)
    apart = list(differences(mask_unsupported_fields(device, unsupported_paths("nvue")), reading.device))
    assert not apart, "\n".join(map(str, apart))
    remarks = [remark for remark in reading.remarks if remark.kind not in nonsense]
    assert (remarks, reading.notes, reading.problems) == ([], (), ())
    stated = {subject[1:] for subject, reason in reading.derived.items() if reason not in given_by_the_macro(device)}
    assert stated <= derived(device)
    writer = platforms.writer_of_platform("nvue")
    assert writer.write(reading.device, Index(within)) == writer.write(device, Index(within))


def given_by_the_macro(device: Device) -> set[str]:
    """The reasons of what the macro style leaves out."""
    return {one.reason for one in ROCE_DEFAULTS_BY_MODE.values()} if device.qos_style == "macro" else set()


def derived(device: Device) -> set[tuple[str, ...]]:
    """What may rest on a default: the buffer model, links of shut ports, automatic FEC, PFC of a switch without it."""
    shut = {
        (port.name, part) for port in device.interfaces if not port.enabled for part in ("autoneg", "fec", "mtu_bytes")
    }
    shut |= {(port.name, "fec") for port in device.interfaces if port.fec == "auto"}
    profiles = [(port.name, port.qos) for port in device.interfaces if isinstance(port.qos, QosProfile)]
    if any(qos.pfc_rx_priorities or qos.pfc_tx_priorities for _, qos in profiles):
        return ALWAYS | shut
    return ALWAYS | shut | {(name, *part) for name, _ in profiles for part in WITHOUT_PFC}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("intent", "style"), [("two-by-two", "macro"), ("two-by-two", "explicit"), ("reference-256", "macro")]
)
def test_devices_of_shipped_fabrics(intent: str, version: str, style: QosStyle) -> None:
    whole = fabric(intent)
    for device in whole.devices:
        assert_round_trip(as_nvue(device, version, style), whole)


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("count", [2, 4])
def test_a_port_that_is_broken_out(version: str, count: int) -> None:
    assert_round_trip(split(as_nvue(fabric().device("leaf1"), version), "swp2", count), fabric())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "path", [resource_folder("intents") / "two-by-two.yaml", resource_folder("intents") / "reference-256.yaml"], ids=str
)
def test_the_same_intent_for_nvue(path: Path, version: str) -> None:
    text = path.read_text().replace('platform: sonic, version: "202505"', f'platform: nvue, version: "{version}"')
    built = nodrop.build(loads(text, path.name))
    for device in built.devices:
        assert_round_trip(device, built)


@pytest.mark.nightly
@given(devices())
def test_random_devices(device: Device) -> None:
    assert_round_trip(device, alone(device), nonsense=OF_MEANING)


@pytest.mark.nightly
@given(st.data())
def test_any_device_round_trips_or_is_refused_with_its_path(data: st.DataObject) -> None:
    device = data.draw(devices())
    for _ in range(4):
        other = data.draw(random_values.altered(device))
        refusal = None
        try:
            platforms.writer_of_platform("nvue").write(other, Index(alone(other)))
        except UnsupportedByPlatform as error:
            refusal = error
        if refusal is not None:
            assert random_values.leads_somewhere(other, refusal.path), str(refusal)
        elif other.extra is UNKNOWN:
            assert_round_trip(other, alone(other), nonsense=OF_MEANING | {"dangling-reference"})


def test_what_most_ports_do_is_said_once() -> None:
    device = as_nvue(fabric().device("leaf1"))
    far = replace(device.interfaces[0], cable_length_m=50)
    ports = (far, *(replace(port, cable_length_m=3) for port in device.interfaces[1:]))
    text = (
        platforms.writer_of_platform("nvue")
        .write(fill_in_computed_buffer_sizes(replace(device, interfaces=ports)), Index(fabric()))[0]
        .text
    )
    assert [line.strip() for line in text.splitlines() if "profile: cable" in line] == ["profile: cable-50m"]
