"""Headroom against SONiC: the shipped table of ACS-SN5600, and what the switch's own Lua printed for the same terms.

The Lua is sonic-swss cfgmgr/buffer_headroom_mellanox.lua, run under lua5.1 over a stand-in for redis.
"""

from dataclasses import replace
from typing import Any

import pytest

from nodrop.hardware import asic, switch
from nodrop.hardware.bounds import shipped_headroom_rows
from nodrop.hardware.dynamic import compute_headroom_budget, fill_in_computed_buffer_sizes, speed_for_headroom_mbps
from nodrop.hardware.formulas import headroom_formula_of
from nodrop.hardware.headroom import HeadroomBudget, compute_headroom, ieee_headroom_bound_bytes, table_xoff_bytes
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Device, Interface
from nodrop.model.fabric import Port as PanelPort
from nodrop.model.qos import PriorityGroup, QosProfile
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact

ACS_SN5600 = [
    # speed Mb/s, cable m, xoff bytes: sonic-buildimage device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/
    # pg_profile_lookup.ini; they follow from port MTU 9216, pattern MTU 1024 and small packets alone.
    (10000, 5, 45056), (25000, 5, 48128), (40000, 5, 57344), (50000, 5, 63488),
    (100000, 5, 113664), (200000, 5, 131072), (400000, 5, 231424), (800000, 5, 257024),
    (10000, 40, 46080), (25000, 40, 52224), (40000, 40, 62464), (50000, 40, 69632),
    (100000, 40, 126976), (200000, 40, 157696), (400000, 40, 283648), (800000, 40, 362496),
    (10000, 300, 56320), (25000, 300, 76800), (40000, 300, 101376), (50000, 300, 118784),
    (100000, 300, 225280), (200000, 300, 355328), (400000, 300, 677888), (800000, 300, 1150976),
]  # fmt: skip


@pytest.mark.parametrize("compensated", [False, True])
@pytest.mark.parametrize(("speed", "cable", "xoff"), ACS_SN5600)
def test_the_shipped_table_of_sn5600(speed: int, cable: int, xoff: int, compensated: bool) -> None:
    """The table's xon tells the lanes: 8 at 800G, 4 at 400G (the SKU splits those ports), fewer below."""
    found = compute_headroom(
        asic("spectrum-4"),
        speed_mbps=speed,
        lanes=8 if speed == 800000 else 4,
        mtu_bytes=9216,
        cable_length_m=cable,
        pattern_mtu_bytes=1024,
        small_packet_percent=100,
        shared=False,
        compensated=compensated,
    )
    assert found.xoff == xoff
    assert found.xon == (38912 if speed == 800000 else 19456)


SN5640 = [
    # speed Mb/s, cable m, xoff bytes: sonic-buildimage device/mellanox/x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C512X2/
    # pg_profile_lookup.ini, which has every row of Mellanox-SN5640-C512S2 and Mellanox-SN5640-C448O16 too; they follow
    # from port MTU 9216, pattern MTU 4096 and half of the packets small.
    (10000, 5, 20480), (25000, 5, 21504), (50000, 5, 26624), (100000, 5, 44032),
    (200000, 5, 50176), (400000, 5, 86016), (10000, 30, 20480), (25000, 30, 22528),
    (50000, 30, 27648), (100000, 30, 48128), (200000, 30, 57344), (400000, 30, 99328),
    (10000, 40, 20480), (25000, 40, 22528), (50000, 40, 28672), (100000, 40, 49152),
    (200000, 40, 60416), (400000, 40, 104448), (10000, 200, 22528), (25000, 200, 27648),
    (50000, 200, 39936), (100000, 200, 70656), (200000, 200, 102400), (400000, 200, 190464),
    (10000, 250, 23552), (25000, 250, 29696), (50000, 250, 43008), (100000, 250, 76800),
    (200000, 250, 116736), (400000, 250, 217088), (10000, 300, 23552), (25000, 300, 30720),
    (50000, 300, 46080), (100000, 300, 83968), (200000, 300, 130048), (400000, 300, 243712),
    (10000, 1000, 33792), (25000, 1000, 54272), (50000, 1000, 93184), (100000, 1000, 177152),
    (200000, 1000, 317440), (400000, 1000, 619520),
]  # fmt: skip


@pytest.mark.parametrize(("speed", "cable", "xoff"), SN5640)
def test_the_shipped_table_of_sn5640(speed: int, cable: int, xoff: int) -> None:
    """The table is of a shared headroom pool: a size of xon alone, and no compensation in any release."""
    for compensated in (False, True):
        found = compute_headroom(
            asic("spectrum-5"),
            speed_mbps=speed,
            lanes=4,
            mtu_bytes=9216,
            cable_length_m=cable,
            pattern_mtu_bytes=4096,
            small_packet_percent=50,
            shared=True,
            compensated=compensated,
        )
        assert (found.size, found.xon, found.xoff) == (19456, 19456, xoff)


