"""NCLU's command lists, as they are typed and as a switch prints them."""

from pathlib import Path

import pytest

import nodrop
from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.fabric import Management
from nodrop.model.qos import Scheduler
from nodrop.model.reading import DeviceReading
from nodrop.model.routing import AsPathList, BgpNeighbor, Redistribution, StaticRoute
from nodrop.model.states import UNKNOWN, Unknown, require_fact
from nodrop.platforms import reader
from nodrop.platforms.nclu.places import place_finder_for_files
from support.legacy_platforms import findings, line_at, notes, port, qos, read, remarks, same
from support.places import TESTS

HERE = TESTS / "platforms" / "nclu"


def nclu(text: str) -> DeviceReading:
    return read("nclu", nclu__txt=text)


@pytest.mark.parametrize("name", ["good", "bad"])
def test_findings(name: str, update_golden: bool) -> None:
    same(HERE / f"{name}.findings", findings(HERE / f"{name}.txt"), update=update_golden)


def test_a_good_switch_has_no_findings_and_a_bad_one_each_of_its_faults() -> None:
    good = (TESTS / "platforms" / "nclu" / "good.findings").read_text()
    assert [line.split(" ")[1] for line in good.splitlines()] == ["note:"]
    assert "storage-optimized" in good, "its priority depends on the release, which no file states"
    bad = (TESTS / "platforms" / "nclu" / "bad.findings").read_text()
    for rule in ("pfc-without-watchdog", "malformed-value", "dangling-reference"):
        assert f"[{rule}]" in bad


@pytest.mark.parametrize(
    ("text", "is_nclu"),
    [
        ("net del all\nnet add interface swp1\n", True),
        ("#!/bin/sh\nnet add bgp autonomous-system 65000\n", True),
        ("cumulus@leaf01:mgmt:~$ net add loopback lo ip address 10.0.0.1/32\n", True),
        ("netsh add interface\n", False),
        ("nv set interface swp1\n", False),
        ("docker net add\n", False),
    ],
)
def test_detection(text: str, is_nclu: bool) -> None:
    assert reader("nclu").detect("any.txt", text.encode()) is is_nclu


def test_a_list_is_found_in_a_folder_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "leaf1.txt").write_text("net add interface swp1\n")
    (tmp_path / "notes.txt").write_text("the net is up\n")
    assert [(one.name, one.platform) for one in nodrop.read([str(tmp_path)]).fabric.devices] == [("leaf1", "nclu")]


def test_interfaces() -> None:
    reading = nclu(
        "net add interface swp1-2,4 mtu 9216\nnet add interface swp1 ip address 10.0.0.1/31\n"
        "net add interface swp1 link speed 40000\nnet add interface swp1 link autoneg off\n"
        "net add interface swp1 link fec rs\nnet add interface swp1 alias 'to spine 1'\n"
        "net add interface swp2 link down\n"
        "net add interface swp1 vrf red\nnet add interface swp9\nnet add interface swp1 ip gateway 10.0.0.0\n"
    )
    one = port(reading, "swp1")
    assert (one.addresses, one.speed_mbps, one.autoneg, one.fec) == (("10.0.0.1/31",), 40_000, False, "rs")
    assert (one.description, one.vrf, one.mtu_bytes) == ("to spine 1", "red", 9216)
    assert port(reading, "swp2").enabled is False
    assert port(reading, "swp4").mtu_bytes == 9216
    assert isinstance(port(reading, "swp9").mtu_bytes, Unknown)
    assert isinstance(one.qos, Unknown)
    assert (notes(reading), reading.remarks) == ([], ())


