"""What NICs send and pause follows from the classes of an intent, unless it is stated."""

from typing import Any

import pytest

from nodrop import design
from nodrop.design.defaults import applied_defaults
from nodrop.errors import InputProblems
from nodrop.intent.load import loads
from nodrop.model.states import UNKNOWN
from support.designs import Data, build, load, shipped

ECN: Data = {"min": "150kB", "max": "1500kB", "probability": "100%"}


def lossless(dscp: Any, priority: int, share: int, **more: Any) -> Data:
    return {"dscp": dscp, "priority": str(priority), "lossless": True, "share": f"{share}%", "ecn": ECN, **more}


@pytest.mark.parametrize(
    ("changes", "tos", "cnp_dscp", "pfc"),
    [
        ({}, 106, 48, (3,)),
        ({"classes.rdma.dscp": "24"}, 98, 48, (3,)),
        ({"classes.rdma.dscp": "24-31"}, 106, 48, (3,)),
        ({"classes.rdma.dscp": ["0", "30"]}, 2, 48, (3,)),
        ({"classes.rdma.priority": "5"}, 106, 48, (5,)),
        ({"classes.cnp.dscp": ["46", "47"]}, 106, 46, (3,)),
        ({"classes.cnp.dscp": "40-55"}, 106, 48, (3,)),
        ({"classes.storage": lossless("20", 4, 20)}, 106, 48, (3, 4)),
        ({"topology.leaves.ports.uplinks": "29-30", "topology.uplinks.per_spine": "1",
          "topology.max_oversubscription": "2"}, 106, 48, (3,)),
        ({"mode": "lossy", "classes.rdma.lossless": None}, 106, 48, ()),
        ({"mode": "pfc-only", "classes.rdma.ecn": None}, 106, 48, (3,)),
        ({"classes.rdma.dscp": "24", "hosts.tos": "98", "hosts.pfc": ["3"]}, 98, 48, (3,)),
    ],
)  # fmt: skip
def test_what_is_left_out_follows_from_the_classes(
    changes: Data, tos: int, cnp_dscp: int, pfc: tuple[int, ...]
) -> None:
    hosts = build(shipped("two-by-two", changes)).hosts
    assert {(host.tos, host.cnp_dscp, host.pfc_priorities) for host in hosts} == {(tos, cnp_dscp, pfc)}


def test_without_a_class_for_them_cnps_have_the_dscp_of_the_nics() -> None:
    fabric = build(shipped("two-by-two", {"classes.cnp": None}))
    assert {host.cnp_dscp for host in fabric.hosts} == {48}


@pytest.mark.parametrize(("names", "tos"), [(("rdma", "nvme"), 82), (("one", "nvme"), None), (("one", "rdma"), 50)])
def test_of_several_rdma_classes_it_is_the_one_of_that_name(names: tuple[str, str], tos: int | None) -> None:
    """DSCP 20 is of the first, 12 of the second."""
    first, second = names
    changes = {
        "classes.rdma": None,
        "classes.storage": None,
        f"classes.{first}": lossless("20", 3, 60, purpose="rdma"),
        f"classes.{second}": lossless("12", 4, 20, purpose="rdma"),
    }
    if tos is not None:
        assert {host.tos for host in build(shipped("two-by-two", changes)).hosts} == {tos}
        return
    with pytest.raises(InputProblems) as error:
        build(shipped("two-by-two", changes))
    (problem,) = error.value.problems
    found = "one and nvme are for rdma, and NICs send one DSCP; expected hosts.tos: 50 or 82"
    assert (problem.where, problem.message) == ("classes.nvme", found)


def test_the_reasons_name_the_classes() -> None:
    changes = {"classes.rdma.dscp": "24", "classes.cnp.dscp": "46", "classes.storage": lossless("20", 4, 20)}
    told = {key: (value, source) for key, value, source in applied_defaults(load(shipped("two-by-two", changes)))}
    assert [told[f"hosts.{key}"] for key in ("tos", "cnp_dscp", "pfc")] == [
        ("98", "DSCP 24 of rdma, ECN-capable"),
        ("46", "DSCP of cnp"),
        ("[3, 4]", "priorities of rdma and storage"),
    ]


