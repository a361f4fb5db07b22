"""The groups of docs/intents.md are built as the page says, and grow by a pod without a moved cable."""

import re
from collections import defaultdict

import pytest

from nodrop.errors import InputProblems
from nodrop.model.fabric import Fabric
from support.designs import Data, build, changed, data_of, shipped
from support.documented_commands import blocks
from support.places import ROOT

TEXT = (ROOT / "docs/intents.md").read_text()
SERVERS = {
    "ids": "1-64", "gpus": "8", "nic": "ConnectX-7", "ports": "8", "spread": "rails", "leaf_group": "64", "split": "2",
    "speed": "400G", "media": "DR4", "length": "20m", "leaves": "leaf",
}  # fmt: skip
DISKS = SERVERS | {"ids": "1-16", "gpus": "0", "ports": "2", "leaf_group": "16", "split": "1", "leaves": "storage"}
POOLS = {"loopbacks": "10.0.0.0/16", "links": "10.4.0.0/14", "endpoints": "10.8.0.0/14", "oob": "192.168.100.0/22"}


def yaml_after(heading: str) -> str:
    """The first YAML block below a heading or sentence of the page."""
    part = TEXT[TEXT.index(heading) :]
    return next(block.text for block in blocks(part) if block.language == "yaml")


def storage_example() -> Data:
    """An intent with the topology of the page's first example, and hosts on all of its leaves."""
    data = shipped("reference-256", {"pfc": None, "services": None, "endpoints": {"gpu": SERVERS, "disk": DISKS}})
    data |= data_of(yaml_after("Storage leaves of another model"))
    data["routing"] = {"asn": {"leaf": "4200100000+", "storage": "4200100000+", "spine": "4200000000"}}
    return data | {"addressing": POOLS}


def grown() -> Data:
    """The same with the group that the page adds."""
    group = data_of("groups:\n" + yaml_after("### Add leaves later"))["groups"]
    return changed(
        storage_example(),
        {
            "topology.groups.added": group["added"],
            "endpoints.more": SERVERS | {"ids": "129-160", "leaf_group": "64", "ports": "4", "leaves": "added"},
            "routing.asn.added": "4200100000+",
        },
    )


def cables(fabric: Fabric) -> set[frozenset[str]]:
    """The ends of every cable."""
    return {frozenset((str(link.a), str(link.b))) for link in fabric.links}


def host_numbers(fabric: Fabric, group: str) -> dict[str, set[int]]:
    """The numbers of a group's hosts by leaf."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for link in fabric.links:
        for host, leaf in ((link.a.node, link.b.node), (link.b.node, link.a.node)):
            if host.startswith(group):
                numbers[leaf].add(int(host.removeprefix(group)))
    return numbers


def test_a_pod_as_a_group_of_its_own_moves_no_cable() -> None:
    before, after = build(storage_example()), build(grown())
    assert cables(before) < cables(after)
    assert {device.name for device in after.devices} - {device.name for device in before.devices} == {
        "added9", "added10", "added11", "added12",
    }  # fmt: skip


def test_an_offset_of_100_needs_larger_pools_as_the_page_says() -> None:
    with pytest.raises(InputProblems, match="links") as refused:
        build(changed(storage_example(), {"addressing.links": "10.4.0.0/16"}))
    assert "a /14 holds it" in str(refused.value)


def test_ids_of_hosts_decide_their_switches_as_the_page_says() -> None:
    low = {"topology.groups.leaf.ids": "25-32", "topology.groups.leaf.uplinks.spine.slots": "8"}
    numbers = host_numbers(build(changed(storage_example(), low | {"endpoints.gpu.ids": "193-256"})), "gpu")
    assert numbers == {f"leaf{number}": set(range(193, 257)) for number in range(25, 33)}


@pytest.mark.parametrize("page", ["README.md", "docs/scope.md", "docs/faq.md"])
def test_pages_refuse_dragonfly_and_torus_and_no_number_of_tiers(page: str) -> None:
    text = " ".join((ROOT / page).read_text().split())
    assert re.search(r"(?i)\bdragonfly,? (?:or )?torus", text)
    assert not re.search(r"(?i)(?:three|four|five) tiers, (?:dragonfly|EVPN)|build (?:three|four|five) tiers", text)
