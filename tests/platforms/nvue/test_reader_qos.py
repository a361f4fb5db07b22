"""What ports do with traffic: the untouched switch, the macro in each mode, what is said over it, and profiles."""

import pytest

from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers
from nodrop.model.fabric import Device
from nodrop.model.qos import PfcWatchdog, Scheduler, WredColor, WredProfile
from nodrop.model.states import UNKNOWN
from nodrop.platforms import unsupported_paths
from support import random_values
from support.nvue_startup import device, port, qos, read, state

BLOCKS = tuple(dscp // 8 for dscp in range(64))
NONE = (None,) * 8
ONE_PORT = "interface:\n  swp1:\n    type: swp\n"


def marking(low: int = 150_000, high: int = 1_500_000, probability: int = 100) -> WredProfile:
    color = WredColor(min_bytes=low, max_bytes=high, probability_percent=probability, enabled=False)
    return WredProfile(ecn_colors=("green", "yellow", "red"), green=color, yellow=color, red=color)


def dwrr(weight: int) -> Scheduler:
    return Scheduler(type="dwrr", weight=weight)


STRICT = Scheduler(type="strict")


def schedulers(device: Device, name: str = "swp1") -> dict[int, object]:
    return {queue.index: queue.scheduler for queue in qos(device, name).queues}


def marked(device: Device, name: str = "swp1") -> dict[int, object]:
    return {queue.index: queue.wred for queue in qos(device, name).queues if queue.wred is not None}


def shares(device: Device) -> dict[str, int | None]:
    assert isinstance(device.buffer_pools, tuple)
    return {pool.name: pool.percentage for pool in device.buffer_pools}


def test_an_untouched_switch_trusts_pcp_and_is_lossy() -> None:
    untouched = device(ONE_PORT)
    found = qos(untouched)
    assert (found.trust, found.dscp_to_tc, found.pcp_to_tc) == ("pcp", None, tuple(range(8)))
    assert found.tc_to_queue == (*range(8), *NONE)
    assert (found.pfc_rx_priorities, found.pfc_tx_priorities, found.pfc_watchdog) == ((), (), None)
    assert [group.index for group in found.priority_groups] == [0]
    assert schedulers(untouched) == {tc: dwrr(12 + tc % 2) for tc in range(8)}
    assert marked(untouched) == {0: marking()}
    assert shares(untouched) == {"egress_lossy": 100, "ingress_lossy": 100}
    assert untouched.dynamic_buffers is None
    assert port(untouched, "swp1").cable_length_m is None


@pytest.mark.parametrize("said", ["{}", "{enable: on}", "{state: enabled}", "{enable: true, mode: lossless}"])
def test_the_macro_is_lossless_unless_told_otherwise(said: str) -> None:
    macro = device(f"{ONE_PORT}qos:\n  roce: {said}", "5.16.0" if "state" in said else "5.14.0")
    found = qos(macro)
    assert (found.trust, found.dscp_to_tc, found.pcp_to_tc) == ("both", BLOCKS, tuple(range(8)))
    assert found.tc_to_queue == (0, 0, 0, 3, 0, 0, 6, 0, *NONE)
    assert found.pfc_to_queue == (0, 0, 0, 3, 0, 0, 6, 0)
    assert found.tc_to_priority_group == (0, 0, 0, 3, 0, 0, 0, 0, *NONE)
    assert found.pfc_to_priority_group == (None, None, None, 3, None, None, None, None)
    assert (found.pfc_rx_priorities, found.pfc_tx_priorities) == ((3,), (3,))
    assert schedulers(macro) == {0: dwrr(50), 3: dwrr(50), 6: STRICT}
    assert marked(macro) == {0: marking(), 3: marking()}
    assert {queue.index: queue.buffer for queue in found.queues} == {
        0: BufferProfile(pool="egress_lossy", size_bytes=0, dynamic_th=3),
        3: BufferProfile(pool="egress_lossless", size_bytes=0, dynamic_th=7),
        6: BufferProfile(pool="egress_lossy", size_bytes=0, dynamic_th=3),
    }
    assert shares(macro) == {"egress_lossless": None, "egress_lossy": 50, "ingress_lossless": 50, "ingress_lossy": 50}
    assert macro.buffer_pools[0] == BufferPool(
        name="egress_lossless", direction="egress", mode="dynamic", size_bytes=60_817_392
    )
    assert macro.dynamic_buffers == DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=1024, small_packet_percent=100)
    assert port(macro, "swp1").cable_length_m == 100