def test_every_row_of_the_sn5640_in_the_catalogue() -> None:
    tables = switch("SN5640").sonic.headroom
    assert sorted(len(table.rows) for table in tables) == [36, 42]
    known = {(speed, cable): xoff for speed, cable, xoff in SN5640}
    for row in (row for table in tables for row in table.rows):
        assert row.xoff_bytes == known[row.speed_mbps, row.cable_m]
        assert (row.size_bytes, row.xon_bytes) == (19456, 19456)


def test_the_catalogue_has_that_table() -> None:
    assert [(row[0], row[1], row[4]) for row in shipped_headroom_rows("SN5600", None)] == ACS_SN5600


@pytest.mark.parametrize(
    ("chip", "speed", "cable", "mtu", "lanes", "pattern", "small", "ratio", "in_202505", "in_master"),
    [  # (xon, xoff, size) as the Lua of branch 202505 (202511 has the same) and of master (202605 has the same) print
        (3, 100000, 5, 9100, 4, 1024, 50, None, (19456, 46080, 65536), (19456, 48128, 67584)),
        (3, 400000, 40, 9100, 8, 1024, 50, None, (38912, 110592, 158720), (38912, 112640, 160768)),
        (4, 800000, 30, 9100, 8, 1024, 50, None, (38912, 137216, 185344), (38912, 139264, 187392)),
        (4, 800000, 30, 9100, 8, 1024, 50, 2, (38912, 137216, 38912), (38912, 137216, 38912)),
        (3, 400000, 3, 9216, 8, 1024, 50, None, (38912, 87040, 135168), (38912, 89088, 137216)),
        (3, 400000, 3, 9216, 8, 4096, 50, None, (38912, 78848, 126976), (38912, 80896, 129024)),
        (3, 400000, 30, 9216, 8, 1024, 50, None, (38912, 104448, 152576), (38912, 106496, 154624)),
        (4, 400000, 100, 9216, 8, 1024, 50, None, (38912, 155648, 203776), (38912, 157696, 205824)),
        (4, 400000, 100, 9216, 4, 1024, 50, None, (19456, 155648, 175104), (19456, 157696, 177152)),
        (3, 200000, 300, 1500, 4, 4096, 0, None, (19456, 114688, 134144), (19456, 116736, 136192)),
        (3, 25000, 2000, 9216, 1, 64, 100, None, (19456, 235520, 254976), (19456, 235520, 254976)),
        (4, 10000, 0, 68, 1, 9216, 99, None, (19456, 19456, 38912), (19456, 21504, 40960)),
        (3, 1600000, 7, 9216, 8, 1024, 50, None, (38912, 35840, 83968), (38912, 37888, 86016)),  # no quanta
        (4, 56000, 1, 1500, 2, 512, 30, 4, (19456, 10240, 19456), (19456, 10240, 19456)),
    ],
)
def test_what_the_switch_itself_computes(
    chip: int,
    speed: int,
    cable: int,
    mtu: int,
    lanes: int,
    pattern: int,
    small: int,
    ratio: int | None,
    in_202505: tuple[int, int, int],
    in_master: tuple[int, int, int],
) -> None:
    for compensated, expected in ((False, in_202505), (True, in_master)):
        found = compute_headroom(
            asic(f"spectrum-{chip}"),
            speed_mbps=speed,
            lanes=lanes,
            mtu_bytes=mtu,
            cable_length_m=cable,
            pattern_mtu_bytes=pattern,
            small_packet_percent=small,
            shared=bool(ratio),
            compensated=compensated,
        )
        assert (found.xon, found.xoff, found.size) == expected


def test_what_a_budget_is_made_of() -> None:
    found = compute_headroom(
        asic("spectrum-4"),
        speed_mbps=800000,
        lanes=8,
        mtu_bytes=9100,
        cable_length_m=30,
        pattern_mtu_bytes=1024,
        small_packet_percent=50,
        shared=False,
        compensated=True,
    )
    assert found == HeadroomBudget(
        mtu=9100,
        cable=30303,
        mac_phy=819,
        peer_response=57920,
        tile=12000,
        pattern_mtu=1024,
        occupancy=pytest.approx(1.2352941),
        rounding=139264 - 137082,
        xoff=139264,
        xon=38912,
        size=187392,
    )


EARLY = [
    # what the Lua of branch 202305 prints (202311 has the same): chip, speed, cable, mtu, lanes, pattern, small, ratio
    (3, 400000, 40, 9100, 8, 1024, 50, None, (37888, 143360, 190464)),
    (4, 800000, 30, 9100, 8, 1024, 50, None, (37888, 196608, 243712)),
    (4, 800000, 30, 9100, 8, 1024, 50, 2, (37888, 196608, 37888)),
    (3, 100000, 5, 9216, 4, 4096, 50, None, (19456, 62464, 81920)),
    (4, 400000, 300, 9216, 4, 1024, 100, None, (19456, 649216, 668672)),
]


