"""`nodrop show` of a second lossless class: the memory that it takes, and what remains for the first."""

import json
from pathlib import Path
from typing import Any

from support.command import nodrop
from support.designs import Data, shipped
from support.storage_classes import with_nvme


def shown(folder: Path, data: Data, *options: str) -> str:
    path = folder / "intent.yaml"
    path.write_text(json.dumps(data))
    done = nodrop("show", str(path), *options)
    assert (done.code, done.err) == (0, "")
    return done.out


def rows(folder: Path, data: Data) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shown(folder, data, "--format", "json"))["further_lossless"]
    return found


def test_own_headroom_is_that_of_each_port_and_the_pool_is_smaller_by_it(tmp_path: Path) -> None:
    """A leaf has 3 host ports of 135168 bytes and 4 uplinks of 152576; the lossless pool is 90 % of what is left."""
    leaf, spine = rows(tmp_path, with_nvme("two-by-two"))
    taken = 3 * 135168 + 4 * 152576
    assert leaf == {
        "role": "leaf",
        "platform": "sonic",
        "model": "SN4700",
        "first_class": "rdma",
        "further_classes": ["nvme"],
        "ports": 7,
        "port": {"low": 135168, "high": 152576},
        "switch": taken,
        "xoff": 2 * (3 * 87040 + 4 * 104448),
        "headroom_pool": {"all_classes": 0, "first_class": 0},
        "shareable": {"all_classes": 52869413 - taken * 9 // 10, "first_class": 52869413},
        # alpha 1: a half of the pool for one lossless class, a third each for two
        "pause_threshold": {"all_classes": 51955186 // 3, "first_class": 52869413 // 2},
    }
    assert (spine["ports"], spine["switch"]) == (4, 4 * 152576)


def test_shared_headroom_is_a_pool_of_so_many_times_less_than_all_ports_need(tmp_path: Path) -> None:
    """Beside the xon of each, a port keeps 10 KiB of its own on Spectrum-3; the rest of its xoff is shared."""
    leaf, _ = rows(tmp_path, with_nvme("two-by-two", {"buffers.shared_headroom": "4"}))
    xoff = 3 * 87040 + 4 * 104448
    assert leaf["xoff"] == 2 * xoff
    assert leaf["headroom_pool"] == {"all_classes": (2 * xoff - 7 * 10240) // 4, "first_class": (xoff - 7 * 10240) // 4}
    assert (leaf["port"], leaf["switch"]) == ({"low": 38912, "high": 38912}, 7 * 38912)


def test_on_broadcom_the_pool_for_headroom_doubles_and_what_is_left_shrinks_by_as_much(tmp_path: Path) -> None:
    leaf, spine = rows(tmp_path, with_nvme("broadcom"))
    assert leaf["headroom_pool"] == {"all_classes": 2 * 1343406, "first_class": 3 * 178562 + 4 * 201930}
    assert spine["headroom_pool"]["all_classes"] == 2 * spine["headroom_pool"]["first_class"]
    for row in (leaf, spine):
        less = row["shareable"]["first_class"] - row["shareable"]["all_classes"]
        more = row["headroom_pool"]["all_classes"] - row["headroom_pool"]["first_class"]
        assert more < less < more * 1.1


def test_the_page_names_the_classes_and_has_the_sizes_of_both(tmp_path: Path) -> None:
    page = shown(tmp_path, with_nvme("two-by-two"))
    (line,) = [" ".join(line.split()) for line in page.splitlines() if "1.016 MB" in line]
    assert line == "leaf (sonic) SN4700 135.2 kB to 1.016 MB for none 51.96 MB 17.32 MB"
    assert "\nMemory that nvme takes as lossless class\n" in page
    assert "(52.87 MB)      (26.43 MB)" in page
    pooled = shown(tmp_path, with_nvme("broadcom"))
    assert "demand 2.687" in pooled


def test_one_lossless_class_has_no_such_table(tmp_path: Path) -> None:
    assert rows(tmp_path, shipped("two-by-two")) == []
    assert "as lossless class" not in shown(tmp_path, shipped("two-by-two"))
