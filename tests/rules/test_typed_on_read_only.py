"""The commands for platforms that are only read end their findings: typed on samples of Onyx, NCLU and Cumulus Linux.

The samples are in order. Each of their lines is changed in turn (`support/typed_sweeps.py`); the commands of what is
then found are typed on that copy, which is read again.
"""

from collections.abc import Mapping

import pytest

from nodrop import platforms
from nodrop.errors import NodropError
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import Reading, Source
from support.places import TESTS
from support.typed_sweeps import changed_lines, found_in, identities, remedies_that_fail
from support.typed_trials import type_all

GOOD = {"onyx": "good.txt", "nclu": "good.txt", "cumulus": "good"}
NAMES = {"onyx": "running-config.txt", "nclu": "nclu.txt"}
LEAST_ENDED = {"onyx": 18, "nclu": 8, "cumulus": 4}
"""Changed samples of which a rule's findings print commands, at least."""
TABLE = TESTS / "rules" / "not_ended_on_read_only.txt"


def _sample(platform: str) -> dict[str, str]:
    """Return the files of a sample by switch: NCLU's is two leaves and two spines, because it has routing mostly."""
    path = TESTS / "platforms" / platform / GOOD[platform]
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    texts = {f"leaf1/{NAMES.get(platform, file.name)}": file.read_text() for file in files}
    return _fabric_of_nclu(texts["leaf1/nclu.txt"]) if platform == "nclu" else texts


def _fabric_of_nclu(leaf1: str) -> dict[str, str]:
    leaf2 = _replaced(
        leaf1,
        {"leaf1": "leaf2", "65001": "65002", "10.0.0.1/": "10.0.0.2/", "10.0.0.1\n": "10.0.0.2\n"}
        | {"10.1.0.0/": "10.1.0.4/", "10.1.0.2/": "10.1.0.6/", "10.2.0.1/": "10.2.0.5/", "10.2.0.3/": "10.2.0.7/"}
        | {"192.0.2.11/": "192.0.2.12/"},
    )
    between = "net add interface swp31 ip address 10.1.0.0/31\nnet add interface swp32 ip address 10.1.0.2/31\n"
    ports = {between: "", "swp1-2,swp31-32": "swp1-2", "swp31-32": "swp1-2", "net add interface swp1 alias gpu1\n": ""}
    spines = {
        f"spine{n}": _replaced(
            leaf1,
            ports
            | {"leaf1": f"spine{n}", "65001": "65100", "10.0.0.1/": f"10.0.1.{n}/", "10.0.0.1\n": f"10.0.1.{n}\n"}
            | {"10.2.0.1/": f"10.1.0.{2 * n - 1}/", "10.2.0.3/": f"10.1.0.{2 * n + 3}/"}
            | {"192.0.2.11/": f"192.0.2.2{n}/"},
        )
        for n in (1, 2)
    }
    return {f"{name}/nclu.txt": text for name, text in {"leaf1": leaf1, "leaf2": leaf2, **spines}.items()}


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def _read(platform: str, files: Mapping[str, str]) -> Reading:
    bundles: dict[str, list[tuple[Source, bytes]]] = {}
    for name, text in sorted(files.items()):
        device, _, file = name.partition("/")
        bundles.setdefault(device, []).append((Source(name=file, display=name, held=text.encode()), text.encode()))
    read = platforms.reader(platform).read_device
    return assemble_fabric([read(device, bundle) for device, bundle in bundles.items()], DeclaredFacts())


@pytest.mark.slow
def test_commands_typed_on_changed_samples_end_what_is_found(update_golden: bool) -> None:
    lines, ended = [], dict.fromkeys(GOOD, 0)
    for platform in GOOD:
        files = _sample(platform)
        clean = identities(found_in(_read(platform, files)))
        for change, changed in changed_lines(files, [name for name in files if name.startswith("leaf1/")]):
            try:
                failures = [
                    *remedies_that_fail(changed, lambda texts, name=platform: _read(name, texts), type_all, clean)
                ]
            except NodropError:
                continue
            ended[platform] += failures.count("")
            lines += [f"{platform}: {change}: {failure}\n" for failure in failures if failure]
    if update_golden:
        TABLE.write_text("".join(lines))
    assert TABLE.read_text() == "".join(lines)
    assert {platform: count for platform, count in ended.items() if count < LEAST_ENDED[platform]} == {}