def test_evpn_is_read_of_each_session_and_its_lines_are_unknown() -> None:
    reading = nclu(
        "net add bgp autonomous-system 65001\nnet add bgp neighbor swp1-2 interface remote-as external\n"
        "net add bgp l2vpn evpn neighbor swp1 activate\nnet add bgp evpn neighbor swp2 activate\n"
    )
    bgp = require_fact(reading.device.bgp)
    assert bgp is not None
    assert [(one.interface, one.evpn) for one in require_fact(bgp.neighbors)] == [("swp1", True), ("swp2", True)]
    assert [line for line, _ in notes(reading)] == [3, 4]


def test_what_is_deleted_is_gone() -> None:
    text = "net add interface swp1 mtu 9216\nnet add interface swp1 alias x\n"
    assert port(nclu(f"{text}net del interface swp1 mtu\n"), "swp1").description == "x"
    assert isinstance(port(nclu(f"{text}net del interface swp1 mtu\n"), "swp1").mtu_bytes, Unknown)
    assert nclu(f"{text}net add bgp autonomous-system 1\nnet del all\n").device.interfaces == ()
    assert nclu(f"{text}net add bgp autonomous-system 1\nnet del all\n").device.bgp is None


def test_bonds() -> None:
    reading = nclu(
        "net add bond bond1 bond slaves swp1,swp2\nnet add clag port bond bond2 interface swp3 clag-id 2\n"
        "net add bond bond1 bridge access 10\n"
    )
    channels = require_fact(reading.device.port_channels)
    assert [(one.name, one.members) for one in channels] == [("bond1", ("swp1", "swp2")), ("bond2", ("swp3",))]
    assert [one.name for one in reading.device.interfaces] == ["swp1", "swp2", "swp3"]
    assert require_fact(reading.device.vlans) == (Vlan(id=10, members=(VlanMember(interface="bond1", tagged=False),)),)


def test_vlans_of_the_bridge() -> None:
    reading = nclu(
        "net add bridge bridge ports swp1-2,bond1,vni10\nnet add bridge bridge vids 10,20\n"
        "net add bridge bridge pvid 5\n"
        "net add bond bond1 bond slaves swp9\nnet add bond bond1 bridge vids 20\nnet add bond bond1 bridge pvid 7\n"
        "net add interface swp2 bridge access 10\nnet add vlan 10 ip address 10.9.0.1/24\nnet add vlan 10 vrf RED\n"
        "net add vlan 10 ip address-virtual 00:00:5e:00:01:01 10.9.0.254/24\n"
    )
    assert (notes(reading), remarks(reading)) == ([], [])
    found = {
        vlan.id: [(one.interface, one.tagged) for one in vlan.members] for vlan in require_fact(reading.device.vlans)
    }
    assert found == {
        5: [("swp1", False)],
        7: [("bond1", False)],
        10: [("swp1", True), ("swp2", False)],
        20: [("bond1", True), ("swp1", True)],
    }
    (gateway,) = (vlan for vlan in require_fact(reading.device.vlans) if vlan.id == 10)
    assert (gateway.addresses, gateway.vrf, gateway.mtu_bytes) == (("10.9.0.1/24",), "RED", UNKNOWN)
    assert gateway.virtual_addresses == ("10.9.0.254/24",)


@pytest.mark.parametrize(
    "text", ["net add bridge a ports swp1\nnet add bridge b ports swp2\n", "net add bridge a vlan-aware no\n"]
)
def test_several_bridges_do_not_tell_their_vlans(text: str) -> None:
    assert isinstance(nclu(text).device.vlans, Unknown)


def test_what_is_taken_from_the_bridge_is_gone() -> None:
    text = "net add bridge bridge ports swp1,swp2\nnet add bridge bridge vids 10\nnet del bridge bridge vids 10\n"
    assert [vlan.id for vlan in require_fact(nclu(text).device.vlans)] == [1]


def test_sessions_are_deleted_too() -> None:
    text = "net add bgp autonomous-system 65001\nnet add bgp neighbor swp1 interface remote-as external\n"
    bgp = require_fact(nclu(f"{text}net del bgp neighbor swp1\n").device.bgp)
    assert bgp is not None
    assert bgp.neighbors == ()
    assert nclu(f"{text}net del bgp autonomous-system 65001\n").device.bgp is None