def test_headroom_is_worked_out_from_speed_and_cable() -> None:
    body = "interface:\n  swp1:\n    link: {speed: 400G}\nqos:\n  roce: {enable: on, cable-length: 30}"
    lossy, lossless = qos(device(body)).priority_groups
    assert lossy.buffer == BufferProfile(pool="ingress_lossy", size_bytes=0, dynamic_th=3)
    assert isinstance(lossless.buffer, BufferProfile)
    assert (lossless.buffer.pool, lossless.buffer.dynamic_th) == ("ingress_lossless", 0)
    assert lossless.buffer.size_bytes is not UNKNOWN
    longer = qos(device(body.replace("30", "300"))).priority_groups[1].buffer
    assert isinstance(longer, BufferProfile)
    assert longer.size_bytes > lossless.buffer.size_bytes


def test_the_macro_that_is_off_does_nothing() -> None:
    assert qos(device(f"{ONE_PORT}qos:\n  roce: {{enable: off, mode: lossless}}")) == qos(device(ONE_PORT))


def test_the_lossy_macro_marks_and_does_not_pause() -> None:
    lossy = device(f"{ONE_PORT}qos:\n  roce: {{enable: on, mode: lossy}}")
    assert qos(lossy).pfc_priorities == ()
    assert marked(lossy) == {0: marking(), 3: marking()}
    assert schedulers(lossy) == {0: dwrr(50), 3: dwrr(50), 6: STRICT}
    assert shares(lossy).keys() == {"egress_lossy", "ingress_lossy"}


def test_one_ingress_pool_holds_lossless_traffic_too() -> None:
    single = device(f"{ONE_PORT}qos:\n  roce: {{enable: on, mode: lossless-single-ipool}}")
    assert shares(single) == {"egress_lossless": None, "egress_lossy": 100, "ingress_lossy": 100}
    assert {group.index: group.buffer.pool for group in qos(single).priority_groups} == {
        0: "ingress_lossy",
        3: "ingress_lossy",
    }


def test_the_macro_for_trimming_has_maps_and_weights_of_its_own() -> None:
    trimming = device(f"{ONE_PORT}qos:\n  roce: {{enable: on, mode: lossy-multi-tc}}", model="SN5600")
    dscp = qos(trimming).dscp_to_tc
    assert isinstance(dscp, tuple)
    mapped = {priority: {one for one, target in enumerate(dscp) if target == priority} for priority in range(8)}
    assert mapped == {
        0: {0, *range(7, 11), *range(51, 64)},
        1: {1, 2},
        2: {3, 4},
        3: {5, 6},
        4: set(range(11, 41)),
        5: set(range(41, 51)),
        6: set(),
        7: set(),
    }
    assert qos(trimming).tc_to_queue == (*range(8), *NONE)
    assert schedulers(trimming) == dict(enumerate(map(dwrr, (4, 8, 18, 22, 22, 22, 4, 0))))
    assert marked(trimming) == dict.fromkeys((1, 2, 3), marking(166_912, 239_616, 5))
    assert qos(trimming).pfc_priorities == ()


def test_one_dscp_said_over_the_macro_leaves_eight_in_the_lossless_class() -> None:
    body = "qos:\n  mapping:\n    default-global:\n      dscp:\n        '26': {switch-priority: 3}\n  roce: {}"
    body = ONE_PORT + body
    reading = read(state(body))
    dscp = qos(reading.device).dscp_to_tc
    assert isinstance(dscp, tuple)
    assert [one for one, target in enumerate(dscp) if target == 3] == [24, 25, 26, 27, 28, 29, 30, 31]
    derived = {subject[4] for subject in reading.derived if subject[:4] == ("sw1", "swp1", "qos", "dscp_to_tc")}
    assert derived == {str(one) for one in range(64) if one != 26}


def test_what_is_said_counts_before_the_macro() -> None:
    said = device(f"""{ONE_PORT}qos:
  congestion-control:
    default-global:
      traffic-class:
        '0': {{ecn: disable}}
        '2-3': {{min-threshold: 200000, probability: 50}}
  egress-queue-mapping:
    default-global:
      switch-priority:
        1-2: {{traffic-class: 2}}
  egress-scheduler:
    default-global:
      traffic-class:
        '2': {{mode: dwrr, bw-percent: 20}}
        0,3: {{bw-percent: 40}}
  mapping:
    default-global:
      trust: l3
      dscp:
        0-25,27-63: {{switch-priority: 0}}
        '26': {{switch-priority: 3}}
  roce: {{enable: on}}
  traffic-pool:
    default-lossy: {{memory-percent: 10}}
    roce-lossless: {{memory-percent: 90}}
""")
    found = qos(said)
    assert (found.trust, found.pcp_to_tc) == ("dscp", None)
    assert found.dscp_to_tc == tuple(3 if one == 26 else 0 for one in range(64))
    assert found.tc_to_queue == (0, 2, 2, 3, 0, 0, 6, 0, *NONE)
    assert schedulers(said) == {0: dwrr(40), 2: dwrr(20), 3: dwrr(40), 6: STRICT}
    assert marked(said) == dict.fromkeys((2, 3), marking(200_000, 1_500_000, 50))
    assert shares(said) == {"egress_lossless": None, "egress_lossy": 10, "ingress_lossless": 90, "ingress_lossy": 10}


