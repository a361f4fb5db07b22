"""`nodrop hardware`: a line of every model, the page of one, JSON, and words for what is not there."""

import json

import pytest

from nodrop.hardware import switch, switches
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.hardware import SwitchListFilters, names_with_pages, render_model_page
from support.command import nodrop as run


def test_every_model_has_a_line() -> None:
    done = run("hardware")
    assert done.code == 0
    firsts = [line.split()[0] for line in done.out.splitlines() if line]
    assert [word for word in firsts if word in names_with_pages()] == list(names_with_pages())
    line = next(line for line in done.out.splitlines() if line.startswith("Z9664F "))
    assert " ".join(line.split()) == "Z9664F Dell 64 x 400G + 2 x 10G tomahawk-4 sonic cell"
    assert "SN4700 " in done.out
    assert "sonic, nvue  -" in done.out


def test_a_page_says_what_there_is() -> None:
    text = run("hardware", "Z9332F").out
    for words in (
        "Z9332F: 32 x 400G + 2 x 10G (Dell, tomahawk-3)",
        "nvue            no: Z9332F is not known under nvue",
        "broken out      2 x 200G 100G 40G (4 lanes each)",
        "not written     1x100G(4)",
        "lanes           33-40, 41-48",
        "HWSKU           DellEMC-Z9332f-O32 is written; also DellEMC-Z9332f-C32, DellEMC-Z9332f-M-O16C64",
        "GCU             no HWSKU is in the updater's lists",
        "memory          67.12 MB",
        "cell            254 B",
        "ingress_lossless  ingress dynamic     66394076 B, shared headroom 27200352 B",
        "400G   40m    2540    2540   201930   -2                 2540",
        "watchdog        yes: drop, forward, alert",
        "  sonic-mgmt tests/qos/files/qos_params.th3.yaml (cell size; packets until the headroom pool is full)",
    ):
        assert words in text, words


def test_a_page_has_the_headroom_of_the_written_hwsku_and_names_the_others() -> None:
    text = run("hardware", "SN5600").out
    heads = [line for line in text.splitlines() if line.startswith("headroom of ")]
    assert heads[0] == "headroom of ACS-SN5600, Mellanox-SN5600-O128"
    assert heads[1].startswith("headroom of Mellanox-SN5600-C224O8, Mellanox-SN5600-C256S1, ")
    assert len(heads) == 2
    assert " ".join(text.split()).find("see `nodrop hardware SN5600 --format json`") > 0
    tables = json.loads(run("hardware", "SN5600", "--format", "json").out)["sonic"]["headroom"]
    assert [table["hwskus"] for table in tables][1:], "JSON has all tables"


def test_a_page_says_which_hwsku_has_which_ports() -> None:
    text = render_model_page("7060X6-64PE-B", "text")
    for words in (
        "HWSKU by ports  where the base one does not have the declared ports, one that has them is written",
        "ports           Arista-7060X6-64PE-B-P28O72, from 202511 on: 1x800G on ports 1-28, 2x400G on ports 29-64",
    ):
        assert words in text, words
    assert "HWSKU by ports" not in render_model_page("SN4700", "text")


@pytest.mark.parametrize(
    ("model", "paths"),
    [
        ("SN4700", "by hash alone"),
        ("SN5600", "by hash, or by load (adaptive routing, Cumulus Linux) on links of 400G and 200G"),
        ("SN5640", "by hash, or by load (adaptive routing, Cumulus Linux) on links of any speed"),
        ("Z9332F", "by hash; no source says whether by load"),
    ],
)
def test_a_page_says_how_a_path_is_chosen(model: str, paths: str) -> None:
    text = " ".join(run("hardware", model).out.split())
    assert f" paths {paths} ports 1-" in text


def test_a_page_says_what_its_maker_knows_not_to_work() -> None:
    text = " ".join(run("hardware", "SN5640").out.split())
    assert "known trouble Cumulus Linux 5.15 to 5.19: a port that is not broken out stays down with optics;" in text
    assert "known trouble" not in run("hardware", "SN2410").out


def test_a_page_says_what_other_names_a_model_has_and_since_when_it_is_known() -> None:
    lines = [" ".join(line.split()) for line in run("hardware", "SN5610").out.splitlines()]
    assert "nvue fabrics are designed and written, from 5.13 on" in lines
    assert "ports 258 at most, those for service among them" in lines
    assert "SONiC" not in lines
    assert "also SN5600D" in [" ".join(line.split()) for line in run("hardware", "SN5600").out.splitlines()]


def test_a_page_says_that_a_model_without_a_design_is_linted() -> None:
    lines = [" ".join(line.split()) for line in run("hardware", "7280CR3-32D4").out.splitlines()]
    assert "lint configurations are checked; rules of headroom and memory may stay undecided, which -v lists" in lines
    assert not [line for line in run("hardware", "SN4700").out.splitlines() if line.strip().startswith("lint")]


def test_a_page_says_what_is_not_known() -> None:
    text = run("hardware", "8122-64EH").out
    assert [line for line in text.splitlines() if "not known" in line] == [
        "  sonic           no: 8122-64EH is not known under sonic",
        "  nvue            no: 8122-64EH is not known under nvue",
        "  names           not known",
        "  memory          not known",
        "  cell            not known",
        "  headroom        not known",
    ]