@pytest.mark.parametrize(
    ("deleted", "left"),
    [
        ("vrf red", {"blue": ["10.8.0.1"]}),
        ("vrf red autonomous-system 65009", {"blue": ["10.8.0.1"]}),
        ("vrf red neighbor 10.9.0.1", {"red": [], "blue": ["10.8.0.1"]}),
    ],
)
def test_the_bgp_of_a_vrf_is_deleted_alone(deleted: str, left: dict[str, list[str]]) -> None:
    text = (
        "net add bgp autonomous-system 65001\n"
        "net add bgp vrf red autonomous-system 65009\nnet add bgp vrf red neighbor 10.9.0.1 remote-as 65010\n"
        "net add bgp vrf blue autonomous-system 65008\nnet add bgp vrf blue neighbor 10.8.0.1 remote-as 65010\n"
    )
    device = nclu(f"{text}net del bgp {deleted}\n").device
    bgp = require_fact(device.bgp)
    assert bgp is not None
    assert bgp.asn == 65001
    assert {one.vrf: [each.address for each in one.neighbors] for one in require_fact(device.vrf_bgp)} == left


def test_one_prompt_names_the_switch() -> None:
    text = "cumulus@leaf01:mgmt:~$ net add interface swp1\n"
    assert nclu(text).device.name == "leaf01"
    assert nclu(f"{text}net add hostname leaf7\n").device.name == "leaf7"
    assert nclu(f"{text}cumulus@leaf02:~$ net add interface swp1\n").device.name == "sw1"


def test_services() -> None:
    device = nclu(
        "net add hostname leaf1\nnet add time ntp server 192.0.2.9 iburst\n"
        "net add dns nameserver ipv4 192.0.2.53 vrf mgmt\n"
        "net add syslog host ipv4 192.0.2.20 port udp 514\nnet add interface eth0 ip address 192.0.2.5/24\n"
        "net add interface eth0 vrf mgmt\nnet add loopback lo ip address 10.0.0.1/32\n"
        "net add snmp-server listening-address all\n"
    ).device
    assert device.name == "leaf1"
    assert (device.ntp_servers, device.dns_servers, device.syslog_servers) == (
        ("192.0.2.9",),
        ("192.0.2.53",),
        ("192.0.2.20",),
    )
    assert device.management == Management(interface="eth0", addresses=("192.0.2.5/24",), gateway=None, own_vrf=True)
    assert require_fact(device.loopbacks)[0].addresses == ("10.0.0.1/32",)


