"""Words of rules about links, cables, routing and siblings, asked directly."""

from dataclasses import replace

import pytest

from nodrop.engine.vocabulary.buffers import speeds_possible_instead, uses_pool_of_direction
from nodrop.engine.vocabulary.cables import (
    has_headroom_row,
    has_too_little_headroom,
    headroom_table_lengths,
    is_for_services,
    one_with_headroom_table,
    priorities_without_headroom,
)
from nodrop.engine.vocabulary.general import fewer
from nodrop.engine.vocabulary.links import (
    far_end,
    fec_in_words,
    fecs_differ,
    has_pam4,
    ignores_unfit_fec,
    without_rs,
)
from nodrop.engine.vocabulary.routing import why_paths_are_unused
from nodrop.engine.vocabulary.scheduling import lossless_queues, mbps, unscheduled_control_queues
from nodrop.engine.vocabulary.siblings import alpha
from nodrop.engine.vocabulary.telemetry import (
    exports_no_counters,
    most_switches_state,
    slow_counters,
    storm_counters_off,
)
from nodrop.model.buffers import BufferPool, BufferProfile, HeadroomRow
from nodrop.model.fabric import Collector, Counter, Device, Interface, Port
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, UnknownFact
from support.analysis_results import with_changes

OTHER = 4200000001


def test_fecs_that_are_stated_may_differ_and_pam4_begins_at_lanes_of_50g() -> None:
    pairs = [("rs", "fc"), ("none", "rs"), ("rs", "rs"), ("auto", "fc"), ("rs", None), (None, "auto")]
    assert [fecs_differ(a, b) for a, b in pairs] == [True, True, False, False, False, False]
    assert [without_rs(fec) for fec in ("none", "fc", "rs", "auto", None, UNKNOWN)] == [True, True, *[False] * 4]
    assert [has_pam4(lane_mbps) for lane_mbps in (None, 25_000, 50_000, 100_000)] == [False, False, True, True]
    assert (fec_in_words(None), fec_in_words("auto"), fec_in_words("none")) == (
        "of the switch's choice",
        "of the switch's choice",
        "none",
    )


def test_what_a_cable_leads_to() -> None:
    fabric = with_changes({})
    index, leaf = Index(fabric), fabric.device("leaf1")
    ends = {port.name: far_end(leaf, port, index=index) for port in leaf.interfaces}
    assert (ends["Ethernet224"], ends["Ethernet0"], ends["Ethernet32"]) == (
        "spine1 Ethernet0",
        "gpu1 nic1",
        "another device",
    )


def test_rows_of_a_table_and_models_without_one() -> None:
    box = Device(name="leaf1", platform="sonic", model="SN4700")
    assert has_headroom_row(box, 400_000, 40)
    assert not has_headroom_row(box, 400_000, 41)
    assert not has_headroom_row(box, 800_000, 40)
    assert headroom_table_lengths(box, 400_000) == "only 5 m, 40 m and 300 m"
    assert headroom_table_lengths(box, 800_000) == "none at 800G"
    other = replace(box, hwsku="Mellanox-SN4700-O32")
    assert headroom_table_lengths(other, 400_000) == "only 5 m, 40 m, 300 m, 1500 m and 2000 m"
    for unknown in (replace(box, model="7060X6"), replace(box, hwsku=UNKNOWN)):
        with pytest.raises(UnknownFact):
            has_headroom_row(unknown, 400_000, 40)


