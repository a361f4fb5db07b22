"""Intents of groups in tiers as plain data, and facts of their fabrics."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from nodrop.model.fabric import Fabric
from nodrop.model.routing import Bgp
from support.designs import Data, changed, shipped

PLATFORMS = {"sonic": "202505", "nvue": "5.16"}


def group(tier: int, ids: str, model: str = "SN4700", platform: str = "sonic", **more: Any) -> Data:
    """A group of switches."""
    return {
        "tier": tier, "ids": ids, "model": model, "platform": platform, "version": PLATFORMS[platform], **more,
    }  # fmt: skip


def links(ports: str, count: int, **more: Any) -> Data:
    """Links to a group above, of 400G."""
    return {"ports": ports, "links": count, "speed": "400G", "media": "DR4", "length": "50m", **more}


def hosts(**changes: Any) -> Data:
    """A group of servers, of 400G."""
    return {
        "ids": "1-32", "gpus": 8, "nic": "ConnectX-7", "ports": 2, "leaf_group": 16, "speed": "400G", "media": "DR4",
        "length": "5m", **changes,
    }  # fmt: skip


def intent(groups: Data, endpoints: Data, asn: Mapping[str, str], **changes: Any) -> Data:
    """The data of an intent with another topology."""
    base = shipped("reference-256", {"pfc": None, "services": None})
    base |= {"topology": {"kind": "tiers", "groups": groups}, "endpoints": endpoints}
    base["routing"] = {"asn": dict(asn)}
    base["addressing"] = {
        "loopbacks": "10.0.0.0/16", "links": "10.16.0.0/14", "endpoints": "10.32.0.0/14", "oob": "192.168.0.0/21",
    }  # fmt: skip
    return changed(base, changes)


def many_tiers(count: int, lower: str = "nvue") -> Data:
    """Four pods of two leaves and two spines, two hubs above every two pods, then two cores, then two more."""
    apex = {"apex": links("17-32", 8)} if count == 5 else {}
    groups = {
        "leaf": group(
            1, "1-8", platform=lower, per_pod="2", ports={"endpoints": "1-4"},
            uplinks={"spine": links("29-32", 2, peer_ports="1-4")},
        ),
        "spine": group(
            2, "1-8", platform=lower, per_pod="2", uplinks={"hub": links("29-32", 2, peer_ports="1-8", pods="2")},
        ),
        "hub": group(3, "1-4", platform=lower, per_pod="2", uplinks={"core": links("25-32", 4, peer_ports="1-16")}),
        "core": group(4, "1-2", platform="nvue", uplinks=apex),
        "apex": group(5, "1-2", platform="nvue"),
    }  # fmt: skip
    asn = {
        "leaf": "4200100000+", "spine": "4200200000+pod", "hub": "4200300000+pod", "core": "4200400000",
        "apex": "4200500000",
    }  # fmt: skip
    kept = list(groups)[:count]
    return intent(
        {name: groups[name] for name in kept},
        {"gpu": hosts(ids="1-16", leaf_group="4")},
        {name: asn[name] for name in kept},
    )


def bgp(fabric: Fabric, name: str) -> Bgp:
    process = fabric.device(name).bgp
    assert isinstance(process, Bgp)
    return process


def peers(fabric: Fabric, name: str) -> Counter[str]:
    """How many links a switch has to each other node."""
    ends = [(link.a.node, link.b.node) for link in fabric.links] + [(link.b.node, link.a.node) for link in fabric.links]
    return Counter(far for near, far in ends if near == name)
