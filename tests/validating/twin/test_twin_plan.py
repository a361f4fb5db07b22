"""What a fabric becomes in a twin, before anything is made of it; and what FRR's words about refused lines mean."""

from pathlib import Path

import pytest

from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Loopback
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.validating.twin import daemons
from nodrop.validating.twin.daemons import BootConfiguration, RefusedFrrLine, parse_refusals
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.observing import may_refused_line_matter
from nodrop.validating.twin.plan import NamespaceKey, TwinPlan, plan_twin
from nodrop.validating.twin.waiting import (
    COALESCE_TIME_TERMS_S,
    MAX_PATIENCE_FACTOR,
    MAX_SESSION_DROPS,
    QUIET_PERIOD_S,
    SettledState,
    wait_until_settled,
)
from support.patience import clock

TWO = tuple(Link(a=End("a", f"p{n}"), b=End("b", f"p{n}")) for n in (1, 2))


def pair(links: tuple[Link, ...] = TWO, **both: object) -> TwinPlan:
    """Two switches with ports p1 and p2, cabled, and what both have."""
    ports = (Interface(name="p1"), Interface(name="p2"))
    devices = tuple(Device(name=name, platform="sonic", **{"interfaces": ports, **both}) for name in "ab")  # type: ignore[arg-type]
    return plan_twin(Fabric(name="pair", mode="lossless", devices=devices, links=links))


def cables(made: TwinPlan) -> set[tuple[str, str | None]]:
    """The cables by the interfaces at their ends, each with its bridge."""

    def shown(nic: object) -> str:
        where = f"{nic.space.node}:{nic.leg}"  # type: ignore[attr-defined]
        return f"{where} in {nic.bridge}" if nic.bridge else where  # type: ignore[attr-defined]

    return {(shown(wire.a), shown(wire.b) if wire.b else None) for wire in made.wires}


def test_every_cable_is_one_between_two_ports() -> None:
    assert cables(pair()) == {("a:p1", "b:p1"), ("a:p2", "b:p2")}


def test_a_bundle_is_one_cable_that_needs_as_many_members_as_it_asks_for() -> None:
    channel = PortChannel(name="PortChannel1", members=("p1", "p2"), min_links=2, addresses=("10.0.0.0/31",))
    made = pair(port_channels=(channel,))
    assert cables(made) == {("a:PortChannel1", "b:PortChannel1")}
    (wire,) = made.wires
    assert (wire.a.least, wire.links) == (2, TWO)
    assert made.nics_by_port[End("a", "p2")] == (wire.a,)


def test_a_cable_carries_each_vlan_that_both_ends_tag_alike_and_no_other() -> None:
    def vlan(number: int, *, tagged: bool) -> Vlan:
        return Vlan(id=number, members=(VlanMember(interface="p1", tagged=tagged),), addresses=(f"10.{number}.0.1/24",))

    vlans = (vlan(10, tagged=True), vlan(20, tagged=True), vlan(30, tagged=False))
    found = cables(pair(TWO[:1], vlans=vlans))
    assert found == {(f"a:p1 in Vlan{n}", f"b:p1 in Vlan{n}") for n in (10, 20, 30)}


def test_a_loop_of_bridges_is_left_open_and_told() -> None:
    vlan = Vlan(id=10, members=tuple(VlanMember(interface=name, tagged=False) for name in ("p1", "p2")))
    made = pair(vlans=(vlan,))
    assert ("a:p1 in Vlan10", "b:p1 in Vlan10") in cables(made)
    assert made.notes == ["the cable a:p2--b:p2 closes a loop of bridges, which the twin leaves open"]


def test_a_port_with_an_address_and_no_cable_gets_an_end_where_nobody_is() -> None:
    ports = (Interface(name="p1", addresses=("10.0.0.0/31",)), Interface(name="p2"))
    assert cables(pair((), interfaces=ports)) == {("a:p1", None), ("b:p1", None)}


def test_a_port_that_bgp_speaks_over_is_there_without_an_address() -> None:
    bgp = Bgp(asn=1, neighbors=(BgpNeighbor(interface="p2", remote_asn="external"),))
    assert cables(pair((), bgp=bgp)) == {("a:p2", None), ("b:p2", None)}


