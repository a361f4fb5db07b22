"""Onyx: running-configs of every way to make a class lossless, as others write them."""

from pathlib import Path

import pytest

import nodrop
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.fabric import Management, Port
from nodrop.model.qos import Queue, Scheduler
from nodrop.model.reading import DeviceReading
from nodrop.model.routing import BgpNeighbor, Redistribution, StaticRoute
from nodrop.model.states import UNKNOWN, Unknown, require_fact
from nodrop.platforms import reader
from nodrop.platforms.onyx.commands import expand_numbers, parse_running_config
from nodrop.platforms.onyx.places import place_finder_for_files
from support.legacy_platforms import findings, line_at, notes, port, qos, read, remarks, same
from support.places import TESTS

HERE = TESTS / "platforms" / "onyx"
BASIC = """\
dcb priority-flow-control enable force
dcb priority-flow-control priority 3 enable
traffic pool roce type lossless
traffic pool roce memory percent 50.00
traffic pool roce map switch-priority 3
interface ethernet 1/1-1/2 dcb priority-flow-control mode on force
interface ethernet 1/1-1/2 qos trust L3
"""


def onyx(text: str) -> DeviceReading:
    return read("onyx", **{"running-config__txt": text})


def queue(reading: DeviceReading, name: str, index: int) -> Queue:
    return require_fact(qos(reading, name).queues)[index]


@pytest.mark.parametrize("name", ["good", "bad"])
def test_findings(name: str, update_golden: bool) -> None:
    same(HERE / f"{name}.findings", findings(HERE / f"{name}.txt"), update=update_golden)


def test_a_good_switch_has_no_findings_and_a_bad_one_each_of_its_faults() -> None:
    assert (TESTS / "platforms" / "onyx" / "good.findings").read_text() == ""
    bad = (TESTS / "platforms" / "onyx" / "bad.findings").read_text()
    for rule in ("pfc-without-watchdog", "rdma-dscp-in-lossy-class", "malformed-value", "dangling-reference"):
        assert f"[{rule}]" in bad


@pytest.mark.parametrize(
    ("text", "is_onyx"),
    [
        ("no cli default prefix-modes enable\n", True),
        ("interface ethernet 1/1-1/32 qos trust L3\n", True),
        ("switch (config) # interface ethernet 1/1 traffic-class 6 dcb ets strict\n", True),
        ("   traffic pool roce type lossless\n", True),
        ("roce lossless\n", True),
        ("interface Ethernet1/1\n  priority-flow-control mode on\n", False),
        ("interface ethernet1/1/1\n mtu 9216\n", False),
        ("nv set qos roce mode lossless\n", False),
        ('{"PORT": {}}', False),
        ("- set:\n    qos:\n      roce: {}\n", False),
    ],
)
def test_detection(text: str, is_onyx: bool) -> None:
    assert reader("onyx").detect("any.cfg", text.encode()) is is_onyx


def test_a_running_config_is_found_in_a_folder_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "leaf1.cfg").write_text(BASIC)
    (tmp_path / "README.txt").write_text("how the switches are cabled\n")
    (tmp_path / "leaf2").mkdir()
    (tmp_path / "leaf2" / "running-config.txt").write_text(BASIC)
    found = nodrop.read([str(tmp_path)]).fabric.devices
    assert [(one.name, one.platform) for one in found] == [("leaf1", "onyx"), ("leaf2", "onyx")]


def test_header_and_hostname() -> None:
    head = '##\n## Running database "initial"\n## Hostname: first\n## Product release: 3.10.4606-LTS\n##\n'
    assert onyx(head).device.name == "first"
    assert onyx(head).device.version == "3.10.4606"
    assert onyx(f"{head}hostname second\n").device.name == "second"
    assert isinstance(onyx("hostname a/b\n").device.version, Unknown)
    assert onyx("hostname a/b\n").device.name == "sw1"


def test_numbers() -> None:
    assert expand_numbers("1/1-1/3") == ("1/1", "1/2", "1/3")
    assert expand_numbers("1/1,1/5/1-1/5/2") == ("1/1", "1/5/1", "1/5/2")
    assert expand_numbers("1-3,15") == ("1", "2", "3", "15")
    assert expand_numbers("1/3-1/1") == ()
    assert expand_numbers("x") == ()


