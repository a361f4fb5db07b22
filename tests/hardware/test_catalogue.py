"""What the catalogue says of every switch: that it can be so at all, and some port maps and tables word for word."""

from collections.abc import Iterator

import pytest

from nodrop import hardware, platforms
from nodrop.errors import InputProblems
from nodrop.hardware import (
    asic,
    buildable_models,
    find_design_obstacle,
    hint_for_undesignable_model,
    media,
    model_of_sku,
    nearest_word_hint,
    nic,
    nics,
    switch,
    switches,
)
from nodrop.hardware.bounds import shipped_headroom_rows
from nodrop.hardware.ports import PortGroup
from nodrop.hardware.schema import HeadroomTable, SwitchModel
from nodrop.model.fabric import Port
from nodrop.platforms import port_name
from nodrop.platforms.sonic.naming import model_port


def groups(box: SwitchModel) -> Iterator[PortGroup]:
    """Yield the kinds of ports of a model."""
    yield from box.ports


@pytest.mark.parametrize("model", switches())
def test_ports_are_each_one_of_a_kind(model: str) -> None:
    box = switch(model)
    panels = [panel for group in box.ports for panel in group.panels]
    assert len(panels) == len(set(panels))
    lanes = [lane for port in box.sonic_ports.values() for lane in port.lanes]
    assert len(lanes) == len(set(lanes))
    numbers = [port.number for port in box.sonic_ports.values()]
    assert len(numbers) == len(set(numbers))
    aliases = [port.alias_of(panel, 0, None) for panel, port in box.sonic_ports.items()]
    assert len(aliases) == len(set(aliases))
    for group in box.ports:
        assert all(len(box.sonic_ports[panel].lanes) == group.lanes for panel in group.panels if box.sonic_ports)


@pytest.mark.parametrize("model", switches())
def test_splits_use_all_lanes_and_speeds_descend(model: str) -> None:
    for group in groups(switch(model)):
        for way in group.breakout_options:
            assert way.into * way.lanes == group.lanes
            assert way.speeds
            assert list(way.speeds) == sorted(set(way.speeds), reverse=True)
            assert {way.sonic_breakout_mode(speed).split("x")[0] for speed in way.speeds} == {str(way.into)}
        assert len({way.into for way in group.breakout_options}) == len(group.breakout_options)


@pytest.mark.parametrize("model", switches())
def test_what_a_model_refers_to_is_there_and_its_source_is_named(model: str) -> None:
    box = switch(model)
    assert box.sources
    assert asic(box.asic).sources
    assert box.sonic.hwsku in (box.sonic.hwskus or (None,))
    assert box.sonic.hwsku is not None or "sonic" not in box.platforms
    assert all(platform in box.platforms for platform in box.since)
    assert len(box.sonic.hwskus) == len(set(box.sonic.hwskus))
    known = set(box.sonic.hwskus)
    assert known >= {sku for skus in box.sonic.gcu.values() for sku in skus}
    for table in box.sonic.headroom:
        assert table.sources
        assert known >= set(table.hwskus)
    for shipped in box.sonic.pools:
        assert shipped.sources
        assert box.buffer_bytes is not None
        assert max(pool.size_bytes for pool in shipped.rows) <= box.buffer_bytes


def test_a_hwsku_and_its_platform_are_of_one_model() -> None:
    skus = [(sku, switch(model).sonic.platform, model) for model in switches() for sku in switch(model).sonic.hwskus]
    assert [(sku, platform, model_of_sku(sku, platform)) for sku, platform, _ in skus] == skus
    shared = "Arista-7060X6-64PE-O128"
    assert model_of_sku(shared) == "7060X6-64PE", "the first of the models that ship it"
    assert model_of_sku(shared, "x86_64-arista_7060x6_64pe_b") == "7060X6-64PE-B"
    assert model_of_sku("ACS-MSN") is None, "part of a name is none"


