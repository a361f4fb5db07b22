"""Files of Cumulus Linux: those of release 5, those before it, and what lies beside them."""

from pathlib import Path

import pytest

import nodrop
from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.fabric import Management, Port
from nodrop.model.qos import PfcWatchdog, Scheduler
from nodrop.model.reading import DeviceReading
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN, Unknown, require_fact
from nodrop.platforms import reader
from nodrop.platforms.cumulus.features import port_ranges_of_set
from nodrop.platforms.cumulus.frr_text import find_frr_source
from nodrop.platforms.cumulus.places import place_finder_for_files
from support.legacy_platforms import findings, notes, port, qos, read, remarks, same
from support.places import TESTS

HERE = TESTS / "platforms" / "cumulus"
STANZAS = "auto swp1\niface swp1\n    mtu 9216\n\nauto swp2\niface swp2\n"


def features(text: str, **more: str) -> DeviceReading:
    return read("cumulus", qos_features__conf=text, interfaces=STANZAS, **more)


def traffic(text: str, **more: str) -> DeviceReading:
    return read("cumulus", traffic__conf=text, interfaces=STANZAS, **more)


@pytest.mark.parametrize("name", ["good", "bad", "old"])
def test_findings(name: str, update_golden: bool) -> None:
    same(HERE / f"{name}.findings", findings(HERE / name), update=update_golden)


def test_a_good_switch_has_no_findings_and_a_bad_one_each_of_its_faults() -> None:
    assert (TESTS / "platforms" / "cumulus" / "good.findings").read_text() == ""
    bad = (TESTS / "platforms" / "cumulus" / "bad.findings").read_text()
    for rule in ("pfc-without-watchdog", "rdma-dscp-in-lossy-class", "unit-suffix", "dangling-reference"):
        assert f"[{rule}]" in bad


@pytest.mark.parametrize(
    ("text", "is_cumulus"),
    [
        ("# shipped\ntraffic.packet_priority_source_set = [802.1p]\n", True),
        ("pfc.my_group.cos_list = [3]\n", True),
        ("default_egress_sched.egr_queue_0.bw_percent = 50\n", True),
        ("ingress_service_pool.0.percent = 50.0\n", True),
        ("auto swp1\niface swp1\n", True),
        ("iface swp[1-4]\n", True),
        ("auto eth0\niface eth0 inet dhcp\n", False),
        ("traffic = heavy\n", False),
    ],
)
def test_detection(text: str, is_cumulus: bool) -> None:
    assert reader("cumulus").detect("any.conf", text.encode()) is is_cumulus


def test_a_folder_is_one_device_and_frr_alone_is_none_of_these(tmp_path: Path) -> None:
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / "interfaces").write_text(STANZAS)
    (tmp_path / "leaf1" / "frr.conf").write_text("router bgp 65001\n")
    (tmp_path / "leaf2").mkdir()
    (tmp_path / "leaf2" / "frr.conf").write_text("router bgp 65002\n")
    (tmp_path / "leaf3-qos.conf").write_text("pfc.port_group_list = [a]\npfc.a.port_set = swp7\npfc.a.cos_list = [3]\n")
    (tmp_path / "leaf4").write_text(STANZAS)
    found = nodrop.read([str(tmp_path)]).fabric.devices
    assert [(one.name, one.platform) for one in found] == [
        ("leaf1", "cumulus"),
        ("leaf2", "sonic"),
        ("leaf3-qos", "cumulus"),
        ("leaf4", "cumulus"),
    ]
    assert [bgp.asn for one in found[:2] if (bgp := require_fact(one.bgp)) is not None] == [65001, 65002]
    assert [one.name for one in found[2].interfaces] == ["swp7"]
    assert [one.name for one in found[3].interfaces] == ["swp1", "swp2"]


def test_a_file_under_the_name_of_the_other_kind_is_told_by_its_content() -> None:
    piped = read("cumulus", interfaces="pfc.port_group_list = [a]\npfc.a.port_set = swp7\npfc.a.cos_list = [3]\n")
    assert qos(piped, "swp7").pfc_rx_priorities == (3,)
    assert [one.name for one in read("cumulus", qos_features__conf=STANZAS).device.interfaces] == ["swp1", "swp2"]


