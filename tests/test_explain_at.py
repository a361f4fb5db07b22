"""`nodrop explain --at`: what stands at a subject, and where that comes from."""

import json
from pathlib import Path

import pytest

from support.command import built, nodrop
from support.places import TESTS

INTENT = "intents/two-by-two.yaml"


def explained(at: str, path: str | Path = INTENT) -> dict[str, list[str]]:
    """Return the page's lines by their heading."""
    done = nodrop("explain", "--at", at, path)
    assert (done.code, done.err) == (0, "")
    summary, *blocks = done.out.rstrip("\n").split("\n\n")
    assert summary.startswith(f"{at}: ")
    assert len(summary.splitlines()) <= 10
    return {block.splitlines()[0]: [line.strip() for line in block.splitlines()[1:]] for block in blocks}


def line_of(file: Path, text: str, after: str) -> int:
    """Return the number of the first line with `text` after the first with `after`."""
    lines = file.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if after in line)
    return next(number for number, line in enumerate(lines) if number > start and text in line) + 1


def test_headroom_has_its_terms_and_bounds() -> None:
    page = explained("leaf1/Ethernet0/qos/priority_groups/3/buffer/headroom/xoff_bytes")
    made, held = (next(lines for head, lines in page.items() if head.startswith(f"What xoff is {kind}"))
                  for kind in ("made of", "held against"))  # fmt: skip
    assert page["Value"] == ["87040"]
    assert page["Where it comes from"][0] == "sizes: computed by the switch and by nodrop; no file states them"
    assert made == [
        "port_mtu: 9216",
        "cable: 1515",
        "mac_phy: 819",
        "peer_response: 57920",
        "tile: 0",
        "cell_occupancy: 1.2353",
        "pattern_mtu: 1024",
        "rounding: 200",
    ]
    assert held == ["sku_row: 38912", "formula: 87040", "ieee: 77976"]


def test_what_a_file_states_has_its_line(tmp_path: Path) -> None:
    built(INTENT, tmp_path / "build")
    file = tmp_path / "build/leaf1/config_db.json"
    line = line_of(file, '"mtu"', '"PORT": {')
    page = explained("leaf1/Ethernet0/mtu_bytes", file)
    assert page["Value"] == ["9216"]
    place, text = page["Where it comes from"]
    assert place.startswith(f"{file}:{line}:")
    assert text == '"mtu": "9216",'
    assert not any(head.startswith("What xoff") for head in page)


def test_what_stands_in_another_part() -> None:
    """A link is no row of any file: the end that was read stands for it."""
    page = explained("@fabric/links/gpu1:nic1--leaf1:Ethernet0/length_m")
    assert page["Value"] == ["3"]
    assert page["Where it comes from"][0].startswith("stated, else concluded")
    assert page["Where it comes from"][1].endswith("states leaf1/Ethernet0")


def test_stated_assumed_and_derived(tmp_path: Path) -> None:
    stated = "stated: by the intent, a flag, or the fabric.yaml beside the files"
    assert explained("@fabric/mode")["Where it comes from"] == [stated]
    built(INTENT, tmp_path / "build")
    alone = tmp_path / "config_db.json"
    alone.write_bytes((tmp_path / "build/leaf1/config_db.json").read_bytes())
    assert explained("@fabric/mode", alone) == {
        "Value": ["lossless"],
        "Where it comes from": [
            "assumed: mode is lossless, because: ports have PFC, a lossless priority group or a PFC watchdog"
        ],
    }
    vendor = explained("leaf1/@buffer_model", "intents/reference-256-nvue-leaves.yaml")
    assert vendor["Value"] == ["dynamic"]
    assert vendor["Where it comes from"][0].startswith("derived: ")


def test_rows_are_named_and_unknown_is_said() -> None:
    value = explained("leaf1")["Value"]
    assert "buffer_pools: 4 rows: egress_lossless, egress_lossy, ingress_lossless, ingress_lossy" in value
    unknown = next(line for line in value if line.startswith("unknown: "))
    assert "extra" in unknown.removeprefix("unknown: ").split(", ")
    assert "mac" in next(line for line in value if line.startswith("none: ")).removeprefix("none: ").split(", ")


@pytest.mark.parametrize(
    ("at", "path", "said"),
    [
        ("leaf1/Ethernet1", INTENT, "leaf1/Ethernet1: there is no `Ethernet1` (did you mean `Ethernet16`?)"),
        ("leaf1/Ethernet0/mtu", INTENT, "leaf1/Ethernet0/mtu: Interface has no `mtu`"),
        ("leaf1", "intents", "several intents, or an intent and configurations"),
        ("leaf1", "docs", "no configuration"),
        ("leaf1", "absent", "no such file or folder"),
    ],
)
def test_what_is_not_there(at: str, path: str, said: str) -> None:
    done = nodrop("explain", "--at", at, path)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


PAGES = {
    "leaf1": "leaf1: switch, SN4700, sonic, 202505, leaf",
    "leaf1/@bgp": "leaf1/@bgp: BGP",
    "leaf1/Ethernet0": "leaf1/Ethernet0: port, 400G on 8 lanes, to a host",
    "leaf1/Ethernet224": "leaf1/Ethernet224: port, 400G on 8 lanes, to a switch",
    "leaf1/Ethernet0/mtu_bytes": "leaf1/Ethernet0/mtu_bytes: MTU: 1500 bytes",
    "leaf1/Ethernet0/qos/priority_groups/3": "leaf1/Ethernet0/qos/priority_groups/3: priority group",
    "leaf1/@buffer_pools": "leaf1/@buffer_pools: buffer pools",
    "@fabric/mode": "@fabric/mode: mode: lossless",
}


def test_the_first_ten_lines_say_what_a_part_is_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    built(INTENT, tmp_path / "build")
    golden = TESTS / "explained_parts.txt"
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "build/leaf1/config_db.json"
    config = json.loads(file.read_text())
    del config["PFC_WD"]
    config["PORT"]["Ethernet0"]["mtu"] = "1500"
    file.write_text(json.dumps(config, indent=1))
    pages = []
    for at, first in PAGES.items():
        summary = nodrop("explain", "--at", at, "build").out.partition("\n\n")[0]
        assert len(summary.splitlines()) <= 10
        assert summary.splitlines()[0].startswith(first)
        pages.append(summary)
    if update_golden:
        golden.write_text("\n\n".join(pages) + "\n")
    assert golden.read_text() == "\n\n".join(pages) + "\n", "pytest --update-golden"


def test_the_key_of_an_intent_is_named_beside_the_remedy(tmp_path: Path) -> None:
    lines = Path(INTENT).read_text().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if line.startswith("  cnp:"))
    lines[number] = "  cnp:     {dscp: 48, priority: 6, share: 1%}\n"
    intent = tmp_path / "weak.yaml"
    intent.write_text("".join(lines).replace("share: 15%", "share: 14%"))
    summary = nodrop("explain", "--at", "leaf1/Ethernet0", intent).out.partition("\n\n")[0]
    assert "\nfound  warning[cnp-not-strict]: " in summary
    heading = lines.index("classes:\n") + 1
    assert f"({intent}:{heading})" in "".join(summary.partition("to do")[2].split())


def test_a_part_has_its_place_first_and_what_it_lacks_in_one_line() -> None:
    done = nodrop("explain", "--at", "leaf1/Ethernet0", INTENT)
    lines = done.out.splitlines()
    assert lines.index("Where it comes from") < lines.index("Value")
    absent = next(line for line in lines if line.startswith("  none: "))
    assert "autoneg" in absent
    assert not [line for line in lines if line.endswith(": none")]