def test_blocks_and_prompts_mean_what_flat_lines_mean() -> None:
    flat = "interface ethernet 1/1 mtu 9216 force\ninterface ethernet 1/1 qos trust L3\nhostname a\n"
    indented = "interface ethernet 1/1\n   mtu 9216 force\n   qos trust L3\nhostname a\n"
    exited = "interface ethernet 1/1\nmtu 9216 force\nqos trust L3\nexit\nhostname a\n"
    prompts = (
        "switch (config) # interface ethernet 1/1\n"
        "switch (config interface ethernet 1/1) # mtu 9216 force\n"
        "switch (config interface ethernet 1/1) # qos trust L3\n"
        "switch [vip: master] (config) # hostname a\n"
        "switch (config) # show running-config\n"
    )
    wanted = onyx(flat).device
    assert port(onyx(flat), "Eth1/1").mtu_bytes == 9216
    for text in (indented, exited, prompts):
        reading = onyx(text)
        assert (reading.device, reading.notes) == (wanted, ())


def test_an_interface_without_a_setting_opens_nothing() -> None:
    script = parse_running_config("   interface port-channel 100\n   interface ethernet 1/1 speed 40G force\n   lacp\n")
    assert [(one.kind, one.words[:1]) for one in script.commands] == [
        ("port-channel", ()),
        ("ethernet", ("speed",)),
        ("", ("lacp",)),
    ]


def test_link_settings() -> None:
    reading = onyx(
        "interface ethernet 1/1 speed 100G no-autoneg force\n"
        "interface ethernet 1/1 fec-override rs-fec force\n"
        'interface ethernet 1/1 description "gpu 1"\n'
        "interface ethernet 1/1 no switchport force\n"
        "interface ethernet 1/1 ip address 10.0.0.1 /31\n"
        "interface ethernet 1/1 vrf forwarding red\n"
        "interface ethernet 1/2 shutdown\n"
        "interface ethernet 1/1 flowcontrol receive on force\n"
        "interface ethernet 1/3 module-type qsfp-split-2 force\n"
        "interface ethernet 1/3/1-1/3/2 mtu 9216 force\n"
    )
    one = port(reading, "Eth1/1")
    assert (one.speed_mbps, one.autoneg, one.fec, one.description) == (100_000, False, "rs", "gpu 1")
    assert (one.addresses, one.vrf, one.link_pause, one.mtu_bytes) == (("10.0.0.1/31",), "red", True, 1500)
    assert port(reading, "Eth1/2").enabled is False
    assert isinstance(port(reading, "Eth1/2").speed_mbps, Unknown)
    assert [(one.name, one.port) for one in reading.device.interfaces][2:] == [
        ("Eth1/3/1", Port(3, 0)),
        ("Eth1/3/2", Port(3, 1)),
    ]
    assert reading.derived["sw1", "Eth1/1", "mtu_bytes"] == "the MTU is 1500 unless it is said"


def test_basic_buffers_and_pfc() -> None:
    reading = onyx(BASIC)
    found = qos(reading, "Eth1/1")
    assert (found.trust, found.pcp_to_tc) == ("dscp", None)
    assert require_fact(found.dscp_to_tc)[24:32] == (3,) * 8
    assert (found.pfc_rx_priorities, found.pfc_tx_priorities) == ((3,), (3,))
    assert require_fact(found.tc_to_priority_group)[:8] == (0, 0, 0, 3, 0, 0, 0, 0)
    group = require_fact(found.priority_groups)[1]
    computed = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)
    assert group.index == 3
    assert group.buffer == BufferProfile(pool="roce", size_bytes=UNKNOWN, headroom=computed)
    (pool,) = require_fact(reading.device.buffer_pools)
    assert (pool.name, pool.direction, pool.percentage) == ("roce", "both", 50)
    assert found.pfc_watchdog is None


def test_a_lossless_pool_alone_does_not_say_whether_ports_pause() -> None:
    reading = onyx("traffic pool roce type lossless\ntraffic pool roce map switch-priority 5\ninterface ethernet 1/1\n")
    assert isinstance(qos(reading, "Eth1/1").pfc_rx_priorities, Unknown)
    assert require_fact(qos(reading, "Eth1/1").priority_groups)[1].index == 5