def test_interfaces_alone_say_nothing_of_qos() -> None:
    reading = read("cumulus", interfaces=STANZAS)
    assert isinstance(port(reading, "swp1").qos, Unknown)
    assert port(reading, "swp1").mtu_bytes == 9216
    assert isinstance(port(reading, "swp2").mtu_bytes, Unknown)
    assert isinstance(reading.device.bgp, Unknown)
    assert isinstance(reading.device.ntp_servers, Unknown)


def test_links_and_addresses() -> None:
    reading = read(
        "cumulus",
        interfaces="auto lo\niface lo inet loopback\n  address 10.0.0.1/32\n"
        "auto eth0\niface eth0\n  address 192.0.2.5/24\n  gateway 192.0.2.1\n  vrf mgmt\n"
        "auto swp1\niface swp1\n  address 10.1.0.1/31\n  link-speed 100000\n  link-autoneg off\n  link-fec rs\n"
        "  alias to spine's port\n  vrf red\n"
        "auto swp2\niface swp2\n  link-down yes\nauto swp[3-4]\niface swp[3-4]\n  mtu 9000\n"
        "auto swp5s1\niface swp5s1\n",
        ports__conf="1=100G\n3=40G\n5=4x25G\n9=100G\n# comment\n7=disabled\n",
        hostname="leaf9\n",
    )
    one = port(reading, "swp1")
    assert reading.device.name == "leaf9"
    assert (one.addresses, one.speed_mbps, one.autoneg, one.fec) == (("10.1.0.1/31",), 100_000, False, "rs")
    assert (one.description, one.vrf) == ("to spines port", "red")
    assert port(reading, "swp2").enabled is False
    assert (port(reading, "swp4").mtu_bytes, port(reading, "swp3").speed_mbps) == (9000, 40_000)
    assert (port(reading, "swp5s1").port, port(reading, "swp5s1").speed_mbps) == (Port(5, 1), 25_000)
    assert "swp9" not in [each.name for each in reading.device.interfaces]
    assert require_fact(reading.device.loopbacks)[0].addresses == ("10.0.0.1/32",)
    assert reading.device.management == Management(
        interface="eth0", addresses=("192.0.2.5/24",), gateway="192.0.2.1", own_vrf=True
    )


def test_a_bond_with_the_word_none_has_no_members() -> None:
    reading = read("cumulus", interfaces=f"{STANZAS}auto bond1\niface bond1\n  bond-slaves none\n  mtu 9000\n")
    assert [remark.kind for remark in reading.remarks] == []
    assert "none" not in [port.name for port in reading.device.interfaces]


def test_bonds_and_the_vlans_of_a_bridge_are_read() -> None:
    reading = read(
        "cumulus",
        interfaces=f"{STANZAS}auto bond1\niface bond1\n  bond-slaves swp1 swp2\n  clag-id 1\n"
        "auto bridge\niface bridge\n  bridge-ports bond1\n  bridge-vlan-aware yes\n  bridge-vids 10 20\n"
        "auto vlan10\niface vlan10\n  address 10.9.0.1/24\n  vlan-id 10\n  vlan-raw-device bridge\n",
    )
    (bond,) = require_fact(reading.device.port_channels)
    assert (bond.name, bond.members) == ("bond1", ("swp1", "swp2"))
    assert isinstance(bond.mtu_bytes, Unknown)
    assert require_fact(reading.device.vlans) == (
        Vlan(id=1, members=(VlanMember(interface="bond1", tagged=False),)),
        Vlan(
            id=10,
            members=(VlanMember(interface="bond1", tagged=True),),
            mtu_bytes=UNKNOWN,
            addresses=("10.9.0.1/24",),
        ),
        Vlan(id=20, members=(VlanMember(interface="bond1", tagged=True),)),
    )
    assert (notes(reading), reading.remarks) == ([], ())


def bridge_of(text: str) -> dict[int, list[tuple[str, bool]]]:
    """Of each VLAN, its members and whether they tag; the bridge stands before the text."""
    head = "iface br\n  bridge-vlan-aware yes\n  bridge-vids 10-11\n  bridge-pvid 5\n"
    reading = read("cumulus", interfaces=f"{head}{text}")
    assert (notes(reading), reading.remarks) == ([], ())
    return {
        vlan.id: [(one.interface, one.tagged) for one in vlan.members] for vlan in require_fact(reading.device.vlans)
    }


