"""Shipped intents of SONiC as NVUE: clean, read back as they were built, and the digests of every file.

`make golden` writes `variants.txt` anew. To see what differs in a file, write all files before and after the change:
`PYTHONPATH=tests:tests/platforms/nvue python -m test_variants_nvue FOLDER`, then `diff -r BEFORE AFTER`.
"""

import sys
from functools import cache
from pathlib import Path

import pytest

import nodrop
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Fabric
from nodrop.platforms import unsupported_paths
from support.designs import build, shipped
from support.golden_outputs import digest, digested, write
from support.places import TESTS

KEPT = TESTS / "platforms" / "nvue" / "variants.txt"
VARIANTS = (
    *(("unnumbered", release) for release in ("5.9", "5.14", "5.15", "5.19")),
    ("trim", "5.16"),
    ("storage-vlan", "5.16"),
    ("rail-256", "5.16"),
)
NAMES = [f"{name}-{release}" for name, release in VARIANTS]


@cache
def fabric(name: str, release: str) -> Fabric:
    tiers = ("leaves", "spines")
    values = {"platform": "nvue", "version": release}
    return build(shipped(name, {f"topology.{tier}.{key}": value for tier in tiers for key, value in values.items()}))


@cache
def files(name: str, release: str) -> dict[str, str]:
    """Return every file of a variant by its path below the variant."""
    return {f"{one.device}/{one.path}".lstrip("/"): one.text for one in nodrop.write(fabric(name, release))}


@cache
def kept() -> dict[str, str]:
    return digested(KEPT.read_text()) if KEPT.exists() else {}


def made(name: str, release: str) -> dict[str, str]:
    """Return the digest of each file of a variant, by path."""
    paths = ((f"{name}-{release}/{path}", text) for path, text in sorted(files(name, release).items()))
    return {path: digest(path, text) for path, text in paths}


@pytest.fixture(scope="session", autouse=True)
def _written_anew(update_golden: bool) -> None:
    if update_golden:
        rows = [row for variant in VARIANTS for row in made(*variant).values()]
        KEPT.write_text("".join(f"{row}\n" for row in rows))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "release"), VARIANTS, ids=NAMES)
def test_a_variant_is_clean_and_reads_back_as_it_was_built(name: str, release: str) -> None:
    built = fabric(name, release)
    reading = nodrop.read_back(list(nodrop.write(built)), built)
    assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
    assert [(one.rule, str(one.subject)) for one in nodrop.lint(reading).findings] == []
    for device, back in zip(built.devices, reading.fabric.devices, strict=True):
        own = unsupported_paths("nvue")
        assert list(differences(mask_unsupported_fields(device, own), mask_unsupported_fields(back, own))) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "release"), VARIANTS, ids=NAMES)
def test_the_files_of_a_variant_are_as_their_digests_say(name: str, release: str, update_golden: bool) -> None:
    before = {path: row for path, row in kept().items() if path.startswith(f"{name}-{release}/")}
    assert before == made(name, release), "see the head of this file for how to compare"


def test_there_are_digests_of_these_variants_alone() -> None:
    assert sorted({path.partition("/")[0] for path in kept()}) == sorted(NAMES)


if __name__ == "__main__":
    for variant, label in zip(VARIANTS, NAMES, strict=True):
        write(Path(sys.argv[1]), label, files(*variant))