def test_pfc_priorities_that_are_said_replace_those_of_the_macro() -> None:
    moved = device(f"""{ONE_PORT}qos:
  pfc:
    default-global:
      switch-priority:
        2,4: {{}}
      rx: disable
      cable-length: 40
  roce: {{}}
""")
    found = qos(moved)
    assert (found.pfc_rx_priorities, found.pfc_tx_priorities) == ((), (2, 4))
    assert found.tc_to_priority_group == (0, 0, 2, 0, 4, 0, 0, 0, *NONE)
    assert [group.index for group in found.priority_groups] == [0, 2, 4]
    assert port(moved, "swp1").cable_length_m == 40


def test_pfc_without_the_macro_needs_a_pool_to_be_lossless() -> None:
    body = f"{ONE_PORT}qos:\n  pfc:\n    default-global:\n      switch-priority: {{'3': {{}}}}\n"
    reading = read(state(body))
    assert [(one.kind, one.facts["what"]) for one in reading.remarks] == [("lossless-half-configured", "priority 3")]
    plain = reading.device
    assert qos(plain).pfc_priorities == (3,)
    assert port(plain, "swp1").cable_length_m == 10
    assert shares(plain) == {"egress_lossy": 100, "ingress_lossy": 100}
    halves = "default-lossless: {memory-percent: 50}, default-lossy: {memory-percent: 50}"
    carved = device(f"{body}  traffic-pool: {{{halves}}}\n")
    assert shares(carved) == {
        "egress_lossless": None,
        "egress_lossy": 50,
        "ingress_lossless": 50,
        "ingress_lossy": 50,
    }


def test_a_port_bound_to_a_profile_has_what_that_says_and_the_defaults_of_a_profile() -> None:
    bound = device("""interface:
  swp1-2:
    type: swp
  swp2:
    qos:
      congestion-control: {profile: early}
      egress-scheduler: {profile: even}
      egress-shaper: {profile: capped}
      mapping: {profile: plain}
      pfc: {profile: cable-30m}
qos:
  congestion-control:
    early: {traffic-class: {'3': {min-threshold: 1000}}}
  egress-scheduler:
    even: {traffic-class: {0-1: {bw-percent: 50}}}
  egress-shaper:
    capped: {traffic-class: {'6': {min-rate: 8, max-rate: 1000000}}}
  mapping:
    plain: {trust: l3}
  pfc:
    cable-30m: {switch-priority: {'3': {}}, cable-length: 30}
  roce: {enable: on}
""")
    assert port(bound, "swp1").cable_length_m == 100
    assert port(bound, "swp2").cable_length_m == 30
    found = qos(bound, "swp2")
    assert (found.trust, found.dscp_to_tc, found.pcp_to_tc) == ("dscp", BLOCKS, None)
    capped = Scheduler(type="dwrr", guaranteed_bytes_per_s=1000, peak_bytes_per_s=125_000_000)
    assert schedulers(bound, "swp2") == {0: dwrr(50), 1: dwrr(50), 3: None, 6: capped}
    assert marked(bound, "swp2") == {3: marking(1000)}
    assert qos(bound, "swp1") == qos(device(f"{ONE_PORT}qos:\n  roce: {{enable: on}}"))


def test_a_watchdog_waits_for_polling_times_robustness() -> None:
    body = "interface:\n  swp1-2: {type: swp}\n  swp1: {qos: {pfc-watchdog: {state: enable}}}\nqos:\n  roce: {}\n"
    usual = device(body)
    expected = PfcWatchdog(priorities=(3,), detection_ms=300, restoration_ms=None, action=None)
    assert (qos(usual).pfc_watchdog, qos(usual, "swp2").pfc_watchdog) == (expected, None)
    assert usual.watchdog_polling_ms == 100
    slower = device(f"{body}  pfc-watchdog: {{polling-interval: 200, robustness: 5}}\n")
    assert qos(slower).pfc_watchdog == PfcWatchdog(priorities=(3,), detection_ms=1000, restoration_ms=None, action=None)
    assert slower.watchdog_polling_ms == 200


@pytest.mark.parametrize(("said", "watches"), [("{}", True), ("{state: enabled}", True), ("{state: disable}", False)])
def test_a_watchdog_that_is_named_is_on_unless_it_is_disabled(said: str, watches: bool) -> None:
    body = f"interface:\n  swp1:\n    qos:\n      pfc-watchdog: {said}\nqos:\n  roce: {{}}"
    assert (qos(device(body)).pfc_watchdog is not None) is watches


