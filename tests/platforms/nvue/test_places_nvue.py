"""Where facts stand in NVUE's files: altering the text there alters that fact, and a missing part has a near place."""

import re
from functools import cache
from typing import Any

import pytest

from nodrop import platforms
from nodrop.model.compare import differences
from nodrop.model.fabric import Device
from nodrop.model.reading import FilePlace
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject, parse_subject
from support import random_values
from support.nvue_startup import FILE, read, state
from support.places import TESTS

LEAF = "leaf1"


@cache
def full() -> str:
    """A file that says everything: tests/platforms/nvue/full.yaml."""
    return (TESTS / "platforms" / "nvue" / "full.yaml").read_text()


@cache
def device() -> Device:
    reading = read(full())
    assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
    return reading.device


def where(subject: Subject, text: str | None = None) -> FilePlace | None:
    return platforms.make_place_finder("nvue", {FILE: (full() if text is None else text).encode()})((LEAF, *subject))


def cut(place: FilePlace, text: str | None = None) -> str:
    """The text at a place, which is within one line."""
    span = place.span
    assert span.line == span.end_line
    return (full() if text is None else text).split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def with_text(place: FilePlace, new: str) -> str:
    """The file with other text at a place."""
    lines = full().split("\n")
    line, span = lines[place.span.line - 1], place.span
    lines[span.line - 1] = line[: span.column - 1] + new + line[span.end_column - 1 :]
    return "\n".join(lines)


OTHER_WORDS = {
    "on": "off",
    "off": "on",
    "up": "down",
    "rs": "baser",
    "400G": "200G",
    "enable": "disable",
    "disable": "enable",
    "enabled": "disabled",
    "both": "port",
    "l3": "l2",
    "dwrr": "strict",
    "strict": "dwrr",
    "lossless": "lossy",
    "permit": "deny",
    "external": "internal",
    "SN5600": "SN4700",
    "IN": "OUT",
    "OUT": "IN",
    "mgmt": "default",
    "2x": "4x",
    "blackhole": "10.1.0.1",
}


def otherwise(text: str) -> str:
    """Another text that could stand there: another word, or the number one more."""
    inner = text.strip("'")
    if inner in OTHER_WORDS:
        return OTHER_WORDS[inner]
    number = re.fullmatch(r"(.*?)(\d+)(/\d+|G)?", inner)
    other = f"{number[1]}{int(number[2]) + 1 if inner != '6' else 5}{number[3] or ''}" if number else f"{inner}x"
    return f"'{other}'" if text.startswith("'") else other


def subject_of(name: str) -> Subject:
    """The subject of a part of a device that is spelt as the path of its model."""
    parts = tuple(part.replace("%2F", "/") for part in name.split("/"))
    if parts[0] == "interfaces":
        return parts[1:]
    return ("@neighbors", *parts[2:]) if parts[:2] == ("bgp", "neighbors") else (f"@{parts[0]}", *parts[1:])


NOT_SAID = re.compile(
    r"name|platform|interfaces|bgp|bgp/neighbors|extra.*|port_channels|vlans|vlans/[0-9]+/members"
    r"|.*/(name|index|sequence|group|family|address|interface|key|port|id)"  # what a row is called, not what it says
    r"|interfaces/swp3s1.*|interfaces/swp[123].*/(autoneg|fec|enabled|mtu_bytes)/.*"
    r"|interfaces/swp3s0/(enabled|fec|autoneg|mtu_bytes)"  # true without a word
    r"|buffer_model|.*/neighbors/swp2/(enabled|bfd|active)|bgp/default_ipv4_unicast|.*/computed"
    r"|interfaces/swp[12]/(lanes|port/.*)|interfaces/.*/port/.*"
    r"|management/interface|.*/discard|.*/(pool|direction|mode)"
    r"|.*/(size_bytes|dynamic_th|static_th_bytes)|.*/qos/(ingress|egress)_buffers"
    r"|interfaces/swp3s0/qos|dynamic_buffers|dynamic_buffers/.*|buffer_pools/.*/shared_headroom_bytes"
    r"|.*/pfc_to_queue/.*|.*/tc_to_queue/.*|.*/dscp_to_tc/.*|.*/pcp_to_tc/.*|.*/tc_to_dscp/.*"  # one by one below
    r"|.*/tc_to_priority_group/.*|.*/pfc_to_priority_group/.*|.*/priority_groups/0.*|.*/queues/0/buffer.*"
    r"|.*/otlp_collectors.*|.*/gnmi_port|.*/wred/(yellow|red)/.*|.*/sets|.*/buffer|.*/headroom"
    r"|version|otlp_collectors.*|gnmi_port|routing_tables"
    r"|interfaces/swp(1|2|3s0)/macsec"  # no setting says it
    r"|interfaces/swp(1|3s[01])/adaptive_routing"  # no port unless it is said
    r"|dual_tor|vlans/10/enabled"  # known absence, and a VLAN in which the switch has no interface
)


