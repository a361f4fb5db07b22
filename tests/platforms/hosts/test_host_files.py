"""Files that set NICs, by maker, as the classes and the balancing of the fabric need them."""

from pathlib import Path

import pytest

import nodrop
from support.designs import Data, build, shipped

ECN: Data = {"min": "150kB", "max": "1500kB", "probability": "100%"}
SECOND: Data = {"dscp": "20-21", "priority": "4", "lossless": True, "share": "20%", "ecn": ECN}


def files(intent: str, changes: Data | None = None) -> dict[str, str]:
    return {Path(one.path).name: one.text for one in nodrop.host_files(build(shipped(intent, changes)))}


def of_nic(name: str, changes: Data | None = None) -> dict[str, str]:
    """Return the files of hosts that all have this NIC."""
    nics = {f"endpoints.{group}.nic": name for group in ("gpu", "storage")}
    return files("two-by-two", nics | (changes or {}))


def commands(text: str, word: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if word in line]


SPRAYING = """\
    # Switches spray the packets that the NIC marks for it. The first setting works after a restart and stays.
    pci=$(basename "$(readlink -f "$net/device")")
    mlxconfig -d "$pci" query ROCE_ADAPTIVE_ROUTING_EN | grep -q 'True(1)' ||
        mlxconfig -d "$pci" --yes set ROCE_ADAPTIVE_ROUTING_EN=1
    mlxreg -d "$pci" --yes --reg_name ROCE_ACCL --set adaptive_routing_forced_en=1 || unmarked="$unmarked $port"
done
if [ -n "$unmarked" ]; then
    echo "No adaptive routing on$unmarked: restart this host, for ROCE_ADAPTIVE_ROUTING_EN works from then on" >&2
    exit 1
fi
"""


@pytest.mark.parametrize("nic", ["ConnectX-7", "ConnectX-8", "BlueField-3"])
def test_nics_of_an_adaptive_fabric_mark_what_switches_may_spray(nic: str) -> None:
    made = files("adaptive", {"endpoints.gpu.nic": nic})
    assert made[f"{nic}.sh"].endswith(SPRAYING)
    assert '\n      - {name: ROCE_ADAPTIVE_ROUTING_EN, value: "1"}\n' in made[f"{nic}.yaml"]
    assert made[f"{nic}.nccl.env"].endswith(
        "# Adaptive routing, which is off by default on RoCE.\nNCCL_IB_ADAPTIVE_ROUTING=1\nUCX_IB_AR_ENABLE=try\n"
    )
    assert "Not written" not in made[f"{nic}.sh"]


@pytest.mark.parametrize("nic", ["Thor-2", "Pollara-400"])
def test_nics_of_which_no_source_tells_how_are_named(nic: str) -> None:
    made = files("adaptive", {"endpoints.gpu.nic": nic})
    found = f"adaptive routing, for no source says how {nic} marks the packets that switches may spray."
    assert commands(made[f"{nic}.sh"], "Not written")[0] == f"# Not written: {found}"
    assert not [name for name, text in made.items() if "ADAPTIVE_ROUTING" in text or "ROCE_ACCL" in text]


def test_nothing_is_sprayed_where_flows_are_balanced_by_their_hash() -> None:
    made = files("adaptive", {"routing.balancing": "ecmp"})
    assert not [name for name, text in made.items() if "ADAPTIVE" in text or "ROCE_ACCL" in text or "UCX_IB_AR" in text]


def test_queue_pairs_are_written_where_they_are_stated() -> None:
    stated = files("two-by-two", {"hosts.queue_pairs": "4"})["ConnectX-7.nccl.env"]
    assert "NCCL_IB_QPS_PER_CONNECTION=4" in stated.splitlines()
    assert "QPS" not in files("two-by-two")["ConnectX-7.nccl.env"]


