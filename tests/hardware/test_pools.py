"""Sizes of pools against SONiC: what the switch's own Lua printed for the same switch.

The Lua is sonic-swss cfgmgr/buffer_pool_mellanox.lua, branch 202505, run under lua5.1 over a stand-in for redis that
held what buffermgrd makes of the written configuration.
"""

from dataclasses import replace

import pytest

from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes, omit_computed_shared_headroom
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Device, Interface, Port
from nodrop.model.qos import PriorityGroup, QosProfile, Queue
from nodrop.model.states import UNKNOWN

LOSSLESS = BufferProfile(
    pool="ingress_lossless",
    size_bytes=UNKNOWN,
    dynamic_th=0,
    headroom=Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True),
)
STATED = BufferProfile(
    pool="ingress_lossless", size_bytes=38912, dynamic_th=0, headroom=Headroom(xoff_bytes=80000, xon_bytes=38912)
)
LOSSY = BufferProfile(pool="ingress_lossless", size_bytes=0, dynamic_th=3)
QOS = QosProfile(
    trust=None,
    pfc_rx_priorities=(3,),
    pfc_tx_priorities=(3,),
    priority_groups=(PriorityGroup(index=0, buffer=LOSSY), PriorityGroup(index=3, buffer=LOSSLESS)),
    queues=(Queue(index=1, buffer=BufferProfile(pool="egress_lossy", size_bytes=1024, dynamic_th=3)),),
    ingress_buffers=(BufferProfile(pool="ingress_lossless", size_bytes=0, dynamic_th=7),),
    egress_buffers=(BufferProfile(pool="egress_lossy", size_bytes=9216, dynamic_th=7),),
)


def pool(name: str, size: int | None = None, share: int | None = None, shared: int | None = None) -> BufferPool:
    return BufferPool(
        name=name,
        direction="egress" if name.startswith("egress") else "ingress",
        mode="dynamic",
        size_bytes=UNKNOWN if size is None else size,
        percentage=share,
        shared_headroom_bytes=shared,
        computed=size is None,
    )


def switch(
    *pools: BufferPool, model: str = "SN4700", ratio: int | None = None, qos: QosProfile = QOS, speed: int = 400000
) -> Device:
    """Eight ports, cables of 3 and 30 metres; one is shut, one has no QoS; four of them are of a fabric."""
    ports = tuple(
        Interface(
            name=f"Ethernet{8 * number}",
            port=Port(number + 1),
            enabled=number != 2,
            speed_mbps=speed,
            lanes=8,
            mtu_bytes=9216,
            cable_length_m=30 if number % 2 else 3,
            qos=None if number == 5 else qos,
        )
        for number in range(8)
    )
    return Device(
        name="leaf1",
        platform="sonic",
        version="202505",
        model=model,
        role="leaf",
        hash_seed=0,
        interfaces=ports,
        buffer_model="dynamic",
        dynamic_buffers=DynamicBuffers(
            dynamic_th=0, pattern_mtu_bytes=1024, small_packet_percent=50, over_subscribe_ratio=ratio
        ),
        buffer_pools=tuple(sorted(pools, key=lambda one: one.name)),
    )


def with_groups(buffer: BufferProfile) -> QosProfile:
    return replace(QOS, priority_groups=(QOS.priority_groups[0], PriorityGroup(index=3, buffer=buffer)))