def test_ports_of_a_bridge_are_in_the_vlans_that_they_say_or_in_all_of_it() -> None:
    ports = (
        "  bridge-ports swp1 swp2 swp3 swp4 vni10\niface swp1\n  bridge-access 10\n"
        "iface swp2\n  bridge-vids 11 12\n  bridge-pvid 7\niface swp3\n  bridge-allow-untagged no\n"
        "iface swp4\niface vni10\n  vxlan-id 10\n  bridge-access 10\n"
    )
    assert bridge_of(ports) == {
        5: [("swp4", False)],
        7: [("swp2", False)],
        10: [("swp1", False), ("swp3", True), ("swp4", True)],
        11: [("swp2", True), ("swp3", True), ("swp4", True)],
        12: [("swp2", True)],
    }


def test_other_files_behind_an_interfaces_file_are_told_once() -> None:
    text = (
        "iface swp1\n  mtu 9216\nalias uplink\n\n/etc/hosts\n==========\n127.0.0.1 localhost\niface swp2\n  mtu 1500\n"
    )
    reading = read("cumulus", interfaces=text)
    assert [(port.name, port.mtu_bytes, port.description) for port in reading.device.interfaces] == [
        ("swp1", 9216, "uplink"),
        ("swp2", 1500, None),
    ]
    assert notes(reading) == [(5, "line '/etc/hosts' is not understood and was not checked")]


def test_a_glob_of_ports_means_those_that_are_there() -> None:
    stanzas = "".join(f"iface swp{panel}\n" for panel in (1, 2, 9))
    assert bridge_of(f"  bridge_ports glob swp1-3\n{stanzas}")[5] == [("swp1", False), ("swp2", False)]


def test_an_interface_over_the_bridge_is_the_switch_in_a_vlan() -> None:
    text = "  bridge-ports swp1\niface br.10\n  address 10.9.0.1/24\n  vrf RED\niface up\n  vlan-id 11\n"
    reading = read(
        "cumulus",
        interfaces=f"iface br\n  bridge-vlan-aware yes\n  bridge-vids 10 11\n{text}"
        "  vlan-raw-device br\n  address 10.9.1.1/24\n",
    )
    found = {vlan.id: (vlan.addresses, vlan.vrf) for vlan in require_fact(reading.device.vlans)}
    assert found == {1: ((), None), 10: (("10.9.0.1/24",), "RED"), 11: (("10.9.1.1/24",), None)}


@pytest.mark.parametrize(
    "text",
    [
        "iface br10\n  bridge-ports swp1.10 swp2.10\n",
        "".join(f"iface br{one}\n  bridge-vlan-aware yes\n  bridge-ports swp{one}\n" for one in (1, 2)),
        "iface swp1\n  bridge-access 10\n",
    ],
)
def test_vlans_are_not_known_where_a_bridge_does_not_tell_them(text: str) -> None:
    assert isinstance(read("cumulus", interfaces=text).device.vlans, Unknown)


def test_classification() -> None:
    found = qos(
        features(
            "traffic.packet_priority_source_set = [802.1p,dscp]\n"
            "traffic.cos_4.priority_source.dscp = [26, 40]\ntraffic.cos_1.priority_source.8021p = [5]\n"
            "traffic.cos_2.priority_source.dscp = []\n",
            qos_infra__conf="cos_egr_queue.cos_4.uc = 3\n",
        ),
        "swp1",
    )
    assert found.trust == "both"
    assert [require_fact(found.dscp_to_tc)[dscp] for dscp in (25, 26, 40, 41)] == [0, 4, 4, 0]
    assert require_fact(found.pcp_to_tc) == (0, 0, 0, 0, 0, 1, 0, 0)
    assert require_fact(found.tc_to_queue)[4] == 3


def test_pfc_of_a_group_of_ports() -> None:
    reading = features(
        "pfc.port_group_list = [one]\npfc.one.port_set = swp1\npfc.one.cos_list = [3,4]\npfc.one.tx_enable = false\n"
        "pfc.one.rx_enable = true\npfc.one.cable_length = 40\n"
    )
    found = qos(reading, "swp1")
    assert (found.pfc_rx_priorities, found.pfc_tx_priorities) == ((3, 4), ())
    assert port(reading, "swp1").cable_length_m == 40
    assert qos(reading, "swp2").pfc_rx_priorities == ()


