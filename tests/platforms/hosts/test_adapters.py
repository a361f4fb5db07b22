"""What files say of adapters themselves: PCIe, adaptive routing, link layer, reaction point, and what runs at boot."""

import pytest

from nodrop.model.nics import value_or_none
from nodrop.model.reading import HostReading, Source
from nodrop.platforms import hosts

LSPCI = """\
00:1f.0 ISA bridge: Intel Corporation Device 1b81
\t\tLnkSta:\tSpeed 8GT/s, Width x1
41:00.0 Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]
\tSubsystem: Mellanox Technologies Device 0058
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x8 (downgraded)
41:00.2 Ethernet controller: Mellanox Technologies ConnectX Family mlx5Gen Virtual Function
\t\tLnkSta:\tSpeed unknown, Width x0
0000:42:00.0 Ethernet controller [0200]: Mellanox Technologies BlueField-3 integrated ConnectX-7 [15b3:a2dc] (rev 01)
\t\tLnkSta:\tSpeed 32GT/s (ok), Width x16 (ok)
43:00.0 Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6]
\t\tLnkSta:\tSpeed 5GT/s, Width x8
44:00.0 Ethernet controller: Mellanox Technologies MT2892 Family [ConnectX-6 Dx]
\t\tLnkSta:\tSpeed 8GT/s, Width x16
45:00.0 Ethernet controller: Made Up Adapter 9
\t\tLnkSta:\tSpeed 16GT/s, Width x4
"""
POLICIES = """\
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: rdma}
spec:
  resourceName: rdma
  nodeSelector: {gpu: "true"}
  mtu: 9000
  isRdma: true
  deviceType: netdevice
  linkType: eth
  nicSelector: {vendor: "15b3", deviceID: "1021", rootDevices: ["0000:41:00.0"]}
---
apiVersion: v1
kind: Other
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: ib}
spec:
  mtu: 4096
  linkType: IB
  nicSelector: {deviceID: "9999"}
"""


def read(text: str, name: str = "file.txt") -> HostReading:
    return hosts.read_host("gpu1", [(Source(name=name, display=name), text.encode())])


def test_what_lspci_prints() -> None:
    assert hosts.has_nic_settings(LSPCI.encode())
    assert [(nic.part, nic.models, nic.pcie_mbps) for nic in read(LSPCI).nics] == [
        ("41:00.0", ("ConnectX-7",), 126030),
        ("0000:42:00.0", ("BlueField-3",), 504123),
        ("43:00.0", ("ConnectX-6",), 32000),
        ("44:00.0", ("ConnectX-6-Dx",), 126030),
        ("45:00.0", ("Made Up Adapter 9",), 63015),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "adaptive_routing_forced_en_field_select | 0x00000001\nadaptive_routing_forced_en | 0x00000000\n",
            [("", False)],
        ),
        ("adaptive_routing_forced_en              | 0x00000001\n", [("", True)]),
        (
            "mlxreg -d 41:00.0 --reg_name ROCE_ACCL --set a=0x1,adaptive_routing_forced_en=0x1 --yes\n",
            [("41:00.0", True)],
        ),
        ("mlxreg -d 41:00.0 --reg_name ROCE_ACCL --set adaptive_routing_forced_en=0 --yes\n", [("41:00.0", False)]),
        ("mlxconfig -d mlx5_0 -y set ROCE_ADAPTIVE_ROUTING_EN=1\n", [("mlx5_0", True)]),
        ("mlxconfig -d mlx5_0 -y set ROCE_ADAPTIVE_ROUTING_EN=False\n", [("mlx5_0", False)]),
        ("Device #1:\nConfigurations:   Next Boot\n  ROCE_ADAPTIVE_ROUTING_EN   True(1)\n", [("", True)]),
        ("Device #1:\nConfigurations:   Next Boot\n  ROCE_ADAPTIVE_ROUTING_EN   False(0)\n", [("", False)]),
    ],
)
def test_whether_adaptive_routing_is_on(text: str, found: list[tuple[str, bool]]) -> None:
    assert hosts.has_nic_settings(text.encode())
    assert [(nic.part, nic.adaptive_routing) for nic in read(text).nics] == found