@pytest.mark.parametrize(
    ("taken_back", "groups"),
    [
        ("map switch-priority 3", [0, 5]),
        ("type lossless", [0]),
        ("", [0]),
        ("force", [0]),
    ],
)
def test_what_is_taken_back_of_a_traffic_pool_is_not_in_it(taken_back: str, groups: list[int]) -> None:
    pool = "traffic pool roce type lossless\ntraffic pool roce map switch-priority 3 5\n"
    reading = onyx(f"{pool}no traffic pool roce {taken_back}\ninterface ethernet 1/1 qos trust L3\n")
    assert [group.index for group in require_fact(qos(reading, "Eth1/1").priority_groups)] == groups
    assert {kind for kind, _ in remarks(reading)} <= {"lossless-half-configured"}


@pytest.mark.parametrize(
    ("more", "pauses"),
    [
        ("interface ethernet 1/9 dcb priority-flow-control mode on force\n", (3,)),
        ("interface ethernet 1/9 no dcb priority-flow-control mode force\n", ()),
        ("interface ethernet 1/9\nno dcb priority-flow-control enable\n", None),
        ("interface ethernet 1/9 dcb priority-flow-control mode auto force\n", None),
        (
            "interface ethernet 1/9 dcb priority-flow-control mode on force\n"
            "no dcb priority-flow-control priority 3 enable\n",
            (),
        ),
    ],
)
def test_whether_a_port_pauses(more: str, pauses: tuple[int, ...] | None) -> None:
    found = qos(onyx(BASIC + more), "Eth1/9").pfc_rx_priorities
    assert isinstance(found, Unknown) if pauses is None else found == pauses


def test_pfc_without_a_pool_leaves_the_buffer_unknown() -> None:
    text = "".join(line for line in BASIC.splitlines(keepends=True) if not line.startswith("traffic"))
    (_, group) = require_fact(qos(onyx(text), "Eth1/1").priority_groups)
    assert group.index == 3
    assert isinstance(group.buffer, Unknown)


def test_a_port_channel_speaks_for_its_members() -> None:
    reading = onyx(
        f"{BASIC}interface ethernet 1/7-1/8 mlag-channel-group 5 mode active\n"
        "interface mlag-port-channel 5 dcb priority-flow-control mode on force\n"
        "interface mlag-port-channel 5 mtu 9216 force\n"
    )
    assert qos(reading, "Eth1/8").pfc_rx_priorities == (3,)
    assert port(reading, "Eth1/8").mtu_bytes == 9216
    assert reading.device.port_channels == (PortChannel(name="Mpo5", members=("Eth1/7", "Eth1/8"), mtu_bytes=9216),)


def test_advanced_buffers_in_bytes_and_with_letters() -> None:
    reading = onyx(
        "advanced buffer management force\n"
        "pool iPool1 size 5M type dynamic\n"
        "pool ePool1 size 16777000 type static\n"
        "interface ethernet 1/13 ingress-buffer iPort.pg3 bind switch-priority 3\n"
        "interface ethernet 1/13 ingress-buffer iPort.pg3 map pool iPool1 type lossless reserved 67538 xoff 18432 "
        "xon 18K shared alpha 2\n"
        "interface ethernet 1/13 egress-buffer ePort.tc3 map pool ePool1 reserved 1500 shared alpha inf\n"
        "interface ethernet 1/13 ingress-buffer iPort.pg6 map pool iPool1 type lossy reserved 10240 shared alpha 1/8\n"
    )
    assert reading.device.buffer_pools == (
        BufferPool(name="ePool1", direction="egress", mode="static", size_bytes=16_777_000),
        BufferPool(name="iPool1", direction="ingress", mode="dynamic", size_bytes=5 * 1024 * 1024),
    )
    groups = {group.index: group.buffer for group in require_fact(qos(reading, "Eth1/13").priority_groups)}
    assert groups[3] == BufferProfile(
        pool="iPool1",
        size_bytes=67_538,
        dynamic_th=1,
        headroom=Headroom(xoff_bytes=67_538 - 18_432, xon_bytes=18 * 1024),
    )
    assert groups[6] == BufferProfile(pool="iPool1", size_bytes=10_240, dynamic_th=-3)
    assert isinstance(groups[0], Unknown)
    assert require_fact(qos(reading, "Eth1/13").tc_to_priority_group)[:8] == (0, 0, 0, 3, 0, 0, 0, 0)
    assert queue(reading, "Eth1/13", 3).buffer == BufferProfile(pool="ePool1", size_bytes=1500, dynamic_th=7)


