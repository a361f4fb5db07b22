"""IPv6 and sessions over interfaces: what is built, where it stands in the files, and links found by its subnets."""

from functools import cache

import pytest

import nodrop
from nodrop import platforms
from nodrop.collect import read_artifacts
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Device, End, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.reading import CableEvidence, DeviceReading
from nodrop.model.routing import BgpNeighbor, Ipv6Unicast
from nodrop.model.subject import Subject
from nodrop.platforms.kit.artifact import Artifact
from support.designs import build, shipped


@cache
def fabric(name: str) -> Fabric:
    return build(shipped(name))


def session(name: str, device: str, key: str) -> BgpNeighbor:
    (found,) = (one for one in fabric(name).device(device).bgp.neighbors if one.key == key)  # type: ignore[union-attr]
    return found


def port(name: str, device: str, interface: str) -> Interface:
    (found,) = (one for one in fabric(name).device(device).interfaces if one.name == interface)
    return found


CARRIED = Ipv6Unicast(active=True, import_policy="FABRIC6-IN", export_policy="FABRIC6-OUT")


def test_a_link_of_both_families_has_a_session_of_each() -> None:
    assert port("dual-stack", "leaf1", "Ethernet224").addresses == ("10.1.1.224/31", "fd00:1:0:1::e8/127")
    assert port("dual-stack", "spine1", "Ethernet0").addresses == ("10.1.1.225/31", "fd00:1:0:1::e9/127")
    old, new = session("dual-stack", "leaf1", "10.1.1.225"), session("dual-stack", "leaf1", "fd00:1:0:1::e9")
    assert (old.active, old.import_policy, old.export_policy) == (True, "FABRIC-IN", "FABRIC-OUT")
    assert old.ipv6 == Ipv6Unicast()
    assert (new.active, new.import_policy, new.export_policy, new.ipv6) == (False, None, None, CARRIED)
    assert {one.remote_asn for one in (old, new)} == {4200000000}


def test_a_leaf_announces_a_64_and_keeps_it_up() -> None:
    leaf = fabric("dual-stack").device("leaf2")
    assert leaf.bgp.networks == ("10.0.0.2/32", "10.2.2.0/24", "fd00:2:0:2::/64", "fd00::2/128")  # type: ignore[union-attr]
    assert {route.prefix for route in leaf.static_routes} == {"10.2.2.0/24", "fd00:2:0:2::/64"}  # type: ignore[union-attr]
    assert fabric("dual-stack").hosts[0].ports[0].addresses == ("10.2.1.1/31", "fd00:2:0:1::9/127")


def test_routes_of_sessions_between_addresses_go_by_addresses_that_are_resolved() -> None:
    """SONiC drops link-local neighbors of a port that is not told to route by them."""
    for name, expected in (("dual-stack", {("ipv6 next-hop", "prefer-global")}), ("unnumbered", set())):
        (policy,) = (one for one in fabric(name).device("leaf1").bgp.route_maps if one.name == "FABRIC6-IN")  # type: ignore[union-attr]
        for rule in policy.rules:
            assert {one for one in rule.sets if one[0] == "ipv6 next-hop"} == expected


def test_sessions_over_interfaces_carry_both_families() -> None:
    uplink = port("unnumbered", "leaf1", "Ethernet224")
    assert (uplink.addresses, uplink.link_local) == ((), True)
    assert not port("unnumbered", "leaf1", "Ethernet0").link_local
    one = session("unnumbered", "leaf1", "Ethernet224")
    assert (one.interface, one.address, one.active, one.import_policy) == ("Ethernet224", None, True, "FABRIC-IN")
    assert (one.ipv6, one.remote_asn) == (CARRIED, 4200000000)


def test_without_ipv4_the_router_id_is_that_of_the_out_of_band_port() -> None:
    pools = {f"addressing.{key}": f"fd00:{n}::/48" for n, key in enumerate(("loopbacks", "links", "endpoints"))}
    made = build(shipped("two-by-two", pools))
    assert {one.name: one.bgp.router_id for one in made.devices} == {  # type: ignore[union-attr]
        "leaf1": "192.168.100.1",
        "leaf2": "192.168.100.2",
        "spine1": "192.168.100.65",
        "spine2": "192.168.100.66",
    }
    assert made.device("leaf1").bgp.maximum_paths is None  # type: ignore[union-attr]


# --- places


@cache
def files(name: str) -> dict[str, str]:
    device = fabric(name).device("leaf1")
    return {one.path: one.text for one in platforms.writer_of_platform("sonic").write(device, Index(fabric(name)))}


def read(texts: dict[str, str]) -> Device:
    artifacts = [Artifact(device="leaf1", path=path, text=text) for path, text in texts.items()]
    (reading,) = read_artifacts(artifacts, {"leaf1": "sonic"}, "")
    return reading.device


NEW, OVER = ("@neighbors", "fd00:1:0:1::e9"), ("@neighbors", "Ethernet224")


