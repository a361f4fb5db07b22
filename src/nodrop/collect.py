"""From paths on a command line to readings: which files there are, which make up a device, and whose they are."""

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nodrop import platforms, stated
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.assemble import assemble
from nodrop.fabric.declared import Declared
from nodrop.fabric.reading import DeviceReading, Note, Reading, Source
from nodrop.formats.json import MAX_BYTES
from nodrop.formats.places import read_limited
from nodrop.platforms.artifact import Artifact
from nodrop.publish import recover

HEAD_BYTES = 65_536
STDIN = "-"
_INTENT = re.compile(rb"^\s*\"?nodrop\"?\s*:", re.MULTILINE)
_YAML = (".yaml", ".yml")
_SKIPPED_FOLDERS = ("plan", "apply")
"""Folders of a build that hold no device's state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text and how to show whose it is: a file that is read when it is asked for, or one held in memory."""

    display: str
    path: Path | None = None
    held: bytes = b""

    def read(self, max_bytes: int) -> bytes:
        """Return the bytes; InputProblems says why they are not to be had."""
        return self.held if self.path is None else read_limited(self.path, self.display, max_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The files of one device, each with its canonical name."""

    name: str
    platform: str
    files: tuple[tuple[str, Text], ...]


@dataclass(slots=True)
class Inputs:
    """What makes up one fabric, or seems to: `nested` are folders inside with a fabric.yaml of their own."""

    bundles: list[Bundle] = field(default_factory=list)
    intents: list[Text] = field(default_factory=list)
    stated: list[Text] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    nested: list["Inputs"] = field(default_factory=list)

    def fabrics(self) -> list["Inputs"]:
        """Return the inputs that make up one fabric each; none where there is nothing but intents."""
        inner = [one for nested in self.nested for one in nested.fabrics()]
        return [self, *inner] if self.bundles or self.problems else inner

    def all_intents(self) -> list[Text]:
        """Return the intents, each a fabric of its own."""
        return [*self.intents, *(intent for nested in self.nested for intent in nested.all_intents())]

    def all_notes(self) -> list[Note]:
        """Return what is to be said of the looking itself."""
        return [*self.notes, *(note for nested in self.nested for note in nested.all_notes())]


def find(paths: Sequence[str], platform: str | None = None, stdin: bytes | None = None) -> Inputs:
    """Look at every path: an intent, a configuration, a folder of them, or `-` for standard input.

    All are one fabric, unless different fabric.yaml files lie beside them: then each of these has its own.
    """
    finder = _Finder(platform)
    groups: dict[str | None, Inputs] = {}
    named = Inputs()
    for text in paths:
        if text == STDIN:
            finder.held(groups.setdefault(None, Inputs()), _standard_input() if stdin is None else stdin)
        elif (fault := _fault(text)) is not None:
            named.problems.append(fault)
        elif Path(text).name == stated.FILE and Path(text).is_file():
            named.stated.append(Text(display=text, path=Path(text)))
        else:
            beside = _stated_beside(Path(text))
            group = groups.setdefault(beside and _identity(beside), Inputs())
            if beside is not None and not group.stated:
                group.stated.append(Text(display=str(beside), path=beside))
            finder.path(group, Path(text))
    return _joined(named, groups)


def _joined(named: Inputs, groups: dict[str | None, Inputs]) -> Inputs:
    """Make one fabric of all groups where a fabric.yaml was named, or not more than one lies beside them."""
    if named.stated or len(groups.keys() - {None}) <= 1:
        for group in groups.values():
            for kind in ("bundles", "intents", "stated", "problems", "notes", "nested"):
                getattr(named, kind).extend(getattr(group, kind))
    else:
        named.nested.extend(groups.values())
    return named


def _standard_input() -> bytes:
    """Return what stands on standard input, or a little more than may be read."""
    return sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin else b""


def _fault(text: str) -> Problem | None:
    """Return why a path leads nowhere; a build that was cut short there is mended first."""
    if not text:
        return Problem(path='""', found="an empty path", hint="`.` is the working directory")
    try:
        if not os.path.lexists(text):
            recover(Path(text))
        Path(text).stat()
    except FileNotFoundError:
        return Problem(path=text, found="no such file or folder")
    except (OSError, ValueError) as error:
        return Problem(path=text, found=(getattr(error, "strerror", None) or str(error)).lower())
    return None


def _stated_beside(path: Path) -> Path | None:
    """Return the fabric.yaml beside a path, or in the folder above."""
    here = path if path.is_dir() else path.parent
    above = here.parent if here.name not in ("", "..") else here / ".."
    found = (folder / stated.FILE for folder in (here, above))
    return next((candidate for candidate in found if candidate.is_file()), None)


def _identity(path: Path) -> str:
    return os.path.realpath(path)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""


def _is_intent(head: bytes) -> bool:
    return not head.lstrip().startswith(b"{") and bool(_INTENT.search(head))


class _Finder:
    """Looks at paths and adds what it finds to inputs; what was found before, under whatever path, counts once."""

    def __init__(self, platform: str | None) -> None:
        self._forced = platform
        self._platforms = (platform,) if platform else platforms.names()
        self._seen: set[str] = set()

    def path(self, inputs: Inputs, path: Path) -> None:
        """Look at a path that was named."""
        if path.is_dir():
            self._tree(inputs, path)
        else:
            self._named_file(inputs, path)

    def held(self, inputs: Inputs, raw: bytes) -> None:
        """Look at the text of standard input."""
        text = Text(display="<stdin>", held=raw)
        head = raw[:HEAD_BYTES]
        if _is_intent(head):
            inputs.intents.append(text)
            return
        platform = self._platform_of("stdin", head) or self._platforms[0]
        inputs.bundles.append(Bundle(name="stdin", platform=platform, files=(("config_db.json", text),)))

    def _platform_of(self, name: str, head: bytes) -> str | None:
        if self._forced is not None:
            return self._forced
        return next((one for one in self._platforms if platforms.reader(one).detect(name, head)), None)

    def _is_new(self, path: Path) -> bool:
        known = os.path.abspath(path)  # noqa: PTH100 -- resolving links would cost a look at every folder above
        new = known not in self._seen
        self._seen.add(known)
        return new

    def _named_file(self, inputs: Inputs, path: Path) -> None:
        display = str(path)
        if not path.is_file():
            inputs.problems.append(
                Problem(path=display, found="not a regular file", expected="a configuration or intent")
            )
            return
        head = _head(path)
        if path.suffix in _YAML and _is_intent(head):
            self._intent(inputs, path)
            return
        platform = self._platform_of(path.name, head)
        if platform is None and path.suffix == ".json":
            platform = self._platforms[0]  # its reader says where the JSON is broken
        if platform is None:
            inputs.problems.append(_unrecognised(path))
        elif path.name in platforms.reader(platform).FILES:
            beside = (one for one in platforms.reader(platform).FILES if (path.parent / one).is_file())
            self._device(inputs, path.parent, sorted(beside), platform)
        else:
            self._other_file(inputs, path, platform)

    def _intent(self, inputs: Inputs, path: Path) -> None:
        if self._is_new(path):
            inputs.intents.append(Text(display=str(path), path=path))

    def _device(self, inputs: Inputs, folder: Path, names: Sequence[str], platform: str) -> None:
        """Add the canonical files of a folder as one device of its name."""
        if self._is_new(folder / names[0]):
            files = tuple((name, Text(display=str(folder / name), path=folder / name)) for name in names)
            name = folder.name if folder.name not in ("", "..") else folder.resolve().name
            inputs.bundles.append(Bundle(name=_safe(name), platform=platform, files=files))

    def _other_file(self, inputs: Inputs, path: Path, platform: str) -> None:
        """Add a file of any other name as a device of its own."""
        if self._is_new(path):
            kind = "frr.conf" if path.suffix == ".conf" else "config_db.json"
            file = (kind, Text(display=str(path), path=path))
            inputs.bundles.append(Bundle(name=_safe(path.stem), platform=platform, files=(file,)))

    def _tree(self, inputs: Inputs, top: Path) -> None:
        """Look at a folder and those inside; one with a fabric.yaml of its own is another fabric."""
        pending = [(top, inputs)]
        while pending:
            here, into = pending.pop()
            folders, files = self._listed(into, here)
            self._files(into, here, files)
            inside = []
            for folder in folders:
                fabric = folder / stated.FILE
                if fabric.is_file():
                    own = Inputs(stated=[Text(display=str(fabric), path=fabric)])
                    into.nested.append(own)
                    inside.append((folder, own))
                elif folder.name not in _SKIPPED_FOLDERS:
                    inside.append((folder, into))
            pending.extend(reversed(inside))

    def _listed(self, inputs: Inputs, here: Path) -> tuple[list[Path], list[str]]:
        """Return the folders and the names of the files in a folder, sorted, without those that begin with a dot."""
        try:
            with os.scandir(here) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            inputs.problems.append(Problem(path=str(here), found=reason, expected="a readable folder"))
            return [], []
        folders, files = [], []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(here / entry.name)
            elif entry.is_symlink() and entry.is_dir():
                message = "a link to a folder, which is not followed; name it to have it read"
                inputs.notes.append(Note(kind="link", message=message, file=str(here / entry.name)))
            else:
                files.append(entry.name)
        return folders, files

    def _files(self, inputs: Inputs, here: Path, files: list[str]) -> None:
        taken: set[str] = set()
        for platform in self._platforms:
            canonical = [name for name in files if name in platforms.reader(platform).FILES]
            if canonical:
                taken |= set(canonical)
                self._device(inputs, here, canonical, platform)
        for path in (here / name for name in files if name not in taken):
            if path.suffix in _YAML and path.is_file() and _is_intent(_head(path)):
                self._intent(inputs, path)
            elif path.suffix == ".json" and path.is_file():
                self._json(inputs, path)

    def _json(self, inputs: Inputs, path: Path) -> None:
        platform = self._platform_of(path.name, _head(path))
        if platform is not None:
            self._other_file(inputs, path, platform)
        else:
            message = "JSON of no known platform, which is not read"
            inputs.notes.append(Note(kind="not-recognised", message=message, file=str(path)))


def _unrecognised(path: Path) -> Problem:
    if path.suffix in _YAML:
        expected = "an intent, which has the key `nodrop: 1`"
        return Problem(path=str(path), found="YAML that is no intent", expected=expected)
    expected = f"a configuration of {', '.join(platforms.names())}, or an intent (NAME.yaml)"
    hint = "--platform says which"
    return Problem(path=str(path), found="a file of no known platform", expected=expected, hint=hint)


def _safe(name: str) -> str:
    """Return a name that a device can have: what a path may hold and a name may not becomes a dash."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-")[:63]
    return cleaned or "device"


