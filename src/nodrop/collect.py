"""From paths on a command line to readings: which files there are, which make up a device, and whose they are."""

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nodrop import platforms, stated
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.assemble import assemble
from nodrop.fabric.declared import Declared
from nodrop.fabric.reading import DeviceReading, Note, Reading, Source
from nodrop.formats.json import MAX_BYTES
from nodrop.formats.places import read_limited

HEAD_BYTES = 65_536
STDIN = "-"
_INTENT = re.compile(rb"^nodrop\s*:", re.MULTILINE)
_YAML = (".yaml", ".yml")
_SKIPPED_FOLDERS = ("plan", "apply")
"""Folders of a build that hold no device's state."""


@dataclass(slots=True)
class Inputs:
    """What the paths of a command lead to; `nested` are folders inside with a fabric.yaml of their own."""

    bundles: list["Bundle"] = field(default_factory=list)
    intents: list[tuple[Path, str]] = field(default_factory=list)
    stated: list[tuple[Path, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    nested: list["Inputs"] = field(default_factory=list)

    def fabrics(self) -> list["Inputs"]:
        """Return the inputs that make up one fabric each; none where there is nothing but intents."""
        inner = [one for nested in self.nested for one in nested.fabrics()]
        return [self, *inner] if self.bundles or self.problems else inner


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The files of one device: (canonical name, path or None for held text, how to show it)."""

    name: str
    platform: str
    files: tuple[tuple[str, Path | None, str], ...]
    held: bytes | None = None


def find(paths: Sequence[str], platform: str | None = None, stdin: bytes | None = None) -> Inputs:
    """Look at every path: an intent, a configuration, a folder of them, or `-` for standard input."""
    inputs = Inputs()
    for text in paths:
        if text == STDIN:
            _stdin(inputs, stdin if stdin is not None else sys.stdin.buffer.read(MAX_BYTES + 1), platform)
            continue
        path = Path(text)
        if path.is_dir():
            _folder(inputs, path, platform)
        elif path.exists():
            _named_file(inputs, path, platform)
        else:
            inputs.problems.append(Problem(path=text, found="no such file or folder"))
        _stated_beside(inputs, path)
    return inputs


def _stated_beside(inputs: Inputs, path: Path) -> None:
    """Take the fabric.yaml beside a path, or in its parent's folder."""
    here = path if path.is_dir() else path.parent
    for folder in (here, *([here.parent] if here.resolve() != here.parent.resolve() else [])):
        candidate = folder / stated.FILE
        if candidate.is_file():
            if (candidate, str(candidate)) not in inputs.stated:
                inputs.stated.append((candidate, str(candidate)))
            return


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""


def _platform_of(name: str, head: bytes, forced: str | None) -> str | None:
    if forced is not None:
        return forced
    return next((one for one in platforms.names() if platforms.reader(one).detect(name, head)), None)


def _is_intent(path: Path) -> bool:
    return path.suffix in _YAML and bool(_INTENT.search(_head(path)))


def _named_file(inputs: Inputs, path: Path, forced: str | None) -> None:
    display = str(path)
    if not path.is_file():
        inputs.problems.append(Problem(path=display, found="not a regular file", expected="a configuration or intent"))
    elif _is_intent(path):
        inputs.intents.append((path, display))
    elif path.name == stated.FILE:
        inputs.stated.append((path, display))
    else:
        platform = _platform_of(path.name, _head(path), forced)
        if platform is None:
            platform = _unrecognised(inputs, path)
        if platform is not None:
            inputs.bundles.append(_bundle_of_file(path, platform))


def _unrecognised(inputs: Inputs, path: Path) -> str | None:
    """Say why a named file is not read; one that looks like broken JSON goes to the reader, who says where."""
    if path.suffix == ".json":
        return platforms.names()[0]
    expected = f"a configuration of {', '.join(platforms.names())}, or an intent (nodrop: 1)"
    inputs.problems.append(
        Problem(path=str(path), found="a file of no known platform", expected=expected, hint="--platform says which")
    )
    return None


def _bundle_of_file(path: Path, platform: str) -> Bundle:
    """Return a named file as a device: a canonical name brings its folder's name, any other file its own."""
    canonical = platforms.reader(platform).FILES
    if path.name in canonical:
        siblings = sorted(one for one in canonical if (path.parent / one).is_file())
        files = tuple((one, path.parent / one, str(path.parent / one)) for one in siblings)
        return Bundle(name=_folder_name(path.parent), platform=platform, files=files)
    kind = "frr.conf" if path.suffix == ".conf" else "config_db.json"
    return Bundle(name=_safe(path.stem), platform=platform, files=((kind, path, str(path)),))


def _folder_name(folder: Path) -> str:
    return _safe(folder.name or folder.resolve().name)


def _safe(name: str) -> str:
    """Return a name that a device can have: what a path may hold and a name may not becomes a dash."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]", "-", name)[:63].lstrip("._-")
    return cleaned or "device"


def _folder(inputs: Inputs, top: Path, forced: str | None) -> None:
    for here, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        for name in [name for name in folders if (Path(here) / name / stated.FILE).is_file()]:
            folders.remove(name)
            nested = Inputs(stated=[(Path(here) / name / stated.FILE, str(Path(here) / name / stated.FILE))])
            _folder(nested, Path(here) / name, forced)
            inputs.nested.append(nested)
        _folder_files(inputs, Path(here), sorted(name for name in files if not name.startswith(".")), forced)


def _folder_files(inputs: Inputs, here: Path, files: list[str], forced: str | None) -> None:
    taken: set[str] = set()
    for platform in (forced,) if forced else platforms.names():
        canonical = [name for name in files if name in platforms.reader(platform).FILES]
        if canonical:
            taken |= set(canonical)
            bundle = tuple((name, here / name, str(here / name)) for name in canonical)
            inputs.bundles.append(Bundle(name=_folder_name(here), platform=platform, files=bundle))
    for name in files:
        path = here / name
        if name in taken or not path.is_file():
            continue
        if _is_intent(path):
            inputs.intents.append((path, str(path)))
        elif path.suffix == ".json" and (platform := _platform_of(name, _head(path), forced)):
            inputs.bundles.append(_bundle_of_file(path, platform))


def _stdin(inputs: Inputs, raw: bytes, forced: str | None) -> None:
    platform = _platform_of("stdin", raw[:HEAD_BYTES], forced) or platforms.names()[0]
    file = ("config_db.json", None, "<stdin>")
    inputs.bundles.append(Bundle(name="stdin", platform=platform, files=(file,), held=raw))


def digest(raw: bytes) -> str:
    """Return the digest by which a changed file is told."""
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def read_bundle(bundle: Bundle) -> DeviceReading:
    """Read one device; a file that cannot be opened is a problem of the reading."""
    opened, problems = [], []
    for name, path, display in bundle.files:
        try:
            raw = bundle.held if path is None else read_limited(path, display, MAX_BYTES)
        except InputProblems as error:
            problems.extend(error.problems)
            continue
        raw = raw or b""
        held = raw if path is None else None
        opened.append((Source(name=name, display=display, path=path, held=held, digest=digest(raw)), raw))
    reading = platforms.reader(bundle.platform).read(bundle.name, opened)
    if not problems:
        return reading
    return DeviceReading(
        device=reading.device,
        sources=reading.sources,
        cables=reading.cables,
        remarks=reading.remarks,
        notes=reading.notes,
        problems=(*problems, *reading.problems),
        derived=reading.derived,
    )


def read_inputs(inputs: Inputs, declared: Declared) -> Reading:
    """Read the bundles of one fabric; `declared` is stronger than what lies beside the files."""
    problems = list(inputs.problems)
    for path, display in inputs.stated:
        try:
            declared = declared.over(stated.load(path, display))
        except InputProblems as error:
            problems.extend(error.problems)
    readings = []
    for bundle in inputs.bundles:
        reading = read_bundle(bundle)
        if reading.problems and not reading.device.interfaces:
            problems.extend(reading.problems)
        else:
            readings.append(reading)
    found = assemble(readings, declared)
    return Reading(
        fabric=found.fabric,
        sources=found.sources,
        remarks=found.remarks,
        notes=(*inputs.notes, *found.notes),
        problems=(*problems, *found.problems),
        derived=found.derived,
        assumed=found.assumed if readings else (),
    )


def read_artifacts(artifacts: Iterable["platforms.Artifact"], platform_of: dict[str, str], below: str) -> Iterator[DeviceReading]:
    """Read rendered artifacts as `read_bundle` reads files, without touching a disk."""
    by_device: dict[str, list[platforms.Artifact]] = {}
    for artifact in artifacts:
        by_device.setdefault(artifact.device, []).append(artifact)
    for device, own in by_device.items():
        platform = platform_of[device]
        canonical = platforms.reader(platform).FILES
        opened = []
        for artifact in own:
            if artifact.path in canonical:
                raw = artifact.text.encode()
                display = f"{below}/{device}/{artifact.path}" if below else f"{device}/{artifact.path}"
                opened.append((Source(name=artifact.path, display=display, held=raw, digest=digest(raw)), raw))
        yield platforms.reader(platform).read(device, opened)