def test_routing() -> None:
    reading = nclu(
        "net add bgp router-id 10.0.0.1\nnet add bgp neighbor swp1-2 interface peer-group SPINES\n"
        "net add bgp neighbor SPINES peer-group\nnet add bgp neighbor SPINES remote-as external\n"
        "net add bgp autonomous-system 65001\nnet add bgp bestpath as-path multipath-relax\n"
        "net add bgp neighbor 10.1.0.3 remote-as 65101\nnet add bgp ipv4 unicast neighbor 10.1.0.3 route-map IN in\n"
        "net add bgp ipv4 unicast network 10.2.0.0/24\nnet add bgp ipv4 unicast redistribute connected\n"
        "net add bgp vrf red autonomous-system 65009\nnet add bgp l2vpn evpn advertise-all-vni\n"
        "net add bgp vrf red redistribute static route-map IN\nnet add bgp vrf red neighbor 10.9.0.1 remote-as 65010\n"
        "net add routing as-path access-list OWN permit ^$\nnet add bgp always-compare-med\n"
        "net add routing route-map IN permit 10 match ip address prefix-list ALL\n"
        "net add routing prefix-list ipv4 ALL seq 10 permit 10.0.0.0/8 le 32\n"
        "net add routing route 0.0.0.0/0 192.0.2.1 vrf mgmt\n"
    )
    bgp = require_fact(reading.device.bgp)
    assert bgp is not None
    assert (bgp.asn, bgp.router_id, bgp.multipath_relax, bgp.networks) == (65001, "10.0.0.1", True, ("10.2.0.0/24",))
    assert (bgp.requires_policy, bgp.always_compare_med) == (False, True)
    assert bgp.redistributions == (Redistribution(source="connected"),)
    assert bgp.as_path_lists == (AsPathList(name="OWN", rules=(("permit", "^$"),)),)
    (red,) = require_fact(reading.device.vrf_bgp)
    assert (red.vrf, red.asn, red.always_compare_med) == ("red", 65009, False)
    assert red.redistributions == (Redistribution(source="static", policy="IN"),)
    assert red.neighbors == (BgpNeighbor(address="10.9.0.1", remote_asn=65010),)
    assert bgp.neighbors == (
        BgpNeighbor(interface="swp1", remote_asn="external"),
        BgpNeighbor(interface="swp2", remote_asn="external"),
        BgpNeighbor(address="10.1.0.3", remote_asn=65101, import_policy="IN"),
    )
    assert reading.device.static_routes == (StaticRoute(prefix="0.0.0.0/0", next_hop="192.0.2.1", vrf="mgmt"),)
    unknown = "`address-family l2vpn evpn` is neither modelled nor known to be harmless"
    assert (notes(reading), reading.remarks) == ([(12, unknown)], ())


def test_a_session_over_a_port_makes_the_port_an_interface() -> None:
    said = "net add bgp autonomous-system 65001\nnet add bgp neighbor swp1-2 interface remote-as external\n"
    assert [port.name for port in nclu(said).device.interfaces] == ["swp1", "swp2"]
    left = nclu(f"{said}net del bgp neighbor swp1-2 interface\n")
    assert left.device.interfaces == ()


@pytest.mark.parametrize(
    ("command", "pauses", "elsewhere"),
    [
        ("net add interface swp1 storage-optimized pfc", (3,), ()),
        ("net add interface swp1 storage-optimized", (), ()),
        ("net add roce lossless", (3,), (3,)),
        ("net add roce mode lossless", (3,), (3,)),
        ("net add roce lossy", (), ()),
    ],
)
def test_roce(command: str, pauses: tuple[int, ...], elsewhere: tuple[int, ...]) -> None:
    reading = nclu(f"net add interface swp1-2\n{command}\n")
    found = qos(reading, "swp1")
    assert found.trust == "dscp"
    assert [require_fact(found.dscp_to_tc)[dscp] for dscp in (0, 24, 26, 48, 63)] == [0, 0, 3, 2, 0]
    assert (found.pfc_rx_priorities, qos(reading, "swp2").pfc_rx_priorities) == (pauses, elsewhere)
    queues = {queue.index: queue for queue in require_fact(found.queues)}
    wred = require_fact(queues[3].wred)
    assert wred is not None
    assert (wred.green.min_bytes, wred.green.max_bytes) == (153_600, 1_536_000)
    assert queues[2].scheduler == Scheduler(type="strict")
    assert queues[0].wred is None


@pytest.mark.parametrize(
    ("command", "basis"),
    [
        ("net add interface swp1 storage-optimized pfc", "`storage-optimized` uses priority 3 in Cumulus Linux 3.7"),
        ("net add roce lossless", "NVIDIA does not say what `roce` sets"),
    ],
)
def test_what_a_macro_sets_is_likely_at_most_and_a_note_says_why(command: str, basis: str) -> None:
    reading = nclu(f"net add interface swp1-2\n{command}\n")
    assert reading.derived["sw1", "swp1", "qos"].startswith(basis)
    ((line, said),) = notes(reading)
    assert (line, said) == (2, reading.derived["sw1", "swp1", "qos"])


