"""Numbers with a unit in NVUE files: the plain number that each means, or the numbers that it may mean."""

import pytest

from nodrop.model.change import Change
from nodrop.model.reading import Remark, Source
from nodrop.platforms.nvue.edit import edit
from nodrop.platforms.nvue.reader import read_device

MARKING = "nv set qos congestion-control wide traffic-class"


def _remark(text: str) -> Remark:
    reading = read_device("leaf1", [(Source(name="x.nv", display="x.nv"), f"# release 5.16\n{text}\n".encode())])
    (remark,) = (remark for remark in reading.remarks if remark.kind == "unit-suffix")
    return remark


@pytest.mark.parametrize(
    ("setting", "found", "number"),
    [
        (f"{MARKING} 3 min-threshold", "150000B", "150000"),
        (f"{MARKING} 3 min-threshold", "150KiB", "153600"),
        (f"{MARKING} 3 max-threshold", "1.5MiB", "1572864"),
        (f"{MARKING} 3 probability", "100%", "100"),
        ("nv set qos pfc near cable-length", "0.1km", "100"),
        ("nv set qos pfc-watchdog polling-interval", "0.1s", "100"),
        ("nv set qos egress-shaper idle port-max-rate", "10G", "10000000"),
        ("nv set qos egress-shaper idle port-max-rate", "100Mbps", "100000"),
    ],
)  # fmt: skip
def test_a_unit_with_one_meaning_is_converted(setting: str, found: str, number: str) -> None:
    text = f"{setting} {found}"
    corrections = _remark(text).remedy.corrections
    changes = [Change(subject=("leaf1", *row.keys), old=row.old, new=row.new) for row in corrections]
    made = edit({"x.nv": f"# release 5.16\n{text}\n".encode()}, changes, name="leaf1")
    assert made.by_hand == ()
    assert made.files["x.nv"].decode() == f"# release 5.16\n{setting} {number}\n"


@pytest.mark.parametrize(
    ("found", "numbers"),
    [
        ("150KB", ["150000", "153600"]),
        ("1.5M", ["1500000", "1572864"]),
        ("4GB", ["4000000000"]),
        ("146.48KB", ["146480"]),
        ("1.00001KB", []),
    ],
)
def test_a_unit_with_several_meanings_is_a_choice(found: str, numbers: list[str]) -> None:
    remedy = _remark(f"{MARKING} 3 min-threshold {found}").remedy
    assert remedy.corrections == ()
    expected = [(f"{MARKING} 3 min-threshold {number}",) for number in numbers]
    assert [choice.lines for choice in remedy.choices] == expected


def test_the_same_number_is_written_anew_at_all_of_its_places() -> None:
    text = (
        f"{MARKING} 3,5 min-threshold 150KiB\nnv set qos congestion-control narrow traffic-class 3 min-threshold 150KiB"
    )
    places = [row.keys[3:5] + row.keys[5:6] for row in _remark(text).remedy.corrections]
    assert sorted(places) == [
        ("narrow", "traffic-class", "3"),
        ("wide", "traffic-class", "3"),
        ("wide", "traffic-class", "5"),
    ]
