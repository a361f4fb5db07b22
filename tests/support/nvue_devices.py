"""Devices of built intents as an NVUE switch would be: the same ports and routes, what NVUE has otherwise made so."""

from dataclasses import replace
from functools import cache

import nodrop
from nodrop.hardware import switch
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.fabric import Device, Fabric, Interface, Port, QosStyle
from nodrop.model.qos import PfcWatchdog, QosProfile, Queue, WredColor
from nodrop.model.states import require_fact
from nodrop.platforms import port_name
from nodrop.platforms.nvue import conditions, effects
from nodrop.platforms.nvue.releases import has_feature
from nodrop.resources import resource_folder


@cache
def fabric(intent: str = "two-by-two") -> Fabric:
    return nodrop.build(nodrop.load(resource_folder("intents") / f"{intent}.yaml"))


def as_nvue(device: Device, version: str = "5.14", style: QosStyle = "macro") -> Device:
    """A SONiC switch of an intent as NVUE can be told to be it: every port has the profile of the first host port."""
    usual = next(port.qos for port in device.interfaces if isinstance(port.qos, QosProfile))
    restoration_ms = 200 if has_feature(version, "a time of restoration") else None
    qos, memory = profile(usual, restoration_ms=restoration_ms), switch(str(device.model)).buffer_bytes
    cable = next(port.cable_length_m for port in device.interfaces if port.cable_length_m is not None)
    ports = tuple(_port(port, str(device.model), qos, require_fact(cable)) for port in device.interfaces)
    bgp = require_fact(device.bgp)
    return fill_in_computed_buffer_sizes(
        replace(
            device,
            platform="nvue",
            version=version,
            mac=None,
            interfaces=ports,
            loopbacks=tuple(replace(one, name="lo") for one in require_fact(device.loopbacks)),
            bgp=None if bgp is None else replace(bgp, session_dscp=None),
            counters=(),
            qos_style=style,
            hash_seed=7,
            dynamic_buffers=effects.dynamic_buffers(0),
            buffer_pools=effects.buffer_pools(10, 90, memory),
            watchdog_polling_ms=100,
            watchdog_conditions=conditions.DEFAULT_WATCHDOG_CONDITIONS
            if has_feature(version, conditions.WATCHDOG_CONDITIONS_FEATURE)
            else None,
        )
    )


def profile(qos: QosProfile, pausing: tuple[int, ...] = (3,), restoration_ms: int | None = None) -> QosProfile:
    queues = (0, 1, 2, 3, 4, 5, 6, 7)
    lossless = effects.lossless_queues(pausing, queues)
    return QosProfile(
        trust="dscp",
        dscp_to_tc=require_fact(qos.dscp_to_tc),
        tc_to_queue=(*queues, *(None,) * 8),
        tc_to_priority_group=effects.tc_to_priority_group(pausing),
        pfc_to_priority_group=effects.pfc_to_priority_group(pausing),
        pfc_to_queue=queues,
        pfc_rx_priorities=pausing,
        pfc_tx_priorities=pausing,
        pfc_watchdog=PfcWatchdog(priorities=pausing, detection_ms=300, restoration_ms=restoration_ms, action=None)
        if pausing
        else None,
        priority_groups=effects.priority_groups(pausing, 0),
        queues=tuple(_queue(queue, queue.index in lossless) for queue in require_fact(qos.queues)),
    )


def _queue(queue: Queue, lossless: bool) -> Queue:
    wred = require_fact(queue.wred)
    if wred is not None:
        color = replace(wred.green, enabled=False)
        assert isinstance(color, WredColor)
        wred = replace(wred, ecn_colors=("green", "yellow", "red"), green=color, yellow=color, red=color)
    return replace(queue, wred=wred, buffer=effects.queue_buffer(lossless))


def _port(port: Interface, model: str, qos: QosProfile, cable_m: int) -> Interface:
    assert port.port is not None
    return replace(
        port,
        name=port_name("nvue", model, require_fact(port.port)),
        fec=port.fec or "auto",
        autoneg=True,
        link_training=None,
        link_pause=None,
        cable_length_m=cable_m if port.cable_length_m is None else port.cable_length_m,
        qos=qos,
    )


def split(device: Device, name: str, count: int) -> Device:
    """The device with a whole port broken out into equal parts, each with its QoS and none with its addresses."""
    ports: list[Interface] = []
    for port in device.interfaces:
        if port.name != name:
            ports.append(port)
            continue
        assert isinstance(port.speed_mbps, int)
        assert isinstance(port.lanes, int)
        assert isinstance(port.port, Port)
        ports += [
            replace(
                port,
                name=f"{name}s{part}",
                port=Port(port.port.panel, part),
                speed_mbps=port.speed_mbps // count,
                lanes=port.lanes // count,
                addresses=(),
            )
            for part in range(count)
        ]
    return fill_in_computed_buffer_sizes(replace(device, interfaces=tuple(ports)))