def test_no_port_is_watched_and_none_is_polled() -> None:
    assert device(f"{ONE_PORT}qos:\n  roce: {{}}").watchdog_polling_ms is None


def test_link_pause_is_on_where_a_profile_is_bound() -> None:
    body = """interface:
  swp1-3: {type: swp}
  swp1: {qos: {link-pause: {profile: both}}}
  swp2: {qos: {link-pause: {profile: neither}}}
qos:
  link-pause:
    both: {cable-length: 50}
    neither: {rx: disable, tx: disable}
"""
    found = device(body)
    assert [port(found, name).link_pause for name in ("swp1", "swp2", "swp3")] == [True, False, None]


def test_alphas_are_exponents_of_two() -> None:
    body = f"""{ONE_PORT}qos:
  advance-buffer-config:
    default-global:
      egress-lossy-buffer:
        traffic-class:
          '0': {{shared-alpha: alpha_1_2}}
      ingress-lossless-buffer: {{shared-alpha: alpha_4}}
  roce: {{}}
"""
    found = device(body)
    assert {queue.index: queue.buffer.dynamic_th for queue in qos(found).queues} == {0: -1, 3: 7, 6: 3}
    assert {group.index: group.buffer.dynamic_th for group in qos(found).priority_groups} == {0: 3, 3: 2}
    assert found.dynamic_buffers.dynamic_th == 2


def test_dscp_is_rewritten_by_priority_where_it_is_rewritten() -> None:
    body = ONE_PORT + "qos: {remark: {default-global: {rewrite: l3, switch-priority: {'3': {dscp: 26}}}}}"
    assert qos(device(body)).tc_to_dscp == (0, 8, 16, 26, 32, 40, 48, 56, *NONE)
    assert qos(device(body.replace("l3", "l2"))).tc_to_dscp is None


def test_alike_ports_share_one_profile() -> None:
    lines = "".join(f"  swp{panel}:\n    qos: {{pfc-watchdog: {{state: enable}}}}\n" for panel in range(1, 33))
    found = device(f"interface:\n{lines}qos:\n  roce: {{}}")
    assert len({id(one.qos) for one in found.interfaces}) == 1


def test_what_a_queue_has_for_itself_is_read() -> None:
    body = f"{ONE_PORT}qos:\n  roce: {{enable: on}}\n  advance-buffer-config:\n    default-global:\n"
    body += "      egress-lossless-buffer: {reserved: 1500}\n"
    body += "      egress-lossy-buffer: {traffic-class: {'6': {reserved: 2048}}}\n"
    sizes = {queue.index: queue.buffer.size_bytes for queue in qos(device(body)).queues if queue.buffer}
    assert sizes == {0: 0, 3: 1500, 6: 2048}


def test_what_no_file_says_is_not_known() -> None:
    bgp = "router: {bgp: {autonomous-system: 65001}}\nvrf: {default: &on {router: {bgp: {enable: on}}}, RED: *on}"
    found, unsaid = device(f"{ONE_PORT}{bgp}"), unsupported_paths("nvue")
    paths = {path: tuple(0 if part == "*" else part for part in path.split("/")) for path in unsaid}
    assert {path: random_values.at(found, steps) for path, steps in paths.items()} == dict.fromkeys(unsaid, UNKNOWN)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("{mode: relative}", (0, 100)),
        ("{mode: relative, min-threshold-percent: 20}", (20, 100)),
        ("{mode: relative, min-threshold-percent: 20, max-threshold-percent: 80}", (20, 80)),
        ("{mode: relative, min-threshold: 5000, max-threshold-percent: 80}", (0, 80)),
    ],
)
def test_marking_may_be_relative_to_what_a_queue_may_take(said: str, found: tuple[int, int]) -> None:
    color = WredColor(min_percent=found[0], max_percent=found[1], probability_percent=100, enabled=False)
    wred = WredProfile(ecn_colors=("green", "yellow", "red"), green=color, yellow=color, red=color)
    body = f"{ONE_PORT}qos:\n  congestion-control: {{default-global: {{traffic-class: {{'3': {said}}}}}}}\n  roce: {{}}"
    assert marked(read(state(body, "5.17.0")).device) == {0: marking(), 3: wred}


def test_percentages_do_nothing_to_absolute_marking() -> None:
    said = "{mode: absolute, min-threshold: 5000, min-threshold-percent: 20}"
    body = f"{ONE_PORT}qos:\n  congestion-control: {{default-global: {{traffic-class: {{'3': {said}}}}}}}\n  roce: {{}}"
    assert marked(read(state(body, "5.17.0")).device) == {0: marking(), 3: marking(5000)}