TEMPLATE = """\
kind: NicConfigurationTemplate
metadata: {name: t}
spec:
  nicSelector: {nicType: a2dc}
  template:
    numVfs: 1
    linkType: Ethernet
"""


@pytest.mark.parametrize(
    ("rest", "value", "derived"),
    [
        ("    spectrumXOptimized: {enabled: true, platformType: gb200}\n", True, True),
        ("    rawNvConfig: [{name: ROCE_ADAPTIVE_ROUTING_EN, value: '0'}]\n", False, False),
        (
            "    spectrumXOptimized: {enabled: true, platformType: gb200}\n"
            "    rawNvConfig: [{name: ROCE_ADAPTIVE_ROUTING_EN, value: '0'}]\n",
            False,
            False,
        ),
        ("", None, False),
    ],
)
def test_adaptive_routing_of_a_template(rest: str, value: bool | None, derived: bool) -> None:
    reading = read(TEMPLATE + rest, "t.yaml")
    assert [value_or_none(nic, "adaptive_routing") for nic in reading.nics] == [value]
    assert (("gpu1", "t.yaml", "adaptive_routing") in reading.derived) is derived


INFINIBAND = "InfiniBand: rules for RoCE do not apply"


@pytest.mark.parametrize(
    ("text", "name", "part", "line"),
    [
        (TEMPLATE.replace("Ethernet", "Infiniband"), "t.yaml", "", 7),
        (TEMPLATE + "    rawNvConfig: [{name: LINK_TYPE_P1, value: '1'}]\n", "t.yaml", "", 8),
        ("Device #1:\nConfigurations:   Next Boot\n  LINK_TYPE_P1   IB(1)\n", "q.txt", "P1", 3),
        ("mlxconfig -d mlx5_0 -y set LINK_TYPE_P1=1\n", "a.sh", "mlx5_0.P1", 1),
    ],
)
def test_infiniband_is_named(text: str, name: str, part: str, line: int) -> None:
    reading = read(text, name)
    assert [(nic.part, nic.link_layer) for nic in reading.nics] == [(part, "infiniband")]
    assert [(one.kind, one.message, one.line) for one in reading.notes] == [("not-checked", INFINIBAND, line)]


def test_ethernet_is_not_named_infiniband() -> None:
    reading = read("mlxconfig -d mlx5_0 -y set LINK_TYPE_P1=2\n", "a.sh")
    assert [nic.link_layer for nic in reading.nics] == ["ethernet"]
    assert not reading.notes


def test_policies_of_the_sriov_operator() -> None:
    first, second = read(POLICIES, "policies.yaml").nics
    assert (first.part, first.models, first.pci_addresses, first.node_selector) == (
        "rdma", ("ConnectX-7",), ("0000:41:00.0",), ("gpu=true",),
    )  # fmt: skip
    assert (first.mtu_bytes, first.rdma, first.link_layer) == (9000, True, "ethernet")
    assert (second.part, second.models, second.mtu_bytes, second.link_layer) == (
        "ib", ("deviceID 9999",), 4096, "infiniband",
    )  # fmt: skip
    assert value_or_none(second, "rdma") is None
    assert [(one.message, one.line) for one in read(POLICIES, "policies.yaml").notes] == [(INFINIBAND, 21)]


def test_rdma_through_vfio_is_refused() -> None:
    (remark,) = read(POLICIES.replace("netdevice", "vfio-pci"), "policies.yaml").remarks
    assert (remark.kind, remark.facts["path"], remark.place and remark.place.span.line) == (
        "nic-template",
        "spec.deviceType",
        9,
    )
    assert not read(POLICIES, "policies.yaml").remarks