@pytest.mark.parametrize(
    ("name", "subject", "said"),
    [
        ("dual-stack", (*NEW, "ipv6", "import_policy"), "neighbor SPINES-IPV6 route-map FABRIC6-IN in"),
        ("dual-stack", (*NEW, "ipv6", "active"), "neighbor SPINES-IPV6 activate"),
        ("dual-stack", ("@bgp", "networks", "2"), "network fd00:2:0:1::/64"),
        ("dual-stack", ("Ethernet224", "addresses", "1"), '"Ethernet224|fd00:1:0:1::e8/127"'),
        ("unnumbered", (*OVER, "import_policy"), "neighbor SPINES route-map FABRIC-IN in"),
        ("unnumbered", (*OVER, "ipv6", "import_policy"), "neighbor SPINES route-map FABRIC6-IN in"),
        ("unnumbered", (*OVER, "ipv6", "export_policy"), "neighbor SPINES route-map FABRIC6-OUT out"),
        ("unnumbered", (*OVER, "remote_asn"), "neighbor Ethernet224 interface remote-as 4200000000"),
        ("unnumbered", ("@bgp", "maximum_paths"), "maximum-paths 32"),
        ("unnumbered", ("@bgp", "maximum_paths_ipv6"), "maximum-paths 32"),
        ("unnumbered", ("Ethernet224", "link_local"), '"enable"'),
    ],
)
def test_where_it_stands(name: str, subject: Subject, said: str) -> None:
    texts = files(name)
    place = platforms.make_place_finder("sonic", {path: text.encode() for path, text in texts.items()})(
        ("leaf1", *subject)
    )
    assert place is not None
    lines = texts[place.file].split("\n")
    line = lines[place.span.line - 1]
    assert line[place.span.column - 1 : place.span.end_column - 1] == said
    lines[place.span.line - 1] = "!" if place.file == "frr.conf" else line.replace(said, '"disable"')
    if subject[0] != "Ethernet224" or subject[1] == "link_local":
        assert read({**texts, place.file: "\n".join(lines)}) != read(texts)


def test_the_families_equal_paths_stand_each_in_its_own() -> None:
    texts = files("unnumbered")
    find = platforms.make_place_finder("sonic", {path: text.encode() for path, text in texts.items()})
    old, new = (find(("leaf1", "@bgp", field)) for field in ("maximum_paths", "maximum_paths_ipv6"))
    assert old is not None
    assert new is not None
    assert old.span.line < new.span.line


# --- links of foreign switches


def two(one: tuple[str, ...], other: tuple[str, ...], *cables: CableEvidence) -> tuple[tuple[str, str], ...]:
    """The links between two switches whose only ports have these addresses, the first with a table of neighbors."""
    readings = [
        DeviceReading(
            device=Device(name=name, platform="sonic", interfaces=(Interface(name="Ethernet0", addresses=addresses),)),
            cables=cables if name == "a" else (),
        )
        for name, addresses in (("a", one), ("b", other))
    ]
    links = assemble_fabric(readings, DeclaredFacts()).fabric.links
    return tuple((str(link.a), str(link.b)) for link in links)


JOINED = (("a:Ethernet0", "b:Ethernet0"),)


@pytest.mark.parametrize(
    ("one", "other", "links"),
    [
        (("fd00::2/127",), ("fd00::3/127",), JOINED),
        (("fd00::5/126",), ("FD00:0::6/126",), JOINED),
        (("10.0.0.0/31", "fd00::2/127"), ("10.0.0.1/31", "fd00::3/127"), JOINED),
        (("fd00::2/127",), ("fd00::4/127",), ()),
        (("fd00::2/64",), ("fd00::3/64",), ()),
        (("fd00::2/31",), ("fd00::3/31",), ()),
        (("fe80::2/127",), ("fe80::3/127",), ()),
        (("fd00::2/127",), ("fd00::x/127",), ()),
    ],
)
def test_links_are_found_by_their_subnets(one: tuple[str, ...], other: tuple[str, ...], links: object) -> None:
    assert two(one, other) == links


def test_links_without_addresses_are_found_by_the_table_of_neighbors() -> None:
    cable = CableEvidence(local_port="Ethernet0", remote=End("b", "Ethernet0"), evidence="DEVICE_NEIGHBOR")
    assert two((), (), cable) == JOINED
    assert two((), ()) == ()


def test_an_unnumbered_fabric_is_read_with_its_cables_where_nobody_states_them() -> None:
    artifacts = [one for one in nodrop.write(fabric("unnumbered")) if one.device]
    readings = list(read_artifacts(artifacts, dict.fromkeys(("leaf1", "leaf2", "spine1", "spine2"), "sonic"), ""))
    found = {(link.a, link.b) for link in assemble_fabric(readings, DeclaredFacts()).fabric.links}
    assert {(link.a, link.b) for link in fabric("unnumbered").links} <= found
