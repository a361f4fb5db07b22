"""Limits in bytes: they count where the service pool behind them is static, and are remarked where it is not."""

import pytest

from nodrop.model.buffers import BufferProfile
from nodrop.model.fabric import Device
from nodrop.model.reading import DeviceReading
from nodrop.model.states import require_fact
from support.nvue_startup import qos, read, state

BODY = """interface:
  swp1: {{link: {{speed: 400G}}}}
qos:
  advance-buffer-config:
    default-global:
{lines}
  roce: {{}}
"""
STATIC = "egress-service-pool: {'0': {memory-percent: 50, mode: static}}"


def reading(*lines: str) -> DeviceReading:
    return read(state(BODY.format(lines="\n".join(f"      {line}" for line in lines)), "5.16.0"))


def of_queue(device: Device, index: int) -> tuple[str | None, int | None, int | None]:
    """The pool of a queue, and what it may take of it: an exponent of two, or bytes."""
    buffer = next(queue.buffer for queue in require_fact(qos(device).queues) if queue.index == index)
    assert isinstance(buffer, BufferProfile)
    return buffer.pool, buffer.dynamic_th, buffer.static_th_bytes


def remarks(found: DeviceReading) -> list[tuple[str, str]]:
    return [(one.kind, "|".join(one.facts.values())) for one in found.remarks]


def test_a_quota_of_a_static_pool_is_what_a_queue_may_take() -> None:
    found = reading("egress-lossy-buffer: {traffic-class: {'0': {shared-bytes: 33554432}}}", STATIC)
    assert remarks(found) == []
    assert of_queue(found.device, 0) == ("egress_lossy", None, 33_554_432)
    assert of_queue(found.device, 6) == ("egress_lossy", 3, None)
    assert of_queue(found.device, 3) == ("egress_lossless", 7, None)
    modes = {pool.name: pool.mode for pool in require_fact(found.device.buffer_pools)}
    assert modes == {
        "egress_lossless": "dynamic",
        "egress_lossy": "static",
        "ingress_lossless": "dynamic",
        "ingress_lossy": "dynamic",
    }


def test_a_lossless_class_may_be_put_into_the_static_pool() -> None:
    found = reading("egress-lossless-buffer: {service-pool: 0, shared-bytes: 16777216}", STATIC)
    assert remarks(found) == []
    assert of_queue(found.device, 3) == ("egress_lossy", None, 16_777_216)


def test_quotas_on_the_way_in() -> None:
    found = reading(
        "ingress-lossless-buffer: {service-pool: 1, shared-bytes: 5000}",
        "ingress-lossy-buffer: {priority-group: {bulk: {shared-bytes: 7000}}}",
        "ingress-service-pool: {0-1: {memory-percent: 40, mode: static}}",
    )
    assert remarks(found) == []
    groups = {group.index: group.buffer for group in require_fact(qos(found.device).priority_groups)}
    limits = {
        index: (buffer.dynamic_th, buffer.static_th_bytes)
        for index, buffer in groups.items()
        if isinstance(buffer, BufferProfile)
    }
    assert limits == {0: (None, 7000), 3: (None, 5000)}


@pytest.mark.parametrize(
    ("lines", "setting"),
    [
        (
            ["egress-lossy-buffer: {traffic-class: {'0': {shared-bytes: 9}}}"],
            "egress-lossy-buffer traffic-class 0 shared-bytes",
        ),
        (["egress-lossless-buffer: {shared-bytes: 9}", STATIC], "egress-lossless-buffer shared-bytes"),
        (
            ["egress-lossy-buffer: {traffic-class: {'0': {service-pool: 2, shared-bytes: 9}}}", STATIC],
            "egress-lossy-buffer traffic-class 0 shared-bytes",
        ),
        (
            ["ingress-lossy-buffer: {priority-group: {service1: {shared-bytes: 9}}}", STATIC],
            "ingress-lossy-buffer priority-group service1 shared-bytes",
        ),
        (["ingress-lossless-buffer: {shared-bytes: 9}"], "ingress-lossless-buffer shared-bytes"),
    ],
)
def test_a_quota_that_no_static_pool_is_behind_is_not_programmed(lines: list[str], setting: str) -> None:
    found = reading(*lines)
    assert remarks(found) == [("quota-not-programmed", f"{setting}|9")]
    assert of_queue(found.device, 0) == ("egress_lossy", 3, None)
    assert of_queue(found.device, 3) == ("egress_lossless", 7, None)


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_a_mode_is_said_with_the_memory(mode: str) -> None:
    found = reading(f"egress-service-pool: {{'0': {{mode: {mode}}}}}")
    assert remarks(found) == [("pool-without-memory", f"egress-service-pool 0|{mode}")]


def test_what_is_said_of_a_lossless_class_as_a_lossy_one_is_remarked() -> None:
    found = reading("egress-lossy-buffer: {traffic-class: {'0': {reserved: 9}, '3': {shared-alpha: alpha_1}}}")
    assert remarks(found) == [("lossy-limit-of-lossless-class", "3")]
    assert of_queue(found.device, 3) == ("egress_lossless", 7, None)
