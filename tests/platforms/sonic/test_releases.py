"""Every release that is written: which modes it carries, what it writes otherwise, and what it cannot say at all."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.design import find_adaptations
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.intent.load import loads
from nodrop.model.fabric import CounterStream, Device, Fabric, Trimming
from nodrop.model.index import Index
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.platforms.sonic.releases import (
    DATABASE_VERSION_BY_RELEASE,
    FIRST_RELEASE_BY_FEATURE,
    MAP_WITHOUT_ENTRY_FEATURE,
    WAITING_ANNOUNCEMENTS_FEATURE,
)
from nodrop.resources import resource_folder
from support import random_values
from support.random_fabrics import alone

WRITTEN = (*DATABASE_VERSION_BY_RELEASE, "master")
MODES = {"two-by-two": "202305", "pfc-only": "202305", "lossy": "202305", "trim": "202505", "uec": "202505"}
"""Intents on SONiC, one for each mode, and the first release that carries it."""
DATABASES = {
    "202305": "version_202305_01",
    "202311": "version_202311_03",
    "202405": "version_202405_02",
    "202411": "version_202411_02",
    "202505": "version_202505_01",
    "202511": "version_202511_01",
    "202605": "version_202605_01",
    "master": "version_202605_01",
}
"""CURRENT_VERSION of sonic-utilities scripts/db_migrator.py, by branch."""


@cache
def built(intent: str, release: str) -> Fabric:
    text = (resource_folder("intents") / f"{intent}.yaml").read_text()
    for tier in ('platform: nvue, version: "5.16"', 'platform: sonic, version: "202511"'):
        text = text.replace(tier, 'platform: sonic, version: "202505"')
    assert text.count('version: "202505"') == 2
    text = text.replace('version: "202505"', f'version: "{release}"')
    return nodrop.build(loads(text.encode(), f"{intent}.yaml"))


def config(intent: str, release: str, name: str = "leaf1") -> Any:
    artifacts = nodrop.write(built(intent, release))
    return json.loads(next(one.text for one in artifacts if (one.device, one.path) == (name, "config_db.json")))


CARRIED = [(intent, release) for intent, since in MODES.items() for release in WRITTEN if release >= since]


@pytest.mark.parametrize(("intent", "release"), CARRIED)
def test_a_release_carries_a_mode_and_is_clean(intent: str, release: str) -> None:
    fabric = built(intent, release)
    artifacts = list(nodrop.write(fabric))
    assert {json.loads(one.text)["VERSIONS"]["DATABASE"]["VERSION"] for one in artifacts if "json" in one.path} == {
        DATABASES[release]
    }
    reading = nodrop.read_back(artifacts, fabric)
    assert reading.fabric.devices[0].version == ("202605" if release == "master" else release)
    verdict = nodrop.lint(reading)
    assert [(one.rule, str(one.subject)) for one in verdict.findings] == []
    assert not reading.notes


@pytest.mark.parametrize("release", [release for release in DATABASE_VERSION_BY_RELEASE if release < "202505"])
def test_trimming_is_refused_with_the_release_that_has_it(release: str) -> None:
    with pytest.raises(InputProblems) as caught:
        built("trim", release)
    assert [(one.where, one.found, one.expected, one.hint) for one in caught.value.problems] == [
        (
            f"topology.{tier}.version",
            f"SONiC {release} does not trim packets",
            "202505 or later",
            "or mode: lossy",
        )
        for tier in ("spines", "leaves")
    ]


@pytest.mark.parametrize("release", WRITTEN)
def test_a_port_without_pfc_has_empty_lists_where_the_release_takes_them(release: str) -> None:
    row = config("lossy", release)["PORT_QOS_MAP"]["Ethernet0"]
    stated = {field: row[field] for field in ("pfc_enable", "pfcwd_sw_enable") if field in row}
    assert stated == ({} if release < "202505" else {"pfc_enable": "", "pfcwd_sw_enable": ""})


@pytest.mark.parametrize("release", WRITTEN)
def test_pools_have_shares_where_the_release_knows_them(release: str) -> None:
    pools = config("two-by-two", release)["BUFFER_POOL"]
    shares = {name: row["percentage"] for name, row in pools.items() if "percentage" in row}
    stated = {"egress_lossy_pool": "10", "ingress_lossless_pool": "90", "ingress_lossy_pool": "10"}
    assert shares == ({} if release < "202405" else stated)


def test_pools_without_shares_are_noted_and_even() -> None:
    text = (
        (resource_folder("intents") / "two-by-two.yaml").read_text().replace('version: "202505"', 'version: "202311"')
    )
    notes = find_adaptations(loads(text.encode(), "x.yaml"))
    assert {(one.path, one.reason) for one in notes} >= {
        ("leaf*/@buffer_pools/*", "SONiC shares its memory evenly among pools before 202405")
    }
    sizes = {pool.name: pool.size_bytes for pool in built("two-by-two", "202311").device("leaf1").buffer_pools}
    assert sizes["ingress_lossless"] == sizes["ingress_lossy"] == sizes["egress_lossy"]


@pytest.mark.parametrize("release", WRITTEN)
def test_marks_are_counted_where_orchagent_counts_them(release: str) -> None:
    """The YANG models have the two groups since 202305, orchagent/flexcounterorch.cpp since 202505."""
    groups = config("two-by-two", release)["FLEX_COUNTER_TABLE"]
    of_marks = {"WRED_ECN_PORT", "WRED_ECN_QUEUE"} & groups.keys()
    assert of_marks == (set() if release < "202505" else {"WRED_ECN_PORT", "WRED_ECN_QUEUE"})
    assert {row["FLEX_COUNTER_STATUS"] for row in groups.values()} == {"enable"}


def test_marks_that_are_not_counted_are_noted() -> None:
    text = (
        (resource_folder("intents") / "two-by-two.yaml").read_text().replace('version: "202505"', 'version: "202411"')
    )
    assert {one.path for one in find_adaptations(loads(text.encode(), "x.yaml"))} == {
        "leaf*/@counters",
        "spine*/@counters",
    }


@pytest.mark.parametrize("release", WRITTEN)
@pytest.mark.parametrize(("intent", "since"), [("broadcom", "202511"), ("two-by-two", None)])
def test_a_history_of_pauses_is_kept_where_the_release_and_the_asic_have_one(
    intent: str, since: str | None, release: str
) -> None:
    """Of all ASICs, orchagent/pfc_detect_broadcom.lua alone estimates one, since 202511."""
    rows = config(intent, release)["PFC_WD"]
    kept = {row.get("pfc_stat_history") for port, row in rows.items() if port != "GLOBAL"}
    assert kept == ({"enable"} if since and release >= since else {None})


@pytest.mark.parametrize("release", WRITTEN)
def test_polling_is_bounded_by_the_release(release: str) -> None:
    most = 3000 if release < "202511" else 1000
    assert traits_of_platform("sonic", release).watchdog.polling_ms == (100, most)


@pytest.mark.parametrize("release", WRITTEN)
def test_time_comes_from_one_interface_as_text(release: str) -> None:
    """The templates of ntpd and chronyd ask the text how it begins, and fail on a list."""
    assert config("rail-256", release)["NTP"]["global"]["src_intf"] == "eth0"


QOS = "interfaces/0/qos"
NEEDED = [
    # what, where, value, path
    ("name servers", "dns_servers", ("192.0.2.53",), "dns_servers"),
    ("fields of the hash", "hash_fields", ("dst-ip", "src-ip"), "hash_fields"),
    ("FEC mode auto", "interfaces/0/fec", "auto", "interfaces/Ethernet0/fec"),
    ("speeds above 800G", "interfaces/0/speed_mbps", 1_600_000, "interfaces/Ethernet0/speed_mbps"),
    (
        "speeds above 800G",
        "interfaces/0/advertised_speeds_mbps",
        (400_000, 1_600_000),
        "interfaces/Ethernet0/advertised_speeds_mbps",
    ),
    ("a pool's percentage", "buffer_pools/1/percentage", 5, "buffer_pools/egress_lossy/percentage"),
    ("a pool of both directions", "buffer_pools/1/direction", "both", "buffer_pools/egress_lossy/direction"),
    ("a map of traffic classes to DSCPs", f"{QOS}/tc_to_dscp", (1,) * 16, f"{QOS}/tc_to_dscp"),
    ("queues 8 and 9", f"{QOS}/tc_to_queue", (9,) * 16, f"{QOS}/tc_to_queue"),
    (MAP_WITHOUT_ENTRY_FEATURE, f"{QOS}/pfc_to_queue", (None,) * 8, f"{QOS}/pfc_to_queue"),
    (WAITING_ANNOUNCEMENTS_FEATURE, "bgp/suppress_fib_pending", True, "bgp/suppress_fib_pending"),
    (
        "packet trimming",
        "trimming",
        Trimming(size_bytes=256, dscp=1, tc=None, queue=1),
        "trimming",
    ),
    (
        "a packet's discard action",
        f"{QOS}/queues/0/buffer/discard",
        "trim",
        f"{QOS}/queues/0/buffer/discard",
    ),
    (
        "high-frequency telemetry",
        "high_frequency",
        (CounterStream(name="queues", enabled=True, interval_us=10_000),),
        "high_frequency",
    ),
    (
        "a history of pauses",
        f"{QOS}/pfc_watchdog/history",
        True,
        f"{QOS}/pfc_watchdog/history",
    ),
]


def test_everything_that_is_not_in_all_releases_is_tried() -> None:
    """Lists without priorities are spelt otherwise, and refused nowhere; others have tests of their own."""
    elsewhere = {"PFC without priorities", "hashes of the IPv6 flow label", "routing in tables"}
    elsewhere |= {"modes of a golden configuration", "separated routing in frr.conf", "weighted paths"}
    assert {what for what, *_ in NEEDED} | elsewhere == set(FIRST_RELEASE_BY_FEATURE)


@pytest.mark.parametrize("release", DATABASE_VERSION_BY_RELEASE)
def test_the_flow_label_is_hashed_where_the_release_knows_it(release: str) -> None:
    device = replace(built("two-by-two", release).device("leaf1"), hash_fields=("dst-ip", "ipv6-flow-label"))
    try:
        said = json.loads(platforms.writer_of_platform("sonic").write(device, Index(alone(device)))[0].text)[
            "SWITCH_HASH"
        ]["GLOBAL"]
    except UnsupportedByPlatform as refused:
        said = str(refused)
    assert said == (
        f"hash_fields: SONiC has fields of the hash since 202311, and this is {release}"
        if release < "202311"
        else f"hash_fields: SONiC has hashes of the IPv6 flow label since 202505, and this is {release}"
        if release < "202505"
        else {"ecmp_hash": ["DST_IP", "IPV6_FLOW_LABEL"]}
    )


def test_services_are_written_read_and_found() -> None:
    text = (
        (resource_folder("intents") / "two-by-two.yaml")
        .read_text()
        .replace("routing: {asn", "routing: {hash: [src-ip, dst-ip], asn")
    )
    text += 'services: {dns: [192.0.2.54, 192.0.2.53], snmp: {location: "row 4, \\"left\\"", contact: noc}}\n'
    fabric = nodrop.build(loads(text.encode(), "x.yaml"))
    artifacts = list(nodrop.write(fabric))
    tables = json.loads(artifacts[0].text)
    assert list(tables["DNS_NAMESERVER"]) == ["192.0.2.53", "192.0.2.54"]
    assert tables["SNMP"] == {"CONTACT": {"Contact": "noc"}, "LOCATION": {"Location": 'row 4, "left"'}}
    assert tables["SWITCH_HASH"] == {"GLOBAL": {"ecmp_hash": ["DST_IP", "SRC_IP"]}}
    assert not [table for table in tables if "COMMUNITY" in table]
    device = nodrop.read_back(artifacts, fabric).fabric.device("leaf1")
    assert device.dns_servers == ("192.0.2.53", "192.0.2.54")
    assert (device.snmp_location, device.snmp_contact) == ('row 4, "left"', "noc")
    assert device.hash_fields == ("dst-ip", "src-ip")


@pytest.mark.parametrize(
    ("release", "added", "said"),
    [
        ("202305", "services: {dns: [192.0.2.53]}", ("SONiC 202305 knows no name servers", "202311 or later")),
        (
            "202505",
            "services: {dns: [192.0.2.1, 192.0.2.2, 192.0.2.3, 192.0.2.4]}",
            ("4 name servers", "at most 3, all that SONiC 202505 takes"),
        ),
        ("202305", "hash: [src-ip]", ("SONiC 202305 does not hash by src-ip", "202311 or later")),
        ("202411", "hash: [ipv6-flow-label]", ("SONiC 202411 does not hash by ipv6-flow-label", "202505 or later")),
    ],
)
def test_services_that_a_release_lacks_are_refused(release: str, added: str, said: tuple[str, str]) -> None:
    text = (
        (resource_folder("intents") / "two-by-two.yaml")
        .read_text()
        .replace('version: "202505"', f'version: "{release}"')
    )
    if added.startswith("hash"):
        text = text.replace("routing: {asn", f"routing: {{{added}, asn")
    else:
        text += f"{added}\n"
    with pytest.raises(InputProblems) as caught:
        nodrop.build(loads(text.encode(), "x.yaml"))
    assert {(one.found, one.expected) for one in caught.value.problems} == {said}


@pytest.mark.parametrize("release", DATABASE_VERSION_BY_RELEASE)
@pytest.mark.parametrize(("what", "where", "value", "path"), NEEDED)
def test_what_a_release_lacks_is_refused(release: str, what: str, where: str, value: Any, path: str) -> None:
    device = random_values.replaced(
        replace(built("two-by-two", "202305").device("leaf1"), version=release),
        tuple(int(step) if step.isdecimal() else step for step in where.split("/")),
        value,
    )
    assert isinstance(device, Device)
    try:
        platforms.writer_of_platform("sonic").write(device, Index(alone(device)))
        said = ""
    except UnsupportedByPlatform as refused:
        said = str(refused)
    since = FIRST_RELEASE_BY_FEATURE[what]
    lacks = f"{path.replace('/0/', '/Ethernet0/', 1)}: SONiC has {what} since {since}, and this is {release}"
    assert (said == lacks) == (release < FIRST_RELEASE_BY_FEATURE[what]), said


@pytest.mark.parametrize(("intent", "release"), CARRIED)
def test_marking_states_its_flag_on_every_color(intent: str, release: str) -> None:
    """Left out, a flag is what the SAI makes of it; pfc-only marks no lossless class, so it has no profile."""
    profiles = config(intent, release).get("WRED_PROFILE", {})
    assert list(profiles) == {"two-by-two": ["AZURE_LOSSLESS"], "pfc-only": []}.get(intent, ["AZURE_LOSSY"])
    for row in profiles.values():
        assert row["ecn"] == "ecn_all"
        assert {row[f"wred_{color}_enable"] for color in ("green", "yellow", "red")} == {"true"}


@pytest.mark.parametrize("intent", ["lossy", "trim"])
def test_marking_without_pfc_begins_where_shipped_skus_have_it(intent: str) -> None:
    """Bytes of Mellanox-SN5640-C512S2 and Arista-7060X6-64PE-B-C512S2 (sonic-buildimage device/)."""
    row = config(intent, "202505")["WRED_PROFILE"]["AZURE_LOSSY"]
    assert (row["green_min_threshold"], row["green_max_threshold"]) == ("166912", "282624")


@pytest.mark.parametrize(("intent", "release"), [pair for pair in CARRIED if pair[0] in ("two-by-two", "pfc-only")])
def test_a_storm_is_looked_at_twice_before_it_is_one(intent: str, release: str) -> None:
    for name in ("leaf1", "spine1"):
        watched = config(intent, release, name)["PFC_WD"]
        polling = int(watched.pop("GLOBAL")["POLL_INTERVAL"])
        assert watched
        assert all(
            2 * polling <= int(row["detection_time"]) <= int(row["restoration_time"]) for row in watched.values()
        )