@pytest.mark.parametrize(("chip", "speed", "cable", "mtu", "lanes", "pattern", "small", "ratio", "expected"), EARLY)
def test_headroom_of_releases_before_202405(
    chip: int, speed: int, cable: int, mtu: int, lanes: int, pattern: int, small: int, ratio: int | None,
    expected: tuple[int, int, int],
) -> None:  # fmt: skip
    found = compute_headroom(
        asic(f"spectrum-{chip}"),
        speed_mbps=speed,
        lanes=lanes,
        mtu_bytes=mtu,
        cable_length_m=cable,
        pattern_mtu_bytes=pattern,
        small_packet_percent=small,
        shared=bool(ratio),
        compensated=False,
        early=True,
    )
    assert (found.xon, found.xoff, found.size) == expected


@pytest.mark.parametrize(
    ("platform", "release", "expected"),
    [
        ("sonic", "202305", {"early", "negotiated_speed"}),
        ("sonic", "202311", {"early", "negotiated_speed"}),
        ("sonic", "202405", {"negotiated_speed"}),
        ("sonic", "202511", {"negotiated_speed"}),
        ("sonic", "202605", {"compensated", "negotiated_speed"}),
        ("sonic", "202705", {"compensated", "negotiated_speed"}),
        ("sonic", "master", {"compensated", "negotiated_speed"}),
        ("nvue", "5.14", set()),
    ],
)
def test_the_formula_of_a_release(platform: str, release: str, expected: set[str]) -> None:
    found = headroom_formula_of(platform, release)
    assert {name for name in ("early", "compensated", "negotiated_speed") if getattr(found, name)} == expected


@pytest.mark.parametrize("release", [None, UNKNOWN])
def test_no_formula_without_a_release(release: str | None | Unknown) -> None:
    with pytest.raises(UnknownFact, match=r"device\.version"):
        headroom_formula_of("sonic", release)


PORT = Interface(name="Ethernet0", speed_mbps=400000, lanes=8, mtu_bytes=9216)
SWITCH = Device(
    name="leaf1",
    platform="sonic",
    version="202505",
    model="SN4700",
    buffer_model="dynamic",
    dynamic_buffers=DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=1024, small_packet_percent=50),
)


def with_facts(**facts: object) -> Device:
    return Device(**{name: getattr(SWITCH, name) for name in Device.__dataclass_fields__} | facts)


def test_the_budget_of_a_port_of_a_device() -> None:
    assert compute_headroom_budget(SWITCH, PORT, length_m=30).xoff == 104448
    assert compute_headroom_budget(SWITCH, PORT, length_m=30, port_mtu_bytes=1500).size == 135168
    shared = BufferPool(name="ingress_lossless", direction="ingress", mode="dynamic", shared_headroom_bytes=655360)
    assert compute_headroom_budget(with_facts(buffer_pools=(shared,)), PORT, length_m=30).size == 38912
    assert compute_headroom_budget(with_facts(version="202605"), PORT, length_m=30).xoff == 106496


@pytest.mark.parametrize(
    ("version", "speed", "length", "ratio", "expected"),
    [  # (xon, xoff, size) as the Lua of each branch prints; 400 is the delay in platform/mellanox/peripheral_table.j2
        ("202311", 100000, 5, None, (19456, 75776, 95232)),
        ("202311", 25000, 300, None, (19456, 45056, 64512)),
        ("202311", 100000, 40, 2, (19456, 82944, 19456)),
        ("202505", 100000, 5, None, (19456, 58368, 77824)),
        ("202505", 25000, 300, None, (19456, 34816, 54272)),
        ("202505", 100000, 40, 2, (19456, 63488, 19456)),
        ("202605", 100000, 5, None, (19456, 60416, 79872)),
        ("202605", 25000, 300, None, (19456, 36864, 56320)),
        ("202605", 100000, 40, 2, (19456, 63488, 19456)),
    ],
)
def test_the_gearbox_of_a_model_adds_to_headroom(
    version: str, speed: int, length: int, ratio: int | None, expected: tuple[int, int, int]
) -> None:
    settings = DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=1024, small_packet_percent=50, over_subscribe_ratio=ratio)
    device = with_facts(model="SN3800", version=version, dynamic_buffers=settings, buffer_pools=())
    port = Interface(name="Ethernet0", speed_mbps=speed, lanes=4, mtu_bytes=9216)
    found = compute_headroom_budget(device, port, length_m=length)
    assert (found.xon, found.xoff, found.size) == expected


