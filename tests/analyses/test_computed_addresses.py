"""Addresses with one owner, and those that several switches may have."""

from nodrop.analyses._computed import compute_observation
from nodrop.model.fabric import Device, Loopback
from nodrop.model.index import Index
from support.wired_routers import fabric, port, router


def spine(name: str, asn: int, *addresses: str) -> Device:
    return router(name, asn, [port("e0")], loopbacks=(Loopback(name="lo", addresses=addresses),))


def owners(*devices: Device) -> dict[str, object]:
    seen = compute_observation(Index(fabric(*devices))).seen["addresses"]
    return {item[-1]: value for item, value in seen.items() if item[-1].startswith("10.0.")}


def test_an_anycast_address_is_not_asked_for_one_owner() -> None:
    one = spine("r1", 65001, "10.0.0.1/32", "10.0.9.9/32")
    other = spine("r2", 65002, "10.0.0.2/32", "10.0.9.9/32")
    found = owners(one, other)
    assert {address: value for address, value in found.items() if "10.0.9.9" in address} == {}


def test_the_only_address_of_a_loopback_has_one_owner() -> None:
    found = owners(spine("r1", 65001, "10.0.0.1/32"), spine("r2", 65002, "10.0.0.1/32"))
    assert found == {"10.0.0.1": ("r1:lo", "r2:lo")}