def test_messages_of_gpus_and_control_messages_have_their_traffic_class() -> None:
    changes = {"classes.storage": SECOND, "hosts.fifo_class": "storage"}
    made = files("two-by-two", changes)
    assert [line for line in made["ConnectX-7.nccl.env"].splitlines() if not line.startswith("#")] == [
        "NCCL_IB_TC=106",
        "NCCL_IB_FIFO_TC=82",
        "NCCL_GIN_IB_TC=106",
        "NVSHMEM_IB_TRAFFIC_CLASS=106",
        "NCCL_IB_ROCE_VERSION_NUM=2",
        "NCCL_IB_ADDR_FAMILY=AF_INET",
        "UCX_IB_TRAFFIC_CLASS=106",
    ]
    assert "FIFO" not in files("two-by-two")["ConnectX-7.nccl.env"]


def test_dscps_of_every_lossless_class_get_its_priority() -> None:
    """The driver puts DSCP 20 and 21 into priority 2, the class has priority 4."""
    script = files("two-by-two", {"classes.storage": SECOND})["ConnectX-7.sh"]
    assert commands(script, "mlnx_qos") == [
        'mlnx_qos -i "$port" --trust dscp',
        'mlnx_qos -i "$port" --dscp2prio set,20,4',
        'mlnx_qos -i "$port" --dscp2prio set,21,4',
        'mlnx_qos -i "$port" --pfc 0,0,0,1,1,0,0,0',
        'mlnx_qos -i "$port" --cable_len 3',
    ]


THOR = """\
#!/bin/sh
# RoCE on every Thor-2 of this host, as the fabric two-by-two expects it.
# roce-Thor-2.service runs it at each boot.
set -eu
for net in /sys/class/net/*; do
    [ "$(cat "$net/device/vendor" 2>/dev/null):$(cat "$net/device/device" 2>/dev/null)" = 0x14e4:0x1760 ] || continue
    port=${net##*/}
    ip link set dev "$port" mtu 9216
    ethtool -A "$port" rx off tx off || true
    for rdma in "$net"/device/infiniband/*; do
        bnxt_setupcc.sh -d "${rdma##*/}" -i "$port" -m 3 -r 3 -s 26 -c 6 -p 48 -b 60 -u 3
    done
done
"""


def test_nics_of_broadcom_are_set_by_their_script() -> None:
    made = of_nic("Thor-2")
    assert made["Thor-2.sh"] == THOR
    assert sorted(made) == ["Thor-2.nccl.env", "Thor-2.service", "Thor-2.sh"]


LOSSY: Data = {"mode": "lossy", "classes.rdma.lossless": None}


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"classes.rdma.dscp": "24", "classes.rdma.priority": "4"}, "-m 3 -r 4 -s 24 -c 6 -p 48 -b 60 -u 3"),
        ({"mode": "pfc-only", "classes.rdma.ecn": None}, "-m 1 -r 3 -s 26 -c 6 -p 48 -b 60 -u 3"),
        (LOSSY, "-m 2 -r 3 -s 26 -c 6 -p 48 -b 60 -u 3"),
        ({"classes.cnp": None}, "-m 3 -r 3 -s 26 -b 60 -u 3"),
        ({"hosts.trust": "pcp"}, "-m 3 -r 3 -s 26 -c 6 -p 48 -b 60 -v 1 -u 3"),
    ],
)
def test_options_of_broadcoms_script_are_those_of_the_classes(changes: Data, options: str) -> None:
    (line,) = commands(of_nic("Thor-2", changes)["Thor-2.sh"], "bnxt_setupcc.sh -d")
    assert line == f'bnxt_setupcc.sh -d "${{rdma##*/}}" -i "$port" {options}'


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"classes.storage": SECOND}, ["PFC on priority 4, for bnxt_setupcc.sh sets one priority of RoCE."]),
        (
            {"classes.storage": SECOND | {"lossless": False}, "hosts.fifo_class": "storage"},
            ["the priority of DSCP 20, for bnxt_setupcc.sh sets one DSCP of RoCE."],
        ),
        (
            LOSSY | {"hosts.dcqcn": False},
            ["PFC, DSCPs and DCQCN, for bnxt_setupcc.sh needs a priority with PFC, DCQCN or both."],
        ),
    ],
)
def test_what_broadcoms_script_has_no_option_for_is_named(changes: Data, left: list[str]) -> None:
    script = of_nic("Thor-2", changes)["Thor-2.sh"]
    assert [line.removeprefix("# Not written: ") for line in commands(script, "Not written")] == left