def by_speed(table: HeadroomTable) -> list[list[int]]:
    """Return xoff by growing cable length, of each speed."""
    speeds = {row.speed_mbps for row in table.rows}
    return [[xoff for _, xoff in sorted((r[1], r.xoff_bytes) for r in table.rows if r[0] == speed)] for speed in speeds]


@pytest.mark.parametrize("model", switches())
def test_headroom_grows_with_the_cable_unless_the_model_says_otherwise(model: str) -> None:
    """A slip in a table shows here: what the vendor ships so is stated as `grows_with_cable: false`."""
    for table in switch(model).sonic.headroom:
        assert len({row[:2] for row in table.rows}) == len(table.rows)
        runs = by_speed(table)
        falls = any(run != sorted(run) for run in runs)
        flat = max(map(len, runs)) > 1 and all(len(set(run)) == 1 for run in runs)
        assert table.grows_with_cable is not (falls or flat), table.sources


@pytest.mark.parametrize(
    ("model", "panel", "name", "lanes", "alias", "index"),
    [
        ("Z9332F", 1, "Ethernet0", (33, 34, 35, 36, 37, 38, 39, 40), "etp1", 1),
        ("Z9332F", 9, "Ethernet64", (1, 2, 3, 4, 5, 6, 7, 8), "etp9", 9),
        ("Z9864F", 2, "Ethernet8", (17, 18, 19, 20, 21, 22, 23, 24), "etp2", 2),
        ("7060X6-64PE-B", 66, "Ethernet513", (515,), "etp66", 66),
        ("7260CX3-64", 1, "Ethernet0", (77, 78, 79, 80), "Ethernet1/1", 1),
        ("AS9716-32D", 1, "Ethernet0", (73, 74, 75, 76, 77, 78, 79, 80), "fourHundredGigE1", 0),
        ("SN4600C", 17, "Ethernet64", (128, 129, 130, 131), "etp17", 17),
        ("IXR7220-H3", 2, "Ethernet4", (25, 26, 27, 28, 29, 30, 31, 32), "fourhundredGigE1/2", 2),
        ("7280R4-32QF-32DF", 62, "Ethernet244", (141, 140, 143, 142), "etp62", 62),
        ("SN6810_LD", 3, "Ethernet8", (8, 9, 10, 11), "etp3", 1),
        ("TO3200K", 2, "Ethernet8", (81, 82, 83, 84, 85, 86, 87, 88), "Eth2", 1),
        ("AS9516-32D", 2, "Ethernet8", (8, 9, 10, 11, 12, 13, 14, 15), "Ethernet8", 2),
    ],
)
def test_a_port_as_the_vendor_has_it(
    model: str, panel: int, name: str, lanes: tuple[int, ...], alias: str, index: int
) -> None:
    port = switch(model).sonic_ports[panel]
    assert (port_name("sonic", model, Port(panel)), port.lanes) == (name, lanes)
    assert (port.alias_of(panel, 0, None), port.front_index) == (alias, index)
    assert model_port(model, name) == Port(panel)


@pytest.mark.parametrize(
    ("model", "panel", "split", "splits", "name", "lanes", "alias"),
    [
        ("SN5600", 2, 1, 2, "Ethernet12", (12, 13, 14, 15), "etp2b"),
        ("7060X6-64PE-B", 1, 1, 2, "Ethernet4", (21, 22, 23, 24), "etp1b"),
        ("7260CX3-64", 1, 1, 2, "Ethernet2", (79, 80), "Ethernet1/3"),
        ("TO3200K", 1, 1, 8, "Ethernet1", (90,), "Eth1-2"),
    ],
)
def test_a_part_as_the_vendor_has_it(
    model: str, panel: int, split: int, splits: int, name: str, lanes: tuple[int, ...], alias: str
) -> None:
    port = switch(model).sonic_ports[panel]
    first = split * len(port.lanes) // splits
    assert port_name("sonic", model, Port(panel, split), splits) == name
    assert port.lanes[first : first + len(lanes)] == lanes
    assert port.alias_of(panel, first, split) == alias


