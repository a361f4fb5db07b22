"""Changes of NIC settings in files of hosts: one number, wherever it is written; nothing that a command printed."""

from nodrop.model.change import Change
from nodrop.platforms.hosts.edit import edit

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
        "gpu1/mlxconfig.txt/P1/cnp_dscp: no number in the file sets this alone"
    ]


def test_a_listing_of_the_driver_is_left_as_it_is() -> None:
    listing = b"/sys/class/net/eth4/ecn/roce_np/cnp_dscp:26\n/sys/class/net/eth4/ecn/roce_np/cnp_802p_prio:6\n"
    made = edit({"ecn.txt": listing}, [_change("ecn.txt", "eth4", "cnp_dscp", old=26, new=48)], name="gpu1")
    assert made.files == {}
    assert len(made.by_hand) == 1
