"""What headroom from tables is compared with, and the reason where it is not."""

import pytest

from nodrop.engine.rules import shipped_rules as shipped_rules
from nodrop.engine.unknowns import advise_on_missing_fact
from nodrop.engine.verdicts import judge
from nodrop.engine.vocabulary.headroom import (
    computed_headroom_bytes,
    computed_headroom_source,
    headroom_chosen_by_switch_bytes,
    headroom_for_slow_peer_bytes,
    headroom_needed_bytes,
    headroom_source,
    model_of_peer,
    takes_table_row,
)
from nodrop.hardware.bounds import XoffBounds, find_xoff_bounds, sku_xoff_bytes
from nodrop.model.buffers import BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.qos import PriorityGroup
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN, UnknownFact
from nodrop.model.values import replace_fields
from support.designs import build, port, shipped
from support.small_fabrics import LOSSLESS

FABRIC = build(shipped("broadcom"))
LEAF, PORT = FABRIC.device("leaf1"), port(FABRIC, "leaf1", "Ethernet224")
O128, P28O72, C512S2 = (f"Arista-7060X6-64PE-B-{name}" for name in ("O128", "P28O72", "C512S2"))


def th5(hwsku: str) -> Device:
    return replace_fields(LEAF, model="7060X6-64PE-B", hwsku=hwsku)


@pytest.mark.parametrize(
    ("hwsku", "speed_mbps", "length_m", "xoff"),
    [
        (O128, 400_000, 40, 445_770),
        (O128, 800_000, 40, 830_580),
        (P28O72, 800_000, 40, 830_580),
        (P28O72, 400_000, 5, 425_958),
        (O128, 800_000, 301, None),
        (C512S2, 100_000, 5, None),
    ],
)
def test_other_hwskus_count_where_a_table_has_no_row(
    hwsku: str, speed_mbps: int, length_m: int, xoff: int | None
) -> None:
    """P32V128 has 830580 at 800G, P32O64 more; rows of 100G are in tables of HWSKUs without ports of 100G alone."""
    assert sku_xoff_bytes(th5(hwsku), speed_mbps, length_m) == xoff


@pytest.mark.parametrize(
    ("device", "missing", "settled"),
    [
        (
            th5(O128),
            f"a headroom row of {O128} for 800G and 400 m",
            "a HWSKU whose table has that row: `nodrop hardware MODEL` lists them",
        ),
        (
            replace_fields(LEAF, model="Other", hwsku=None),
            "device.model",
            "models of devices: state them under models in fabric.yaml",
        ),
    ],
)
def test_the_reason_is_what_is_missing(device: Device, missing: str, settled: str) -> None:
    far = replace_fields(PORT, name="Ethernet999", speed_mbps=800_000, cable_length_m=400)
    with pytest.raises(UnknownFact) as raised:
        headroom_needed_bytes(device, far, index=Index(FABRIC))
    assert str(raised.value) == missing
    assert advise_on_missing_fact(missing) == settled


def facing(model: object, speed_mbps: object) -> int | None:
    """Return what a port of leaf1 needs in front of spine1, if that is of this model."""
    devices = tuple(replace_fields(one, model=model) if one.name == "spine1" else one for one in FABRIC.devices)
    index = Index(replace_fields(FABRIC, devices=devices))
    return headroom_for_slow_peer_bytes(LEAF, replace_fields(PORT, speed_mbps=speed_mbps), index=index)


@pytest.mark.parametrize("model", ["SN4700", "Z9332F", "Other", UNKNOWN])
@pytest.mark.parametrize("speed_mbps", [100_000, 400_000, UNKNOWN])
def test_a_peer_of_which_no_source_says_that_it_pauses_slowly_asks_for_nothing(
    model: object, speed_mbps: object
) -> None:
    assert facing(model, speed_mbps) is None


def test_a_port_in_front_of_a_chip_that_pauses_slowly_needs_the_published_headroom() -> None:
    assert facing("8102-64H", 100_000) == 160_000


@pytest.mark.parametrize(
    ("speed_mbps", "missing"),
    [(400_000, "pause response of silicon-one-q200 at 400G"), (UNKNOWN, "interface.speed_mbps")],
)
def test_what_no_source_says_of_a_slow_chip_is_unknown(speed_mbps: object, missing: str) -> None:
    with pytest.raises(UnknownFact) as raised:
        facing("8102-64H", speed_mbps)
    assert str(raised.value) == missing


def test_a_port_without_a_cable_has_no_peer() -> None:
    index = Index(replace_fields(FABRIC, links=()))
    assert headroom_for_slow_peer_bytes(LEAF, PORT, index=index) is None
    assert model_of_peer(LEAF, PORT, index=index) == ""
    assert model_of_peer(LEAF, PORT, index=Index(FABRIC)) == FABRIC.device("spine1").model


def _traditional(hwsku: str, model: str, version: str | None = None) -> Device:
    return replace_fields(
        LEAF, model=model, hwsku=hwsku, buffer_model="traditional", dynamic_buffers=None, version=version or UNKNOWN
    )


