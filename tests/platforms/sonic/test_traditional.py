"""The traditional buffer model: what buffermgrd would lay over a port's priority groups cannot be written."""

from dataclasses import replace
from typing import Any

import pytest

import nodrop
from nodrop import collect, platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.qos import PriorityGroup
from nodrop.platforms import unsupported_paths
from nodrop.resources import resource_folder
from support.random_fabrics import alone
from support.sonic_configs import read, stock

POOL = BufferPool(name="a", direction="ingress", mode="dynamic", size_bytes=1)
LOSSY = BufferProfile(pool="a", size_bytes=0, dynamic_th=3)


def write(device: Device) -> Any:
    return platforms.writer_of_platform("sonic").write(device, Index(alone(device)))


TRADITIONAL = "buffermgrd gives priority group {} the SKU's pg_lossless_400000_5m_profile"
HEADROOM = Headroom(xoff_bytes=38912, xon_bytes=37888)
LOSSLESS = BufferProfile(pool="a", size_bytes=86016, dynamic_th=0, headroom=HEADROOM)
OTHER = replace(LOSSLESS, size_bytes=1)


def traditional(*groups: dict[int, BufferProfile]) -> Device:
    """A switch of the traditional model whose ports pause on 3, on cables for which the SKU's table has a row."""
    base = nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml")).device("leaf1")
    ports = []
    for port, own in zip(base.interfaces, groups, strict=False):
        qos = replace(
            port.qos,
            queues=(),
            ingress_buffers=(),
            egress_buffers=(),
            priority_groups=tuple(PriorityGroup(index=index, buffer=buffer) for index, buffer in own.items()),
        )
        ports.append(replace(port, qos=qos, cable_length_m=5, enabled=True))
    return replace(
        base, interfaces=tuple(ports), buffer_model="traditional", buffer_pools=(POOL,), dynamic_buffers=None
    )


def test_groups_that_buffermgrd_would_replace_are_refused() -> None:
    with pytest.raises(UnsupportedByPlatform) as caught:
        write(traditional({0: LOSSY}))
    assert caught.value.path == "interfaces/Ethernet0/qos/priority_groups"
    assert caught.value.reason == TRADITIONAL.format(3)
    with pytest.raises(UnsupportedByPlatform) as caught:
        write(traditional({3: LOSSY}))
    assert caught.value.path == "interfaces/Ethernet0/qos/priority_groups/3"
    with pytest.raises(UnsupportedByPlatform) as caught:
        write(traditional({3: LOSSLESS}, {3: OTHER}))  # one name, and it is taken
    assert caught.value.path == "interfaces/Ethernet8/qos/priority_groups/3"


def test_groups_that_buffermgrd_would_leave_are_written() -> None:
    device = traditional({3: LOSSLESS}, {3: LOSSLESS, 4: OTHER})
    shorter = replace(device.interfaces[1], speed_mbps=200000)
    device = replace(device, interfaces=(device.interfaces[0], shorter))
    (reading,) = collect.read_artifacts(write(device), {device.name: "sonic"}, "")
    assert list(differences(mask_unsupported_fields(device, unsupported_paths("sonic")), reading.device)) == []
    assert reading.derived == {}
    shut = replace(device, interfaces=(replace(traditional({3: OTHER, 5: LOSSLESS}).interfaces[0], enabled=False),))
    assert write(shut)


def port_of_profile(length: str, buffer_model: str) -> list[object]:
    """Return what is said of a 400G port with a cable of a length, and the profile for another length."""
    config = stock(CABLE_LENGTH={"AZURE": {"Ethernet0": length, "Ethernet8": "40m"}})
    config["DEVICE_METADATA"]["localhost"]["buffer_model"] = buffer_model
    config["PORT"]["Ethernet0"]["speed"] = "400000"
    profile = {"pool": "ingress_lossless_pool", "size": "1", "xon": "1", "xoff": "1", "dynamic_th": "0"}
    config["BUFFER_PROFILE"]["pg_lossless_400000_5m_profile"] = profile
    config["BUFFER_PG"]["Ethernet0|3-4"] = {"profile": "pg_lossless_400000_5m_profile"}
    remarks = read(config).remarks
    return [remark.facts["has"] for remark in remarks if remark.kind == "profile-of-another-speed"]


def test_a_length_that_the_table_lacks_is_reported_with_those_that_it_has() -> None:
    lacking = "400G and 50m of cable, for which the table of the switch has no row (at this speed: 5m, 40m, 300m)"
    assert port_of_profile("50m", "traditional") == [lacking]
    assert port_of_profile("50m", "dynamic") == ["400G and 50m of cable"]
