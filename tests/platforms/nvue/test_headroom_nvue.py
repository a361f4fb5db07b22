"""Headroom that a PFC profile states: read as stated, judged, written back; what cannot be said is refused."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.errors import UnsupportedByPlatform
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.platforms.nvue import effects, places, writer
from support.nvue_devices import as_nvue, fabric
from support.nvue_startup import FILE, device, qos, read, state

STATED = """
interface: {swp1: {link: {speed: 400G}, qos: {pfc: {profile: ours}}}, swp2: {link: {speed: 400G}}}
qos:
  roce: {enable: on, cable-length: 30}
  pfc:
    ours:
      switch-priority: {'3': {}}
      port-buffer: 25000
      xoff-threshold: 10000
      xon-threshold: 2000
"""


def lossless(found: Device, name: str = "swp1") -> BufferProfile:
    buffer = next(group.buffer for group in qos(found, name).priority_groups if group.index == 3)
    assert isinstance(buffer, BufferProfile)
    return buffer


def test_what_is_left_after_the_pause_is_the_headroom() -> None:
    found = device(STATED)
    assert lossless(found) == BufferProfile(
        pool="ingress_lossless",
        size_bytes=25_000,
        dynamic_th=0,
        headroom=Headroom(xoff_bytes=15_000, xon_bytes=8_000, computed=False),
    )
    other = lossless(found, "swp2").headroom
    assert isinstance(other, Headroom)
    assert other.computed


@pytest.mark.parametrize(
    ("line", "size", "xoff", "xon"),
    [
        ("      port-buffer: 25000\n", UNKNOWN, UNKNOWN, 8_000),
        ("      xoff-threshold: 10000\n", 25_000, UNKNOWN, UNKNOWN),
        ("      xon-threshold: 2000\n", 25_000, 15_000, UNKNOWN),
    ],
)
def test_what_is_left_to_the_switch_beside_it_is_not_known(line: str, size: Any, xoff: Any, xon: Any) -> None:
    assert line in STATED
    buffer = lossless(device(STATED.replace(line, "")))
    assert (buffer.size_bytes, buffer.headroom) == (size, Headroom(xoff_bytes=xoff, xon_bytes=xon, computed=False))


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ("xoff-threshold: 10000", "xoff-threshold: 25001", "xoff-threshold", "no more than port-buffer, 25000"),
        ("xon-threshold: 2000", "xon-threshold: 10001", "xon-threshold", "no more than xoff-threshold, 10000"),
    ],
)
def test_a_threshold_beyond_its_buffer_is_told(old: str, new: str, key: str, expected: str) -> None:
    (remark,) = read(state(STATED.replace(old, new))).remarks
    assert (remark.kind, remark.facts["path"], remark.facts["expected"]) == (
        "malformed-value",
        f"qos pfc ours {key}",
        expected,
    )


@pytest.mark.parametrize(
    ("part", "text"),
    [("size_bytes", "25000"), ("headroom/xoff_bytes", "10000"), ("headroom/xon_bytes", "2000")],
)
def test_where_it_stands(part: str, text: str) -> None:
    body = state(STATED)
    place = places.place_finder_for_files({FILE: body.encode()})(
        ("sw1", *parse_subject(f"swp1/qos/priority_groups/3/buffer/{part}"))
    )
    assert place is not None
    line = body.splitlines()[place.span.line - 1]
    assert line.split(": ")[1] == text


def with_headroom(size: int, xoff: int, xon: int | None) -> Device:
    """A leaf whose first port states its headroom."""
    leaf = as_nvue(fabric().device("leaf1"))
    first = leaf.interfaces[0]
    assert isinstance(first.qos, QosProfile)
    buffer = BufferProfile(
        pool="ingress_lossless", size_bytes=size, dynamic_th=0, headroom=Headroom(xoff_bytes=xoff, xon_bytes=xon)
    )
    groups = tuple(
        replace(group, buffer=buffer) if group.index == 3 else group for group in effects.priority_groups((3,), 0)
    )
    ports = (replace(first, qos=replace(first.qos, priority_groups=groups)), *leaf.interfaces[1:])
    return fill_in_computed_buffer_sizes(replace(leaf, interfaces=ports))


def test_it_is_written_as_a_profile_of_the_port() -> None:
    files = {one.path: one.text for one in writer.write(with_headroom(86_016, 38_912, 37_888), Index(fabric()))}
    lines = files["apply/10-ports.nv"].splitlines()
    assert [line for line in lines if "cable-3m-buffer-86016" in line] == [
        "nv set interface swp1 qos pfc profile cable-3m-buffer-86016",
        "nv set qos pfc cable-3m-buffer-86016 cable-length 3",
        "nv set qos pfc cable-3m-buffer-86016 port-buffer 86016",
        "nv set qos pfc cable-3m-buffer-86016 rx enable",
        "nv set qos pfc cable-3m-buffer-86016 switch-priority 3",
        "nv set qos pfc cable-3m-buffer-86016 tx enable",
        "nv set qos pfc cable-3m-buffer-86016 xoff-threshold 47104",
        "nv set qos pfc cable-3m-buffer-86016 xon-threshold 9216",
    ]
    assert not any("threshold" in line or "port-buffer" in line for line in lines if "pfc default-global" in line)


@pytest.mark.parametrize(
    ("size", "xoff", "xon", "part"),
    [
        (2**32, 0, 0, "size_bytes"),
        (1000, 1001, 0, "headroom/xoff_bytes"),
        (1000, 600, 401, "headroom/xon_bytes"),
        (1000, 600, None, "headroom/xon_bytes"),
    ],
)
def test_headroom_that_no_profile_states(size: int, xoff: int, xon: int | None, part: str) -> None:
    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(with_headroom(size, xoff, xon), Index(fabric()))
    assert error.value.path == f"interfaces/swp1/qos/priority_groups/3/buffer/{part}"


def test_a_port_has_one_headroom_for_all_of_its_groups() -> None:
    leaf = with_headroom(1000, 600, 400)
    first = leaf.interfaces[0]
    assert isinstance(first.qos, QosProfile)
    one, other = (
        effects.StatedHeadroom(port_buffer_bytes=size, xoff_threshold_bytes=400, xon_threshold_bytes=0)
        for size in (1000, 1500)
    )
    lossy, third, _ = effects.priority_groups((3, 4), 0, stated_headroom=one)
    fourth = effects.priority_groups((3, 4), 0, stated_headroom=other)[2]
    paused = replace(
        first.qos,
        pfc_rx_priorities=(3, 4),
        pfc_tx_priorities=(3, 4),
        pfc_watchdog=None,
        tc_to_priority_group=effects.tc_to_priority_group((3, 4)),
        pfc_to_priority_group=effects.pfc_to_priority_group((3, 4)),
        priority_groups=(lossy, third, fourth),
    )
    ports = (replace(first, qos=paused), *leaf.interfaces[1:])
    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(fill_in_computed_buffer_sizes(replace(leaf, interfaces=ports)), Index(fabric()))
    assert error.value.path == "interfaces/swp1/qos/priority_groups/4/buffer/headroom"