@pytest.mark.parametrize(
    ("mode", "rx", "tx", "lossless"),
    [
        ("", (3,), (3,), True),
        (" lossless", (3,), (3,), True),
        (" semi-lossless", (3,), (), False),
        (" lossy", (), (), False),
    ],
)
def test_the_macro(mode: str, rx: tuple[int, ...], tx: tuple[int, ...], lossless: bool) -> None:
    reading = onyx(f"roce{mode}\ninterface ethernet 1/1 mtu 9216 force\n")
    found = qos(reading, "Eth1/1")
    assert (found.trust, found.pfc_rx_priorities, found.pfc_tx_priorities) == ("dscp", rx, tx)
    assert require_fact(found.tc_to_queue)[:8] == (0, 0, 0, 3, 0, 0, 6, 0)
    assert (
        any(group.index == 3 and group.buffer is not UNKNOWN for group in require_fact(found.priority_groups))
        is lossless
    )
    assert queue(reading, "Eth1/1", 3).scheduler == Scheduler(type="wrr", weight=50)
    assert queue(reading, "Eth1/1", 6).scheduler == Scheduler(type="strict")
    wred = require_fact(queue(reading, "Eth1/1", 3).wred)
    assert wred is not None
    assert (wred.green.min_bytes, wred.green.max_bytes) == (150 * 1024, 1500 * 1024)
    assert reading.derived["sw1", "Eth1/1", "qos", "trust"] == "`roce` makes it so"


def test_classes_marking_and_scheduling() -> None:
    reading = onyx(
        "interface ethernet 1/1 qos trust both\n"
        "interface ethernet 1/1 qos map dscp 26,40-41 to switch-priority 4\n"
        "interface ethernet 1/1 qos map pcp 5 dei 0 to switch-priority 1\n"
        "interface ethernet 1/1 traffic-class 4 bind switch-priority 3 4\n"
        "interface ethernet 1/1 traffic-class 4 congestion-control ecn minimum-absolute 150 maximum-absolute 300\n"
        "interface ethernet 1/1 traffic-class 5 congestion-control red minimum-absolute 10 maximum-absolute 20\n"
        "interface ethernet 1/1 traffic-class 2 congestion-control ecn minimum-relative 10 maximum-relative 20\n"
        "interface ethernet 1/1 traffic-class 4 dcb ets wrr 60\n"
        "interface ethernet 1/1 traffic-class 6 dcb ets strict\n"
    )
    found = qos(reading, "Eth1/1")
    assert [require_fact(found.dscp_to_tc)[dscp] for dscp in (25, 26, 40, 41, 42)] == [3, 4, 4, 4, 5]
    assert require_fact(found.pcp_to_tc) == (0, 1, 2, 3, 4, 1, 6, 7)
    assert require_fact(found.tc_to_queue)[:8] == (0, 1, 2, 4, 4, 5, 6, 7)
    marked = require_fact(queue(reading, "Eth1/1", 4).wred)
    dropped = require_fact(queue(reading, "Eth1/1", 5).wred)
    assert marked is not None
    assert dropped is not None
    assert (marked.ecn_colors, marked.green.max_bytes, marked.green.enabled) == (
        ("green", "yellow", "red"),
        307_200,
        False,
    )
    assert (dropped.ecn_colors, dropped.green.enabled) == ((), True)
    relative = require_fact(queue(reading, "Eth1/1", 2).wred)
    assert relative is not None
    assert (relative.green.min_percent, relative.green.max_percent, relative.green.min_bytes) == (10, 20, None)
    assert [require_fact(queue(reading, "Eth1/1", tc).scheduler) for tc in (4, 6)] == [
        Scheduler(type="wrr", weight=60),
        Scheduler(type="strict"),
    ]


def test_a_watchdog_has_times_that_the_text_does_not_say() -> None:
    watchdog = require_fact(qos(onyx(f"{BASIC}interface ethernet 1/1 pfc-wd\n"), "Eth1/1").pfc_watchdog)
    assert watchdog is not None
    assert watchdog.priorities == (3,)
    assert isinstance(watchdog.detection_ms, Unknown)