def facts() -> dict[str, Any]:
    """Every fact of the file that is known and there, by its path."""
    found = {}
    for path, _ in random_values.fields(device()):
        value = random_values.at(device(), path)
        name = random_values.named(device(), path)
        if not isinstance(value, Unknown) and value is not None and value != ():
            found[name] = value
    return found


SAID = [name for name in facts() if not NOT_SAID.fullmatch(name)]


def alters(name: str, found: str) -> bool:
    """Whether a difference at `found` is one of the fact `name`, or of the part that it is in."""
    return found == name or found.startswith(f"{name}/") or name.startswith(f"{found}/")


@pytest.mark.parametrize("name", SAID)
def test_other_text_at_the_place_is_another_fact(name: str) -> None:
    place = where(subject_of(name))
    assert place is not None
    text = cut(place)
    changed = read(with_text(place, otherwise(text))).device
    found = ["/".join(part.replace("/", "%2F") for part in one.path) for one in differences(device(), changed)]
    assert any(alters(name, one) for one in found), f"{text} became {otherwise(text)} and gave {found}"


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("", "leaf1"),
        ("@model", "SN5600"),
        ("@version", "Cumulus Linux 5.14.0"),
        ("@hash_seed", "7"),
        ("@watchdog_polling_ms", "200"),
        ("@buffer_pools/ingress_lossless/percentage", "80"),
        ("@buffer_pools/egress_lossy/percentage", "20"),
        ("@dynamic_buffers", "lossless"),
        ("@trimming/size_bytes", "512"),
        ("@loopbacks/lo/addresses/0", "10.0.0.1/32"),
        ("@management/gateway", "192.0.2.254"),
        ("@management/own_vrf", "mgmt"),
        ("@ntp_servers/1", "192.0.2.11"),
        ("@syslog_servers/0", "192.0.2.20"),
        ("@bgp", "bgp"),
        ("@bgp/asn", "65001"),
        ("@bgp/networks/1", "10.2.0.0/24"),
        ("@bgp/prefix_lists/OWN", "OWN"),
        ("@bgp/route_maps/IN/rules/10/matches", "match"),
        ("@neighbors/10.1.0.1", "10.1.0.1"),
        ("@neighbors/10.1.0.1/import_policy", "IN"),
        ("@neighbors/swp2/remote_asn", "external"),
        ("@static_routes/0", "blackhole"),
        ("swp1", "swp1"),
        ("swp3s1", "swp3s0-1"),
        ("swp1/description", "gpu1:nic1"),
        ("swp1/enabled", "up"),
        ("swp1/addresses/1", "2001:db8::1/127"),
        ("swp1/qos", "qos"),
        ("swp1/qos/trust", "both"),
        ("swp1/qos/dscp_to_tc/26", "3"),
        ("swp1/qos/dscp_to_tc/40", "0"),
        ("swp1/qos/pcp_to_tc/3", "1"),
        ("swp1/qos/tc_to_queue/2", "0"),
        ("swp1/qos/tc_to_dscp/3", "27"),
        ("swp1/qos/pfc_priorities", "'3'"),
        ("swp1/qos/pfc_watchdog", "enable"),
        ("swp1/qos/pfc_watchdog/detection_ms", "200"),
        ("swp2/qos/pfc_watchdog", "cable-30m"),
        ("swp1/qos/priority_groups/3/buffer/headroom/xoff_bytes", "'3'"),
        ("swp1/qos/queues/3/scheduler/weight", "60"),
        ("swp1/qos/queues/3/wred/green/min_bytes", "140000"),
        ("swp2/qos/queues/1/wred/green/min_bytes", "110000"),
        ("swp2/qos/queues/6/scheduler/peak_bytes_per_s", "20000000"),
        ("swp1/cable_length_m", "50"),
        ("swp2/cable_length_m", "30"),
        ("swp3s0/lanes", "'2'"),
        ("swp99", "leaf1"),
        ("nothing/of/ours", "leaf1"),
    ],
)
def test_the_text_at_a_place(subject: str, text: str) -> None:
    place = where(parse_subject(subject) if subject else ())
    assert place is not None
    assert (place.file, cut(place)) == (FILE, text)