@pytest.mark.parametrize(
    "taken_back",
    [
        "net add roce lossless\nnet del roce\n",
        "net add interface swp1 storage-optimized pfc\nnet del interface swp1 storage-optimized\n",
        "net add interface swp1-2 storage-optimized pfc\nnet del interface swp1-2 storage-optimized pfc\n",
        "net add interface swp1-2 storage-optimized pfc\nnet del interface swp1 storage-optimized\n"
        "net del interface swp2 storage-optimized\n",
    ],
)
def test_without_a_macro_the_classes_are_not_known(taken_back: str) -> None:
    reading = nclu(f"net add interface swp1-2 mtu 9216\n{taken_back}")
    assert [isinstance(one.qos, Unknown) for one in reading.device.interfaces] == [True, True]
    assert notes(reading) == []
    assert not [subject for subject in reading.derived if subject[2:] == ("qos",)]


def test_parts_of_a_list_of_interfaces_are_deleted() -> None:
    reading = nclu(
        "net add interface swp1-3 mtu 9216\nnet add interface swp1-3 storage-optimized pfc\n"
        "net del interface swp2-3 mtu\nnet del interface swp2 storage-optimized\n"
    )
    assert [port(reading, f"swp{number}").mtu_bytes for number in (1, 2, 3)] == [9216, UNKNOWN, UNKNOWN]
    assert [qos(reading, f"swp{number}").pfc_rx_priorities for number in (1, 2, 3)] == [(3,), (), (3,)]


def test_the_command_that_corrects_old_files_sets_nothing() -> None:
    reading = nclu("net add interface swp1\nnet add storage-optimized correct-legacy-qos-config\n")
    assert (notes(reading), remarks(reading)) == ([], [])


@pytest.mark.parametrize(
    "line",
    [
        "net add interface swp1 mtu 92160",
        "net add interface swp1 link speed fast",
        "net add interface swp1 link fec no",
        "net add interface swp1 link autoneg maybe",
        "net add interface swp5-2 mtu 9000",
        "net add interface swp1, mtu 9000",
        "net add interface swp1 ip address 10.0.0.300/24",
        "net add interface swp1 ip gateway 10.0.0.999",
        "net add interface swp7 breakout 4y",
        "net add loopback lo ip address 10.0.0.1/33",
        "net add vlan 10 ip address 10.0.0.1/33",
        "net add vlan 10 ip address-virtual 00:00:5e:00:01:01 10.0.0.1/33",
        "net add bond bond1 bond slaves swp3-",
        "net add bridge bridge vids 10-5",
        "net add time ntp server !!",
        "net add time ntp server 300.1.1.1",
        "net add dns nameserver ipv4 300.1.1.1",
        "net add syslog host ipv4 foo port udp 514",
        "net add bgp autonomous-system abc",
        "net add bgp autonomous-system 0",
        "net add bgp vrf red autonomous-system 99999999999",
        "net add bgp router-id 1.2.3",
        "net add bgp neighbor swp1 remote-as foo",
        "net add bgp neighbor swp1 interface remote-as 0",
        "net add bgp neighbor 10.0.0.400 remote-as 65001",
        "net add bgp maximum-paths foo",
        "net add bgp maximum-paths ibgp 0",
        "net add bgp ipv4 unicast network 10.0.0.1/45",
        "net add bgp redistribute foo",
        "net add routing route 10.0.0.0/44 10.0.0.1",
        "net add routing route 10.0.0.0/24 10.0.0.1/24",
        "net add routing prefix-list ipv4 A seq x permit 10.0.0.0/8",
        "net add routing prefix-list ipv4 A seq 5 permt 10.0.0.0/8",
        "net add routing prefix-list ipv4 A seq 5 permit 10.0.0.0/88",
        "net add routing route-map A permt 10",
        "net add routing route-map A permit x",
    ],
)
def test_malformed_values_are_told_in_the_words_of_the_command(line: str) -> None:
    reading = nclu(f"# one\n{line}\n")
    assert remarks(reading) == [("malformed-value", 2)]
    assert reading.remarks[0].facts["path"] == line


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("net add interface swp1 storage-optimised pfc", "`storage-optimised`: did you mean `storage-optimized`?"),
        ("net add interfce swp1 mtu 9216", "`interfce`: did you mean `interface`?"),
        ("net dell all", "`dell`: did you mean `del`?"),
        ("net add interface swp1 qos pfc priority 3", "there is `net add roce lossless`, and before 4.3 "),
        ("net add qos roce", "there is `net add roce lossless`, and before 4.3 "),
    ],
)
def test_commands_that_nclu_does_not_have_are_found_with_what_was_meant(line: str, hint: str) -> None:
    reading = nclu(f"net add interface swp1\n{line}\n")
    assert remarks(reading) == [("unknown-command", 2)]
    assert reading.remarks[0].facts["system"] == "NCLU"
    assert reading.remarks[0].facts["hint"].startswith(hint)
    assert notes(reading) == []