def test_a_group_of_all_ports_and_stated_headroom() -> None:
    reading = features(
        "pfc.port_group_list = [all]\npfc.all.port_set = allports\npfc.all.cos_list = [3]\n"
        "pfc.all.port_buffer_bytes = 25000\npfc.all.xoff_size = 10000\npfc.all.xon_delta = 2000\n"
    )
    assert qos(reading, "swp2").pfc_rx_priorities == (3,)
    group = require_fact(qos(reading, "swp2").priority_groups)[1]
    buffer = require_fact(group.buffer)
    assert buffer is not None
    headroom = require_fact(buffer.headroom)
    assert headroom is not None
    assert (buffer.size_bytes, headroom.xoff_bytes, headroom.xon_bytes) == (25_000, 15_000, 8_000)


def test_marking_and_scheduling() -> None:
    reading = features(
        "default_ecn_red_conf.min_threshold_bytes = 150000\ndefault_ecn_red_conf.egress_queue_list = [3]\n"
        "default_ecn_red_conf.max_threshold_bytes = 300000\ndefault_ecn_red_conf.red_enable = true\n"
        "default_egress_sched.egr_queue_3.bw_percent = 60\ndefault_egress_sched.egr_queue_6.bw_percent = 0\n"
        "shaping.port_group_list = [s]\nshaping.s.port_set = swp1\nshaping.s.egr_queue_6.shaper = [0, 8000]\n"
        "link_pause.port_group_list = [p]\nlink_pause.p.port_set = swp2\nlink_pause.p.rx_enable = true\n"
    )
    queues = {queue.index: queue for queue in require_fact(qos(reading, "swp1").queues)}
    wred = require_fact(queues[3].wred)
    assert wred is not None
    assert (wred.green.min_bytes, wred.green.max_bytes, wred.green.enabled) == (150_000, 300_000, True)
    assert queues[3].scheduler == Scheduler(type="dwrr", weight=60)
    assert queues[6].scheduler == Scheduler(type="strict", guaranteed_bytes_per_s=0, peak_bytes_per_s=1_000_000)
    assert [port(reading, name).link_pause for name in ("swp1", "swp2")] == [None, True]


def test_watchdogs_and_their_timers() -> None:
    reading = features(
        "pfc.port_group_list = [all]\npfc.all.port_set = allports\npfc.all.cos_list = [3]\n"
        "pfc_watchdog.port_group_list = [w]\npfc_watchdog.w.port_set = swp1\n",
        switchd__conf="# timers\npfc_wd.poll_interval = 200\npfc_wd.robustness = 2\nacl.non_atomic = FALSE\n",
    )
    assert qos(reading, "swp1").pfc_watchdog == PfcWatchdog(
        priorities=(3,), detection_ms=400, restoration_ms=None, action=None
    )
    assert qos(reading, "swp2").pfc_watchdog is None
    assert reading.device.watchdog_polling_ms == 200
    assert notes(reading) == []


BALANCED = (
    "## switch\nadaptive_routing.enable = TRUE\nadaptive_routing.profile0.mode = STICKY_FREE\n"
    "adaptive_routing.link_utilization_threshold_disabled = TRUE\ninterface.swp1.adaptive_routing.enable = TRUE\n"
    "interface.swp1.adaptive_routing.link_util_thresh = 80\ninterface.swp2.adaptive_routing.enable = FALSE\n"
    "interface.swp2.adaptive_routing.link_util_thresh = 0\n"
)
_PFC = "pfc.port_group_list = [all]\npfc.all.port_set = allports\npfc.all.cos_list = [3]\n"


def balancing(reading: DeviceReading) -> list[object]:
    """What the switch has of adaptive routing, and each of its ports."""
    ports = [(one.adaptive_routing, one.utilization_threshold_percent) for one in reading.device.interfaces]
    return [reading.device.adaptive_routing, *ports]


def test_adaptive_routing_of_the_switch_and_of_its_ports() -> None:
    reading = features(_PFC, adaptive_routing__conf=BALANCED)
    assert balancing(reading) == [True, (True, 80), (False, None)]
    assert reading.device.weighs_utilization is UNKNOWN  # releases tell it by opposite words
    assert notes(reading) == []


