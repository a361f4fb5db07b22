"""Every file that nodrop makes of the shipped intents, and how golden/ keeps it: in full or as a digest.

golden/<intent>/ has the files of the fabric and of some switches in full. `digests.txt` has a line for each other file:
its path, lines and SHA-256. `python tests/support/golden_outputs.py FOLDER` writes all files to FOLDER in full.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import nodrop
from nodrop.design import find_adaptations
from nodrop.design.defaults import applied_defaults
from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.export.batfish import build_snapshot
from nodrop.export.containerlab import export_lab
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN
from nodrop.report.fabric import fabric_facts
from nodrop.report.text import render
from nodrop.resources import resource_folder
from nodrop.results.outcome import FabricOutcome
from support.pages import text_of_fabric
from support.snapshots import without_counts

DIGESTS = "digests.txt"
INTENTS = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))
LABS = ("adaptive", "two-by-two")
"""Intents whose containerlab topology is made."""
EXPORTED = ("two-by-two", "storage-vlan", "unnumbered", "adaptive", "reference-256-nvue-leaves")
"""Intents whose Batfish snapshot is made: on SONiC, on NVUE, and on both."""

Files = dict[str, str]


@cache
def fabric_of(intent: str) -> Fabric:
    """Build a shipped intent."""
    return nodrop.build(nodrop.load(resource_folder("intents") / f"{intent}.yaml"))


@cache
def configurations(intent: str) -> Files:
    """Return the configuration files of all switches of an intent, and its fabric.yaml."""
    return {f"{one.device}/{one.path}".lstrip("/"): one.text for one in nodrop.write(fabric_of(intent))}


@cache
def outputs(intent: str) -> Files:
    """Return every file of an intent: `show`, the findings of `lint`, and all artifacts and exports."""
    loaded = nodrop.load(resource_folder("intents") / f"{intent}.yaml")
    fabric = fabric_of(intent)
    hosts = nodrop.host_files(fabric)
    reading = nodrop.read_back([*nodrop.write(fabric), *hosts], fabric)
    verdict = judge(reading, shipped_rules(), strictness="auditor")
    return {
        "show.txt": text_of_fabric(fabric_facts(fabric, applied_defaults(loaded), find_adaptations(loaded))),
        "findings.txt": without_counts(render(FabricOutcome.of(reading, verdict))),
        **configurations(intent),
        **{one.path: one.text for one in (*nodrop.host_files(fabric), *nodrop.rack(fabric))},
        **(batfish_files(reading) if intent in EXPORTED else {}),
        **(lab_files(reading) if intent in LABS else {}),
    }


def batfish_files(reading: Reading) -> Files:
    """Return the Batfish snapshot without the files that are also a switch's own."""
    found = build_snapshot(reading)
    own = tuple(f"{node}/frr.conf" for node in found.names if f"sonic_configs/{node}/frr.conf" in found.files)
    return {f"batfish/{name}": text for name, text in found.files.items() if not name.endswith(own)}


def lab_files(reading: Reading) -> Files:
    """Return the containerlab files without those that are also a switch's own."""
    own = {source.held for sources in reading.sources.values() for source in sources}
    return {f"lab/{name}": text for name, text in export_lab(reading).files.items() if text.encode() not in own}


@cache
def kept_in_full() -> dict[str, Files]:
    """Return the files that golden/ has in full, by intent: those of a fabric, and of its `switches_in_full`.

    A text that several files have is kept in full once, in the smallest of their fabrics.
    """
    switches = switches_in_full()
    kept: dict[str, Files] = {}
    seen: set[str] = set()
    for intent in smallest_first():
        kept[intent] = {}
        for name, text in sorted(outputs(intent).items()):
            if text not in seen and owner(name, intent) in {"", *switches[intent]}:
                kept[intent][name] = text
                seen.add(text)
    return kept