POLLARA = """\
#!/bin/sh
# RoCE on every Pollara-400 of this host, as the fabric two-by-two expects it.
# roce-Pollara-400.service runs it at each boot.
# Not written: shares of the classes (nicctl update qos scheduling), for no source says the unit of --rate-limit.
set -eu
nicctl update port --all --pause-type pfc --rx-pause enable --tx-pause enable
nicctl update port --all --mtu 9194
nicctl update qos --classification-type pcp
nicctl update qos --classification-type dscp
nicctl update qos dscp-to-priority --dscp 0-9,11-15,17-25,27-47,49-55,57-63 --priority 0
nicctl update qos dscp-to-priority --dscp 16 --priority 1
nicctl update qos dscp-to-priority --dscp 10 --priority 2
nicctl update qos dscp-to-priority --dscp 26 --priority 3
nicctl update qos dscp-to-priority --dscp 48 --priority 6
nicctl update qos dscp-to-priority --dscp 56 --priority 7
nicctl update qos pfc --priority 0 --no-drop disable || true
nicctl update qos pfc --priority 3 --no-drop enable
for net in /sys/class/net/*; do
    [ "$(cat "$net/device/vendor" 2>/dev/null):$(cat "$net/device/device" 2>/dev/null)" = 0x1dd8:0x1002 ] || continue
    port=${net##*/}
    ip link set dev "$port" mtu 9194
    for rdma in "$net"/device/infiniband/*; do
        rdma=${rdma##*/}
        mkdir -p "/sys/kernel/config/rdma_cm/$rdma"
        echo "RoCE v2" > "/sys/kernel/config/rdma_cm/$rdma/ports/1/default_roce_mode"
        echo 106 > "/sys/kernel/config/rdma_cm/$rdma/ports/1/default_roce_tos"
        rmdir "/sys/kernel/config/rdma_cm/$rdma"
        nicctl update dcqcn -r "$rdma" -i 1 --token-bucket-size 800000 --ai-rate 160 --alpha-update-interval 1 \\
            --alpha-update-g 512 --initial-alpha-value 64 --rate-increase-byte-count 431068 --hai-rate 300 \\
            --rate-reduce-monitor-period 1 --rate-increase-threshold 1 --rate-increase-interval 1 --cnp-dscp 48
    done
done
"""


def test_nics_of_amd_are_set_with_nicctl() -> None:
    made = of_nic("Pollara-400")
    assert made["Pollara-400.sh"] == POLLARA
    assert sorted(made) == ["Pollara-400.nccl.env", "Pollara-400.service", "Pollara-400.sh"]


def test_priorities_with_pfc_of_amds_nics_are_the_lossless_ones() -> None:
    script = of_nic("Pollara-400", {"classes.storage": SECOND})["Pollara-400.sh"]
    assert commands(script, "no-drop") == [
        "nicctl update qos pfc --priority 0 --no-drop disable || true",
        "nicctl update qos pfc --priority 3 --no-drop enable",
        "nicctl update qos pfc --priority 4 --no-drop enable",
    ]
    assert "nicctl update qos dscp-to-priority --dscp 20-21 --priority 4\n" in script
    lossy = of_nic("Pollara-400", LOSSY)["Pollara-400.sh"]
    assert commands(lossy, "no-drop") == ["nicctl update qos pfc --priority 0 --no-drop disable || true"]
    assert not commands(lossy, "--pause-type pfc")


def test_nics_without_a_known_tool_have_an_environment_that_says_so() -> None:
    made = of_nic("E810", {"endpoints.gpu.speed": "100G", "endpoints.storage.speed": "100G",
                           "endpoints.gpu.media": "AOC", "endpoints.storage.media": "AOC"})  # fmt: skip
    assert sorted(made) == ["E810.nccl.env"]
    expected = "# No script for E810: no source says with which tool a host sets its PFC, DSCPs and DCQCN."
    assert made["E810.nccl.env"].splitlines()[1] == expected