def test_thresholds_in_bytes_are_found_once_for_a_range() -> None:
    line = "traffic-class 3 congestion-control ecn minimum-absolute 150000 maximum-absolute 1500"
    reading = onyx(f"interface ethernet 1/1-1/4 {line}\n")
    (remark,) = reading.remarks
    assert (remark.kind, remark.place and remark.place.span.line) == ("malformed-value", 1)
    assert remark.facts["found"] == "'150000'"
    assert isinstance(queue(reading, "Eth1/4", 3).wred, Unknown)


@pytest.mark.parametrize(
    "line",
    [
        "roce loss",
        "traffic pool roce type loseless",
        "traffic pool roce memory percent 150",
        "interface ethernet 1/1 qos trust dscp",
        "interface ethernet 1/1 mtu 90000 force",
        "interface ethernet 1/1 speed fast force",
        "dcb priority-flow-control priority 9 enable",
        "interface ethernet 1/1 traffic-class 8 dcb ets strict",
        "interface ethernet 1/1 ingress-buffer iPort.pg3 map pool iPool1 type lossless reserved 70KB xoff 1 xon 1",
        "interface ethernet 1/1 ingress-buffer iPort.pg3 map pool iPool1 type lossy reserved 1 shared alpha 3",
    ],
)
def test_malformed_values_have_a_line(line: str) -> None:
    assert remarks(onyx(f"hostname a\n{line}\n")) == [("malformed-value", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "interface ethernet 1/1 speed 100G force\n",
        "interface ethernet 1/1 flowcontrol receive on force\n",
        "dcb priority-flow-control enable force\ninterface ethernet 1/1 dcb priority-flow-control mode on force\n",
    ],
)
def test_a_switch_that_is_told_nothing_of_classes_has_no_qos_to_judge(text: str) -> None:
    reading = onyx(f"hostname a\n{text}interface ethernet 1/2 mtu 9216 force\n")
    assert [one.qos for one in reading.device.interfaces if one.name == "Eth1/1"] == [None]


def test_a_switch_that_is_told_of_classes_somewhere_has_defaults_elsewhere() -> None:
    reading = onyx("interface ethernet 1/1 qos trust L3\ninterface ethernet 1/2 mtu 9216 force\n")
    assert qos(reading, "Eth1/2").trust == "pcp"


_ECN = "interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500"
_PRIORITY = "dcb priority-flow-control priority 3 enable"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("interface ethernet 1/1 traffic ecn tc 3 min 150", f"there is `{_ECN}`"),
        (f"interface ethernet 1/1 {_PRIORITY}", f"there is `{_PRIORITY}`"),
        (
            "interface ethernet 1/1 traffic-class 3 pfc",
            "there is `interface ethernet 1/1 dcb priority-flow-control mode on force`",
        ),
        ("interface ethernet 1/1 pfc watchdog on", "there is `interface ethernet 1/1 pfc-wd`"),
        (
            "interface ethernet 1/1 congestion-control ecn minimum-absolute 150 maximum-absolute 1500",
            f"there is `{_ECN}`",
        ),
        ("traffic ecn tc 3", f"there is `{_ECN}`"),
        (
            "interface ethernet 1/1 dcb priority-flow-contol mode on force",
            "`priority-flow-contol`: did you mean `priority-flow-control`?",
        ),
        ("trafic pool roce type lossless", "`trafic`: did you mean `traffic`?"),
    ],
)
def test_commands_that_onyx_does_not_have_are_found_with_what_was_meant(line: str, hint: str) -> None:
    reading = onyx(f"hostname a\n{line}\n")
    assert remarks(reading) == [("unknown-command", 2)]
    assert reading.remarks[0].facts == {"command": line[:80], "system": "Onyx", "hint": hint}
    assert notes(reading) == []


def test_the_half_that_is_there_is_pointed_at() -> None:
    text = (
        "interface ethernet 1/1 ingress-buffer iPort.pg3 bind switch-priority 3\n"
        "interface ethernet 1/1 ingress-buffer iPort.pg3 map pool iPool1 type lossless reserved 70K xoff 1K xon 1K\n"
    )
    assert remarks(onyx(f"hostname a\n{text}")) == [("lossless-half-configured", 3)]