def digest(raw: bytes) -> str:
    """Return the digest by which a changed file is told."""
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def read_bundle(bundle: Bundle) -> DeviceReading:
    """Read one device; a file that cannot be opened is a problem of the reading."""
    opened: list[tuple[Source, bytes]] = []
    problems: list[Problem] = []
    for name, text in bundle.files:
        try:
            raw = text.read(MAX_BYTES)
        except InputProblems as error:
            problems.extend(error.problems)
            continue
        held = raw if text.path is None else None
        opened.append((Source(name=name, display=text.display, path=text.path, held=held, digest=digest(raw)), raw))
    reading = platforms.reader(bundle.platform).read(bundle.name, opened)
    return replace(reading, problems=(*problems, *reading.problems)) if problems else reading


def read_inputs(inputs: Inputs, declared: Declared) -> Reading:
    """Read the bundles of one fabric; `declared` is stronger than what lies beside the files."""
    problems = list(inputs.problems)
    for text in inputs.stated:
        try:
            declared = declared.over(stated.loads(text.read(stated.MAX_BYTES), text.display))
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
    return replace(found, problems=(*problems, *found.problems), assumed=found.assumed if readings else ())


def read_artifacts(artifacts: Iterable[Artifact], platform_of: dict[str, str], below: str) -> Iterator[DeviceReading]:
    """Read rendered artifacts as `read_bundle` reads files, without touching a disk."""
    by_device: dict[str, list[Artifact]] = {}
    for artifact in artifacts:
        by_device.setdefault(artifact.device, []).append(artifact)
    for device, own in by_device.items():
        platform = platform_of[device]
        top = f"{below}/{device}" if below else device
        opened = []
        for artifact in own:
            if artifact.path in platforms.reader(platform).FILES:
                raw = artifact.text.encode()
                display = f"{top}/{artifact.path}"
                opened.append((Source(name=artifact.path, display=display, held=raw, digest=digest(raw)), raw))
        yield platforms.reader(platform).read(device, opened)
