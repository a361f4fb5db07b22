"""Which numbers of queue pairs are reported, against the equal paths of which leaf."""

from typing import Any

import pytest

from nodrop.model.fabric import Fabric
from nodrop.model.nics import Nic
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import say, with_changes

JOB = Nic(host="gpu1", file="job.env", traffic_class=106, queue_pairs=3)
HOST = "@fabric/hosts/gpu1/queue_pairs"


def flows(fabric: Fabric) -> dict[str, Any]:
    return say("flow_counts", fabric)


def with_job(fabric: Fabric, **fields: Any) -> Fabric:
    return replace_fields(fabric, nics=(replace_fields(JOB, **fields),))


def test_a_job_is_reported_with_the_leaf_and_its_paths() -> None:
    expected = {"flows": 3, "paths": 4, "device": "leaf1"}
    assert flows(with_job(with_changes({}))) == {"gpu1/job.env": expected}
    assert flows(with_job(with_changes({}), queue_pairs=4)) == {}


def test_what_the_owner_states_counts_where_no_file_states_it() -> None:
    fabric = with_changes({HOST: 1})
    assert flows(fabric) == {"@fabric/hosts/gpu1": {"flows": 1, "paths": 4, "device": "leaf1"}}
    assert flows(with_job(fabric, queue_pairs=4)) == {}


@pytest.mark.parametrize(
    ("changes", "leaf"),
    [
        ({"leaf1/@adaptive_routing": True}, "leaf2"),
        ({"leaf1/Ethernet224/enabled": False}, "leaf2"),
        ({"spine1/Ethernet0/enabled": False}, "leaf2"),
        ({"leaf1/@adaptive_routing": UNKNOWN}, "leaf2"),
    ],
)
def test_paths_are_cables_in_service_of_leaves_that_hash(changes: dict[str, Any], leaf: str) -> None:
    (found,) = flows(with_job(with_changes(changes))).values()
    assert found["device"] == leaf


def test_nothing_is_reported_where_no_leaf_hashes() -> None:
    both = {"leaf1/@adaptive_routing": True, "leaf2/@adaptive_routing": True}
    assert flows(with_job(with_changes(both))) == {}


def test_a_balancing_that_is_not_known_is_unknown() -> None:
    both = {"leaf1/@adaptive_routing": UNKNOWN, "leaf2/@adaptive_routing": True}
    assert flows(with_job(with_changes(both))) == {"leaf1": "device.adaptive_routing"}


def test_infiniband_is_not_compared() -> None:
    assert flows(with_job(with_changes({}), link_layer="infiniband")) == {}


def test_without_stated_hosts_every_leaf_counts() -> None:
    fabric = replace_fields(with_changes({}), hosts=())
    assert set(flows(with_job(fabric))) == {"gpu1/job.env"}