def test_what_linux_does_not_take_as_a_name_has_another() -> None:
    long = "an-interface-of-a-long-name"
    made = pair((), interfaces=(Interface(name=long, addresses=("10.0.0.0/31",)),))
    assert made.names == {"a": {long: "if0"}, "b": {long: "if0"}}
    assert made.leg_by_nic[NamespaceKey("a"), "if0"] == long


@pytest.mark.parametrize(
    ("stated", "made"), [((9000, UNKNOWN), (9000, 9000)), ((UNKNOWN, 9000), (9000, 9000)), ((9000, 1500), (9000, 1500))]
)
def test_an_end_of_unknown_mtu_has_that_of_the_other_end(
    stated: tuple[int | Unknown, int | Unknown], made: tuple[int, int]
) -> None:
    devices = tuple(
        Device(name=name, platform="sonic", interfaces=(Interface(name="p1", mtu_bytes=mtu_bytes),))
        for name, mtu_bytes in zip("ab", stated, strict=True)
    )
    (wire,) = plan_twin(Fabric(name="pair", mode="lossless", devices=devices, links=TWO[:1])).wires
    assert wire.b is not None
    assert (wire.a.mtu_bytes, wire.b.mtu_bytes) == made


def test_a_vrf_is_a_namespace_of_its_own() -> None:
    ports = (Interface(name="p1", addresses=("10.0.0.0/31",), vrf="Vrf1"),)
    made = pair((), interfaces=ports, loopbacks=(Loopback(name="lo", addresses=("10.1.0.1/32",)),))
    assert set(made.spaces) == {
        NamespaceKey("a"),
        NamespaceKey("a", "Vrf1"),
        NamespaceKey("b"),
        NamespaceKey("b", "Vrf1"),
    }
    assert {wire.a.space for wire in made.wires} == {NamespaceKey("a", "Vrf1"), NamespaceKey("b", "Vrf1")}
    assert made.loopbacks == [(NamespaceKey("a"), ("10.1.0.1/32",)), (NamespaceKey("b"), ("10.1.0.1/32",))]


CONF = """\
fpm address 127.0.0.1
router bgp 65001
 neighbor 10.0.0.3 route-map FOO in
 wrong thing
!
ip prefix-list A seq 5 permit 10.0.0.0/24 ge 10
route-map FOO permit 10
"""
TOLD = """\
% [ZEBRA] Unknown command: fpm address 127.0.0.1
line 1: Failure to communicate[2] to zebra, line: fpm address 127.0.0.1

% Specify remote-as or peer-group commands first
line 3: Failure to communicate[13] to bgpd, line:  neighbor 10.0.0.3 route-map FOO in

line 4: % Unknown command[25]:  wrong thing
% Configuration failed.

Error type: validation
Error description: Invalid prefix range for 10.0.0.0/24
The following commands were dynamically grouped into the same transaction and rejected:
- ip prefix-list A seq 5 permit 10.0.0.0/24 ge 10
Configuration file[/run/nodrop/n0/frr.conf] processing failure: 13
"""


def test_refused_lines_have_their_number_and_the_words_of_who_refused_them() -> None:
    assert parse_refusals(TOLD, CONF) == (
        RefusedFrrLine(1, "unknown command"),
        RefusedFrrLine(3, "Specify remote-as or peer-group commands first"),
        RefusedFrrLine(4, "unknown command"),
        RefusedFrrLine(6, "Error type: validation; Error description: Invalid prefix range for 10.0.0.0/24"),
    )


def test_a_refused_line_about_logs_or_the_asic_does_not_matter() -> None:
    assert [one.line for one in parse_refusals(TOLD, CONF) if may_refused_line_matter(one, CONF)] == [3, 4, 6]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TwinLab:
    """A lab of one device that runs no daemon; what vtysh does is what a test has `entering` do."""
    monkeypatch.setattr(daemons, "DAEMONS_FOLDER", tmp_path)
    fabric = Fabric(name="one", mode="lossless", devices=(Device(name="a", platform="sonic"),))
    return TwinLab(fabric, {"a": BootConfiguration(text="hostname a\n", daemons=(), profile="datacenter")})