def test_pfc_that_is_on_for_no_priority_is_half_of_it() -> None:
    switch, port = "dcb priority-flow-control enable force", "interface ethernet 1/1 dcb priority-flow-control mode on"
    reading = onyx(f"hostname a\n{switch}\n{port} force\n")
    assert remarks(reading) == [("lossless-half-configured", 2)]
    assert reading.remarks[0].facts == {"what": "port Eth1/1", "has": "PFC turned on", "lacks": "priority with PFC"}
    assert remarks(onyx(f"hostname a\n{switch}\n")) == remarks(onyx(f"hostname a\n{port} force\n")) == []
    assert remarks(onyx(f"hostname a\n{switch}\n{port[:-2]}auto\n")) == []


@pytest.mark.parametrize(
    ("lines", "ports"),
    [
        (["interface port-channel 100 ipl 1"], ""),
        (["interface port-channel 100 ipl 1", "interface ethernet 1/13 dcb priority-flow-control mode on force"], ""),
        (
            ["interface port-channel 100 ipl 1", "interface ethernet 1/1 dcb priority-flow-control mode on force"],
            "ports Eth1/1, Po100",
        ),
        ([], "port Po100"),
        (["interface port-channel 100 ipl 1", "no interface port-channel 100 ipl 1"], "port Po100"),
    ],
)
def test_pfc_that_sets_up_the_link_of_an_mlag_is_a_matter_of_form(lines: list[str], ports: str) -> None:
    mlag = (
        "hostname a\ndcb priority-flow-control enable force\n"
        "interface ethernet 1/13-1/14 channel-group 100 mode active\n"
        "interface port-channel 100 dcb priority-flow-control mode on force\n"
    )
    told = [remark.facts["what"] for remark in onyx(mlag + "\n".join(lines)).remarks]
    assert told == ([ports] if ports else [])


@pytest.mark.parametrize(
    "line", ["interface ethernet 1/1 dcb ets tc 3 bandwidth 50 strict", "interface ethernet 1/1 hum 3", "sing aloud"]
)
def test_commands_that_onyx_may_have_are_noted(line: str) -> None:
    ((number, said),) = notes(onyx(f"hostname a\n{line}\n"))
    assert number == 2
    assert said.endswith("is not understood and was not checked")


def test_commands_about_other_things_are_passed_over() -> None:
    text = (
        "no cli default prefix-modes enable\nprotocol mlag\nlacp\nspanning-tree mode mst\nno spanning-tree\n"
        "username admin password 7 x\nno password hardening enable\nldap vrf mgmt enable\nrouter ospf 1 vrf default\n"
        "ipv4 access-list a bind-point rif\nload-balancing ingress-port enable\ninterface ethernet 1/1 lldp transmit\n"
        "interface ethernet 1/1 spanning-tree port type edge\ninterface port-channel 1 ipl 1\nip routing vrf default\n"
        "interface vlan 2 magp 1\ninterface ethernet 1/1 ip ospf area 0.0.0.0\nconfiguration write\n"
    )
    assert (notes(onyx(text)), onyx(text).remarks) == ([], ())


def test_vlans_and_switchports() -> None:
    reading = onyx(
        "vlan 10,20\ninterface ethernet 1/1 switchport access vlan 10\n"
        "interface ethernet 1/2 switchport mode hybrid\n"
        "interface ethernet 1/2 switchport hybrid allowed-vlan add 20\n"
        "interface ethernet 1/3 switchport mode trunk\ninterface ethernet 1/3 switchport trunk allowed-vlan 10\n"
        "interface vlan 10 ip address 10.1.0.1/24 primary\ninterface vlan 10 mtu 9216\n"
    )
    assert reading.device.vlans == (
        Vlan(
            id=10,
            members=(VlanMember(interface="Eth1/1", tagged=False), VlanMember(interface="Eth1/3", tagged=True)),
            mtu_bytes=9216,
            addresses=("10.1.0.1/24",),
        ),
        Vlan(id=20, members=(VlanMember(interface="Eth1/2", tagged=True),)),
    )


