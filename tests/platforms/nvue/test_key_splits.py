"""Commands that name a part of a list or range of the file say what becomes of the rest; others say nothing."""

import pytest

from nodrop.platforms.nvue.edit_operations import combine_operations
from nodrop.platforms.nvue.edit_script import format_command
from nodrop.platforms.nvue.key_splits import explain_key_splits

DSCP = "nv set qos mapping m dscp"
ROOT = {
    "qos": {"mapping": {"m": {"dscp": {"26,34": {"switch-priority": 3}, "48": {"switch-priority": 6}}}}},
    "interface": {"swp1-4": {"type": "swp"}, "swp5": {"link": {"mtu": 9000}}},
}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([f"{DSCP} 34 switch-priority 0"], "dscp 34 out of `26,34`"),
        ([f"{DSCP} 33-35 switch-priority 0"], "dscp 33-35 out of `26,34`"),
        (["nv unset qos mapping m dscp 26"], "dscp 26 out of `26,34`"),
        (["nv unset interface swp2-3 type"], "interface swp2-3 out of `swp1-4`"),
        ([f"{DSCP} 26-34 switch-priority 0"], ""),
        ([f"{DSCP} 26 other 1"], ""),
        ([f"{DSCP} 48 switch-priority 0", "nv config apply"], ""),
        (["nv set interface swp2 link mtu 9000"], ""),
        (["nv set qos pfc p switch-priority 3"], ""),
    ],
)
def test_a_command_about_a_part_of_a_key_says_so(lines: list[str], said: str) -> None:
    expected = [f"NVUE takes {said} by itself; all others there keep their settings"] if said else []
    assert list(explain_key_splits(ROOT, lines)) == expected


def test_many_splits_are_counted() -> None:
    lists = {f"{number},{number + 30}": {"switch-priority": 3} for number in range(4)}
    root = {"qos": {"mapping": {"m": {"dscp": lists}}}}
    (text,) = explain_key_splits(root, [f"{DSCP} {number} switch-priority 0" for number in range(4)])
    assert text.startswith("NVUE takes dscp 0 out of `0,30`, dscp 1 out of `1,31` and 2 more by itself;")


def test_addresses_of_neighbors_are_not_listed_in_one_command() -> None:
    def typed(*names: str) -> list[str]:
        paths = {("vrf", "default", "router", "bgp", "neighbor", name, "remote-as"): "65000" for name in names}
        return [format_command(one).split(" neighbor ")[1] for one in combine_operations(paths)]

    assert typed("10.0.0.1", "10.0.0.2") == ["10.0.0.1 remote-as 65000", "10.0.0.2 remote-as 65000"]
    assert typed("fd00::1", "fd00::2") == ["fd00::1 remote-as 65000", "fd00::2 remote-as 65000"]
    assert typed("swp1", "swp2") == ["swp1-2 remote-as 65000"]