def digests(intent: str) -> str:
    """Return the digests of the files that golden/ does not have in full, one line a file."""
    full = kept_in_full()[intent]
    return "".join(f"{digest(name, text)}\n" for name, text in sorted(outputs(intent).items()) if name not in full)


def digest(name: str, text: str) -> str:
    """Return the line of a file in `digests.txt`."""
    return f"{name}  {len(text.splitlines())} lines  sha256 {sha256(text.encode()).hexdigest()}"


def digested(text: str) -> Files:
    """Return the lines of a `digests.txt` by the path of the file."""
    return {line.partition("  ")[0]: line for line in text.splitlines()}


def owner(name: str, intent: str) -> str:
    """Return the switch or host whose file this is, or nothing for a file of the fabric.

    The first host counts as part of the fabric, so that its files are kept in full.
    """
    fabric = fabric_of(intent)
    nodes = {device.name for device in fabric.devices} | {host.name for host in fabric.hosts[1:]}
    parts = Path(name).with_suffix("").parts
    return next((part for part in parts if part in nodes), "")


@cache
def smallest_first() -> tuple[str, ...]:
    """Return the intents of two tiers, then the others, those of fabrics with fewer lines of configuration first."""
    others = {
        one for one in INTENTS if nodrop.load(resource_folder("intents") / f"{one}.yaml").topology.kind != "leaf-spine"
    }
    lines = {one: sum(len(text.splitlines()) for text in configurations(one).values()) for one in INTENTS}
    return tuple(sorted(INTENTS, key=lambda one: (one in others, lines[one])))


@cache
def switches_in_full() -> dict[str, list[str]]:
    """Return the switches whose files are kept in full, by intent.

    Fabrics with fewer lines of configuration come first. A switch is kept if it shows something that no earlier switch
    of its tier and platform shows: a model, a mode of the fabric, or a field of the model of a switch that has a value.
    """
    shown: dict[tuple[object, str], set[str]] = defaultdict(set)
    kept: dict[str, list[str]] = {intent: [] for intent in INTENTS}
    for intent in smallest_first():
        fabric = fabric_of(intent)
        for device in fabric.devices:
            traits = {f"model {device.model}", f"mode {fabric.mode}", *fields_with_values(device)}
            if not traits <= shown[device.role, device.platform]:
                kept[intent].append(device.name)
                shown[device.role, device.platform] |= traits
    return kept


def fields_with_values(value: object, at: str = "") -> Iterator[str]:
    """Yield the fields of a dataclass, and of those inside it, that hold something."""
    if is_dataclass(value):
        for field in fields(value):
            yield from fields_with_values(getattr(value, field.name), f"{at}.{field.name}")
    elif isinstance(value, tuple | frozenset):
        for one in value:
            yield from fields_with_values(one, at)
    elif value is not UNKNOWN and value not in (None, False, 0, ""):
        yield at


def nearest_in_full(intent: str, name: str) -> tuple[str, str]:
    """Return path and text of the file in golden/ that is most like a digested file: of the same tier and platform.

    The same fabric comes first, then the same model, then the same mode. Both are empty for a file of a host.
    """
    fabric = fabric_of(intent)
    device = next((one for one in fabric.devices if one.name == owner(name, intent)), None)
    if device is None:
        return "", ""
    found = []
    for other, files in kept_in_full().items():
        for one in fabric_of(other).devices:
            path = name.replace(device.name, one.name)
            if (one.role, one.platform) == (device.role, device.platform) and path in files:
                unlike = (other != intent, one.model != device.model, fabric_of(other).mode != fabric.mode)
                found.append((unlike, f"golden/{other}/{path}", files[path]))
    return min(found)[1:] if found else ("", "")


def write(folder: Path, intent: str, files: Files) -> None:
    """Write files of an intent below a folder."""
    for name, text in files.items():
        path = folder / intent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


if __name__ == "__main__":
    for each in INTENTS:
        write(Path(sys.argv[1]), each, outputs(each))
