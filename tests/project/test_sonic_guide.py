"""docs/sonic.md: what it suggests under `extra:` builds without findings, and its table is that of the releases."""

import re
from pathlib import Path
from textwrap import dedent

from nodrop.design.high_frequency import COUNTERS_BY_KIND
from nodrop.hardware import asic
from nodrop.platforms.sonic.delivery import apply_script
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE, RELEASE_BY_BRANCH
from nodrop.platforms.sonic.schema import schema_of_release
from nodrop.resources import resource_folder
from support.command import nodrop
from support.designs import build, data_of, shipped
from support.places import ROOT

GUIDE = (ROOT / "docs" / "sonic.md").read_text()


def section(title: str) -> str:
    return GUIDE.partition(f"\n## {title}")[2].partition("\n## ")[0]


def cells(text: str) -> list[list[str]]:
    """The rows of the tables of a section, without their heads."""
    rows = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows]


def test_the_example_of_additions_builds_without_findings(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", section("Before the first load"), re.DOTALL)
    intent = tmp_path / "fabric.yaml"
    intent.write_text((resource_folder("intents") / "two-by-two.yaml").read_text() + example)
    run = nodrop("build", str(intent), "-o", str(tmp_path / "build"))
    assert (run.code, run.out.splitlines()[-1].partition(" in ")[0]) == (0, "no findings")


def test_the_examples_of_high_frequency_telemetry_build_and_its_counters_are_those_of_the_design() -> None:
    text = section("High-frequency telemetry")
    stated, collector, container = (data_of(dedent(one)) for one in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    split = {f"{part}.split": "2" for part in ("topology.uplinks", "endpoints.gpu", "endpoints.storage")}
    split |= {"endpoints.gpu.leaf_ports": "1", "endpoints.storage.leaf_ports": "3"}
    tiers = {
        f"topology.{tier}.{key}": value
        for tier in ("leaves", "spines")
        for key, value in (("model", "SN5600"), ("version", "202511"))
    }
    data = shipped("two-by-two", split | tiers) | stated | container
    assert all(device.high_frequency for device in build(data).devices)
    assert {*collector} == {"exporters", "service"}
    rows = {row[0].split()[0].strip("`"): row[1] for row in cells(text)[1:]}
    assert list(rows) == ["queues", "priority-groups", "ports", "buffer-pools"] == list(COUNTERS_BY_KIND)
    words = {"CURR_OCCUPANCY_CELLS": "occupancy", "WATERMARK_CELLS": "watermark", "IF_IN_DISCARDS": "discards in",
             "WRED_ECN_MARKED_PACKETS": "ECN-marked packets", "DROPPED_PACKETS": "drops", "IF_OUT_OCTETS": "octets",
             "IF_IN_OCTETS": "octets"}  # fmt: skip
    sampled = asic("spectrum-6").sampling
    assert sampled is not None
    for kind, counters in COUNTERS_BY_KIND.items():
        told = {word for word in words.values() if word in rows[kind]}
        assert told == {words[one] for one in counters if one in sampled.counters[kind]}


def test_db_migrator_reads_in_each_release_what_its_script_asks_for() -> None:
    stated = {}
    for row in cells(section("How frr.conf reaches FRR, by release"))[1:]:
        for release in row[0].split(", "):
            stated[release] = " ".join(re.findall(r"`([\w.]+)`", row[5]))
    asked = {}
    for release in (*DATABASE_VERSION_BY_RELEASE, *RELEASE_BY_BRANCH):
        (asked[release],) = re.findall(
            "^MIGRATED_FROM='(.*)'$", apply_script(RELEASE_BY_BRANCH.get(release, release)), re.MULTILINE
        )
    assert stated == asked


def test_options_and_exit_codes_are_those_of_the_script() -> None:
    usage = apply_script("202505").partition("cat <<'END'\n")[2].partition("\nEND\n")[0]
    rows = cells(section("Load a switch"))
    options = {row[0].strip("`"): row[1] for row in rows if row[0].startswith("`--")}
    assert [*options] == [line[2:21].strip() for line in usage.splitlines() if line.startswith("  --")]
    codes = [row[0] for row in rows if row[0].isdigit()]
    assert codes == re.findall(r"(\d) \w", usage.partition("Exit code: ")[2]) == ["0", "1", "2", "3", "4"]


def test_tables_to_add_are_tables_of_sonic() -> None:
    named = [row[1] for row in cells(section("Before the first load")) if row[1].startswith("`extra`: ")]
    words = {word for text in named for word in re.findall(r"`([A-Z_]{3,})`", text)} - {"CTRLPLANE"}
    assert {"AAA", "COPP_TRAP", "SNMP_COMMUNITY"} <= words
    assert words <= set(schema_of_release(None).table_names())