TEXT = """\
nodrop: 1
fabric: small
topology:
  kind: leaf-spine
  spines: {ids: 1-2, model: SN4700, platform: sonic, version: "202505"}
  leaves: {ids: 1-2, model: SN4700, platform: sonic, version: "202505", ports: {endpoints: 1-4, uplinks: 29-32}}
  uplinks: {per_spine: 2, speed: 400G, media: DR4, length: 30m}
endpoints:
  gpu: {ids: 1-2, gpus: 8, nic: ConnectX-7, ports: 2, leaf_group: 2, speed: 400G, media: DR4, length: 3m}
classes:
  rdma:    {dscp: 26, priority: 3, lossless: true, share: 60%, ecn: {min: 150kB, max: 1500kB, probability: 100%}}
  cnp:     {dscp: 48, priority: 6, strict: true, max_rate: 5%}
  control: {dscp: 56, priority: 7, strict: true}
  default: {dscp: rest, priority: 0, share: 40%}
routing: {asn: {spines: 4200000000, leaves: 4200100000+}}
addressing: {loopbacks: 10.0.0.0/16, links: 10.1.0.0/16, endpoints: 10.2.0.0/16, oob: 192.168.100.0/24}
"""


def told(text: str) -> list[str]:
    with pytest.raises(InputProblems) as error:
        design.build(loads(text.encode(), "pod.yaml"))
    return [str(problem) for problem in error.value.problems]


@pytest.mark.parametrize(
    ("added", "found"),
    [
        (
            "hosts: {tos: 98}\n",
            "pod.yaml:17:14: hosts.tos: ToS 98 is DSCP 24, which is not of the RDMA class; expected 106 "
            "(or leave hosts.tos out: it follows from classes.rdma at line 11)",
        ),
        (
            "hosts: {cnp_dscp: 46}\n",
            "pod.yaml:17:19: hosts.cnp_dscp: DSCP 46 is not of the CNP class; expected 48 "
            "(or leave hosts.cnp_dscp out: it follows from classes.cnp at line 12)",
        ),
        (
            "hosts: {pfc: [4]}\n",
            "pod.yaml:17:14: hosts.pfc: NICs with PFC on 4; expected [3], the lossless priorities "
            "(or leave hosts.pfc out: it follows from classes.rdma at line 11)",
        ),
        (
            "mtu: 1500\n",
            "pod.yaml:17:6: mtu: 1500, which RoCE MTU 4096 (the default) and its headers do not fit; "
            "expected mtu: 4192 or more (or hosts.rdma_mtu: 1024)",
        ),
        (
            "hosts: {fifo_class: cts}\n",
            "pod.yaml:17:21: hosts.fifo_class: no class cts; "
            "expected a class of the intent: rdma, cnp, control, default",
        ),
        (
            "hosts: {fifo_class: default}\n",
            "pod.yaml:17:21: hosts.fifo_class: default takes the rest; expected a class that names its DSCPs "
            "(NCCL marks its control messages with the first)",
        ),
    ],
)
def test_a_contradiction_is_told_at_the_line_that_makes_it(added: str, found: str) -> None:
    assert told(TEXT + added) == [found]


def test_classes_alone_contradict_nothing_of_hosts() -> None:
    """The DSCP and the priority of RDMA are changed, and no key of hosts has to be."""
    text = TEXT.replace("dscp: 26, priority: 3", "dscp: 24, priority: 4")
    hosts = design.build(loads(text.encode(), "pod.yaml")).hosts
    assert {(host.tos, host.pfc_priorities) for host in hosts} == {(98, (4,))}


def test_control_messages_have_the_tos_of_their_class() -> None:
    changes = {"classes.storage": lossless(["21", "22"], 4, 20), "hosts.fifo_class": "storage"}
    assert {host.fifo_tos for host in build(shipped("two-by-two", changes)).hosts} == {86}
    assert {host.fifo_tos for host in build(shipped("two-by-two")).hosts} == {UNKNOWN}