@pytest.mark.parametrize(
    ("autoneg", "advertised", "lanes", "speed", "xoff"),
    [
        (False, None, 8, 200000, 50176),
        (None, (400000,), 8, 200000, 50176),
        (True, (200000,), 8, 200000, 50176),
        (True, (100000, 400000), 8, 400000, 87040),
        (True, None, 8, 400000, 87040),
        (True, None, 4, 200000, 50176),
    ],
)
def test_a_port_that_negotiates_counts_with_the_fastest_speed_it_offers(
    autoneg: bool | None, advertised: tuple[int, ...] | None, lanes: int, speed: int, xoff: int
) -> None:
    """By buffermgrdyn.cpp and the Lua of sonic-swss, which give 87,040 bytes where nothing is said."""
    port = replace(PORT, port=PanelPort(1), speed_mbps=200000, autoneg=autoneg, lanes=lanes)
    port = replace(port, advertised_speeds_mbps=advertised)
    assert (speed_for_headroom_mbps(SWITCH, port), compute_headroom_budget(SWITCH, port, length_m=2).xoff) == (
        speed,
        xoff,
    )


@pytest.mark.parametrize(
    ("facts", "missing"),
    [
        ({"autoneg": UNKNOWN}, "interface.autoneg"),
        ({"advertised_speeds_mbps": UNKNOWN}, "interface.advertised_speeds_mbps"),
        ({"port": UNKNOWN}, "interface.port"),
        ({"port": None}, "interface.advertised_speeds_mbps"),
        ({"port": PanelPort(99)}, "interface.advertised_speeds_mbps"),
        ({"lanes": 3}, "interface.advertised_speeds_mbps"),
    ],
)
def test_without_the_speeds_of_a_port_that_negotiates_there_is_no_budget(facts: dict[str, Any], missing: str) -> None:
    port = replace(PORT, **{"port": PanelPort(1), "autoneg": True, **facts})
    assert speed_for_headroom_mbps(SWITCH, port) is UNKNOWN
    with pytest.raises(UnknownFact, match=missing):
        compute_headroom_budget(SWITCH, port, length_m=30)


def test_ports_that_negotiate_have_the_headroom_of_their_own_speeds() -> None:
    """Ports with one profile of QoS get another each where they offer other speeds."""
    computed_by_switch = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)
    buffer = BufferProfile(pool="ingress_lossless", size_bytes=UNKNOWN, headroom=computed_by_switch)
    qos = QosProfile(trust="dscp", priority_groups=(PriorityGroup(index=3, buffer=buffer),))
    port = replace(PORT, port=PanelPort(1), speed_mbps=200000, autoneg=True, cable_length_m=2, qos=qos)
    ports = tuple(replace(port, name=name, advertised_speeds_mbps=own) for name, own in (("a", None), ("b", (200000,))))
    made = fill_in_computed_buffer_sizes(with_facts(interfaces=ports, buffer_pools=()))
    found = [one.qos.priority_groups[0].buffer.headroom.xoff_bytes for one in made.interfaces]  # type: ignore[union-attr]
    assert found == [87040, 50176]


@pytest.mark.parametrize(
    ("facts", "missing"),
    [
        ({"model": UNKNOWN}, "device.model"),
        ({"model": "SN9999"}, "device.model"),
        ({"version": UNKNOWN}, "device.version"),
        ({"version": None}, "device.version"),
        ({"dynamic_buffers": UNKNOWN}, "device.dynamic_buffers"),
        ({"dynamic_buffers": None}, "device.dynamic_buffers"),
        ({"dynamic_buffers": DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=None, small_packet_percent=50)}, "dynamic"),
    ],
)
def test_without_a_term_there_is_no_budget(facts: dict[str, object], missing: str) -> None:
    with pytest.raises(UnknownFact, match=missing):
        compute_headroom_budget(with_facts(**facts), PORT, length_m=30)


def test_the_bound_of_the_standard() -> None:
    # 2 frames of 9216 + 20, 84 of pause, 2 * 5 ns/m * 100 m of 400 Gb/s = 50,000, 905 quanta of 64 bytes
    assert (
        ieee_headroom_bound_bytes(speed_mbps=400000, mtu_bytes=9216, cable_length_m=100) == 18472 + 84 + 50000 + 57920
    )
    assert ieee_headroom_bound_bytes(speed_mbps=1600000, mtu_bytes=9216, cable_length_m=100) is None


def test_the_table_is_read_at_the_next_longer_cable() -> None:
    rows = shipped_headroom_rows("SN4700", None)
    assert [table_xoff_bytes(rows, 400000, length) for length in (1, 5, 6, 40, 300, 301)] == [
        38912,
        38912,
        77824,
        77824,
        373760,
        None,
    ]
    assert table_xoff_bytes(rows, 800000, 5) is None