def test_slow_ports_beside_those_of_the_fabric_are_for_services_unless_a_far_end_is_known() -> None:
    table = (HeadroomRow(400_000, 5, 1248, 2288, 53248),)
    box = Device(name="leaf1", platform="sonic", model="SN5600", headroom_table=table)
    slow, fast = (Interface(name="Ethernet0", port=Port(1), speed_mbps=mbps) for mbps in (10_000, 400_000))
    assert [is_for_services(box, replace(slow, side=side)) for side in (UNKNOWN, None, "host", "fabric")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert not any(is_for_services(box, port) for port in (fast, replace(slow, speed_mbps=UNKNOWN)))
    assert not is_for_services(replace(box, headroom_table=()), slow)
    service = replace(fast, name="Ethernet512", port=Port(65))
    assert is_for_services(box, replace(service, side="host")), "a service port of the model, whatever its cable"
    extra = replace(box, model="SSE-T8164")
    assert [is_for_services(extra, replace(service, side=side)) for side in (UNKNOWN, "host")] == [True, False]


def test_pools_have_a_direction_on_chips_that_keep_them_apart() -> None:
    lossy = BufferPool(name="lossy", direction="egress", mode="dynamic", size_bytes=56012386)
    buffer = BufferProfile(pool="lossy", size_bytes=0, static_th_bytes=22798336)
    assert uses_pool_of_direction("SN4700", (lossy,), "egress", buffer)
    assert not uses_pool_of_direction("SN4700", (lossy,), "ingress", buffer)
    assert not uses_pool_of_direction("D64P512T", (lossy,), "egress", buffer), "as Teralynx's own defaults have it"
    for model in (UNKNOWN, "Midstone-200i"):
        assert not uses_pool_of_direction(model, (lossy,), "ingress", buffer)
        with pytest.raises(UnknownFact):
            uses_pool_of_direction(model, (lossy,), "egress", buffer)


def test_a_port_has_the_speeds_of_all_modes_of_its_model() -> None:
    port = Interface(name="Ethernet0", port=Port(1), lanes=4, speed_mbps=40_000)
    assert speeds_possible_instead("Z9264F", port.port, port.lanes, 40_000) == "", "DellEMC-Z9264f-Q64 runs it at 40G"
    assert speeds_possible_instead("Z9264F", port.port, port.lanes, 400_000) == "100G, 50G or 40G"


def test_priorities_that_got_no_headroom() -> None:
    fabric = with_changes({"leaf1/Ethernet0/qos/priority_groups/3": None})
    bare, sound = (port.qos for port in fabric.device("leaf1").interfaces[:2])
    assert (priorities_without_headroom(bare), priorities_without_headroom(sound)) == ((3,), ())


def test_headroom_that_another_rule_tells() -> None:
    low = {"pool": "ingress_lossless", "size_bytes": 52224, "headroom": {"xoff_bytes": 32768, "xon_bytes": 19456}}
    index = Index(with_changes({"leaf1/Ethernet0/qos/priority_groups/3/buffer": low}))
    assert has_too_little_headroom("leaf1", "Ethernet0", index=index)
    assert not has_too_little_headroom("leaf1", "Ethernet8", index=index)
    assert not has_too_little_headroom("gpu1", "nic1", index=index)
    unknown = with_changes({"leaf1/Ethernet0/qos/priority_groups/3/buffer": low, "leaf1/@buffer_model": UNKNOWN})
    assert not has_too_little_headroom("leaf1", "Ethernet0", index=Index(unknown))


@pytest.mark.parametrize(
    ("changes", "device", "expected"),
    [
        ({}, "leaf1", ""),
        ({"leaf1/@bgp/maximum_paths": None}, "leaf1", ""),
        ({"leaf1/@bgp/maximum_paths": 3}, "leaf1", "takes 3 of 4 equal paths to AS 4200000000 (at most 3)"),
        ({"spine1/@bgp/maximum_paths": 1}, "spine1", "takes 1 of 2 equal paths to AS 4200100001 (at most 1)"),
        ({"spine1/@bgp/maximum_paths": 2}, "spine1", ""),
        ({"leaf1/@bgp/maximum_paths": 3, "leaf1/@neighbors/10.1.1.225/enabled": False}, "leaf1", ""),
        ({"leaf1/@bgp/maximum_paths": 3, "leaf1/@neighbors/10.1.1.225/remote_asn": "external"}, "leaf1", "takes 3"),
        ({"leaf1/@bgp/maximum_paths": 1, "leaf1/@neighbors/*/remote_asn": "internal"}, "leaf1", ""),
        ({"leaf1/@bgp/multipath_relax": False}, "leaf1", ""),
        (
            {
                "leaf1/@bgp/multipath_relax": False,
                "spine2/@bgp/asn": OTHER,
                "leaf1/@neighbors/10.1.1.24?/remote_asn": "external",
            },
            "leaf1",
            "takes paths to AS 4200000000-4200000001 for different ones, and uses one",
        ),
        ({"spine1/@bgp/multipath_relax": False}, "spine1", ""),
        ({"leaf1/@bgp": None}, "leaf1", ""),
    ],
)
def test_paths_that_a_switch_leaves_unused(changes: dict[str, object], device: str, expected: str) -> None:
    fabric = with_changes(changes)
    said = why_paths_are_unused(fabric.device(device), index=Index(fabric))
    assert said.startswith(expected) if expected else said == ""


def test_sessions_that_lead_out_of_the_fabric_may_be_more_than_paths() -> None:
    """Many routers outside have one AS number and different prefixes; one path alone is still one."""
    outside = {f"leaf1/@neighbors/{address}/address": f"172.16.0.{n}" for n, address in enumerate(UPLINKS)}
    for paths, expected in ((3, ""), (1, "takes 1 of 4 equal paths to AS 4200000000 (at most 1)")):
        fabric = with_changes({**outside, "leaf1/@bgp/maximum_paths": paths})
        assert why_paths_are_unused(fabric.device("leaf1"), index=Index(fabric)) == expected


UPLINKS = ("10.1.1.225", "10.1.1.233", "10.1.1.241", "10.1.1.249")


def test_routing_that_is_not_known() -> None:
    fabric = with_changes({"leaf1/@bgp": UNKNOWN})
    with pytest.raises(UnknownFact):
        why_paths_are_unused(fabric.device("leaf1"), index=Index(fabric))


def test_queues_that_are_lossless_or_that_nobody_scheduled() -> None:
    fabric = with_changes({"leaf1/Ethernet0/qos/queues/7/scheduler": None})
    bare, sound = (port.qos for port in fabric.device("leaf1").interfaces[:2])
    assert lossless_queues(sound) == (3,)
    assert (unscheduled_control_queues(fabric, bare), unscheduled_control_queues(fabric, sound)) == ((7,), ())
    unknown = with_changes({"leaf1/Ethernet0/qos/queues": UNKNOWN})
    with pytest.raises(UnknownFact):
        unscheduled_control_queues(unknown, unknown.device("leaf1").interfaces[0].qos)


def test_rates_and_alphas_as_one_writes_them() -> None:
    assert mbps(50_000_000_000) == 400_000
    assert [alpha(exponent) for exponent in (-8, -2, 0, 3, 64, -65535)] == [
        "1/256",
        "1/4",
        "1",
        "8",
        "2^64",
        "2^-65535",
    ]


def test_counters_that_are_off_or_read_seldom() -> None:
    counters = (
        Counter(group="PG_WATERMARK", enabled=False),
        Counter(group="PORT", enabled=True, interval_ms=10_001),
        Counter(group="QUEUE", enabled=True, interval_ms=10_000),
        Counter(group="RIF", enabled=False, interval_ms=60_000),
    )
    assert storm_counters_off(counters) == ("PG_WATERMARK",)
    assert slow_counters(counters, 10_000) == ("PORT every 10001 ms",)


def test_headroom_by_table() -> None:
    assert [one_with_headroom_table(model) for model in ("traditional", "dynamic", None, UNKNOWN)] == [
        True,
        False,
        False,
        False,
    ]


def test_fewer_rows_are_known_or_not_said() -> None:
    assert [fewer(rows, 2) for rows in ((), ("a",), ("a", "b"), UNKNOWN)] == [True, True, False, False]


def test_what_most_switches_of_a_platform_state() -> None:
    stated = [("a", "one", ("192.0.2.1",)), ("b", "one", ()), ("c", "one", ("192.0.2.1",)), ("d", "one", UNKNOWN)]
    stated += [("e", "other", ("192.0.2.1",)), ("f", "other", ())]
    devices = tuple(Device(name=name, platform=platform, ntp_servers=ntp) for name, platform, ntp in stated)
    index = Index(replace(with_changes({}), devices=devices))
    assert [most_switches_state("ntp_servers", platform, index=index) for platform in ("one", "other")] == [True, False]
    assert not most_switches_state("export", "one", index=index)


def test_counters_stay_on_the_switch_only_where_all_ways_out_are_known_to_be_absent() -> None:
    assert exports_no_counters(None, (), None, None)
    assert not exports_no_counters(UNKNOWN, (), None, None)
    ways = [(9339, (), None, None), (None, (Collector(address="192.0.2.30", port=4317),), None, None)]
    assert not any(exports_no_counters(*way) for way in [*ways, (None, (), "hall 2", None), (None, (), None, "noc")])


def test_fecs_that_do_not_fit_are_without_effect_where_the_sai_sets_them_by_speed() -> None:
    box = Device(name="leaf1", platform="sonic", model="SN4700")
    assert ignores_unfit_fec(box)
    assert not any(
        ignores_unfit_fec(other)
        for other in (replace(box, platform="nvue"), replace(box, model="Z9332F"), replace(box, model=UNKNOWN))
    )