def test_a_port_does_not_turn_adaptive_routing_on_for_the_switch_in_its_file() -> None:
    reading = features(_PFC, adaptive_routing__conf=BALANCED.replace("adaptive_routing.enable = TRUE\n", "", 1))
    assert balancing(reading) == [False, (True, 80), (False, None)]


def test_adaptive_routing_is_not_known_without_its_file_in_a_release_that_has_it() -> None:
    assert balancing(features(_PFC)) == [UNKNOWN, (UNKNOWN, UNKNOWN), (UNKNOWN, UNKNOWN)]
    assert balancing(traffic("")) == [False, (False, None), (False, None)]


def test_what_is_wrong_with_adaptive_routing_has_its_line() -> None:
    text = "interface.swp1.adaptive_routing.link_util_thresh = 700\nadaptive_routing.colour = blue\nno setting\n"
    reading = features(_PFC, adaptive_routing__conf=text)
    assert remarks(reading) == [("malformed-value", 1)]
    assert notes(reading) == [
        (2, "setting 'adaptive_routing.colour' is not understood and was not checked"),
        (3, "the line is not understood and was not checked"),
    ]


def test_pools() -> None:
    infra = (
        "ingress_service_pool.0.percent = 40\ningress_service_pool.2.percent = 60.0  # lossless\n"
        "flow_control.ingress_service_pool = 2\nflow_control.ingress_buffer.dynamic_quota = ALPHA_2\n"
    )
    text = "pfc.port_group_list = [all]\npfc.all.port_set = allports\npfc.all.cos_list = [3]\n"
    reading = features(text, qos_infra__conf=infra)
    shares = {pool.name: pool.percentage for pool in require_fact(reading.device.buffer_pools)}
    assert (shares["ingress_lossy"], shares["ingress_lossless"]) == (40, 60)
    buffer = require_fact(require_fact(qos(reading, "swp1").priority_groups)[1].buffer)
    assert buffer is not None
    assert buffer.dynamic_th == 1
    numbered = features(text, qos_infra__conf="flow_control.ingress_buffer.dynamic_quota = 10\n")
    other = require_fact(require_fact(qos(numbered, "swp1").priority_groups)[1].buffer)
    assert other is not None
    assert other.dynamic_th == 2


def test_a_dscp_in_two_lists_is_told_where_it_stands_again() -> None:
    reading = features(
        "traffic.cos_0.priority_source.dscp = [0,26,27]\ntraffic.cos_1.priority_source.dscp = [8]\n"
        "traffic.cos_3.priority_source.dscp = [26,27,28]\n"
    )
    assert remarks(reading) == [("value-in-two-lists", 3)]
    assert reading.remarks[0].facts == {
        "values": "26, 27",
        "key": "traffic.cos_3.priority_source.dscp",
        "other": "traffic.cos_0.priority_source.dscp",
    }


def test_groups_that_are_not_listed_do_nothing() -> None:
    reading = features("pfc.port_group_list = [ROCE]\npfc.roce.port_set = swp1\npfc.roce.cos_list = [3]\n")
    assert remarks(reading) == [("dangling-reference", 1)]
    assert notes(reading) == [
        (2, "port group 'roce' does nothing: it is not in pfc.port_group_list"),
    ]
    assert qos(reading, "swp1").pfc_rx_priorities == ()


def test_files_before_release_5() -> None:
    reading = traffic(
        "priority_group.control.cos_list = [7]\npriority_group.service.cos_list = [4]\n"
        "priority_group.control.weight = 0\n"
        "priority_group.service.weight = 16\necn_red.port_group_list = [e]\necn_red.e.cos_list = [4]\n"
        "ecn_red.e.port_set = swp1\necn_red.e.ecn_enable = true\necn_red.e.min_threshold_bytes = 40000\n"
        "ecn_red.e.max_threshold_bytes = 200000\necn_red.e.probability = 100\n"
    )
    queues = {queue.index: queue for queue in require_fact(qos(reading, "swp1").queues)}
    assert queues[7].scheduler == Scheduler(type="strict")
    assert queues[4].scheduler == Scheduler(type="dwrr", weight=16)
    assert queues[0].wred is None
    wred = require_fact(queues[4].wred)
    assert wred is not None
    assert wred.green.max_bytes == 200_000
    assert isinstance(reading.device.buffer_model, Unknown)
    assert isinstance(port(reading, "swp2").mtu_bytes, Unknown)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("traffic.packet_priority_source_set = [tos]", 1),
        ("default_ecn_red_conf.min_threshold_bytes = lots\n", 1),
        ("# c\npfc.port_group_list = [a]\npfc.a.port_set = allports\npfc.a.cos_list = [9]\n", 4),
    ],
)
def test_malformed_values_have_the_line_of_the_file(text: str, line: int) -> None:
    reading = features(text)
    assert remarks(reading) == [("malformed-value", line)]
    assert reading.remarks[0].facts["path"] == text.split("\n")[line - 1].split(" =")[0]


