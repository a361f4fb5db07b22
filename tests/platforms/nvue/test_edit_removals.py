"""What `nv unset` names where a setting was the last of its object, and where it was not."""

import pytest

from nodrop.platforms.nvue.command_lines import fit_commands
from nodrop.platforms.nvue.edit_removals import raise_removals_to_empty_parents

CLASSES = {
    "qos": {
        "congestion-control": {
            "rdma": {"traffic-class": {"3": {"ecn": "enable"}, "6-7": {"ecn": "enable", "red": "enable"}}},
        }
    }
}
RDMA = ("qos", "congestion-control", "rdma", "traffic-class")
FILE = b"""- set:
    interface:
      swp1:
        qos:
          remark:
            profile: site
      swp2:
        qos:
          remark:
            profile: site
          pfc:
            profile: site
"""


def _raised(*removed: str, wanted: tuple[str, ...] = ()) -> list[str]:
    paths = raise_removals_to_empty_parents(
        CLASSES, [(*RDMA, *path.split()) for path in removed], [(*RDMA, *path.split()) for path in wanted]
    )
    return [" ".join(path[3:]) for path in paths]


def test_the_last_settings_of_a_traffic_class_go_with_it() -> None:
    assert _raised("6 ecn", "6 red") == ["traffic-class 6"]
    assert _raised("6 ecn", "6 red", "7 ecn") == ["traffic-class 6", "traffic-class 7 ecn"]


def test_an_object_with_other_settings_stays() -> None:
    assert _raised("6 ecn") == ["traffic-class 6 ecn"]
    assert _raised("3 ecn", wanted=("3 min-threshold",)) == ["traffic-class 3 ecn"]


def test_what_holds_objects_of_the_owner_stays() -> None:
    assert _raised("3", "6", "7") == ["traffic-class 3", "traffic-class 6", "traffic-class 7"]


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        (
            ["nv unset interface swp1-2 qos remark"],
            ["nv unset interface swp1 qos", "nv unset interface swp2 qos remark"],
        ),
        (["nv set system hostname leaf1"], ["nv set system hostname leaf1"]),
        (["nv unset interface swp2 qos remark"], ["nv unset interface swp2 qos remark"]),
    ],
)
def test_commands_of_rules_leave_nothing_empty_behind(typed: list[str], lines: list[str]) -> None:
    fitted = fit_commands([*typed, "nv config apply"], lambda: {"startup.yaml": FILE})
    assert fitted == (*lines, "nv config apply")


def test_what_holds_named_objects_goes_only_where_it_is_not_kept_and_has_no_others() -> None:
    address = ("interface", "swp1", "ip", "address", "10.0.0.1/31")

    def top(**beside: object) -> tuple[tuple[str, ...], ...]:
        root = {"interface": {"swp1-2": {"ip": {"address": {"10.0.0.1/31": {}}, **beside}, "type": "swp"}}}
        return tuple(raise_removals_to_empty_parents(root, [address], keeps_holders=False))

    assert top() == (address[:3],)
    assert top(vrf="blue") == (address[:4],)