@pytest.mark.parametrize(
    ("text", "part", "kept"),
    [
        (
            "echo 11 > /sys/class/net/eth4/ecn/roce_rp/rpg_gd\necho 5 > /sys/class/net/eth4/ecn/roce_rp/rpg_ai_rate\n",
            "eth4",
            False,
        ),
        ("/sys/class/net/eth4/ecn/roce_rp/rpg_gd:11\n/sys/class/net/eth4/ecn/roce_rp/rpg_ai_rate:5\n", "eth4", None),
    ],
)
def test_parameters_of_the_reaction_point(text: str, part: str, kept: bool | None) -> None:
    (nic,) = read(text).nics
    assert (nic.part, nic.reaction_point, value_or_none(nic, "kept")) == (
        part,
        (("rpg_ai_rate", 5), ("rpg_gd", 11)),
        kept,
    )


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("rpg_ai_rate 50", "rpg_hai_rate 5", ["rpg_ai_rate 50 is above rpg_hai_rate 5"]),
        ("rpg_ai_rate 5", "rpg_hai_rate 50", []),
        ("rpg_min_rate 2000", "rpg_max_rate 1000", ["rpg_min_rate 2000 is above rpg_max_rate 1000"]),
        ("rpg_min_rate 2000", "rpg_max_rate 0", []),
    ],
)
def test_rates_that_contradict_each_other_are_noted(first: str, second: str, expected: list[str]) -> None:
    pairs = [one.split() for one in (first, second)]
    lines = [f"echo {value} > /sys/class/net/eth4/ecn/roce_rp/{name}\n" for name, value in pairs]
    assert [one.message for one in read("".join(lines)).notes] == expected


UNIT = """\
[Service]
ExecStartPre=-/bin/true
ExecStart=/usr/local/sbin/roce.sh --all
[Install]
WantedBy=multi-user.target
"""


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        (UNIT, ("/bin/true", "/usr/local/sbin/roce.sh --all")),
        ('ACTION=="add", SUBSYSTEM=="net", RUN+="/usr/local/sbin/roce.sh %k"\n', ("/usr/local/sbin/roce.sh %k",)),
        ("@reboot root /usr/local/sbin/roce.sh\n", ("/usr/local/sbin/roce.sh",)),
    ],
)
def test_what_runs_at_boot(text: str, programs: tuple[str, ...]) -> None:
    assert hosts.has_nic_settings(text.encode())
    assert [nic.starts for nic in read(text).nics] == [programs]


@pytest.mark.parametrize("text", [UNIT.replace("WantedBy=multi-user.target", ""), UNIT.replace("roce.sh", "web.sh")])
def test_other_units_are_no_files_of_nics(text: str) -> None:
    assert not hosts.has_nic_settings(text.encode())


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("", False),
        ("systemctl enable --now qos", True),
        ("systemctl --quiet enable qos", True),
        ("# systemctl enable qos", False),
        ("systemctl restart openibd", False),
        ("cp qos /etc/udev/rules.d/", True),
        ("echo '@reboot /root/qos.sh' | crontab -", True),
    ],
)
def test_whether_a_script_sees_to_the_next_boot(line: str, kept: bool) -> None:
    reading = read(f"mlnx_qos -i eth4 --trust dscp\n{line}\n", "qos.sh")
    assert [(nic.part, nic.kept) for nic in reading.nics] == [("eth4", kept)]


def test_a_rule_of_udev_that_sets_a_nic_is_kept() -> None:
    text = 'ACTION=="add", SUBSYSTEM=="net", RUN+="/usr/bin/mlnx_qos -i %k --trust dscp"\n'
    assert [(nic.part, nic.trust, nic.kept) for nic in read(text, "80.rules").nics] == [("", "dscp", True)]


def test_the_firmware_keeps_what_mlxconfig_sets() -> None:
    (nic,) = read("mlxconfig -d mlx5_0 -y set CNP_DSCP_P1=48\n", "a.sh").nics
    assert (nic.cnp_dscp, value_or_none(nic, "kept")) == (48, None)
