"""Small packets and shared headroom: what headroom is worked out with, and whose it is."""

from dataclasses import replace

import pytest

from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.buffers import BufferProfile, DynamicBuffers, Headroom
from nodrop.model.change import Change
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.reading import DeviceReading
from nodrop.model.states import UNKNOWN, require_fact
from nodrop.platforms.nvue import effects
from nodrop.platforms.nvue.edit import edit
from support.nvue_devices import as_nvue, fabric
from support.nvue_startup import FILE, NAME, qos, read, state

PORTS = "interface:\n  swp1: {link: {speed: 400G}, qos: {pfc: {profile: ours}}}\n  swp2: {link: {speed: 400G}}\n"
ROCE = "qos:\n  roce: {cable-length: 30}\n  pfc:\n"
SHARED = "  advance-buffer-config:\n    default-global:\n      shared-headroom: "


def reading(body: str, model: str = "SN5600", release: str = "5.18.0") -> DeviceReading:
    return read(state(body, release, model))


def buffer(device: Device, name: str) -> BufferProfile:
    found = next(group.buffer for group in require_fact(qos(device, name).priority_groups) if group.index == 3)
    assert isinstance(found, BufferProfile)
    return found


def xoff(device: Device, name: str) -> object:
    headroom = buffer(device, name).headroom
    assert isinstance(headroom, Headroom)
    return headroom.xoff_bytes


def small(device: Device) -> int | None:
    assert isinstance(device.dynamic_buffers, DynamicBuffers)
    return device.dynamic_buffers.small_packet_percent


@pytest.mark.parametrize(("model", "percent"), [("SN4700", 100), ("SN5600", 100), ("SN6600_LD", 50)])
def test_the_share_of_small_packets_is_the_chips_unless_it_is_said(model: str, percent: int) -> None:
    body = f"{PORTS}{ROCE}    ours: {{switch-priority: {{'3': {{}}}}}}\n"
    assert small(reading(body, model).device) == percent


def test_fewer_small_packets_take_less_headroom() -> None:
    def with_share(said: str) -> Device:
        return reading(f"{PORTS}{ROCE}    default-global: {{cable-length: 30{said}}}\n").device

    usual, fewer = with_share(""), with_share(", small-packet-probability: 60")
    assert (small(usual), small(fewer)) == (100, 60)
    more, less = xoff(usual, "swp2"), xoff(fewer, "swp2")
    assert isinstance(more, int)
    assert isinstance(less, int)
    assert less < more


@pytest.mark.parametrize(
    ("own", "of_all", "is_known"),
    [("60", "", False), ("60", "60", True), ("", "60", False), ("100", "", True), ("", "100", True)],
)
def test_headroom_of_a_port_with_another_share_is_not_known(own: str, of_all: str, is_known: bool) -> None:
    ours, all_others = (f", small-packet-probability: {one}" if one else "" for one in (own, of_all))
    body = (
        f"{PORTS}{ROCE}    default-global: {{cable-length: 30{all_others}}}\n"
        f"    ours: {{switch-priority: {{'3': {{}}}}, cable-length: 30{ours}}}\n"
    )
    found = reading(body).device
    assert isinstance(xoff(found, "swp2"), int)
    assert (xoff(found, "swp1") is not UNKNOWN) is is_known


def test_a_port_that_shares_has_its_exclusive_part_and_the_rest_is_not_known() -> None:
    body = (
        "interface:\n  swp1: {link: {speed: 400G}, qos: {shared-headroom-pool: enabled}}\n"
        "  swp2: {link: {speed: 400G}}\nqos:\n"
        f"{SHARED}{{required-headroom-per-pg: 40000, exclusive-headroom-per-pg: 20000}}\n  roce: {{}}\n"
    )
    found = reading(body)
    assert found.remarks == ()
    assert buffer(found.device, "swp1") == BufferProfile(
        pool="ingress_lossless",
        size_bytes=20_000,
        dynamic_th=0,
        headroom=Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN),
    )
    assert isinstance(xoff(found.device, "swp2"), int)


@pytest.mark.parametrize(
    ("sharing", "said", "roce", "line", "found"),
    [
        ("disabled", "{oversubscription-ratio: 2}", "{}", 12,
         "shared-headroom is set, but no port takes part"),
        ("enabled", "{required-headroom-per-pg: 20000, exclusive-headroom-per-pg: 20000}", "{}", 12,
         "exclusive-headroom-per-pg is 20000 bytes"),
        ("enabled", "{required-headroom-per-pg: 40000}", "{mode: lossy}", 8,
         "shared-headroom-pool is enabled, but `qos roce` is in mode lossy"),
    ],
)  # fmt: skip
def test_headroom_that_nothing_is_shared_of(sharing: str, said: str, roce: str, line: int, found: str) -> None:
    body = f"interface:\n  swp1: {{qos: {{shared-headroom-pool: {sharing}}}}}\nqos:\n{SHARED}{said}\n  roce: {roce}\n"
    (remark,) = reading(body).remarks
    place = remark.place.span.line if remark.place else 0
    assert (remark.kind, place, remark.facts["found"]) == ("shared-headroom-contradicted", line, found)


def test_a_share_of_small_packets_is_written_with_every_profile_since_5_17() -> None:
    def leaf(release: str, percent: int) -> Device:
        device = as_nvue(fabric().device("leaf1"), release)
        return fill_in_computed_buffer_sizes(replace(device, dynamic_buffers=effects.dynamic_buffers(0, percent)))

    def said(device: Device) -> list[str]:
        files = platforms.writer_of_platform("nvue").write(device, Index(fabric()))
        (text,) = (one.text for one in files if one.path.endswith(".nv"))
        return [line for line in text.splitlines() if "small-packet" in line]

    assert said(leaf("5.17", 100)) == []
    assert said(leaf("5.17", 60)) == [
        f"nv set qos pfc {name} small-packet-probability 60" for name in ("cable-30m", "default-global")
    ]
    with pytest.raises(UnsupportedByPlatform) as refused:
        said(leaf("5.16", 60))
    assert str(refused.value) == "dynamic_buffers/small_packet_percent: NVUE computes headroom with 100"


def test_a_share_of_small_packets_is_changed_in_every_profile() -> None:
    body = f"{PORTS}{ROCE}    ours: {{switch-priority: {{'3': {{}}}}, cable-length: 30}}\n"
    document = state(body, "5.18.0", "SN5600")
    change = Change(subject=(NAME, "@dynamic_buffers", "small_packet_percent"), old=UNKNOWN, new=60)
    one = edit({FILE: document.encode()}, [change], name=NAME)
    assert one.by_hand == ()
    assert one.forms["changes.nv"].splitlines() == [
        "nv set qos pfc default-global small-packet-probability 60",
        "nv set qos pfc ours small-packet-probability 60",
    ]
