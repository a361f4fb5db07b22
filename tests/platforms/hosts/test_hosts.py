"""Files of hosts: each form as its program writes it, joined to the ports that they face, and judged with them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import nodrop
from nodrop import platforms
from nodrop.engine.finding import Finding
from nodrop.model.fabric import Fabric
from nodrop.model.nics import Nic, value_or_none
from nodrop.model.reading import Reading
from nodrop.platforms.kit.artifact import Artifact
from support.designs import Data, build, shipped
from support.host_files import FIRMWARE, GOOD, QOS

FIELD = "dcqcn_priorities"
DEFAULT = """\
apiVersion: configuration.net.nvidia.com/v1alpha1
kind: NicConfigurationTemplate
metadata:
  name: as-it-comes
spec:
  nicSelector:
    nicType: "1021"
  template:
    numVfs: 8
    linkType: Ethernet
    roceOptimized:
      enabled: true
"""


def built(intent: str, files: Mapping[str, str] | None = None) -> Reading:
    """Return what a build's files say, with others in hosts/, or the build's own where there are none."""
    fabric = build(shipped(intent))
    own = list(nodrop.host_files(fabric))
    if files is not None:
        own = [Artifact(device="", path=f"hosts/{name}", text=text) for name, text in files.items()]
    return nodrop.read_back([*nodrop.write(fabric), *own], fabric)


def findings(reading: Reading) -> list[Finding]:
    return [one for one in nodrop.lint(reading).findings if one.rule.startswith(("nic-", "loopback"))]


def told(reading: Reading) -> set[tuple[str, str]]:
    return {(one.rule, "/".join(one.at)) for one in findings(reading)}


@pytest.mark.parametrize(
    "intent", ["reference-256", "reference-256-nvue-leaves", "pfc-only", "lossy", "trim", "dual-stack"]
)
def test_what_is_written_for_hosts_is_read_back_and_has_no_fault(intent: str) -> None:
    reading = built(intent)
    assert [nic.subject for nic in reading.fabric.nics if not nic.part] == [
        ("ConnectX-7", "ConnectX-7.sh"),
        ("ConnectX-7", "ConnectX-7.service"),
        ("ConnectX-7", "ConnectX-7.yaml"),
        ("ConnectX-7", "ConnectX-7.nccl.env"),
    ]
    assert not findings(reading)
    assert not reading.problems


def test_so_is_what_is_written_for_hosts_of_ultra_ethernet() -> None:
    reading = built("uec")
    assert [nic.subject for nic in reading.fabric.nics if not nic.part] == [
        ("Pollara-400", "Pollara-400.sh"),
        ("Pollara-400", "Pollara-400.service"),
        ("Pollara-400", "Pollara-400.nccl.env"),
    ]
    assert not findings(reading)
    assert not reading.problems


@pytest.mark.parametrize("purpose", [None, "storage", "rdma"])
def test_nics_react_to_marks_on_each_lossless_priority(purpose: str | None) -> None:
    second: Data = {
        "dscp": "28", "priority": "4", "lossless": True, "share": "20%",
        "ecn": {"min": "150kB", "max": "1500kB", "probability": "100%"},
    }  # fmt: skip
    if purpose is not None:
        second["purpose"] = purpose
    changes = {"classes.storage": None, "classes.nvme": second, "hosts.pfc": ["3", "4"]}
    fabric = build(shipped("two-by-two", changes))
    reading = nodrop.read_back([*nodrop.write(fabric), *nodrop.host_files(fabric)], fabric)
    assert [(nic.file, nic.part, nic.dcqcn_priorities) for nic in reading.fabric.nics if value_or_none(nic, FIELD)] == [
        ("ConnectX-7.sh", "", (3, 4)),
        ("ConnectX-7.yaml", "", (3, 4)),
        ("ConnectX-7.yaml", "P2", (3, 4)),
    ]
    assert not findings(reading)


@pytest.mark.parametrize(
    ("enabled", "mask", "first", "second"),
    [("true", "16", (3, 4), (4,)), ("true", "0", (3,), ()), ("false", "24", (), (3, 4))],
)
def test_a_raw_mask_adds_priorities_unless_dcqcn_is_off(
    enabled: str, mask: str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    qos = f'      qos: {{trust: dscp, pfc: "0,0,0,1,1,0,0,0", ecn: {{enabled: {enabled}, priority: 3}}}}\n'
    raw = "".join(f'      - {{name: ROCE_CC_PRIO_MASK_P{port}, value: "{mask}"}}\n' for port in "12")
    text = f"{DEFAULT}{qos}    rawNvConfig:\n{raw}"
    assert [nic.dcqcn_priorities for nic in built("two-by-two", {"a.yaml": text}).fabric.nics] == [first, second]


def test_the_operators_defaults_have_the_faults_of_their_tos_and_their_cnp_dscp_and_no_other() -> None:
    reading = built("reference-256", {"ConnectX-7.yaml": DEFAULT})
    found = findings(reading)
    assert [(one.rule, one.facts["found"], one.confidence) for one in found] == [
        ("nic-cnp-in-other-class", "DSCP 4", "likely"),
        ("nic-tos-not-rdma", "ToS 0 (DSCP 0)", "likely"),
    ]


def test_a_template_without_roce_or_for_another_nic_says_nothing_of_it() -> None:
    off = DEFAULT.replace("enabled: true", "enabled: false")
    other = DEFAULT.replace('"1021"', '"1025"')
    assert not findings(built("reference-256", {"a.yaml": off, "b.yaml": other}))


def test_raw_settings_of_a_template_win() -> None:
    raw = '    rawNvConfig:\n      - {name: CNP_DSCP_P1, value: "48"}\n      - {name: CNP_DSCP_P2, value: "4"}\n'
    assert ("nic-cnp-in-other-class", "ConnectX-7/ConnectX-7.yaml/P2/cnp_dscp") in told(
        built("reference-256", {"ConnectX-7.yaml": DEFAULT + raw})
    )


def test_several_templates_in_one_file_keep_their_lines(tmp_path: Path) -> None:
    second = DEFAULT.replace("as-it-comes", "second").replace('"1021"', '"1023"')
    (tmp_path / "all.yaml").write_text(f"---\n{DEFAULT}---\n{second}")
    nics = nodrop.read([str(tmp_path / "all.yaml")]).fabric.nics
    assert [(nic.part, nic.models, nic.tos) for nic in nics] == [
        ("as-it-comes", ("ConnectX-7",), 0),
        ("second", ("ConnectX-8",), 0),
    ]


def test_what_mlnx_qos_prints_is_read() -> None:
    (nic,) = built("two-by-two", {"gpu1/mlnx_qos_eth4.txt": GOOD}).fabric.nics
    table = tuple({3: 3, 6: 6}.get(dscp >> 3) for dscp in range(64))
    assert nic == Nic(
        host="gpu1",
        file="mlnx_qos_eth4.txt",
        trust="dscp",
        pfc_priorities=(3,),
        dscp_to_priority=table,
        priority_to_buffer=(0, 0, 0, 1, 0, 0, 0, 0),
        cable_length_m=7,
    )


def test_a_port_of_a_host_is_held_against_the_port_that_it_faces() -> None:
    wrong = QOS.format(trust="pcp", pfc="0   0   0   0   1   0   0   0")
    reading = built("two-by-two", {"gpu1/mlnx_qos_nic2.txt": wrong, "gpu2/mlnx_qos_nic1.txt": GOOD})
    assert told(reading) == {
        ("nic-pfc-unlike-switch", "gpu1/mlnx_qos_nic2.txt/pfc_priorities"),
        ("nic-trusts-pcp", "gpu1/mlnx_qos_nic2.txt/trust"),
        ("nic-lossless-priority-shares-buffer", "gpu1/mlnx_qos_nic2.txt/priority_to_buffer"),
    }
    assert {one.facts["port"] for one in findings(reading)} == {"leaf2 Ethernet0"}


def test_what_a_nic_has_at_its_next_boot_counts_and_how_it_trusts_before_the_driver_does_not() -> None:
    reading = built("two-by-two", {"gpu1/mlxconfig.txt": FIRMWARE})
    assert [(nic.part, nic.cnp_dscp, nic.cnp_priority) for nic in reading.fabric.nics] == [("P1", 4, 6)]
    assert told(reading) == {("nic-cnp-in-other-class", "gpu1/mlxconfig.txt/P1/cnp_dscp")}


@pytest.mark.parametrize(
    ("mask", "priorities", "found"),
    [
        ("255", tuple(range(8)), set()),
        ("8", (3,), set()),
        ("0", (), {("nic-does-not-slow-down", "gpu1/mlxconfig.txt/P1/dcqcn_priorities")}),
    ],
)
def test_priorities_on_which_the_firmware_controls_congestion(
    mask: str, priorities: tuple[int, ...], found: set[tuple[str, str]]
) -> None:
    text = f"Device #1:\nConfigurations:    Next Boot\n    ROCE_CC_PRIO_MASK_P1    {mask}\n"
    reading = built("two-by-two", {"gpu1/mlxconfig.txt": text})
    assert [nic.dcqcn_priorities for nic in reading.fabric.nics] == [priorities]
    assert told(reading) == found


SCRIPT = """\
#!/bin/bash
TOS=104
NICS="eth4 eth5"
for nic in $NICS; do
    sudo mlnx_qos -i $nic --trust=dscp -f 0,0,0,1,0,0,0,0 && /usr/sbin/cma_roce_tos -d mlx5_0 -t ${TOS}