@pytest.mark.parametrize("text", ["qos.roce = lossless", "traffic.cos_9.priority_source.dscp = [1]", "not a setting"])
def test_what_is_not_known_is_told(text: str) -> None:
    ((line, said),) = notes(features(f"# one\n{text}\n"))
    assert line == 2
    assert said.endswith("is not understood and was not checked")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("pfc.enabled = true", "did you mean `rx_enable` or `tx_enable`?"),
        ("trafic.packet_priority_source_set = [dscp]", "`trafic`: did you mean `traffic`?"),
        ("pfc.port_group_lst = [a]", "`port_group_lst`: did you mean `port_group_list`?"),
        (
            "default_ecn_red_conf.min_treshold_bytes = 150000",
            "`min_treshold_bytes`: did you mean `min_threshold_bytes`?",
        ),
    ],
)
def test_keys_that_switchd_passes_over_are_found_with_what_was_meant(text: str, hint: str) -> None:
    reading = features(f"# one\n{text}\n")
    assert [(kind, line) for kind, line in remarks(reading)] == [("unknown-command", 2)]
    assert reading.remarks[0].facts == {"command": text.split(" =")[0], "system": "switchd", "hint": hint}
    assert notes(reading) == []


def test_a_field_that_a_port_group_does_not_have_is_found() -> None:
    group = "pfc.port_group_list = [a]\npfc.a.tx_enable = true\npfc.a.cos_lst = [3]\npfc.a.headroom = 9\n"
    found = [one for one in features(group).remarks if one.kind == "unknown-command"]
    assert [(one.facts["command"], one.facts["hint"].split(",")[0]) for one in found] == [
        ("pfc.a.cos_lst", "`cos_lst`: did you mean `cos_list`?"),
        ("pfc.a.headroom", "known: cable_length"),
    ]


def test_a_field_of_a_port_group_that_is_not_listed_is_looked_at_too() -> None:
    reading = features("pfc.port_group_list = [roce]\npfc.other.cos_list = [3]\npfc.other.cable_lenght = 10\n")
    assert remarks(reading) == [("dangling-reference", 1), ("unknown-command", 3)]
    assert reading.remarks[1].facts["hint"] == "`cable_lenght`: did you mean `cable_length`?"


@pytest.mark.parametrize(
    ("key", "rest"),
    [
        ("pfc.a.tx_enable", "pfc.port_group_list = [a]\npfc.a.cos_list = [3]\npfc.a.port_set = swp1\n"),
        ("default_ecn_red_conf.ecn_enable", "default_ecn_red_conf.egress_queue_list = [3]\n"),
    ],
)
def test_what_is_neither_true_nor_false_is_found_and_turns_nothing_off(key: str, rest: str) -> None:
    reading = features(f"{key} = ture\n{rest}")
    assert [(one.kind, one.place and one.place.span.line, one.facts) for one in reading.remarks] == [
        ("malformed-value", 1, {"path": key, "found": "'ture'", "expected": "true or false"})
    ]
    assert qos(reading, "swp1") == qos(features(rest), "swp1")


def test_a_misspelt_setting_of_an_interface_is_found_and_underscores_are_as_good() -> None:
    reading = read(
        "cumulus",
        interfaces="iface swp1\n    adress 10.0.0.1/31\niface br\n    bridge-prots swp1\n    bridge_stp on\n",
    )
    assert [(one.place and one.place.span.line, one.facts["hint"]) for one in reading.remarks] == [
        (2, "`adress`: did you mean `address`?"),
        (4, "`bridge-prots`: did you mean `bridge-ports`?"),
    ]
    assert notes(reading) == []


