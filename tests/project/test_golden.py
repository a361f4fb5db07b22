"""The files that nodrop makes of every shipped intent, compared with golden/, one test a file.

`make golden` writes golden/ anew and prints what changed; read that before you commit it.
"""

import shutil
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest

from support.golden_outputs import (
    DIGESTS,
    INTENTS,
    digest,
    digested,
    digests,
    fabric_of,
    fields_with_values,
    kept_in_full,
    nearest_in_full,
    outputs,
    switches_in_full,
    write,
)
from support.places import GOLDEN

SHOWN = 60
"""Lines of a difference that a failing test prints."""


def in_golden(intent: str) -> dict[str, Path]:
    """The files of an intent in golden/, but for its digests."""
    folder = GOLDEN / intent
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path for name, path in sorted(paths.items()) if name != DIGESTS}


def lines(intent: str) -> dict[str, str]:
    """The lines of the digests of an intent, by file."""
    path = GOLDEN / intent / DIGESTS
    return digested(path.read_text()) if path.exists() else {}


IN_FULL = [f"{intent}/{name}" for intent in INTENTS for name in in_golden(intent)]
DIGESTED = [f"{intent}/{name}" for intent in INTENTS for name in lines(intent)]


@pytest.fixture(scope="session", autouse=True)
def written_anew(update_golden: bool) -> None:
    if update_golden:
        made = {intent: kept_in_full()[intent] | {DIGESTS: digests(intent)} for intent in INTENTS}
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for intent, files in made.items():
            write(GOLDEN, intent, files)


@pytest.mark.parametrize("intent", INTENTS)
def test_golden_has_the_files_of_the_intent(intent: str) -> None:
    full = set(kept_in_full()[intent])
    rest = set(outputs(intent)) - full
    for made, there in ((full, set(in_golden(intent))), (rest, set(lines(intent)))):
        assert sorted(made - there) == [], "not in golden/; make golden"
        assert sorted(there - made) == [], "of no build any more; make golden"


def test_every_intent_has_golden_files_and_no_other_has() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == INTENTS


@pytest.mark.parametrize("path", IN_FULL)
def test_file(path: str, update_golden: bool) -> None:
    intent, _, name = path.partition("/")
    kept, text = GOLDEN / path, outputs(intent).get(name, "")
    if update_golden and not kept.exists():
        return
    if kept.read_bytes() != text.encode():
        pytest.fail(f"make golden\n{difference(kept.read_text(), text, f'golden/{path}', 'built now')}")


@pytest.mark.parametrize("path", DIGESTED)
def test_digest(path: str, update_golden: bool, tmp_path: Path) -> None:
    intent, _, name = path.partition("/")
    text, kept = outputs(intent).get(name, ""), lines(intent).get(name)
    if update_golden and kept is None:
        return
    if digest(name, text) != kept:
        pytest.fail(f"golden/{path} is not as its digest says\n{told(intent, name, text, tmp_path)}")


def told(intent: str, name: str, text: str, folder: Path) -> str:
    """How a file differs from the one that is most like it in golden/, and where both are."""
    at, like = nearest_in_full(intent, name)
    write(folder, "built", {name: text})
    write(folder, "like", {name: like})
    changed = difference(like, text, at or "nothing", f"{intent}/{name} built now")
    both = f"diff {folder}/like/{name} {folder}/built/{name}"
    return f"{changed}\nin full: {both}\n`make golden` prints what changed since the last commit"


def difference(old: str, new: str, of: str, to: str) -> str:
    """A unified diff, cut after some lines."""
    return "\n".join(islice(unified_diff(old.splitlines(), new.splitlines(), of, to, lineterm="", n=1), SHOWN))


def test_a_failing_digest_shows_a_switch_of_the_same_tier_and_both_files(tmp_path: Path) -> None:
    text = outputs("two-by-two")["leaf2/config_db.json"].replace('"Ethernet0"', '"Ethernet999"')
    said = told("two-by-two", "leaf2/config_db.json", text, tmp_path)
    assert "--- golden/two-by-two/leaf1/config_db.json\n+++ two-by-two/leaf2/config_db.json built now" in said
    assert '+        "hostname": "leaf2"' in said.replace("            ", "        ")
    assert (tmp_path / "built" / "leaf2/config_db.json").read_text() == text
    like = (tmp_path / "like" / "leaf2/config_db.json").read_text()
    assert like == outputs("two-by-two")["leaf1/config_db.json"]


def test_a_failing_digest_prefers_a_switch_of_the_same_model() -> None:
    at, _ = nearest_in_full("rail-256", "leaf3/frr.conf")
    models = {device.model for device in fabric_of("rail-256").devices}
    assert models == {device.model for device in fabric_of(at.split("/")[1]).devices}
    assert nearest_in_full("two-by-two", "batfish/hosts/gpu2.json") == ("", "")


def test_a_digest_names_file_lines_and_content() -> None:
    assert digest("leaf1/frr.conf", "a\nb\n") != digest("leaf1/frr.conf", "a\nc\n")
    line = digest("leaf1/frr.conf", "a\nb\n")
    assert line.startswith("leaf1/frr.conf  2 lines  sha256 ")
    assert digested(f"{line}\n") == {"leaf1/frr.conf": line}


def test_switches_in_full_show_every_model_mode_and_field_of_their_tier_and_platform() -> None:
    every: set[tuple[str | None, str, str]] = set()
    shown = set(every)
    for intent in INTENTS:
        fabric = fabric_of(intent)
        for device in fabric.devices:
            traits = {f"model {device.model}", f"mode {fabric.mode}", *fields_with_values(device)}
            found = {(device.role, device.platform, trait) for trait in traits}
            every |= found
            shown |= found if device.name in switches_in_full()[intent] else set()
    assert shown == every


def test_of_switches_that_show_the_same_at_most_one_is_kept() -> None:
    kept = [
        (device.role, device.platform, device.model, fabric_of(intent).mode, {*fields_with_values(device)})
        for intent in INTENTS
        for device in fabric_of(intent).devices
        if device.name in switches_in_full()[intent]
    ]
    assert [one for at, one in enumerate(kept) if one in kept[:at]] == []
