"""Changes of NIC settings in files of hosts: one value, wherever it is written; nothing that a command printed."""

import pytest

from nodrop.model.change import Change
from nodrop.platforms.hosts import read_host
from nodrop.platforms.hosts.edit import edit
from nodrop.platforms.kit.editing import sources_of_files

SCRIPT = b"""TOS=0
for dev in mlx5_0 mlx5_1; do
    cma_roce_tos -d $dev -t $TOS
done
mlnx_qos -i eth0 --pfc 0,0,0,0,1,0,0,0
"""
PRINTED = b"""Device #1:
----------

Device type:        ConnectX7

Configurations:                  Next Boot
         CNP_DSCP_P1                 26
         CNP_802P_PRIO_P1            6
"""


def _change(file: str, *path: str, old: object, new: object) -> Change:
    return Change(subject=("gpu1", file, *path), old=old, new=new)


def test_a_number_in_a_variable_is_changed_where_the_variable_is_set() -> None:
    made = edit({"roce.sh": SCRIPT}, [_change("roce.sh", "tos", old=0, new=106)], name="gpu1")
    assert made.files == {"roce.sh": SCRIPT.replace(b"TOS=0", b"TOS=106")}
    assert made.by_hand == ()


def test_priorities_are_changed_as_eight_switches() -> None:
    change = _change("roce.sh", "eth0", "pfc_priorities", old=(4,), new=(3,))
    made = edit({"roce.sh": SCRIPT}, [change], name="gpu1")
    assert made.files == {"roce.sh": SCRIPT.replace(b"0,0,0,0,1,0,0,0", b"0,0,0,1,0,0,0,0")}


def test_what_a_command_printed_is_left_as_it_is() -> None:
    made = edit({"mlxconfig.txt": PRINTED}, [_change("mlxconfig.txt", "P1", "cnp_dscp", old=26, new=48)], name="gpu1")
    assert made.files == {}
    assert [hand.line for hand in made.by_hand] == [
        "gpu1/mlxconfig.txt/P1/cnp_dscp: no value in the file sets this alone"
    ]


def test_a_listing_of_the_driver_is_left_as_it_is() -> None:
    listing = b"/sys/class/net/eth4/ecn/roce_np/cnp_dscp:26\n/sys/class/net/eth4/ecn/roce_np/cnp_802p_prio:6\n"
    made = edit({"ecn.txt": listing}, [_change("ecn.txt", "eth4", "cnp_dscp", old=26, new=48)], name="gpu1")
    assert made.files == {}
    assert len(made.by_hand) == 1


DCQCN = "echo 1 > /sys/class/net/eth0/ecn/roce_{}/enable/3\n"
PFC = "mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0\n"


@pytest.mark.parametrize(
    ("line", "field", "old", "new", "expected"),
    [
        ("ip link set dev eth0 mtu 9500", "mtu_bytes", 9500, 9216, "ip link set dev eth0 mtu 9216"),
        ("mlnx_qos -i eth0 --trust pcp", "trust", "pcp", "dscp", "mlnx_qos -i eth0 --trust dscp"),
        ("mlnx_qos -i eth0 --cable_len 3", "cable_length_m", 3, 30, "mlnx_qos -i eth0 --cable_len 30"),
        ("ethtool -A eth0 rx on tx on", "link_pause", True, False, "ethtool -A eth0 rx off tx off"),
        (
            "ethtool --set-tunable eth0 pfc-prevention-tout 0",
            "storm_guard",
            False,
            True,
            "ethtool --set-tunable eth0 pfc-prevention-tout auto",
        ),
    ],
)
def test_a_word_or_number_becomes_the_one_that_sets_the_new_value(
    line: str, field: str, old: object, new: object, expected: str
) -> None:
    files = {"roce.sh": f"{PFC}{line}\n".encode()}
    (nic,) = read_host("gpu1", sources_of_files(files)).nics
    assert getattr(nic, field) == old
    made = edit(files, [Change(subject=(*nic.subject, field), old=old, new=new)], name="gpu1")
    assert made.by_hand == ()
    assert made.files == {"roce.sh": f"{PFC}{expected}\n".encode()}


def test_one_entry_of_a_table_of_priorities_is_changed() -> None:
    line = "mlnx_qos -i eth0 --dscp2prio set,26,{}\n"
    change = _change("roce.sh", "eth0", "dscp_to_priority", "26", old=5, new=3)
    made = edit({"roce.sh": line.format(5).encode()}, [change], name="gpu1")
    assert made.files == {"roce.sh": line.format(3).encode()}


def test_the_switch_of_congestion_control_that_is_off_is_turned_on() -> None:
    text = DCQCN.format("np") + DCQCN.format("rp").replace("echo 1", "echo 0")
    change = _change("roce.sh", "eth0", "dcqcn_priorities", old=(), new=(3,))
    made = edit({"roce.sh": text.encode()}, [change], name="gpu1")
    assert made.files == {"roce.sh": (DCQCN.format("np") + DCQCN.format("rp")).encode()}