done
# mlnx_qos -i eth4 --trust pcp
log "mlnx_qos -i eth4 --trust pcp"; echo mlnx_qos -i eth4 --tc_bw 1
mlnx_qos -i eth8 \\
    --pfc 0,0,0,0,0,1,0,0 \\
    >/dev/null
echo 8 >"$ECN"/roce_np/cnp_dscp
mlnx_qos -i eth9 --trust pcp
echo 46 | sudo tee /sys/class/net/eth4/ecn/roce_np/cnp_dscp
export NCCL_IB_TC=106 NCCL_IB_GID_INDEX="0"
"""


def test_a_script_is_read_line_by_line_with_its_variables() -> None:
    reading = built("two-by-two", {"gpu1/setup.sh": SCRIPT})
    assert told(reading) == {
        ("nic-tos-without-ecn", "gpu1/setup.sh/mlx5_0/tos"),
        ("nic-trusts-pcp", "gpu1/setup.sh/eth9/trust"),
        ("nic-pfc-unlike-switch", "gpu1/setup.sh/eth8/pfc_priorities"),
        ("nic-cnp-in-other-class", "gpu1/setup.sh/cnp_dscp"),
        ("nic-cnp-in-other-class", "gpu1/setup.sh/eth4/cnp_dscp"),
        ("nic-gid-not-routable", "gpu1/setup.sh/gid_index"),
    }


_CONNECTION_DEFAULTS = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce"


@pytest.mark.parametrize(
    "text",
    [
        "cma_roce_tos -d mlx5_0 -t 106",
        f"echo 106 > {_CONNECTION_DEFAULTS}_tos",
        f'echo -n "106" | sudo tee {_CONNECTION_DEFAULTS}_tos',
        "DSCP=26\nTOS=$((DSCP << 2 | 2))\ncma_roce_tos -d mlx5_0 -t ${TOS}",
        "DSCP=26\nECT=2\ncma_roce_tos -d mlx5_0 -t $(($DSCP * 4 + ${ECT}))",
    ],
)
def test_the_tos_of_connections_is_read_in_each_form(text: str) -> None:
    (nic,) = built("two-by-two", {"gpu1/setup.sh": f"{text}\n"}).fabric.nics
    assert (nic.tos, nic.part) == (106, "mlx5_0")


def test_the_version_of_roce_of_connections_is_read() -> None:
    text = f'echo "IB/RoCE v1" > {_CONNECTION_DEFAULTS}_mode\n'
    (nic,) = built("two-by-two", {"gpu1/setup.sh": text}).fabric.nics
    assert nic.roce_version == 1


@pytest.mark.parametrize("tos", ["$(get_tos)", "$((DSCP << 2))", "$((1 << 99))", "$((4 / 2))"])
def test_a_tos_that_is_not_known_is_said_to_be_unknown(tos: str) -> None:
    reading = built("two-by-two", {"gpu1/setup.sh": f"cma_roce_tos -d mlx5_0 -t {tos}\n"})
    assert [note.kind for note in reading.notes if "ToS" in note.message] == ["not-understood"]


@pytest.mark.parametrize(
    ("path", "host"),
    [("hosts/gpu1/nccl.env", "gpu1"), ("hosts/gpu1.nccl.env", "gpu1"), ("gpu1/env", "gpu1"), ("hosts/all.env", "all")],
)
def test_files_of_hosts_are_found_beside_those_of_switches(tmp_path: Path, path: str, host: str) -> None:
    fabric: Fabric = build(shipped("two-by-two"))
    for one in nodrop.write(fabric):
        (tmp_path / one.device / one.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / one.device / one.path).write_text(one.text)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("NCCL_IB_TC=0\n")
    reading = nodrop.read([str(tmp_path)])
    assert len(reading.fabric.devices) == len(fabric.devices)
    assert [nic.host for nic in reading.fabric.nics] == [host]
    assert [one.rule for one in findings(reading)] == ["nic-tos-not-rdma"]


def test_a_host_called_as_a_switch_is_and_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    for folder, tos in (("a/leaf1", 0), ("b/leaf1", 26)):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "nccl.env").write_text(f"NCCL_IB_TC={tos}\n")
    nics = nodrop.read([str(tmp_path)]).fabric.nics
    assert [(nic.host, nic.file, nic.traffic_class) for nic in nics] == [
        ("leaf1", "nccl.env", 0),
        ("leaf1", "nccl.env.2", 26),
    ]


def test_prose_is_not_taken_for_a_script(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Ask the lab about mlnx_qos and its NCCL settings.\n")
    assert not nodrop.read([str(tmp_path)]).fabric.nics


def test_a_line_that_goes_on_is_one_and_has_the_place_of_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "setup.sh").write_text("# first\nmlnx_qos -i eth8 \\\n  --trust pcp\n")
    text = (tmp_path / "setup.sh").read_bytes()
    place = platforms.make_place_finder(platforms.HOSTS_PLATFORM, {"setup.sh": text})(
        ("gpu1", "setup.sh", "eth8", "trust")
    )
    assert place is not None
    assert (place.span.line, place.span.column) == (2, 1)


def test_hosts_alone_are_judged_in_the_mode_that_their_nics_show(tmp_path: Path) -> None:
    (tmp_path / "setup.sh").write_text("mlnx_qos -i eth4 --pfc 0,0,0,1,0,0,0,0\nethtool -A eth4 rx on tx on\n")
    reading = nodrop.read([str(tmp_path)])
    assert reading.fabric.mode == "lossless"
    assert [one.rule for one in findings(reading)] == ["nic-link-pause-with-pfc"]


@pytest.mark.parametrize(
    "text",
    [
        "mlnx_qos -i eth4 --dscp2prio set,26,",
        "mlnx_qos -i eth4 --dscp2prio set,26,12",
        f"mlnx_qos -i eth4 --cable_len {'9' * 5000}",
        "echo 300 > /sys/class/net/eth4/ecn/roce_np/cnp_dscp",
        "NCCL_IB_TC=106 NCCL_IB_GID_INDEX=²",
    ],
)
def test_numbers_that_are_none_say_nothing(text: str) -> None:
    for nic in built("two-by-two", {"gpu1/setup.sh": text}).fabric.nics:
        assert {
            value_or_none(nic, field) for field in ("dscp_to_priority", "cable_length_m", "cnp_dscp", "gid_index")
        } == {None}