ROUTED = """
router:
  bgp: {autonomous-system: 65001, enable: on}
  policy:
    as-path-list: {OWN: {rule: {'10': {action: permit, aspath-exp: .*}}}}
vrf:
  default:
    router:
      bgp:
        enable: on
        address-family:
          ipv4-unicast: {enable: on, redistribute: {connected: {enable: on, route-map: A}, static: {enable: on}}}
        path-selection: {routerid-compare: on}
        neighbor: {10.0.0.1: {remote-as: 65003, multihop-ttl: 7}}
  RED:
    router:
      bgp:
        autonomous-system: 65100
        enable: on
        neighbor:
          10.0.0.1:
            remote-as: 65002
            update-source: lo
            multihop-ttl: 3
            address-family: {ipv6-unicast: {enable: on, policy: {inbound: {prefix-list: SIX}}}}
"""


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("@bgp/redistributions/ipv4-connected/policy", "A"),
        ("@bgp/redistributions/ipv4-static", "static"),
        ("@bgp/redistributions/ipv6-static", "bgp"),
        ("@bgp/compare_router_id", "on"),
        ("@bgp/as_path_lists/OWN", "OWN"),
        ("@neighbors/10.0.0.1/ebgp_multihop", "7"),
        ("@vrf_bgp/RED/asn", "65100"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1", "10.0.0.1"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1/remote_asn", "65002"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1/update_source", "lo"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1/ebgp_multihop", "3"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1/ipv6/import_prefix_list", "SIX"),
        ("@vrf_bgp/RED/router_id", "bgp"),
        ("@vrf_bgp/BLUE", "bgp"),
    ],
)
def test_the_text_of_routing_in_several_vrfs(subject: str, text: str) -> None:
    document = state(ROUTED)
    place = where(parse_subject(subject), document)
    assert place is not None
    assert cut(place, document) == text


def test_what_the_macro_does_stands_at_its_mode() -> None:
    macro = state("interface:\n  swp1-32: {type: swp}\nqos:\n  roce:\n    enable: on\n    mode: lossless")
    for subject in ("swp7/qos/pfc_priorities", "swp7/qos/dscp_to_tc/25", "swp7/qos/queues/0/wred"):
        place = where(parse_subject(subject), macro)
        assert place is not None
        assert cut(place, macro) == "lossless"


def test_the_later_of_two_sets_is_the_place() -> None:
    text = "- set:\n    interface:\n      swp1-4: {link: {mtu: 1500}}\n"
    text += "- set:\n    interface:\n      swp2: {link: {mtu: 9000}}\n"
    places = {name: where((name, "mtu_bytes"), text) for name in ("swp1", "swp2")}
    assert {name: (place.span.line, cut(place, text)) for name, place in places.items() if place} == {
        "swp1": (3, "1500"),
        "swp2": (6, "9000"),
    }


def test_places_in_lines_of_nv_set() -> None:
    text = "nv set interface swp1-4 link mtu 1500\nnv set interface swp2 link mtu 9000\nnv set qos roce mode lossy\n"
    found = {
        name: where(parse_subject(name), text)
        for name in ("swp1/mtu_bytes", "swp2/mtu_bytes", "swp3", "swp1/qos/trust")
    }
    assert {name: (place.span.line, cut(place, text)) for name, place in found.items() if place} == {
        "swp1/mtu_bytes": (1, "1500"),
        "swp2/mtu_bytes": (2, "9000"),
        "swp3": (1, "swp1-4"),
        "swp1/qos/trust": (3, "lossy"),
    }


@pytest.mark.parametrize("text", ["", "- 5", "[", "- set: x", "nv set", "{"])
def test_a_file_that_cannot_be_read_has_no_places(text: str) -> None:
    assert where(("swp1", "mtu_bytes"), text) is None


CONDITIONS = """qos:
  pfc-watchdog:
    polling-interval: 400
    rx-pause-duration: {multiplier: 5000}
    rx-pause-threshold: 7
    transmit-queue-threshold: {percent: 10, state: enabled}
    tx-frames-threshold: {state: disabled}
"""


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("", "5000"),
        ("pause_ten_thousandths", "5000"),
        ("queue_percent", "10"),
        ("sent_frames", "disabled"),
        ("recovery_pause_frames", "7"),
    ],
)
def test_conditions_of_the_watchdog_stand_where_they_are_stated(field: str, text: str) -> None:
    stated = state(CONDITIONS, "5.19.0")
    place = where(parse_subject(f"@watchdog_conditions/{field}".rstrip("/")), stated)
    assert place is not None
    assert cut(place, stated) == text