def test_routing() -> None:
    reading = onyx(
        "protocol bgp\nrouter bgp 65001 vrf default\nrouter bgp 65001 vrf default router-id 10.0.0.1 force\n"
        "router bgp 65001 vrf default bestpath as-path multipath-relax force\n"
        "router bgp 65001 vrf default maximum-paths 32\nrouter bgp 65001 vrf default maximum-paths ibgp 32\n"
        "router bgp 65001 vrf default neighbor 10.1.0.1 peer-group SPINES\n"
        "router bgp 65001 vrf default neighbor SPINES peer-group\n"
        "router bgp 65001 vrf default neighbor SPINES remote-as 65100\n"
        "router bgp 65001 vrf default neighbor 10.1.0.3 remote-as 65101\n"
        "router bgp 65001 vrf default neighbor 10.1.0.3 route-map IN in\n"
        "router bgp 65001 vrf default neighbor 10.1.0.3 timers 1 3\n"
        "router bgp 65001 vrf red neighbor 10.9.0.3 remote-as 65101\n"
        "router bgp 65001 vrf red neighbor 10.9.0.3 update-source 10.9.0.1\n"
        "router bgp 65001 vrf red neighbor 10.9.0.3 ebgp-multihop 3\n"
        "router bgp 65001 vrf red neighbor 10.9.0.3 next-hop-self\n"
        "router bgp 65001 vrf red redistribute connected\n"
        "router bgp 65001 vrf default bestpath compare-routerid\n"
        "router bgp 65001 vrf default network 10.2.0.0 /24\n"
        "ip prefix-list ALL seq 10 permit 10.0.0.0 /8 le 32\nip prefix-list ALL bulk-mode\n"
        "route-map IN permit 10 match ip address ALL\n"
        "ip route vrf mgmt 0.0.0.0/0 192.0.2.1\nip route 10.9.0.0/16 10.1.0.1\n"
    )
    bgp = require_fact(reading.device.bgp)
    assert bgp is not None
    assert (bgp.asn, bgp.router_id, bgp.maximum_paths, bgp.multipath_relax) == (65001, "10.0.0.1", 32, True)
    assert bgp.networks == ("10.2.0.0/24",)
    assert (bgp.compare_router_id, bgp.requires_policy, bgp.redistributions) == (True, False, ())
    assert bgp.import_check is UNKNOWN
    (red,) = require_fact(reading.device.vrf_bgp)
    assert (red.vrf, red.asn, red.redistributions) == ("red", 65001, (Redistribution(source="connected"),))
    assert red.neighbors == (
        BgpNeighbor(
            address="10.9.0.3", remote_asn=65101, update_source="10.9.0.1", ebgp_multihop=3, next_hop_self=True
        ),
    )
    assert bgp.neighbors == (
        BgpNeighbor(address="10.1.0.1", remote_asn=65100),
        BgpNeighbor(address="10.1.0.3", remote_asn=65101, import_policy="IN"),
    )
    assert bgp.prefix_lists[0].rules[0].prefix == "10.0.0.0/8"
    assert reading.device.static_routes == (
        StaticRoute(prefix="0.0.0.0/0", next_hop="192.0.2.1", vrf="mgmt"),
        StaticRoute(prefix="10.9.0.0/16", next_hop="10.1.0.1"),
    )
    assert (reading.notes, reading.remarks) == ((), ())


def test_a_session_of_another_vrf_stands_there() -> None:
    raw = (
        b'##\n## Running database "initial"\n##\nprotocol bgp\n'
        b"router bgp 1 vrf red neighbor 10.1.0.3 remote-as 7\nrouter bgp 1 vrf default neighbor 10.1.0.3 remote-as 8\n"
    )
    find = place_finder_for_files({"running-config.txt": raw})
    for subject, words in (
        (("leaf1", "@neighbors", "10.1.0.3", "remote_asn"), "router bgp 1 vrf default neighbor 10.1.0.3 remote-as 8"),
        (("leaf1", "@vrf_bgp", "red", "neighbors", "10.1.0.3"), "router bgp 1 vrf red neighbor 10.1.0.3 remote-as 7"),
        (("leaf1", "@vrf_bgp", "red"), "router bgp 1 vrf red neighbor 10.1.0.3 remote-as 7"),
    ):
        assert line_at(find(subject), raw).strip() == words


