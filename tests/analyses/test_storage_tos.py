"""The ToS of storage against its class: by its own option, by the connection manager, by the driver, and over TCP."""

import json
from functools import cache

import pytest

import nodrop
from nodrop.engine.finding import FabricVerdict
from nodrop.engine.rules import select_lint_rules
from nodrop.engine.rules import shipped_rules as shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.fabric import Fabric
from nodrop.platforms.kit.artifact import Artifact
from support.designs import Data, build, shipped
from support.storage_classes import with_nvme

RULES = ("storage-tos-unlike-class", "tcp-storage-marked-lossless", "nic-tos-not-rdma", "nic-tos-without-ecn")
CONNECT = "nvme connect -t {} -a 10.2.1.9 -n nqn.2026-01.org.example:a"


def findings_of(data: Data, *texts: str, own: bool = False) -> list[tuple[str, str]]:
    """Return the rules and messages about hosts whose files are these texts, beside what nodrop writes for them."""
    return [(one.rule, one.message) for one in verdict(data, *texts, own=own).findings]


def verdict(data: Data, *texts: str, own: bool = False) -> FabricVerdict:
    fabric, switches = written(json.dumps(data))
    files = [Artifact(device="", path=f"hosts/gpu1/{number}.sh", text=text) for number, text in enumerate(texts)]
    reading = nodrop.read_back([*switches, *(nodrop.host_files(fabric) if own else ()), *files], fabric)
    return judge(reading, [one for one in select_lint_rules(shipped_rules()) if one.name in RULES])


@cache
def written(data: str) -> tuple[Fabric, tuple[Artifact, ...]]:
    fabric = build(json.loads(data))
    return fabric, tuple(nodrop.write(fabric))


def missing(data: Data, text: str) -> set[str]:
    return {one.missing for one in verdict(data, text).unknown if one.rule == "storage-tos-unlike-class"}


@pytest.mark.parametrize("option", ["--tos 138", "--tos 137", "-T 138"])
def test_nvme_over_roce_with_the_tos_of_its_class(option: str) -> None:
    assert findings_of(with_nvme("two-by-two"), f"{CONNECT.format('rdma')} {option}\n", own=True) == []


def test_nvme_over_roce_without_ecn_is_not_marked() -> None:
    assert findings_of(with_nvme("two-by-two"), f"{CONNECT.format('rdma')} --tos 136\n") == [
        (
            "nic-tos-without-ecn",
            "RDMA has ToS 136, whose ECN bits do not allow marking; expected ToS 138",
        )
    ]


def test_nvme_over_roce_without_an_option_has_the_tos_of_the_gpus() -> None:
    text = CONNECT.format("rdma") + "\n"
    expected = "expected DSCP 34 (--tos=138 of nvme connect)"
    assert findings_of(with_nvme("two-by-two"), text, own=True) == [
        (
            "storage-tos-unlike-class",
            f"NVMe over RoCE uses no separate ToS, so ToS 106 (DSCP 26); {expected}",
        )
    ]
    assert missing(with_nvme("two-by-two"), text) == {"nic.tos"}


def test_storage_may_have_the_tos_of_the_connection_manager() -> None:
    manager = "cma_roce_tos -d mlx5_0 -t 138\n"
    assert findings_of(with_nvme("two-by-two"), manager, CONNECT.format("rdma") + "\n") == []
    (other,) = findings_of(with_nvme("two-by-two"), "cma_roce_tos -d mlx5_0 -t 10\n")
    assert other[0] == "nic-tos-not-rdma"


def test_what_the_driver_gives_all_roce_overrides_the_option() -> None:
    forced = "echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class\n"
    found = "NVMe over RoCE uses ToS 106 (DSCP 26), the driver's default (tc/1/traffic_class)"
    assert findings_of(with_nvme("two-by-two"), forced, f"{CONNECT.format('rdma')} --tos 138\n") == [
        ("storage-tos-unlike-class", f"{found}; expected DSCP 34 (--tos=138 of nvme connect)")
    ]
    assert findings_of(with_nvme("two-by-two"), forced, f"{CONNECT.format('tcp')} --tos 40\n") == []


def test_nvme_over_tcp_has_dscp_0_without_an_option() -> None:
    data = shipped("two-by-two", {"classes.storage.purpose": "nvme-tcp"})
    assert findings_of(data, CONNECT.format("tcp") + "\n") == [
        (
            "storage-tos-unlike-class",
            "NVMe over TCP uses no separate ToS, so ToS 0 (DSCP 0); expected DSCP 10 (--tos=40 of nvme connect)",
        )
    ]
    assert findings_of(data, f"{CONNECT.format('tcp')} --tos 40\n") == []


def test_storage_over_tcp_with_a_lossless_dscp() -> None:
    data = shipped("two-by-two", {"classes.storage.purpose": "lustre-tcp"})
    (found,) = findings_of(data, "options ksocklnd tos=104\n")
    assert found == (
        "tcp-storage-marked-lossless",
        "Lustre over TCP uses ToS 104 (DSCP 26), lossless on leaf1 Ethernet0; "
        "expected DSCP 10 (options ksocklnd tos=40)",
    )
    assert findings_of(data, "options ksocklnd tos=40\n") == []


def test_storage_without_a_class_is_expected_in_that_of_its_transport() -> None:
    assert findings_of(with_nvme("two-by-two"), "options ko2iblnd tos=138\n") == []
    (found,) = findings_of(with_nvme("two-by-two"), "options ko2iblnd tos=106\n")
    assert found[1].endswith("ToS 106 (DSCP 26); expected DSCP 34 (options ko2iblnd tos=138)")
    assert findings_of(with_nvme("two-by-two"), "options ksocklnd tos=0\n") == []


def test_storage_without_a_class_is_compared_with_none() -> None:
    data = shipped("two-by-two", {"classes.storage": None, "classes.default.share": "35%"})
    assert findings_of(data, "options ko2iblnd tos=1\n", CONNECT.format("tcp") + "\n") == []
    (found,) = findings_of(data, f"{CONNECT.format('tcp')} --tos 106\n")
    assert found[0] == "tcp-storage-marked-lossless"
    assert found[1].endswith("expected a lossy class")