@pytest.mark.parametrize("line", ["net add interface swp1 blink", "net frobnicate", "systemctl restart switchd"])
def test_what_is_not_known_is_told(line: str) -> None:
    ((number, said),) = notes(nclu(f"net add interface swp1\n{line}\n"))
    assert number == 2
    assert said.endswith("is not understood and was not checked")


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (("leaf1", "swp1", "mtu_bytes"), "net add interface swp1-2,swp31-32 mtu"),
        (("leaf1", "swp32", "addresses"), "net add interface swp32 ip address"),
        (("leaf1", "swp1", "qos", "trust"), "net add interface swp1-2,swp31-32 storage-optimized"),
        (("leaf1", "@bgp", "router_id"), "net add bgp router-id"),
        (("leaf1", "@neighbors", "swp32"), "net add bgp neighbor swp31-32"),
        (("leaf1", "@ntp_servers"), "net add time ntp server"),
        (("leaf1",), "net add hostname"),
    ],
)
def test_places(subject: tuple[str, ...], words: str) -> None:
    raw = (TESTS / "platforms" / "nclu" / "good.txt").read_bytes()
    assert line_at(place_finder_for_files({"nclu.txt": raw})(subject), raw).startswith(words)


@pytest.mark.parametrize(
    "line",
    [
        "net add interface swp1s0-3,5,7-8 mtu 9000",
        "net add interface swp1-swp4 mtu 9000",
        "net add interface peerlink.4094 clag backup-ip 10.0.0.2",
        "net add interface eth0 ip address dhcp",
        "net add interface my-bond mtu 9000",
        "net add loopback lo ip address 10.0.0.1",
        "net add time ntp server 0.cumulusnetworks.pool.ntp.org iburst",
        "net add dns nameserver ipv6 2001:db8::1 vrf mgmt",
        "net add bgp autonomous-system 4200000000",
        "net add bgp neighbor fe80::1 remote-as external",
        "net add bgp neighbor SPINES remote-as internal",
        "net add bgp ipv6 unicast network 2001:db8::/64",
        "net add bgp ipv4 unicast maximum-paths ibgp 64",
        "net add routing route 10.0.0.0/24 blackhole",
        "net add routing route 10.0.0.0/24 swp1",
        "net add routing prefix-list ipv6 A seq 5 permit any",
    ],
)
def test_right_values_are_no_malformed_ones(line: str) -> None:
    assert [kind for kind, _ in remarks(nclu(f"{line}\n")) if kind == "malformed-value"] == []


def test_hostile_texts_are_read() -> None:
    for text in (
        "",
        "net",
        "net add",
        "net add interface",
        "net del",
        "net add bgp",
        "net add bgp neighbor",
        "net add roce",
    ):
        nclu(text)
    nclu("net add interface swp1-99999999 mtu 9000\nnet add bgp autonomous-system x\nnet add interface '' alias\n")