WITHOUT_XON = replace(STATED, headroom=Headroom(xoff_bytes=80000, xon_bytes=None))
NO_LOSSLESS = replace(QOS, priority_groups=QOS.priority_groups[:1])
MEMORY = pool("egress_lossless", size=60817392)
LOSSY_OUT, LOSSLESS_IN = pool("egress_lossy"), pool("ingress_lossless")
CASES: dict[str, tuple[Device, dict[str, tuple[int, int | None]]]] = {
    "one ingress pool": (
        switch(MEMORY, LOSSY_OUT, LOSSLESS_IN),
        {"egress_lossy": (59066352, None), "ingress_lossless": (59066352, None)},
    ),
    "two ingress pools halve": (
        switch(MEMORY, LOSSY_OUT, LOSSLESS_IN, pool("ingress_lossy")),
        {
            "egress_lossy": (29533176, None),
            "ingress_lossless": (29533176, None),
            "ingress_lossy": (29533176, None),
        },
    ),
    "shares": (
        switch(MEMORY, pool("egress_lossy", share=10), pool("ingress_lossless", share=90)),
        {"egress_lossy": (5906636, None), "ingress_lossless": (53159717, None)},
    ),
    "headroom shared among two": (
        switch(MEMORY, LOSSY_OUT, LOSSLESS_IN, ratio=2),
        {"egress_lossy": (59378160, None), "ingress_lossless": (59378160, 256512)},
    ),
    "headroom shared among very many": (
        switch(MEMORY, LOSSY_OUT, LOSSLESS_IN, ratio=60000),
        {"egress_lossy": (59634663, None), "ingress_lossless": (59634663, 9)},
    ),
    "a ratio with nothing to share": (
        switch(MEMORY, LOSSY_OUT, LOSSLESS_IN, ratio=2, qos=NO_LOSSLESS),
        {"egress_lossy": (59274224, None), "ingress_lossless": (59274224, 655360)},
    ),
    "stated shared headroom": (
        switch(MEMORY, LOSSY_OUT, pool("ingress_lossless", shared=700000)),
        {"egress_lossy": (58934672, None), "ingress_lossless": (58934672, 700000)},
    ),
    "stated over the ratio": (
        switch(MEMORY, LOSSY_OUT, pool("ingress_lossless", shared=700000), ratio=4),
        {"egress_lossy": (58934672, None), "ingress_lossless": (58934672, 700000)},
    ),
    "shared by force of its profiles": (
        switch(MEMORY, LOSSY_OUT, LOSSLESS_IN, qos=with_groups(STATED)),
        {"egress_lossy": (58979312, None), "ingress_lossless": (58979312, 655360)},
    ),
    "not shared where a profile has no xon": (
        switch(MEMORY, LOSSY_OUT, LOSSLESS_IN, qos=with_groups(WITHOUT_XON)),
        {"egress_lossy": (59696112, None), "ingress_lossless": (59696112, None)},
    ),
    "stated size with shared headroom": (
        switch(MEMORY, LOSSY_OUT, pool("ingress_lossless", size=50000000), ratio=2),
        {"egress_lossy": (29689080, None), "ingress_lossless": (50000000, 256512)},
    ),
    "memory that is not stated": (
        switch(LOSSY_OUT, LOSSLESS_IN),
        {"egress_lossy": (59066352, None), "ingress_lossless": (59066352, None)},
    ),
    "Spectrum-4 at 800G": (
        switch(pool("egress_lossless", size=158229504), LOSSY_OUT, LOSSLESS_IN, model="SN5600", speed=800000),
        {"egress_lossy": (156324864, None), "ingress_lossless": (156324864, None)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_the_switch_itself_computes(name: str) -> None:
    device, expected = CASES[name]
    pools = fill_in_computed_buffer_sizes(device).buffer_pools
    found = {one.name: (one.size_bytes, one.shared_headroom_bytes) for one in pools if one.name != "egress_lossless"}
    assert found == expected
    assert [one.size_bytes for one in pools if one.name == "egress_lossless"] in ([], [60817392], [158229504])


@pytest.mark.parametrize("name", [name for name in CASES if "stated" not in name])
def test_what_is_worked_out_is_worked_out_again(name: str) -> None:
    """A resolved device, taken back to what its configuration states, comes to the same."""
    device, _ = CASES[name]
    resolved = fill_in_computed_buffer_sizes(device)
    assert fill_in_computed_buffer_sizes(omit_computed_shared_headroom(resolved)) == resolved


def sizes(device: Device) -> list[object]:
    return [one.size_bytes for one in fill_in_computed_buffer_sizes(device).buffer_pools]


PLAIN = switch(LOSSY_OUT, LOSSLESS_IN)


@pytest.mark.parametrize(
    "facts",
    [
        {"model": UNKNOWN},
        {"model": "SN9999"},
        {"version": UNKNOWN},
        {"dynamic_buffers": UNKNOWN},
        {"interfaces": (replace(PLAIN.interfaces[0], enabled=UNKNOWN),)},
        {"interfaces": (replace(PLAIN.interfaces[0], lanes=UNKNOWN),)},
        {"interfaces": (replace(PLAIN.interfaces[0], qos=UNKNOWN),)},
        {"interfaces": (replace(PLAIN.interfaces[0], cable_length_m=UNKNOWN),)},
        {"interfaces": (replace(PLAIN.interfaces[0], speed_mbps=None),)},
        {"interfaces": (replace(PLAIN.interfaces[0], qos=replace(QOS, queues=UNKNOWN)),)},
    ],
)
def test_sizes_are_not_known_where_a_fact_is_missing(facts: dict[str, object]) -> None:
    assert sizes(replace(PLAIN, **facts)) == [UNKNOWN, UNKNOWN]


@pytest.mark.parametrize("metres", [None, 0])
def test_a_port_without_a_cable_length_takes_no_headroom(metres: int | None) -> None:
    bare = replace(PLAIN, interfaces=tuple(replace(port, cable_length_m=metres) for port in PLAIN.interfaces))
    groups = fill_in_computed_buffer_sizes(bare).interfaces[0].qos.priority_groups
    assert [(one.buffer.size_bytes, one.buffer.headroom.xoff_bytes) for one in groups if one.lossless] == [(0, 0)]
    taken = [sum(sizes(one)) for one in (bare, PLAIN)]
    assert taken[0] > taken[1]


@pytest.mark.parametrize(
    ("ports", "size", "shared"),
    [(0, 59378160, 256512), (1, 59465712, 218112), (2, 59561968, 171008), (8, 59274224, 655360)],
)
def test_a_port_without_a_cable_has_no_private_headroom(ports: int, size: int, shared: int) -> None:
    """The numbers are what the Lua of 202505 prints with cables of 0m at the first ports."""
    device = switch(MEMORY, LOSSY_OUT, LOSSLESS_IN, ratio=2)
    bare = tuple(replace(port, cable_length_m=0) for port in device.interfaces[:ports])
    pools = fill_in_computed_buffer_sizes(replace(device, interfaces=(*bare, *device.interfaces[ports:]))).buffer_pools
    assert [(one.size_bytes, one.shared_headroom_bytes) for one in pools if one.name == "ingress_lossless"] == [
        (size, shared)
    ]


def test_a_pool_for_both_directions_gets_no_size() -> None:
    both = replace(LOSSLESS_IN, direction="both")
    first, second = sizes(switch(LOSSY_OUT, both))
    assert second is UNKNOWN
    assert first == 29646840


@pytest.mark.parametrize("model", ["traditional", None, UNKNOWN])
def test_only_the_dynamic_model_works_anything_out(model: object) -> None:
    device = replace(PLAIN, buffer_model=model)
    assert fill_in_computed_buffer_sizes(device) is device


def test_shut_ports_take_nothing_and_what_is_shared_by_value_stays_so() -> None:
    shut = replace(PLAIN, interfaces=tuple(replace(port, enabled=False) for port in PLAIN.interfaces))
    assert sizes(shut) == [60817392 - 262144] * 2
    resolved = fill_in_computed_buffer_sizes(PLAIN)
    assert len({id(port.qos) for port in resolved.interfaces if port.qos}) == 2  # two lengths of cable
    assert [
        buffer.headroom.xoff_bytes
        for buffer in (port.qos.priority_groups[1].buffer for port in resolved.interfaces[:2])
    ] == [87040, 104448]