def test_services_and_management() -> None:
    device = onyx(
        "vrf definition mgmt\ninterface mgmt0 ip address 192.0.2.5 /24\nno ntp server 192.0.2.9 disable\n"
        "ntp server 192.0.2.9 keyID 0\nip name-server vrf mgmt 192.0.2.53\nlogging 192.0.2.20\nlogging monitor events\n"
        "interface loopback 0 ip address 10.0.0.1/32 primary\n"
    ).device
    assert device.management == Management(interface="mgmt0", addresses=("192.0.2.5/24",), gateway=None, own_vrf=True)
    assert (device.ntp_servers, device.dns_servers, device.syslog_servers) == (
        ("192.0.2.9",),
        ("192.0.2.53",),
        ("192.0.2.20",),
    )
    assert [(one.name, one.addresses) for one in require_fact(device.loopbacks)] == [("Loopback0", ("10.0.0.1/32",))]


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (("leaf1", "Eth1/1", "mtu_bytes"), "interface ethernet 1/1-1/4 mtu"),
        (("leaf1", "Eth1/32", "speed_mbps"), "interface ethernet 1/31-1/32 speed"),
        (("leaf1", "Eth1/1", "description"), "interface ethernet 1/1 description"),
        (("leaf1", "Eth1/31", "addresses"), "interface ethernet 1/31 ip address"),
        (("leaf1", "Eth1/1", "qos", "trust"), "interface ethernet 1/1-1/4 qos trust"),
        (("leaf1", "Eth1/1", "qos", "dscp_to_tc", "26"), "interface ethernet 1/1-1/4 qos map dscp"),
        (("leaf1", "Eth1/1", "qos", "pfc_priorities"), "interface ethernet 1/1-1/4 dcb"),
        (("leaf1", "Eth1/1", "qos", "pfc_watchdog"), "interface ethernet 1/1-1/4 pfc-wd"),
        (("leaf1", "Eth1/1", "qos", "priority_groups", "3"), "traffic pool roce map"),
        (("leaf1", "Eth1/31", "qos", "queues", "3", "wred"), "interface ethernet 1/31-1/32 traffic-class 3 cong"),
        (("leaf1", "Eth1/1", "qos", "queues", "6", "scheduler"), "interface ethernet 1/1-1/4 traffic-class 6 dcb"),
        (("leaf1", "@bgp", "maximum_paths"), "router bgp 65001 vrf default maximum-paths"),
        (("leaf1", "@neighbors", "10.1.0.3", "remote_asn"), "router bgp 65001 vrf default neighbor 10.1.0.3 remote"),
        (("leaf1", "@vlans", "100"), "vlan 100"),
        (("leaf1", "@buffer_pools", "roce"), "traffic pool roce"),
        (("leaf1", "@management"), "interface mgmt0"),
        (("leaf1",), "hostname"),
    ],
)
def test_places(subject: tuple[str, ...], words: str) -> None:
    raw = (TESTS / "platforms" / "onyx" / "good.txt").read_bytes()
    line = line_at(place_finder_for_files({"running-config.txt": raw})(subject), raw)
    assert line.strip().removeprefix("no ").startswith(words)


def test_hostile_texts_are_read() -> None:
    for text in (
        "",
        "interface",
        "interface ethernet",
        "no",
        "interface ethernet 1/1-1/99999 mtu 1",
        '"',
        "roce roce\0",
    ):
        onyx(f"{text}\n")
    broken = reader("onyx").read_device("sw1", [])
    assert broken.device.interfaces == ()


def test_a_list_of_the_other_family_is_reported_at_the_command_that_names_it() -> None:
    reading = onyx(
        "ipv6 prefix-list OWN seq 10 permit 2001:db8:: /32 le 64\n"
        "route-map OUT permit 10 match ip address OWN\n"
        "router bgp 65001 vrf default neighbor 10.1.0.3 remote-as 65002\n"
        "router bgp 65001 vrf default neighbor 10.1.0.3 route-map OUT out\n"
    )
    (remark,) = [remark for remark in reading.remarks if remark.kind == "prefix-list-of-other-family"]
    assert remark.place is not None
    assert remark.place.span is not None
    assert (remark.place.span.line, remark.facts["field"]) == (2, "route-map OUT permit 10 match ip address OWN")
