"""What the paths of a command line lead to: intents, the files of each device, and what is stated beside them."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nodrop import platforms, stated
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.reading import Note
from nodrop.formats.json import MAX_BYTES
from nodrop.formats.places import read_limited
from nodrop.paths import fault, reason
from nodrop.platforms import HOSTS
from nodrop.platforms import hosts as host_files

STDIN = "-"
_HEAD_BYTES = 65_536
_INTENT = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?nodrop["']?\s*:""", re.MULTILINE)
_YAML = (".yaml", ".yml")
_SKIPPED_FOLDERS = ("plan", "apply")
"""Folders of a build that hold no device's state."""

_ALONE = "says what no switch file can; name configurations too, and it is read with them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text and how to show whose it is: a file that is read when it is asked for, or one held in memory."""

    display: str
    path: Path | None = None
    held: bytes = b""

    def read(self, max_bytes: int) -> bytes:
        """Return the bytes; InputProblems says why they are not to be had."""
        return self.held if self.path is None else read_limited(self.path, self.display, max_bytes)


def named(path: str) -> Text:
    """Return the file that a user named; InputProblems says why there is none."""
    if (wrong := fault(path)) is not None:
        raise InputProblems([wrong])
    return Text(display=path, path=Path(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The files of one device, each with its canonical name."""

    name: str
    platform: str
    files: tuple[tuple[str, Text], ...]


@dataclass(slots=True)
class Inputs:
    """What makes up one fabric; `intents` and `nested`, folders with a fabric.yaml of their own, are fabrics too."""

    bundles: list[Bundle] = field(default_factory=list)
    hosts: list[Bundle] = field(default_factory=list)
    """Files that say how NICs are set, one by one; those of one name belong together."""
    intents: list[Text] = field(default_factory=list)
    stated: list[Text] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    nested: list["Inputs"] = field(default_factory=list)

    def fabrics(self) -> list["Inputs"]:
        """Return the inputs that make up one fabric each; none where there is nothing but intents."""
        inner = [one for nested in self.nested for one in nested.fabrics()]
        return [self, *inner] if self.bundles or self.hosts or self.problems or self.notes else inner

    @property
    def name(self) -> str:
        """Where the files of the fabric lie: beside its fabric.yaml, else the folder that all are in."""
        if self.stated:
            return str(Path(self.stated[0].display).parent)
        folders = {str(Path(text.display).parent) for bundle in self.bundles for _, text in bundle.files}
        try:
            return os.path.commonpath(folders) or "."
        except ValueError:  # absolute and relative paths, or no file at all
            return "."

    def only(self) -> "Inputs":
        """Return the inputs of the one fabric there is; InputProblems names them where there are several."""
        fabrics = self.fabrics()
        if sum(bool(one.bundles) for one in fabrics) > 1:
            found = "one of several fabrics"
            beside = (text.display for one in fabrics for text in one.stated)
            raise InputProblems(Problem(path=path, found=found, hint="read each by itself") for path in beside)
        whole = Inputs()
        for one in fabrics:
            whole.take(one)
        return whole

    def all_intents(self) -> list[Text]:
        """Return every intent."""
        return [*self.intents, *(intent for nested in self.nested for intent in nested.all_intents())]

    def take(self, other: "Inputs") -> None:
        """Make what belongs to another fabric part of this one."""
        self.bundles += other.bundles
        self.hosts += other.hosts
        self.intents += other.intents
        self.stated += other.stated
        self.problems += other.problems
        self.notes += other.notes
        self.nested += other.nested


def find(paths: Sequence[str], platform: str | None = None, stdin: bytes | None = None) -> Inputs:
    """Look at every path: an intent, a configuration, a folder of them, or `-` for standard input.

    All are one fabric, unless several fabric.yaml files lie beside them, and none was named: then each has its own.
    """
    finder = _Finder(platform)
    found = Inputs()
    groups: dict[str, Inputs] = {}
    for text in paths:
        if text == STDIN:
            finder.held(groups.setdefault("", Inputs()), _standard_input() if stdin is None else stdin)
        elif (wrong := fault(text)) is not None:
            found.problems.append(wrong)
        elif Path(text).name == stated.FILE and _states(Path(text)):
            found.stated.append(Text(display=text, path=Path(text)))
        else:
            beside = _stated_beside(Path(text))
            group = groups.setdefault(os.path.realpath(beside) if beside else "", Inputs())
            if beside is not None and not group.stated:
                group.stated.append(Text(display=str(beside), path=beside))
            finder.path(group, Path(text))
    alone = found.stated[:1] if not groups else []
    found.notes += [Note(kind="nothing", message=_ALONE, file=text.display) for text in alone]
    if found.stated or len(groups.keys() - {""}) <= 1:
        for group in groups.values():
            found.take(group)
    else:
        found.nested += groups.values()
    return found


def _standard_input() -> bytes:
    """Return what stands on standard input; of too much, a little more than may be read."""
    return sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin else b""


def _stated_beside(path: Path) -> Path | None:
    """Return the fabric.yaml beside a path, or in the folder above."""
    here = path if _is_folder(path) else path.parent
    above = here.parent if here.name not in ("", "..") else here / ".."
    beside = (folder / stated.FILE for folder in (here, above))
    return next((candidate for candidate in beside if _states(candidate)), None)


def _states(path: Path) -> bool:
    """Whether a path leads to a fabric.yaml; an intent may be called so, too."""
    return _is_file(path) and not is_intent(_head(path))


def _is_file(path: Path) -> bool:
    """Whether a path leads to a file; False, where Path's own method raises, in a folder that may not be entered."""
    return os.path.isfile(path)  # noqa: PTH113


def _is_folder(path: Path) -> bool:
    """Whether a path leads to a folder."""
    return os.path.isdir(path)  # noqa: PTH112


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def is_intent(head: bytes) -> bool:
    """Whether a file that begins so is an intent: YAML with the key `nodrop`."""
    return not head.lstrip().startswith(b"{") and bool(_INTENT.search(head))


class _Finder:
    """Looks at paths and adds what it finds to inputs; what was found before, whoever named it, counts once."""

    def __init__(self, platform: str | None) -> None:
        self._forced = platform
        self._platforms = (platform,) if platform else platforms.names()
        self._seen: set[str] = set()
        self._met = 0
        """How often it met something to read, be it for the first time or not."""

    def path(self, inputs: Inputs, path: Path) -> None:
        """Look at a path that was named."""
        if _is_folder(path):
            met, faults = self._met, len(inputs.problems)
            self._tree(inputs, path)
            if (self._met, len(inputs.problems)) == (met, faults):
                inputs.notes.append(self._nothing_in(path))
        elif not _is_file(path):
            found, hint = "not a regular file", "`-` reads standard input"
            inputs.problems.append(Problem(path=str(path), found=found, expected="a file or a folder", hint=hint))
        else:
            self._named_file(inputs, path)

    def held(self, inputs: Inputs, raw: bytes) -> None:
        """Look at the text of standard input."""
        text = Text(display="<stdin>", held=raw)
        head = raw[:_HEAD_BYTES]
        if is_intent(head):
            inputs.intents.append(text)
            return
        if self._forced is None and host_files.detect(head):
            inputs.hosts.append(Bundle(name="stdin", platform=HOSTS, files=(("stdin", text),)))
            return
        platform = self._platform_of("stdin", head) or self._platform_of_json()
        files = ((_canonical(platform, Path("stdin")), text),)
        inputs.bundles.append(Bundle(name="stdin", platform=platform, files=files))

    def _nothing_in(self, folder: Path) -> Note:
        every = [(one, name) for one in self._platforms for name in platforms.reader(one).FILES]
        canonical = sorted({name for one, name in every if _canonical(one, Path(name)) == name})
        message = f"holds neither configurations ({', '.join(canonical)}, other JSON) nor intents (YAML)"
        return Note(kind="nothing", message=message, file=str(folder))

    def _platform_of(self, name: str, head: bytes) -> str | None:
        if self._forced is not None:
            return self._forced
        return next((one for one in self._platforms if platforms.reader(one).detect(name, head)), None)

    def _detected(self, path: Path) -> str | None:
        """Return the platform whose kind of file this is and that it shows itself to be of, whichever is forced."""
        candidates = [one for one in self._platforms if path.suffix in platforms.reader(one).SUFFIXES]
        head = _head(path) if candidates and _is_file(path) else b""
        return next((one for one in candidates if head and platforms.reader(one).detect(path.name, head)), None)

    def _platform_of_json(self) -> str:
        """Return the platform whose files are JSON, the first where there are several or none."""
        files = {one: platforms.reader(one).FILES for one in self._platforms}
        return next((one for one, names in files.items() if any(map(_is_json, names))), self._platforms[0])

    def _is_new(self, path: Path) -> bool:
        known = os.path.abspath(path)  # noqa: PTH100 -- following links would cost a look at every folder above
        self._met += 1
        new = known not in self._seen
        self._seen.add(known)
        return new

    def _named_file(self, inputs: Inputs, path: Path) -> None:
        head = _head(path)
        if path.suffix in _YAML and is_intent(head):
            self._intent(inputs, path)
            return
        if self._is_of_host(path):
            self._host(inputs, path)
            return
        platform = self._platform_of(path.name, head)
        if platform is None and path.suffix == ".json":
            platform = self._platform_of_json()  # its reader says where the JSON is broken
        if platform is None:
            inputs.problems.append(_unrecognised(path))
        elif path.name in (files := platforms.reader(platform).FILES):
            both = (*files, *platforms.reader(platform).BESIDE)
            self._device(inputs, path.parent, sorted(one for one in both if _is_file(path.parent / one)), platform)
        else:
            self._other_file(inputs, path, platform)

    def _is_of_host(self, path: Path) -> bool:
        """Whether a file says how NICs are set."""
        looked_at = self._forced is None and host_files.may_be(path.suffix) and _is_file(path)
        return looked_at and host_files.detect(_head(path))

    def _host(self, inputs: Inputs, path: Path) -> None:
        if self._is_new(path):
            name = _safe(host_files.name_of(path.absolute()))
            text = Text(display=str(path), path=path)
            inputs.hosts.append(Bundle(name=name, platform=HOSTS, files=((path.name, text),)))

    def _intent(self, inputs: Inputs, path: Path) -> None:
        if self._is_new(path):
            inputs.intents.append(Text(display=str(path), path=path))

    def _device(self, inputs: Inputs, folder: Path, names: Sequence[str], platform: str) -> None:
        """Add the canonical files of a folder as one device, called as the folder is."""
        if self._is_new(folder / names[0]):
            files = tuple((name, Text(display=str(folder / name), path=folder / name)) for name in names)
            name = folder.name if folder.name not in ("", "..") else folder.resolve().name
            inputs.bundles.append(Bundle(name=_safe(name), platform=platform, files=files))

    def _other_file(self, inputs: Inputs, path: Path, platform: str) -> None:
        """Add a file of any other name as a device of its own."""
        if self._is_new(path):
            files = ((_canonical(platform, path), Text(display=str(path), path=path)),)
            inputs.bundles.append(Bundle(name=_safe(path.stem), platform=platform, files=files))

    def _tree(self, inputs: Inputs, top: Path) -> None:
        """Look at a folder and all below it; one with a fabric.yaml of its own is another fabric."""
        pending = [(top, inputs)]
        while pending:
            here, into = pending.pop()
            folders, files = _listed(into, here)
            self._files(into, here, files)
            pending += reversed([(folder, own) for folder in folders if (own := _whose(folder, into)) is not None])

    def _files(self, inputs: Inputs, here: Path, files: Sequence[str]) -> None:
        taken: set[str] = set()
        for platform in sorted(self._platforms, key=self._is_beside_others):
            reader = platforms.reader(platform)
            free = [name for name in files if name not in taken]
            if any(name in reader.FILES for name in free):
                canonical = [name for name in free if name in (*reader.FILES, *reader.BESIDE)]
                taken |= set(canonical)
                self._device(inputs, here, canonical, platform)
        for path in (here / name for name in files if name not in taken):
            if path.suffix in _YAML and _is_file(path) and is_intent(_head(path)):
                self._intent(inputs, path)
            elif path.suffix == ".json" and _is_file(path):
                self._json(inputs, path)
            elif self._is_of_host(path):
                self._host(inputs, path)
            elif (detected := self._detected(path)) is not None:
                self._other_file(inputs, path, detected)

    def _is_beside_others(self, platform: str) -> bool:
        """Whether files of a platform may lie beside those of another, to which they then belong."""
        files = platforms.reader(platform).FILES
        return any(set(files).intersection(platforms.reader(one).BESIDE) for one in self._platforms if one != platform)

    def _json(self, inputs: Inputs, path: Path) -> None:
        platform = self._platform_of(path.name, _head(path))
        if platform is not None:
            self._other_file(inputs, path, platform)
        else:
            message = "JSON of no known platform, which is not read"
            inputs.notes.append(Note(kind="not-recognised", message=message, file=str(path)))


def _is_json(name: str) -> bool:
    return name.endswith(".json")


def _canonical(platform: str, path: Path) -> str:
    """Return the canonical name under which a file of another name is read: one of its kind, else the first."""
    names = platforms.reader(platform).FILES
    return next((name for name in names if Path(name).suffix == path.suffix), names[0])


def _whose(folder: Path, around: Inputs) -> Inputs | None:
    """Return the inputs to which what lies in a folder belongs; None where it is no device's state."""
    fabric = folder / stated.FILE
    if _states(fabric):
        own = Inputs(stated=[Text(display=str(fabric), path=fabric)])
        around.nested.append(own)
        return own
    return None if folder.name in _SKIPPED_FOLDERS else around


def _listed(inputs: Inputs, here: Path) -> tuple[list[Path], list[str]]:
    """Return the folders in a folder, and the names of its files, sorted, without those that begin with a dot."""
    try:
        with os.scandir(here) as found:
            entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda one: one.name)
    except OSError as error:
        inputs.problems.append(Problem(path=str(here), found=reason(error), expected="a readable folder"))
        return [], []
    folders, files = [], []
    for entry in entries:
        path = here / entry.name
        if entry.is_dir(follow_symlinks=False):
            folders.append(path)
        elif entry.is_symlink() and _is_folder(path):
            message = "a link to a folder, which is not followed; name it to have it read"
            inputs.notes.append(Note(kind="link", message=message, file=str(path)))
        else:
            files.append(entry.name)
    return folders, files


def _unrecognised(path: Path) -> Problem:
    if path.suffix in _YAML:
        hint = "a configuration in YAML is a list of `header` and `set`"
        return Problem(
            path=str(path), found="YAML that is no intent", expected="an intent, with the key `nodrop: 1`", hint=hint
        )
    expected = f"a configuration of {', '.join(platforms.names())}, or an intent in YAML"
    hint = "--platform says which"
    return Problem(path=str(path), found="a file of no known platform", expected=expected, hint=hint)


def _safe(name: str) -> str:
    """Return a name that a device can have: what a path may hold and a name may not becomes a dash."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-")[:63] or "device"
