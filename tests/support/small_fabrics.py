"""Small fabrics made by hand, and rules in a line: what the tests of the linter judge."""

import json
from dataclasses import replace
from typing import Any

from nodrop.engine.rule import Rule
from nodrop.engine.rule_loader import parse_rule
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link, Policy, Port, TrafficClass
from nodrop.model.qos import PfcWatchdog, PriorityGroup, QosProfile, Queue, WredColor, WredProfile
from nodrop.model.reading import Reading
from nodrop.model.routing import Bgp, BgpNeighbor

WATCHDOG = PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=400, action="drop")
WRED = WredProfile(
    ecn_colors=("green",),
    green=WredColor(min_bytes=150_000, max_bytes=1_500_000, probability_percent=100, enabled=True),
    yellow=WredColor(),
    red=WredColor(),
)
LOSSLESS = QosProfile(
    trust="dscp",
    dscp_to_tc=tuple(3 if dscp == 26 else 0 for dscp in range(64)),
    pfc_rx_priorities=(3,),
    pfc_tx_priorities=(3,),
    pfc_watchdog=WATCHDOG,
    priority_groups=(
        PriorityGroup(index=0, buffer=BufferProfile(pool="ingress", size_bytes=0)),
        PriorityGroup(
            index=3,
            buffer=BufferProfile(
                pool="ingress",
                size_bytes=55296,
                headroom=Headroom(xoff_bytes=35840, xon_bytes=19456),
            ),
        ),
    ),
    queues=(Queue(index=0), Queue(index=3, wred=WRED)),
)
NO_WATCHDOG = replace(LOSSLESS, pfc_watchdog=None)
LOSSY = QosProfile(trust="dscp")


def port(number: int, **changes: Any) -> Interface:
    """Ethernet0, Ethernet8 …: a 400G port with the lossless profile."""
    known: dict[str, Any] = {
        "name": f"Ethernet{8 * number}",
        "port": Port(number + 1),
        "speed_mbps": 400_000,
        "lanes": 8,
        "mtu_bytes": 9216,
        "qos": LOSSLESS,
        "side": "host",
    }
    return Interface(**known | changes)


def device(name: str, *interfaces: Interface, **changes: Any) -> Device:
    return Device(name=name, platform="sonic", interfaces=interfaces, **changes)


def fabric(*devices: Device, **changes: Any) -> Fabric:
    return Fabric(**{"name": "test", "mode": "lossless", "devices": devices} | changes)


def read(*devices: Device, **changes: Any) -> Reading:
    return Reading(fabric=fabric(*devices, **changes))


def two_leaves() -> Fabric:
    """Two leaves and a spine, cabled; a host at each leaf; neighbors, pools and classes."""
    leaves = [
        device(
            f"leaf{number}",
            port(0),
            port(1, side="fabric"),
            role="leaf",
            watchdog_polling_ms=100,
            buffer_pools=(BufferPool(name="ingress", direction="ingress", mode="dynamic", size_bytes=50_000_000),),
            bgp=Bgp(
                asn=65000 + number,
                neighbors=(
                    BgpNeighbor(address=f"10.1.0.{number}", remote_asn=65100),
                    BgpNeighbor(interface="Ethernet0", remote_asn="external"),
                ),
            ),
        )
        for number in (1, 2)
    ]
    spine = device("spine1", port(0, side="fabric"), port(1, side="fabric"), role="spine")
    return fabric(
        *leaves,
        spine,
        links=(
            Link(a=End("gpu1", "nic1"), b=End("leaf1", "Ethernet0"), length_m=3),
            Link(a=End("leaf1", "Ethernet8"), b=End("spine1", "Ethernet0"), length_m=30),
            Link(a=End("leaf2", "Ethernet8"), b=End("spine1", "Ethernet8"), length_m=30),
        ),
        hosts=(Host(name="gpu1", group="gpu", gpus=8, nic="ConnectX-7", ports=(_nic(),)),),
        classes=(
            TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True),
            TrafficClass(name="default", purpose="default", dscp=(0,), tc=0, lossless=False),
        ),
        policy=Policy(host_watchdog=WATCHDOG, fabric_watchdog=None),
    )


def _nic() -> HostPort:
    return HostPort(name="nic1", speed_mbps=400_000, lanes=4)


def rule(name: str = "fault", /, **keys: Any) -> Rule:
    """A rule of these keys; `claim` is `assert`, and what every rule must have is there already."""
    return parse_rule(text(**keys).encode(), f"rules/hygiene/{name}.yaml", name=name, area="hygiene")


def text(**keys: Any) -> str:
    """The file of a rule, one key in a line."""
    known: dict[str, Any] = {
        "severity": "error",
        "scope": "interface",
        "message": "a fault",
        "why": "it hurts",
        "fix": "mend it",
        "references": ["RFC 1149"],
        "since": "0.1",
        "examples": {"bad": [{"model": {}, "at": ["leaf1/Ethernet0"]}], "good": [{"model": {}}]},
    }
    known |= {{"claim": "assert", "arguments": "with"}.get(key, key): value for key, value in keys.items()}
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in known.items())