def test_daemons_that_read_their_configuration_for_too_long_are_dead(
    lab: TwinLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemons, "namespace_command_prefix", lambda _: ("sh", "-c", "exec sleep 30"))
    monkeypatch.setattr(daemons, "_START_TIMEOUT_S", 0.1)
    lab.start_device_daemons("a")
    assert lab.dead == {"a": "vtysh is not done with its configuration after 0.1 s"}


def test_what_daemons_print_that_is_no_utf_8_is_replaced(lab: TwinLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemons, "namespace_command_prefix", lambda _: ("printf", r"line 1: %% bad \377\n"))
    lab.start_device_daemons("a")
    assert (lab.refused["a"], lab.dead) == ((RefusedFrrLine(1, "% bad \ufffd"),), {})


class _Told(TwinLab):
    """A lab of which only what its daemons say is known: a pulse after the other, the last for ever."""

    def __init__(self, *pulses: dict[str, int]) -> None:
        self.fabric = Fabric(name="one", mode="lossless", devices=(Device(name="a", platform="sonic", bgp=_BGP),))
        self._pulses, self.asked = list(pulses), 0
        self.plan = TwinPlan()

    running_devices = ("a",)

    def has_daemon(self, node: str, daemon: str) -> bool:
        return daemon == "bgpd"

    def pin_neighbor_entries(self) -> None:
        return

    def json_answer_of_daemon(self, node: str, command: str, daemon: str = "bgpd") -> object:
        pulse = self._pulses[min(self.asked, len(self._pulses) - 1)]
        self.asked += 1
        down = ("Active", "OpenSent")[self.asked % 2]
        peer = {"state": "Established" if pulse["up"] else down, "pfxRcd": pulse["got"], "outq": 0, "inq": 0}
        return {"default": {"ipv4Unicast": {"tableVersion": 1, "peers": {"10.0.0.1": peer}}}}


_BGP = Bgp(asn=1, neighbors=(BgpNeighbor(address="10.0.0.1", remote_asn=2),))
_SESSION = ("a", "@neighbors", "10.0.0.1")


def test_a_twin_is_waited_for_until_bgpd_has_had_the_time_to_tell_and_nothing_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    standing = clock(monkeypatch)
    lab = _Told({"up": 0, "got": 0}, {"up": 1, "got": 0}, {"up": 1, "got": 4})
    told: list[int] = []
    assert wait_until_settled(lab, {_SESSION}, patience_s=5, report_up=told.append) == SettledState(
        True, {}, moving=False
    )
    assert told == [0, 1]
    assert COALESCE_TIME_TERMS_S[0] + QUIET_PERIOD_S < standing.monotonic() < 5


def test_a_session_that_never_comes_up_is_given_up_when_nothing_has_changed_for_the_time_of_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    standing = clock(monkeypatch)
    assert wait_until_settled(_Told({"up": 0, "got": 0}), {_SESSION}, patience_s=0.5) == SettledState(
        False, {}, moving=False
    )
    assert 0.5 <= standing.monotonic() < 3


def test_a_session_that_goes_up_and_down_is_given_up_after_the_time_of_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    standing = clock(monkeypatch)
    flapping = _Told(*({"up": number % 2, "got": 0} for number in range(10_000)))
    settled = wait_until_settled(flapping, {_SESSION}, patience_s=20)
    assert settled.moving
    assert settled.unsteady.keys() == {_SESSION}
    assert settled.unsteady[_SESSION] >= MAX_SESSION_DROPS
    assert 20 <= standing.monotonic() < 30


def test_routes_that_never_stop_changing_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    standing = clock(monkeypatch)
    changing = _Told(*({"up": 1, "got": number} for number in range(10_000)))
    assert wait_until_settled(changing, {_SESSION}, patience_s=5) == SettledState(True, {}, moving=True)
    assert 5 * MAX_PATIENCE_FACTOR <= standing.monotonic() < 5 * MAX_PATIENCE_FACTOR + 3