def test_breakout_modes_are_spelt_as_the_vendor_spells_them() -> None:
    whole, two, *_ = switch("Z9864F").ports[0].breakout_options
    assert (whole.sonic_breakout_mode(800_000), whole.sonic_breakout_mode(400_000)) == ("1x800G", "1x400G(8)")
    assert (two.sonic_breakout_mode(400_000), two.sonic_breakout_mode(100_000)) == ("2x400G(8)", "2x100G(8)")
    assert (
        switch("SN5600").ports[0].breakout_options[1].sonic_breakout_mode(None) == "2x400G[200G,100G,50G,40G,25G,10G]"
    )


def test_a_table_is_that_of_its_hwskus() -> None:
    sku = switch("7060X6-64PE-B").sonic
    row = sku.headroom_row(400_000, 30)
    assert row is not None
    assert (row.size_bytes, row.xon_bytes, row.xoff_bytes, row.threshold, row.xon_offset_bytes) == (
        8636,
        0,
        445770,
        0,
        3556,
    )
    other = sku.headroom_row(400_000, 30, "Arista-7060X6-64PE-B-P32O64")
    assert other is not None
    assert other.xoff_bytes == 425958
    assert sku.headroom_row(400_000, 30, "Arista-7060X6-64PE-B-C512S2") is None, "it ships none"
    assert {row.threshold for row in shipped_headroom_rows("Z9332F", None)} == {-2}


def test_what_is_not_known_is_an_obstacle() -> None:
    assert find_design_obstacle(switch("AS9716-32D"), "sonic") == "the memory of AS9716-32D is not known"
    assert find_design_obstacle(switch("8101-32FH"), "sonic") == "8101-32FH is not known under sonic"
    assert find_design_obstacle(switch("SN3800"), "nvue") == "SN3800 is not known under nvue"
    assert "(jericho-2) keeps packets outside its chip, where no formula is known" in str(
        find_design_obstacle(switch("7280CR3-32D4"), "sonic")
    )
    assert "AS9716-32D" not in buildable_models("sonic")
    assert "SN3800" not in buildable_models("nvue")
    assert {"SN2700", "SN4700", "SN5600"} <= set(buildable_models("nvue"))


def test_a_model_that_cannot_be_designed_is_linted_and_one_of_another_network_os_is_not() -> None:
    assert "`nodrop lint` checks" in hint_for_undesignable_model(switch("7280CR3-32D4"), "sonic")
    assert "`nodrop lint` checks" in hint_for_undesignable_model(switch("8111-32EH"), "sonic")
    assert hint_for_undesignable_model(switch("SN3800"), "nvue") == "see `nodrop hardware`"


@pytest.mark.parametrize("platform", [platform for platform in platforms.writable_platforms() if platform != "sonic"])
def test_models_of_other_network_oses_can_be_designed(platform: str) -> None:
    """A model names a network OS beside SONiC because nodrop writes it there, so nothing may be missing."""
    named = tuple(model for model in switches() if platform in switch(model).platforms)
    assert {model: find_design_obstacle(switch(model), platform) for model in named} == dict.fromkeys(named)
    assert buildable_models(platform) == named


@pytest.mark.parametrize(
    ("model", "ports"),
    [
        ("SN2010", 34), ("SN2100", 64), ("SN2201", 64), ("SN2410", 64), ("SN2700", 64), ("SN3420", 96),
        ("SN3700", 128), ("SN3700C", 128), ("SN3750-SX", 128), ("SN4410", 128), ("SN4600", 128), ("SN4600C", 128),
        ("SN4700", 128), ("SN5400", 258), ("SN5600", 257), ("SN5610", 258), ("SN6600_LD", 514),
    ],
)  # fmt: skip
def test_ports_at_most_are_those_that_the_vendor_counts(model: str, ports: int) -> None:
    """Cumulus Linux 5.19, Switch Port Attributes: the most ports of any speed, those for service among them."""
    assert switch(model).max_port_count == ports