@pytest.mark.parametrize(
    ("model", "hwsku", "speed_mbps", "length_m", "row", "formula", "least"),
    [
        ("SN2700", "Mellanox-SN2700-D48C8", 50_000, 40, 25_600, 25_600, 25_600),
        ("SN2700", "Mellanox-SN2700-D48C8", 100_000, 40, 29_696, 46_080, 29_696),
        ("SN3700", "ACS-MSN3700", 10_000, 5, 32_768, 19_456, 19_456),
    ],
)
def test_both_rules_compare_with_the_same_figures(
    model: str, hwsku: str, speed_mbps: int, length_m: int, row: int, formula: int, least: int
) -> None:
    """The tables are of sonic-buildimage 202511; the formula is of 202511, for 1024 bytes, half of all small."""
    far = replace_fields(PORT, speed_mbps=speed_mbps, mtu_bytes=9100, lanes=2)
    found = find_xoff_bounds(_traditional(hwsku, model, "202511"), far, length_m=length_m)
    assert (found.row, found.formula, found.least_of_row_and_formula, found.value_switch_would_take) == (
        row,
        formula,
        least,
        row,
    )
    assert found.assumed_mtu_bytes == 1024


def test_a_row_of_a_chip_without_formula_goes_before_the_bound_of_ieee() -> None:
    port = replace_fields(PORT, speed_mbps=100_000, mtu_bytes=9100, lanes=4, cable_length_m=40)
    index = Index(replace_fields(FABRIC, links=()))
    own = _traditional("Arista-7170-64C", "7170-64C")
    assert takes_table_row(own, port, index=index)
    assert (headroom_source(own, port, index=index), headroom_chosen_by_switch_bytes(own, port, index=index)) == (
        "its SKU's table",
        35_840,
    )
    computed = computed_headroom_bytes(own, port, index=index)
    assert (computed_headroom_source(own, port, index=index), computed) == ("IEEE 802.1Q", 48_540)
    other = replace_fields(own, hwsku="unheard-of")
    assert not takes_table_row(other, port, index=index)
    assert (headroom_source(other, port, index=index), headroom_chosen_by_switch_bytes(other, port, index=index)) == (
        "IEEE 802.1Q",
        48_540,
    )


@pytest.mark.parametrize(("xoff_bytes", "stated"), [(35_840, "35.84 kB"), (40_000, "40 kB")])
def test_a_headroom_is_told_beside_the_row_and_the_bound(xoff_bytes: int, stated: str) -> None:
    """A stated headroom above the row is none of the SKU's table."""
    headroom = Headroom(xoff_bytes=xoff_bytes, xon_bytes=19_456)
    buffer = BufferProfile(pool="ingress", size_bytes=55_296, headroom=headroom)
    groups = (PriorityGroup(index=3, buffer=buffer),)
    own_port = replace_fields(
        PORT,
        speed_mbps=100_000,
        mtu_bytes=9100,
        lanes=4,
        cable_length_m=40,
        qos=replace_fields(LOSSLESS, priority_groups=groups),
    )
    own = replace_fields(_traditional("Arista-7170-64C", "7170-64C"), interfaces=(own_port,))
    rules = [rule for rule in shipped_rules() if rule.name == "headroom-row-below-formula"]
    (finding,) = judge(Reading(fabric=replace_fields(FABRIC, devices=(own,), links=())), rules).findings
    assert finding.message == (
        f"priority group 3 of Ethernet224 has {stated} of headroom, enough by its SKU's table; "
        "IEEE 802.1Q gives 48.54 kB"
    )


def test_a_row_below_what_is_on_the_cable_decides_nothing() -> None:
    of_row = XoffBounds(row=5000, formula=None, ieee=9000, tabled=True)
    assert of_row._replace(in_flight=5000).value_switch_would_take == 5000
    assert of_row._replace(in_flight=5001).value_switch_would_take == 9000
    assert of_row._replace(in_flight=5001, formula=7000).value_switch_would_take == 7000


def test_an_unknown_buffer_model_leaves_open_only_whether_the_row_decides() -> None:
    far = replace_fields(PORT, speed_mbps=100_000, mtu_bytes=9100, lanes=4)
    device = replace_fields(_traditional("Mellanox-SN2700-D48C8", "SN2700", "202511"), buffer_model=UNKNOWN)
    found = find_xoff_bounds(device, far, length_m=40)
    assert found.least_of_row_and_formula == 29_696
    with pytest.raises(UnknownFact, match=r"device\.buffer_model"):
        _ = found.value_switch_would_take


def test_a_stated_traffic_pattern_replaces_that_of_sonic() -> None:
    settings = DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=4096, small_packet_percent=50, over_subscribe_ratio=0)
    far = replace_fields(PORT, speed_mbps=50_000, mtu_bytes=9100, lanes=2)
    device = replace_fields(_traditional("ACS-MSN2700", "SN2700", "202511"), dynamic_buffers=settings)
    found = find_xoff_bounds(device, far, length_m=40)
    assert (found.formula, found.assumed_mtu_bytes) == (26_624, None)
