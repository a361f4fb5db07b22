"""The sizes of two published fabrics: switches and links as radix and ratios of the publications give them."""

from collections import Counter

import pytest

from support.designs import Data, build
from support.tiered_intents import group, hosts, intent, links

RADIX = 128
"""Ports of 400G of a switch of 51.2 Tb/s (SN5600: 64 ports of 800G, each split in two)."""
_SPLIT = {"split": "2"}


def counts(data: Data) -> tuple[Counter[str], Counter[str]]:
    """How many switches each group has, and how many links each pair of groups."""
    fabric = build(data)
    pairs = Counter(
        " ".join(sorted(end.node.rstrip("0123456789") for end in (link.a, link.b))) for link in fabric.links
    )
    return Counter(device.name.rstrip("0123456789") for device in fabric.devices), pairs


@pytest.mark.slow
def test_eight_pods_of_3072_gpus_with_1_to_7_above() -> None:
    """Dubey et al., The Llama 3 Herd of Models, section 3.3.1: 24,576 GPUs in 8 pods of 3,072, 1:7 above the pods.

    A leaf has half of its ports down. A spine has 2 links to each of the 48 leaves of its pod, and so 14 up. Each leaf
    has 32 spines in two planes. Of a plane, 128 spines have a link to each of 14 cores, which are full with these.
    """
    gpus, pods, ratio = 24_576, 8, 7
    down = RADIX // 2
    leaves, per_leaf = gpus // down, 2
    leaves_of_pod = leaves // pods
    spines_of_pod = down // per_leaf
    up = -(-leaves_of_pod * per_leaf // ratio)
    planes = pods * spines_of_pod // RADIX
    plane = {"per_pod": str(spines_of_pod // planes), "max_oversubscription": str(ratio)}
    ids = f"1-{pods * spines_of_pod // planes}"
    panels = {"a": "33-48", "b": "49-64"}
    groups = {
        "leaf": group(
            1, f"1-{leaves}", "SN5600", per_pod=str(leaves_of_pod), ports={"endpoints": "1-32"},
            uplinks={
                f"spine{name}": links(panels[name], per_leaf, peer_ports="1-48", slots=str(leaves_of_pod), **_SPLIT)
                for name in panels
            },
        ),
    }  # fmt: skip
    for place, name in enumerate(panels):
        core = links("49-55", 1, peer_slots=str(up), slots=str(RADIX), **_SPLIT)
        groups[f"spine{name}"] = group(
            2, ids, "SN5600", offset=str(RADIX * place), uplinks={f"core{name}": core}, **plane
        )
        groups[f"core{name}"] = group(3, f"1-{up}", "SN5600", offset=str(up * place))
    asn = {"leaf": "4200100000+", "spinea": "4200200000+pod", "spineb": "4200300000+pod"}
    asn |= {"corea": "4200000000", "coreb": "4200000000"}
    servers = gpus // 8
    endpoints = hosts(ids=f"1-{servers}", ports="8", spread="rails", leaf_group=str(down), **_SPLIT)
    data = intent(groups, {"gpu": endpoints}, asn)
    data["addressing"] |= {"links": "10.16.0.0/12", "endpoints": "10.32.0.0/12", "loopbacks": "10.0.0.0/16"}
    switches, pairs = counts(data)
    assert switches == {"leaf": 384, "spinea": 128, "spineb": 128, "corea": 14, "coreb": 14}
    assert pairs == {
        "gpu leaf": gpus, "leaf spinea": gpus // 2, "leaf spineb": gpus // 2,
        "corea spinea": 128 * up, "coreb spineb": 128 * up,
    }  # fmt: skip
    assert leaves_of_pod * per_leaf / up <= ratio < leaves_of_pod * per_leaf / (up - 1)


@pytest.mark.slow
def test_segments_of_1024_gpus_in_eight_rails() -> None:
    """Qian et al., Alibaba HPN, SIGCOMM 2024, section 4: one of its two planes, 15 segments, 15:1 above.

    A leaf has a 200G port of each of 128 servers and a link to each of 60 spines. A spine has a link to each of the
    8 × 15 leaves and 8 to the tier above.
    """
    segments, rails, servers, spines, up = 15, 8, 128, 60, 8
    leaves = segments * rails
    groups = {
        "leaf": group(
            1, f"1-{leaves}", "SN5600", ports={"endpoints": "1-32"}, max_oversubscription="1.07",
            uplinks={
                "spine": links("33-62", 1, peer_ports="1-60", peer_slots=str(spines), slots=str(leaves), **_SPLIT),
            },
        ),
        "spine": group(
            2, f"1-{spines}", "SN5600", max_oversubscription="15",
            uplinks={"core": links("61-64", 1, peer_slots=str(up), slots=str(spines), **_SPLIT)},
        ),
        "core": group(3, f"1-{up}", "SN5600"),
    }  # fmt: skip
    endpoints = hosts(
        ids=f"1-{segments * servers}", ports=str(rails), spread="rails", leaf_group=str(servers),
        speed="200G", split="4", media="SR2", length="30m",
    )  # fmt: skip
    asn = {"leaf": "4200100000+", "spine": "4200200000", "core": "4200000000"}
    data = intent(groups, {"gpu": endpoints}, asn)
    data["addressing"] |= {"links": "10.16.0.0/12", "endpoints": "10.32.0.0/12"}
    switches, pairs = counts(data)
    assert switches == {"leaf": 120, "spine": 60, "core": 8}
    assert segments * servers * rails == 15_360
    assert pairs == {"gpu leaf": 15_360, "leaf spine": leaves * spines, "core spine": spines * up}