@pytest.mark.parametrize(
    ("model", "into", "speed_mbps", "panels"),
    [
        ("SN2410", 1, 25_000, tuple(range(1, 49))),
        ("SN2410", 1, 100_000, tuple(range(49, 57))),
        ("SN2410", 4, 25_000, (49, 51, 53, 55)),
        ("SN2010", 4, 10_000, (19, 20, 21, 22)),
        ("SN4410", 2, 200_000, tuple(range(1, 33))),
        ("SN4410", 1, 400_000, tuple(range(25, 33))),
    ],
)
def test_ports_of_a_speed_on_a_model_with_several_kinds(
    model: str, into: int, speed_mbps: int, panels: tuple[int, ...]
) -> None:
    assert switch(model).panels_splittable_at_once(into, speed_mbps) == panels


def test_chips_with_the_dynamic_model() -> None:
    chips = {switch(model).asic for model in switches()}
    dynamic = {chip for chip in chips if "dynamic" in asic(chip).buffer_models}
    assert dynamic >= {"spectrum-1", "spectrum-4", "tofino-2"}
    assert "tomahawk-5" in chips - dynamic
    assert {chip for chip in chips if asic(chip).has_headroom_terms} == {chip for chip in dynamic if "spectrum" in chip}
    assert asic("silicon-one-q200").watchdog_actions == ("drop", "alert"), "it refuses to forward"


def test_nics_and_media() -> None:
    assert {"ConnectX-5", "ConnectX-8", "BlueField-2", "BlueField-3", "Thor-2", "E810"} <= set(nics())
    assert all(nic(name).sources for name in nics())
    assert (nic("Thor-2").cnp_dscp, nic("Thor-2").cnp_priority) == (48, 7)
    assert all(medium.sources and medium.max_length_m > 0 for medium in media().values())
    assert {name for name, medium in media().items() if medium.passive} == {"DAC"}


def test_links_of_media_have_sources_and_pam4_lanes_have_rs_fec() -> None:
    links = [(name, link) for name, medium in media().items() for link in medium.links]
    assert all(link.source for _, link in links)
    for name, link in links:
        assert link.lanes is not None or not media()[name].passive, f"{name}: copper joins equal lanes"
        rate = link.speed // (link.lanes or 8)
        assert rate < 50_000 or link.fec == "rs", f"{name} at {link.speed}"


def test_adapters_list_lanes_that_media_know() -> None:
    """Every number of lanes of a NIC is one on which some copper cable runs the speed."""
    for name in nics():
        for speed, counts in nic(name).lanes.items():
            for lanes in counts:
                assert media()["DAC"].links_at_speed_and_lanes(speed, [lanes]), f"{name}: {speed} on {lanes} lanes"
    assert nic("ConnectX-7").lanes == {400_000: (4,), 200_000: (2, 4), 100_000: (1, 2, 4)}
    assert nic("ConnectX-6").lanes[100_000] == (4, 2)
    assert 800_000 not in nic("ConnectX-8").lanes, "2 x 400GbE"
    accelerators = {name: (nic(name).ports_per_gpu, nic(name).ports_between_gpus) for name in nics()}
    assert {name: ports for name, ports in accelerators.items() if ports[0]} == {"Gaudi2": (3, 21), "Gaudi3": (3, 21)}


def test_many_names_are_not_listed_in_a_hint() -> None:
    assert nearest_word_hint("SN470", switches()) == "did you mean SN4700?"
    assert nearest_word_hint("xyzzy", switches()) == "`nodrop hardware` lists those there are"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("vendor: NVIDIA\n", "", "switches/SN9999.yaml:2:1: vendor: no such key"),
        ("asic: spectrum-3", "asic: spectrum-33", "`spectrum-33`, a chip without a file below asics/"),
    ],
)
def test_a_hardware_file_that_is_wrong_says_where(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    text = hardware._read_fact_file("switches", "SN4700").decode()
    assert old in text
    monkeypatch.setattr(hardware, "_read_fact_file", lambda folder, name: text.replace(old, new).encode())
    with pytest.raises(InputProblems) as wrong:
        hardware._load_facts(SwitchModel, "switches", "SN9999")
    assert said in str(wrong.value)
