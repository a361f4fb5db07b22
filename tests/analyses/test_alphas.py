"""Dynamic thresholds: whose alpha is not the usual one, and who is told."""

from support.analysis_results import look

GROUP, QUEUE = "qos/priority_groups/0", "qos/queues/0"
STATIC = {"pool": "ingress_lossy", "size_bytes": 0, "static_th_bytes": 9000}


def test_a_switch_whose_computed_profiles_have_another_alpha() -> None:
    assert look("alphas", {}) == {}
    found = look("alphas", {"leaf1/*/qos/priority_groups/3/buffer/dynamic_th": -2})
    assert found.keys() == {"leaf1"}
    assert (found["leaf1"]["own"], found["leaf1"]["usual"]) == (-2, 0)
    assert found["leaf1"]["what"] == "every computed lossless priority group"


def test_groups_and_queues_that_state_theirs_are_told_one_by_one() -> None:
    changes = {f"leaf1/Ethernet0/{GROUP}/buffer/dynamic_th": -3, "spine2/Ethernet8/qos/queues/0/buffer/dynamic_th": -6}
    found = look("alphas", changes)
    assert {key: (each["what"], each["own"]) for key, each in found.items()} == {
        f"leaf1/Ethernet0/{GROUP}": ("priority group 0", -3),
        "spine2/Ethernet8/qos/queues/0": ("queue 0", -6),
    }


def test_either_side_of_a_switch_has_one_alpha() -> None:
    found = look("alphas", {f"leaf*/Ethernet{port}/{GROUP}/buffer/dynamic_th": -3 for port in (0, 8, 16)})
    assert len(found) == 6, "hosts and fabric are one family here, and the uplinks are more"


def test_a_static_threshold_and_a_lossy_group_are_something_else() -> None:
    assert look("alphas", {f"leaf1/Ethernet0/{GROUP}/buffer": STATIC}) == {}
    lossy = {"pool": "ingress_lossy", "size_bytes": 0, "dynamic_th": 3}
    assert look("alphas", {"leaf1/Ethernet0/qos/priority_groups/3/buffer": lossy}) == {}


def test_one_against_one_is_no_outlier() -> None:
    changes = {
        "leaf1/*/qos/priority_groups/0/buffer/dynamic_th": -3,
        "spine1/*/qos/priority_groups/0/buffer/dynamic_th": -3,
    }
    assert look("alphas", changes) == {}


def test_ports_for_service_are_a_family_of_their_own() -> None:
    to_dpus = {f"leaf1/Ethernet{port}/{QUEUE}/buffer/dynamic_th": -3 for port in (224, 232, 240, 248)}
    assert len(look("alphas", to_dpus)) == 4
    assert look("alphas", {"leaf1/@model": "SN4280", **to_dpus}) == {}


NOTHING = {"pool": "ingress_lossy", "size_bytes": 0, "dynamic_th": -8}


def test_a_port_whose_buffers_are_all_taken_away_is_no_outlier() -> None:
    unused = {
        f"leaf1/Ethernet0/qos/{rows}/{number}/buffer": NOTHING | ({"pool": "egress_lossy"} if rows == "queues" else {})
        for rows, number in [
            ("priority_groups", 0),
            ("priority_groups", 3),
            *(("queues", queue) for queue in (0, 1, 2, 3, 6, 7)),
        ]
    }
    assert look("alphas", unused) == {}
    no_pool = {**unused, "leaf1/Ethernet0/qos/priority_groups/0/buffer": {**STATIC, "static_th_bytes": 0}}
    assert look("alphas", no_pool) == {}
    one_kept = {**unused, "leaf1/Ethernet0/qos/priority_groups/0/buffer": {**STATIC, "static_th_bytes": 9000}}
    assert f"leaf1/Ethernet0/{QUEUE}" in look("alphas", one_kept)
    assert look("alphas", {f"leaf1/Ethernet0/{QUEUE}/buffer/dynamic_th": -8}).keys() == {f"leaf1/Ethernet0/{QUEUE}"}