def test_sets_of_ports() -> None:
    assert port_ranges_of_set("swp1-swp4,swp6") == ("swp1-4", "swp6")
    assert port_ranges_of_set("swp50s0-swp50s3") == ("swp50s0-3",)
    assert port_ranges_of_set("allports") == ()


def test_frr_is_read_and_its_references_have_lines() -> None:
    text = "frr version 8.4\nrouter bgp 65001\n neighbor swp1 interface remote-as external\n"
    reading = read("cumulus", interfaces=STANZAS, frr__conf=f"{text} neighbor swp1 route-map GONE in\n frobnicate\n")
    bgp = require_fact(reading.device.bgp)
    assert bgp is not None
    assert [one.interface for one in require_fact(bgp.neighbors)] == ["swp1"]
    assert remarks(reading) == [("dangling-reference", 4)]
    assert [line for line, _ in notes(reading)] == [5]


def test_routing_behind_the_stanzas_of_one_file_is_read_on_its_lines() -> None:
    text = "frr version 8.4\nrouter bgp 65001\n neighbor swp1 interface remote-as external\n"
    reading = read("cumulus", interfaces=f"{STANZAS}# routing\n{text} neighbor swp1 route-map GONE in\n frobnicate\n")
    bgp = require_fact(reading.device.bgp)
    assert bgp is not None
    assert [neighbor.interface for neighbor in require_fact(bgp.neighbors)] == ["swp1"]
    assert [interface.name for interface in reading.device.interfaces] == ["swp1", "swp2"]
    before = STANZAS.count("\n") + 1
    assert remarks(reading) == [("dangling-reference", before + 4)]
    assert [line for line, _ in notes(reading)] == [before + 5]


@pytest.mark.parametrize(
    ("subject", "file", "words"),
    [
        (("leaf1", "swp1", "mtu_bytes"), "interfaces", "mtu 9216"),
        (("leaf1", "swp1", "addresses"), "interfaces", "address 10.2.0.1/31"),
        (("leaf1", "swp1", "speed_mbps"), "ports.conf", "1=100G"),
        (("leaf1", "swp1", "qos", "trust"), "qos_features.conf", "traffic.packet_priority_source_set"),
        (("leaf1", "swp1", "qos", "pfc_priorities"), "qos_features.conf", "pfc.gpus.cos_list"),
        (("leaf1", "swp1", "cable_length_m"), "qos_features.conf", "pfc.gpus.cable_length"),
        (("leaf1", "swp1", "qos", "pfc_watchdog", "detection_ms"), "switchd.conf", "pfc_wd.poll_interval"),
        (("leaf1", "swp1", "qos", "queues", "6", "scheduler"), "qos_features.conf", "default_egress_sched.egr_queue_6"),
        (("leaf1", "@bgp", "router_id"), "frr.conf", "bgp router-id"),
        (("leaf1", "@buffer_pools", "ingress_lossless"), "qos_infra.conf", "ingress_service_pool.1.percent"),
    ],
)
def test_places(subject: tuple[str, ...], file: str, words: str) -> None:
    place = place_finder_for_files({path.name: path.read_bytes() for path in (HERE / "good").iterdir()})(subject)
    assert place is not None
    assert place.file == file
    assert (HERE / "good" / file).read_text().split("\n")[place.span.line - 1].strip().startswith(words)


def test_hostile_texts_are_read() -> None:
    for text in (
        "",
        "=",
        "pfc.",
        "pfc.port_group_list =",
        "traffic.cos_0",
        "\0 = \0",
        "iface",
        "iface swp[1-99999]\n mtu",
    ):
        features(text)
        read("cumulus", interfaces=text)
    assert read("cumulus").device.interfaces == ()


def test_a_port_that_frr_shuts_is_told_and_one_that_it_raises_is_no_news() -> None:
    text = "interface swp1\n shutdown\nexit\ninterface swp2\n no shutdown\nexit\nrouter bgp 65001\n"
    reading = read("cumulus", frr__conf=text, interfaces=STANZAS)
    assert reading.device.shut_by_daemon == ("swp1",)
    assert [(one.subject[1:], one.facts) for one in reading.remarks if one.kind == "interface-shut-by-frr"] == [
        (("swp1",), {"interface": "swp1"})
    ]
    assert not any("shutdown" in one.message for one in reading.notes)


