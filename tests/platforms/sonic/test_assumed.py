"""What is assumed of a fabric for which nobody states anything but the configurations of its switches."""

from typing import Any

import pytest

from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.nics import Nic
from nodrop.model.reading import HostReading
from support.sonic_configs import read, stock

QOS = (
    *("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"),
    *("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "PORT_QOS_MAP", "PFC_WD", "SCHEDULER", "WRED_PROFILE", "QUEUE"),
    *("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "CABLE_LENGTH"),
)
PLAIN = stock(**dict.fromkeys(QOS))
ONE_PORT: dict[str, Any] = {**PLAIN, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}}}


@pytest.mark.parametrize(
    ("configs", "declared", "hosts", "rdma"),
    [
        ([PLAIN], DeclaredFacts(), (), "none"),
        ([PLAIN, PLAIN], DeclaredFacts(), (), "none"),
        ([PLAIN, ONE_PORT], DeclaredFacts(), (), "DSCP 26"),
        ([PLAIN], DeclaredFacts(mode="lossy"), (), "DSCP 26"),
        (
            [PLAIN],
            DeclaredFacts(),
            (HostReading(name="gpu1", nics=(Nic(host="gpu1", file="mlnx_qos.txt"),)),),
            "DSCP 26",
        ),
        ([], DeclaredFacts(), (), "DSCP 26"),
    ],
)
def test_switches_without_any_qos_have_no_rdma_unless_something_says_so(
    configs: list[dict[str, Any]], declared: DeclaredFacts, hosts: tuple[HostReading, ...], rdma: str
) -> None:
    whole = assemble_fabric([read(config) for config in configs], declared, hosts)
    assert {one.fact: one.value for one in whole.assumed}["RDMA"] == rdma
    assert [one.purpose for one in whole.fabric.classes] == ([] if rdma == "none" else ["rdma"])


def of(name: str, address: str, config: dict[str, Any]) -> dict[str, Any]:
    """A configuration with a name, and with an address on its first port."""
    metadata = {"localhost": {**config["DEVICE_METADATA"]["localhost"], "hostname": name}}
    return {**config, "DEVICE_METADATA": metadata, "INTERFACE": {"Ethernet0": {}, f"Ethernet0|{address}": {}}}


def test_nothing_is_missed_on_switches_without_qos_but_where_others_have_it() -> None:
    rules = [rule for rule in select_lint_rules(shipped_rules()) if rule.name == "ecn-missing-on-rdma-queue"]
    plain, far = read(of("sw1", "10.0.0.0/31", PLAIN)), of("sw2", "10.0.0.1/31", PLAIN)
    verdict = judge(assemble_fabric([plain, read(far)], DeclaredFacts()), rules)
    assert (verdict.findings, verdict.unknown) == ((), ())
    far["DSCP_TO_TC_MAP"] = stock()["DSCP_TO_TC_MAP"]
    far["PORT_QOS_MAP"] = {"Ethernet0": {"dscp_to_tc_map": "AZURE"}}
    found = judge(assemble_fabric([plain, read(far)], DeclaredFacts()), rules).findings
    assert [finding.subject for finding in found] == [("sw1", "Ethernet0"), ("sw2", "Ethernet0")]
