"""Rules about files of hosts that need more than one part of a fabric: adaptive routing, PCIe, jobs, restarts."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import nodrop
from nodrop.engine.finding import Finding
from nodrop.platforms.kit.artifact import Artifact
from support.designs import build, shipped

RULES = (
    "nics-do-not-spray", "pcie-slower-than-port", "gpu-traffic-unmarked", "job-without-traffic-class",
    "nic-settings-not-kept", "nic-tos-not-rdma",
)  # fmt: skip
TEMPLATE = """\
kind: NicConfigurationTemplate
metadata: {{name: t}}
spec:
  nicSelector: {{nicType: {nic}}}
  template:
    numVfs: 1
    linkType: {link}
    roceOptimized: {{enabled: true, qos: {{trust: dscp, pfc: "0,0,0,1,0,0,0,0", tos: 0}}}}
    {more}
"""


def found(
    files: Mapping[str, str], intent: str = "two-by-two", changes: Mapping[str, object] | None = None
) -> list[tuple[str, str, str]]:
    """Return rule, subject and the fact that decides, of files in hosts/ alone beside the switches of an intent."""
    fabric = build(shipped(intent, dict(changes or {})))
    own = [Artifact(device="", path=f"hosts/{name}", text=text) for name, text in files.items()]
    outcome = nodrop.lint(nodrop.read_back([*nodrop.write(fabric), *own], fabric))
    return [_row(one) for one in outcome.findings if one.rule in RULES]


def _row(one: Finding) -> tuple[str, str, str]:
    return one.rule, "/".join(one.subject), str(one.facts.get("found", one.facts.get("variables", "")))


SPRAYED = {"hosts.out_of_order": None}
NOT_SET = "mlnx_qos -i eth4 --trust dscp\nsystemctl enable qos\n"
FORCED = "mlxreg -d {} --reg_name ROCE_ACCL --set adaptive_routing_forced_en={} --yes\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"gpu1/qos.sh": NOT_SET}, [("nics-do-not-spray", "gpu1/qos.sh/eth4", "not set")]),
        ({"gpu1/qos.sh": NOT_SET + FORCED.format("eth4", 1)}, []),
        ({"gpu1/qos.sh": NOT_SET, "gpu1/ar.sh": NOT_SET + FORCED.format("eth4", 1)}, []),
        (
            {"gpu1/qos.sh": NOT_SET, "gpu2/ar.sh": NOT_SET + FORCED.format("eth4", 1)},
            [("nics-do-not-spray", "gpu1/qos.sh/eth4", "not set")],
        ),
        ({"gpu1/qos.sh": NOT_SET + FORCED.format("eth4", 0)}, [("nics-do-not-spray", "gpu1/qos.sh/eth4", "off")]),
        ({"ConnectX-7/qos.sh": NOT_SET}, []),
        ({"gpu1/job.env": "NCCL_IB_TC=106\nNCCL_IB_ADAPTIVE_ROUTING=0\n"}, [("nics-do-not-spray", "gpu1/job.env", "")]),
        ({"gpu1/job.env": "NCCL_IB_TC=106\n"}, []),
    ],
)
def test_nics_in_a_fabric_with_adaptive_routing(files: Mapping[str, str], expected: list[tuple[str, str, str]]) -> None:
    told = [
        (rule, subject, "" if "job" in subject else fact) for rule, subject, fact in found(files, "adaptive", SPRAYED)
    ]
    assert told == expected


def test_what_an_owner_states_of_nics_does_not_replace_their_setting() -> None:
    assert found({"gpu1/qos.sh": NOT_SET}, "adaptive") == [("nics-do-not-spray", "gpu1/qos.sh/eth4", "not set")]
    assert found({"gpu1/qos.sh": NOT_SET + FORCED.format("eth4", 0)}, "adaptive") == [
        ("nics-do-not-spray", "gpu1/qos.sh/eth4", "off")
    ]


def test_no_rule_asks_for_adaptive_routing_where_no_switch_has_it() -> None:
    assert found({"gpu1/qos.sh": NOT_SET + FORCED.format("eth4", 0)}) == []


@pytest.mark.parametrize(("link", "rules"), [("Ethernet", ["nic-tos-not-rdma"]), ("Infiniband", [])])
def test_no_rule_for_roce_is_about_infiniband(link: str, rules: list[str]) -> None:
    assert [one[0] for one in found({"all/t.yaml": TEMPLATE.format(nic='"1021"', link=link, more="")})] == rules


def test_a_raw_link_type_of_infiniband_counts() -> None:
    more = "rawNvConfig: [{name: LINK_TYPE_P1, value: '1'}]"
    assert found({"all/t.yaml": TEMPLATE.format(nic='"1021"', link="Ethernet", more=more)}) == []


LSPCI = "41:00.0 Ethernet controller: Mellanox Technologies MT2910 Family [{}]\n\t\tLnkSta:\tSpeed {}GT/s, Width x{}\n"


@pytest.mark.parametrize(
    ("nic", "speed", "lanes", "expected"),
    [
        ("ConnectX-7", 32, 16, []),
        ("ConnectX-7", 32, 8, ["252 Gb/s"]),
        ("ConnectX-7", 16, 16, ["252 Gb/s"]),
        ("ConnectX-6 Dx", 16, 16, []),
    ],
)
def test_pcie_is_compared_with_the_port(nic: str, speed: int, lanes: int, expected: list[str]) -> None:
    told = found({"gpu1/lspci.txt": LSPCI.format(nic, speed, lanes)})
    assert told == [("pcie-slower-than-port", "gpu1/lspci.txt/41:00.0", one) for one in expected]


def test_pcie_is_not_compared_where_no_cable_says_which_port_it_is(tmp_path: Path) -> None:
    (tmp_path / "lspci.txt").write_text(LSPCI.format("ConnectX-7", 2.5, 1))
    reading = nodrop.read([str(tmp_path)])
    assert [nic.pcie_mbps for nic in reading.fabric.nics] == [2000]
    assert nodrop.lint(reading).findings == ()


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("NCCL_IB_HCA=mlx5\n", []),
        ("NCCL_IB_HCA=mlx5\nNCCL_IB_GID_INDEX=3\n", ["job-without-traffic-class"]),
        ("NVSHMEM_IB_ENABLE_IBGDA=1\nNVSHMEM_IB_GID_INDEX=3\n", ["gpu-traffic-unmarked"]),
        ("NVSHMEM_IB_ENABLE_IBGDA=1\n", []),
    ],
)
def test_a_job_by_itself_is_one_on_roce_where_it_names_a_gid(text: str, rules: list[str], tmp_path: Path) -> None:
    (tmp_path / "job.env").write_text(text)
    outcome = nodrop.lint(nodrop.read([str(tmp_path)]))
    assert [one.rule for one in outcome.findings] == rules


def test_a_nic_that_marks_rdma_by_itself_needs_no_traffic_class(tmp_path: Path) -> None:
    text = "export NCCL_IB_HCA={} NCCL_IB_GID_INDEX=3\n"
    (tmp_path / "a.sh").write_text(text.format("bnxt_re0,bnxt_re1"))
    (tmp_path / "b.sh").write_text(text.format("mlx5_0"))
    outcome = nodrop.lint(nodrop.read([str(tmp_path)]))
    assert [(one.rule, one.subject[1]) for one in outcome.findings] == [("job-without-traffic-class", "b.sh")]


@pytest.mark.parametrize(("nic", "rules"), [("Thor-2", []), ("ConnectX-7", ["job-without-traffic-class"])])
def test_jobs_of_hosts_with_such_nics(nic: str, rules: list[str]) -> None:
    files = {"gpu1/job.sh": "export NCCL_IB_HCA=any\n"}
    assert [one[0] for one in found(files, changes={"endpoints.gpu.nic": nic})] == rules


def test_a_file_beside_a_job_may_give_it_a_traffic_class(tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text("export NCCL_IB_HCA=mlx5 NCCL_IB_GID_INDEX=3\n")
    (tmp_path / "hook.sh").write_text("export NCCL_IB_TC=106\n")
    assert nodrop.lint(nodrop.read([str(tmp_path)])).findings == ()


@pytest.mark.parametrize(
    ("sent", "dscp", "because"),
    [
        ((41, 40), 10, "the only DSCP that files of hosts give to RDMA"),
        ((41, 0), 10, "the only DSCP that files of hosts give to RDMA"),
        ((41, 106), 26, "NVIDIA's convention"),
        ((41, 52), 26, "NVIDIA's convention"),
        ((41, 41, 41, 106), 26, "NVIDIA's convention"),
        ((0, 0), 26, "NVIDIA's convention"),
    ],
)
def test_hosts_alone_say_which_dscp_rdma_has_where_they_agree(
    sent: tuple[int, ...], dscp: int, because: str, tmp_path: Path
) -> None:
    for number, tos in enumerate(sent):
        (tmp_path / f"job{number}.env").write_text(f"NCCL_IB_TC={tos}\n")
    reading = nodrop.read([str(tmp_path)])
    assert [one.dscp for one in reading.fabric.classes] == [(dscp,)]
    assert [(one.value, one.reason) for one in reading.assumed if one.fact == "RDMA"] == [(f"DSCP {dscp}", because)]


def test_a_wrong_traffic_class_of_a_gpu_is_one_of_rdma() -> None:
    assert found({"gpu1/job.env": "NVSHMEM_IB_ENABLE_IBGDA=1\nNVSHMEM_IB_TRAFFIC_CLASS=0\nNCCL_GIN_IB_TC=0\n"}) == [
        ("nic-tos-not-rdma", "gpu1/job.env", "ToS 0 (DSCP 0)"),
        ("nic-tos-not-rdma", "gpu1/job.env", "ToS 0 (DSCP 0)"),
    ]


def test_the_fix_of_a_job_names_variable_and_value() -> None:
    job = Artifact(device="", path="hosts/gpu1/job.env", text="NVSHMEM_IB_ENABLE_IBGDA=1\n")
    designed = build(shipped("two-by-two", {}))
    outcome = nodrop.lint(nodrop.read_back([*nodrop.write(designed), job], designed))
    fixes = [finding.fix.text for finding in outcome.findings if finding.fix and finding.rule == "gpu-traffic-unmarked"]
    assert fixes == ["set NVSHMEM_IB_TRAFFIC_CLASS=106 in the environment of the job"]


def test_the_fix_of_a_job_with_two_libraries_gives_each_variable_its_value() -> None:
    told = "NCCL_GIN_TYPE=3\nNVSHMEM_IB_ENABLE_IBGDA=1\n"
    job = Artifact(device="", path="hosts/gpu1/job.env", text=told)
    designed = build(shipped("two-by-two", {}))
    outcome = nodrop.lint(nodrop.read_back([*nodrop.write(designed), job], designed))
    fixes = [finding.fix.text for finding in outcome.findings if finding.fix and finding.rule == "gpu-traffic-unmarked"]
    assert fixes == ["set NCCL_GIN_IB_TC=106 NVSHMEM_IB_TRAFFIC_CLASS=106 in the environment of the job"]


@pytest.mark.parametrize(
    ("intent", "severity"), [("", "warning"), ("classes: {rdma: {purpose: rdma, dscp: [26], tc: 3}}\n", "error")]
)
def test_a_tos_is_an_error_only_beside_stated_classes(tmp_path: Path, intent: str, severity: str) -> None:
    (tmp_path / "template.yaml").write_text(TEMPLATE.format(nic="1021", link="Ethernet", more=""))
    if intent:
        (tmp_path / "fabric.yaml").write_text(intent)
    findings = nodrop.lint(nodrop.read([str(tmp_path)])).findings
    assert [finding.severity for finding in findings if finding.rule == "nic-tos-not-rdma"] == [severity]


OF_ALL_CONNECTIONS = "echo {} > /sys/class/infiniband/$rdma/tc/1/traffic_class"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (":", "3-4"),
        ("cma_roce_tos -d $rdma -t 106", ""),
        ("cma_roce_tos -d $rdma -t 138", "4"),
        (f"cma_roce_tos -d $rdma -t 106; {OF_ALL_CONNECTIONS.format(138)}", "4"),
        (f"cma_roce_tos -d $rdma -t 138; {OF_ALL_CONNECTIONS.format(106)}", ""),
        ("cma_roce_tos -d $rdma -t 138; mlnx_qos -i $port --dscp2prio set,34,3", ""),
        ("cma_roce_tos -d $rdma -t 2", "3-4"),
    ],
    ids=["no DSCP", "its class", "the other class", "other of all", "its of all", "its own map", "lossy"],
)
def test_a_nic_answers_marks_on_the_priority_of_its_own_rdma(lines: str, expected: str) -> None:
    """The switch pauses priorities 3 and 4, and the NIC answers marks on 3 alone."""
    fabric = build(shipped("two-by-two", {}))
    answers = "\n".join(f"echo 1 > /sys/class/net/$port/ecn/roce_{end}/enable/3" for end in ("np", "rp"))
    each = lines.replace("; ", "\n")
    text = f"for port in eth2; do\n{answers}\nfor rdma in mlx5_0; do\n{each}\ndone\ndone\n"
    own = Artifact(device="", path="hosts/gpu1/roce.sh", text=text)
    written = [
        replace(one, text=one.text.replace('"pfc_enable": "3"', '"pfc_enable": "3,4"'))
        for one in nodrop.write(fabric)
        if not one.path.startswith("hosts/")
    ]
    outcome = nodrop.lint(nodrop.read_back([*written, own], fabric))
    found = {one.facts["expected"] for one in outcome.findings if one.rule == "nic-does-not-slow-down"}
    assert found == ({expected} if expected else set())