@pytest.mark.parametrize("line", ["address-virtual 00:00:5e:00:01:01 10.9.0.254/24", "vrrp 44 10.9.0.254/24"])
def test_addresses_that_switches_share_are_read(line: str) -> None:
    text = f"iface bridge\n  bridge-ports swp1\n  bridge-vlan-aware yes\n  bridge-vids 10\niface vlan10\n  {line}\n"
    vlans = require_fact(read("cumulus", interfaces=f"{text}  vlan-id 10\n  vlan-raw-device bridge\n").device.vlans)
    assert [vlan.virtual_addresses for vlan in vlans if vlan.id == 10] == [("10.9.0.254/24",)]


ZEBRA = "hostname a\n!\ninterface swp1\n ip address 10.0.0.0/31\n shutdown\n!\nip route 10.9.0.0/16 10.0.0.1\n"
BGPD = "router bgp 65001\n bgp router-id 10.255.0.1\n neighbor 10.0.0.1 remote-as 65002\n"


def test_files_of_the_daemons_are_read_where_there_is_none_for_all(tmp_path: Path) -> None:
    """Quagga's way, and that of FRR without `service integrated-vtysh-config`."""
    for name, text in (("interfaces", STANZAS), ("zebra.conf", ZEBRA), ("bgpd.conf", BGPD)):
        (tmp_path / "leaf1").mkdir(exist_ok=True)
        (tmp_path / "leaf1" / name).write_text(text)
    (device,) = nodrop.read([str(tmp_path)]).fabric.devices
    bgp = require_fact(device.bgp)
    assert bgp is not None
    assert (bgp.asn, [neighbor.key for neighbor in require_fact(bgp.neighbors)]) == (65001, ["10.0.0.1"])
    assert [route.prefix for route in require_fact(device.static_routes)] == ["10.9.0.0/16"]
    assert (device.shut_by_daemon, device.interfaces[0].addresses) == (("swp1",), ("10.0.0.0/31",))
    find = place_finder_for_files({"zebra.conf": ZEBRA.encode(), "bgpd.conf": BGPD.encode()})
    place = find(("leaf1", "@bgp", "router_id"))
    assert place is not None
    assert (place.file, place.span.line) == ("bgpd.conf", 2)
    source = find_frr_source({"zebra.conf": ZEBRA.encode(), "bgpd.conf": BGPD.encode()})
    assert source is not None
    lines = source[0].split("\n")
    place = source[1](lines.index("router bgp 65001") + 1)
    assert place is not None
    assert (place.file, place.span.line) == ("bgpd.conf", 1)


def test_what_a_missing_file_of_a_daemon_would_say_is_unknown() -> None:
    without_zebra = read("cumulus", interfaces=STANZAS, bgpd__conf=BGPD).device
    assert isinstance(without_zebra.bgp, Bgp)
    assert (without_zebra.static_routes, without_zebra.shut_by_daemon) == (UNKNOWN, UNKNOWN)
    without_bgpd = read("cumulus", interfaces=STANZAS, zebra__conf=ZEBRA).device
    assert (without_bgpd.bgp, without_bgpd.shut_by_daemon) == (UNKNOWN, ("swp1",))
    assert find_frr_source({"interfaces": STANZAS.encode(), "zebra.conf": ZEBRA.encode()}) is None


def test_addresses_of_frr_are_read_or_named() -> None:
    bond = "\nauto bond1\niface bond1\n    bond-slaves swp2\n"
    frr = "".join(
        f"interface {name}\n {command}\n"
        for name, command in (
            ("swp1", "ip address 10.0.0.0/31"),
            ("bond1", "ip address 10.0.0.2/31"),
            ("bond2", "ip address 10.0.0.4/31"),
            ("swp2", "ip address 10.0.0.6/31 label spare"),
        )
    )
    reading = read("cumulus", interfaces=STANZAS + bond, frr__conf=frr)
    assert reading.device.interfaces[0].addresses == ("10.0.0.0/31",)
    (channel,) = require_fact(reading.device.port_channels)
    assert channel.addresses == ("10.0.0.2/31",)
    assert [(note.text, note.line) for note in reading.notes if note.kind == "unknown-line"] == [
        ("ip address 10.0.0.4/31", 6),
        ("ip address 10.0.0.6/31 label spare", 8),
    ]