@pytest.mark.parametrize("name", names_with_pages())
def test_every_page_can_be_printed(name: str) -> None:
    lines = render_model_page(name, "text").splitlines()
    assert lines[0].startswith(name)
    assert "sources" in lines
    assert json.loads(render_model_page(name, "json"))["name"] == name


def test_the_list_is_json_too() -> None:
    found = json.loads(run("hardware", "--format", "json").out)
    assert [one["name"] for one in found["switches"]] == list(switches())
    box = next(one for one in found["switches"] if one["name"] == "SN5600")
    assert (box["panels"], box["written_for"], box["unknown"]) == ({"800G": 64, "25G": 1}, ["sonic", "nvue"], [])
    assert {one["name"] for one in found["nics"]} >= {"ConnectX-7", "E810"}
    assert {one["name"] for one in found["media"]} >= {"DAC", "DR8"}


def test_a_wrong_name_is_told() -> None:
    done = run("hardware", "SN56000")
    assert done.code == 2
    assert "no model 'SN56000' (did you mean `SN5600`?)" in done.err


def test_the_page_of_a_cable_has_lanes_reach_and_fec() -> None:
    lines = render_model_page("DAC", "text").splitlines()
    assert "  link            25G on 1 lane, up to 2m, FEC fc (BASE-R)" in lines
    assert "  link            100G on 4 lanes, up to 5m, FEC rs" in lines
    assert "  link            100G on 4 lanes, up to 10000m, no FEC" in render_model_page("LR4", "text").splitlines()


def test_pages_say_which_modules_and_ports_there_are() -> None:
    assert (
        "  cage            QSFP-DD: also takes QSFP modules, on four of its lanes"
        in render_model_page("SN4700", "text").splitlines()
    )
    assert "cage" not in render_model_page("SN5600", "text")
    gaudi = render_model_page("Gaudi2", "text").splitlines()
    assert "  ports           3 of each GPU leave the server, 21 join it to the others" in gaudi
    assert (
        "  lanes           400G on 4, 200G on 2 or 4, 100G on 1 or 2 or 4"
        in render_model_page("ConnectX-7", "text").splitlines()
    )


def _listed(*args: str) -> list[str]:
    """The models that a filtered list has."""
    done = run("hardware", *args)
    assert done.code == 0
    return [line.split()[0] for line in done.out.splitlines()[1:]]


def test_a_list_is_filtered_by_asic_speed_platform_and_release() -> None:
    assert _listed("--asic", "spectrum-4", "--speed", "400G") == ["SN5400", "SN5600", "SN5610", "SN5610N"]
    assert _listed("--asic", "spectrum-4", "--speed", "400G", "--platform", "nvue") == ["SN5400", "SN5600", "SN5610"]
    assert _listed("--speed", "1.6T") == ["IXR7220-H6-64"]
    assert "SN2740" in _listed("--asic", "spectrum-1", "--platform", "sonic")
    assert "SN2740" not in _listed("--asic", "spectrum-1", "--platform", "nvue")
    rows = json.loads(run("hardware", "--asic", "spectrum-4", "--format", "json").out)
    assert [row["name"] for row in rows.pop("switches")] == ["SN5400", "SN5600", "SN5610", "SN5610N"]
    assert rows == {}


def test_a_release_leaves_out_models_that_came_later() -> None:
    """A model with a first release is in the list of that release, and not of the one before."""
    for name in switches():
        for platform, since in switch(name).since.items():
            releases = traits_of_platform(platform).releases
            before = releases[releases.index(since) - 1]
            assert SwitchListFilters(platform=platform, release=since).match(switch(name)), name
            assert not SwitchListFilters(platform=platform, release=before).match(switch(name)), name
    assert any(switch(name).since for name in switches())
    assert _listed("--release", "202505") == _listed("--release", "202505", "--platform", "sonic")


def test_a_page_says_what_a_model_can_be_in_a_fabric() -> None:
    text = run("hardware", "SN5600").out
    for words in (
        "  800G   1      64     2,048      65,536       sonic, nvue\n",
        "  400G   2      128    8,192      524,288      sonic, nvue\n",
        "  ConnectX-7      400G, split 2: DAC 2m, AOC 100m, SR4 100m, SR8 100m, DR4 500m, FR4 2000m, LR4 10000m\n",
    ):
        assert words in text, words
    facts = json.loads(run("hardware", "SN5600", "--format", "json").out)
    assert facts["uses"][1] == {
        "speed_mbps": 400_000, "split": 2, "ports": 128, "two_tiers": 8192, "three_tiers": 524_288,
        "platforms": ["sonic", "nvue"],
    }  # fmt: skip
    assert {row["nic"]: row["speed_mbps"] for row in facts["nic_links"]}["ConnectX-5"] == 100_000
    assert "leaf or spine" not in run("hardware", "8122-64EH").out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--asic", "spectrum4"), "no ASIC 'spectrum4' (did you mean `spectrum-4`?)"),
        (("--speed", "fast"), "'fast': expected a speed such as 400G"),
        (("--platform", "onix"), "no platform 'onix'"),
        (("--release", "5.61"), "no release '5.61'"),
        (("--release", "202505", "--platform", "nvue"), "no release '202505'"),
        (("--asic", "spectrum-4", "SN5600"), "filter the list; expected no MODEL"),
    ],
)
def test_a_filter_of_an_unknown_word_is_refused(args: tuple[str, ...], message: str) -> None:
    done = run("hardware", *args)
    assert done.code == 2
    assert message in done.err
