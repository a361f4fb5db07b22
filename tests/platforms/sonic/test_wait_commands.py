"""A switch of which one half waits for the hardware gets the command for the other half alone."""

import json

import pytest

from nodrop.model.reading import Source
from nodrop.platforms import reader

HOST = {"hostname": "leaf1", "hwsku": "ACS-SN4700", "type": "LeafRouter", "docker_routing_config_mode": "split-unified"}
WRITE = 'sudo sonic-db-cli CONFIG_DB HSET "DEVICE_METADATA|localhost"'


@pytest.mark.parametrize(
    ("localhost", "waiting_in_frr", "line"),
    [
        ({}, " bgp suppress-fib-pending\n", f"{WRITE} suppress-fib-pending enabled"),
        (
            {"suppress-fib-pending": "enabled", "synchronous_mode": "disable"},
            " bgp suppress-fib-pending\n",
            f"{WRITE} synchronous_mode enable",
        ),
        (
            {"synchronous_mode": "disable"},
            " bgp suppress-fib-pending\n",
            f"{WRITE} suppress-fib-pending enabled synchronous_mode enable",
        ),
        (
            {"suppress-fib-pending": "enabled"},
            "",
            "sudo vtysh -c 'configure terminal' -c 'router bgp' -c 'bgp suppress-fib-pending' -c end -c 'write memory'",
        ),
    ],
)
def test_only_what_is_missing_is_set(localhost: dict[str, str], waiting_in_frr: str, line: str) -> None:
    config = {"DEVICE_METADATA": {"localhost": {**HOST, **localhost}}, "PORT": {}, "VERSIONS": {}}
    files = {
        "config_db.json": json.dumps(config),
        "frr.conf": f"router bgp 65001\n{waiting_in_frr} neighbor 192.0.2.1 remote-as 65002\n",
    }
    bundle = [(Source(name=name, display=name), text.encode()) for name, text in files.items()]
    found = reader("sonic").read_device("leaf1", bundle).remarks
    (half,) = [remark for remark in found if remark.kind == "hardware-wait-half-set"]
    assert [choice.lines for choice in half.remedy.choices] == [(line,)]
