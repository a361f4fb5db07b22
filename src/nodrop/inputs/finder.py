"""Looks at paths and says what lies there: intents, the files of each device, and what is stated beside them."""

import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from nodrop import platforms, stated
from nodrop.errors import Problem
from nodrop.inputs.disk import HEAD_BYTES, Disk
from nodrop.inputs.model import Bundle, Inputs, Text
from nodrop.model.reading import Note
from nodrop.paths import reason
from nodrop.platforms import HOSTS
from nodrop.platforms import hosts as host_files

_INTENT = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?nodrop["']?\s*:""", re.MULTILINE)
_YAML = (".yaml", ".yml")
_API, _KIND = (
    re.compile(rb"^apiVersion\s*:", re.MULTILINE),
    re.compile(rb"^kind\s*:\s*[\"']?([A-Za-z]{1,63})\b", re.MULTILINE),
)
SKIPPED_FOLDERS = ("plan", "apply")
"""Folders of a build that hold no device's state."""
PATCHES = "PATCHES.txt"
"""What lies in a folder of patches, in which no device's state is."""


def stated_beside(disk: Disk, path: Path) -> Path | None:
    """Return the fabric.yaml beside a path, or in the folder above."""
    here = path if disk.is_folder(path) else path.parent
    above = here.parent if here.name not in ("", "..") else here / ".."
    beside = (folder / stated.FILE for folder in (here, above))
    return next((candidate for candidate in beside if states(disk, candidate)), None)


def states(disk: Disk, path: Path) -> bool:
    """Whether a path leads to a fabric.yaml; an intent may be called so, too."""
    return disk.is_file(path) and not is_intent(disk.head(path))


def is_intent(head: bytes) -> bool:
    """Whether a file that begins so is an intent: YAML with the key `nodrop`."""
    return b"nodrop" in head and not head.lstrip().startswith(b"{") and bool(_INTENT.search(head))


class Finder:
    """Looks at paths and adds what it finds to inputs; what was found before, whoever named it, counts once."""

    def __init__(self, disk: Disk, platform: str | None, exclude: Callable[[Path], bool] | None) -> None:
        self._disk = disk
        self._excluded = exclude
        self._forced = platform
        self._platforms = (platform,) if platform else platforms.names()
        self._in_turn = sorted(self._platforms, key=self._is_beside_others)
        self._seen: set[str] = set()
        self._met = 0
        """How often it met something to read, be it for the first time or not."""

    def path(self, inputs: Inputs, path: Path) -> None:
        """Look at a path that was named."""
        if self._disk.is_folder(path):
            met, faults = self._met, len(inputs.problems)
            self._tree(inputs, path)
            if (self._met, len(inputs.problems)) == (met, faults):
                inputs.notes.append(self._nothing_in(path))
        elif not self._disk.is_file(path):
            found, hint = "not a regular file", "`-` reads standard input"
            inputs.problems.append(Problem(path=str(path), found=found, expected="a file or a folder", hint=hint))
        else:
            self._named_file(inputs, path)

    def held(self, inputs: Inputs, raw: bytes) -> None:
        """Look at the text of standard input."""
        text = Text(display="<stdin>", held=raw)
        head = raw[:HEAD_BYTES]
        if is_intent(head):
            inputs.intents.append(text)
            return
        platform = self._platform_of("stdin", head)
        if platform is None and host_files.detect(head):
            inputs.hosts.append(Bundle(name="stdin", platform=HOSTS, files=(("stdin", text),)))
            return
        platform = platform or self._platform_of_json()
        files = ((_canonical(platform, Path("stdin")), text),)
        inputs.bundles.append(Bundle(name="stdin", platform=platform, files=files))

    def _nothing_in(self, folder: Path) -> Note:
        every = [(one, name) for one in self._platforms for name in platforms.reader(one).FILES]
        canonical = sorted({name for one, name in every if _canonical(one, Path(name)) == name})
        message = f"holds neither configurations ({', '.join(canonical)}, other JSON) nor intents (YAML)"
        if named := self._read_by_name(folder):
            message += f"; {named[0]}{f' and {len(named) - 1} more' if named[1:] else ''}: read where they are named"
        return Note(kind="nothing", message=message, file=str(folder))

    def _read_by_name(self, folder: Path) -> list[str]:
        """Return the files of a folder that are a device's where they are named, such as lists of commands."""
        _, files = _listed(self._disk, Inputs(), folder, self._excluded, lambda *_: None)
        return [name for name in files if self._platform_of(name, self._disk.head(folder / name))]

    def _platform_of(self, name: str, head: bytes) -> str | None:
        if self._forced is not None:
            return self._forced
        return next((one for one in self._platforms if platforms.reader(one).detect(name, head)), None)

    def _detected(self, path: Path) -> str | None:
        """Return the platform whose kind of file this is and that it shows itself to be of, whichever is forced."""
        candidates = [one for one in self._platforms if path.suffix in platforms.reader(one).SUFFIXES]
        head = self._disk.head(path) if candidates else b""
        return next((one for one in candidates if head and platforms.reader(one).detect(path.name, head)), None)

    def _platform_of_json(self) -> str:
        """Return the platform whose files are JSON, the first where there are several or none."""
        files = {one: platforms.reader(one).FILES for one in self._platforms}
        return next((one for one, names in files.items() if any(map(_is_json, names))), self._platforms[0])

    def _is_new(self, path: Path | str) -> bool:
        known = os.path.abspath(path)  # noqa: PTH100 -- following links would cost a look at every folder above
        self._met += 1
        new = known not in self._seen
        self._seen.add(known)
        return new

    def _named_file(self, inputs: Inputs, path: Path) -> None:
        head = self._disk.head(path)
        if path.suffix in _YAML and is_intent(head):
            self._intent(inputs, path)
            return
        platform = self._platform_of(path.name, head)
        if platform is None and self._is_of_host(path):
            self._host(inputs, path)
            return
        if platform is None and path.suffix == ".json":
            platform = self._platform_of_json()  # its reader says where the JSON is broken
        if platform is None:
            inputs.problems.append(_unrecognised(path, head))
        elif path.name in (files := platforms.reader(platform).FILES):
            both = (*files, *platforms.reader(platform).BESIDE)
            self._device(
                inputs, path.parent, sorted(one for one in both if self._disk.is_file(path.parent / one)), platform
            )
        else:
            self._other_file(inputs, path, platform)

    def _is_of_host(self, path: Path) -> bool:
        """Whether a file says how NICs are set."""
        looked_at = self._forced is None and host_files.may_be(path.suffix)
        return looked_at and host_files.detect(self._disk.head(path))

    def _host(self, inputs: Inputs, path: Path) -> None:
        if self._is_new(path):
            name = _safe(host_files.name_of(path.absolute()))
            text = self._disk.text(path)
            inputs.hosts.append(Bundle(name=name, platform=HOSTS, files=((path.name, text),)))

    def _intent(self, inputs: Inputs, path: Path) -> None:
        if self._is_new(path):
            inputs.intents.append(self._disk.text(path))

    def _device(self, inputs: Inputs, folder: Path, names: Sequence[str], platform: str) -> None:
        """Add the canonical files of a folder as one device, called as the folder is."""
        if self._is_new(f"{folder}/{names[0]}"):
            files = tuple((name, self._disk.text(folder / name)) for name in names)
            name = folder.name if folder.name not in ("", "..") else folder.resolve().name
            inputs.bundles.append(Bundle(name=_safe(name), platform=platform, files=files))

    def _other_file(self, inputs: Inputs, path: Path, platform: str) -> None:
        """Add a file of any other name as a device of its own."""
        if self._is_new(path):
            files = ((_canonical(platform, path), self._disk.text(path)),)
            inputs.bundles.append(Bundle(name=_safe(path.stem), platform=platform, files=files))

    def _tree(self, inputs: Inputs, top: Path) -> None:
        """Look at a folder and all below it; one with a fabric.yaml of its own is another fabric."""
        pending = [(top, inputs)]
        while pending:
            here, into = pending.pop()
            folders, files = _listed(self._disk, into, here, self._excluded, partial(self._astray, into))
            if PATCHES in files and here != top:
                continue
            self._files(into, here, files)
            pending += reversed(
                [(folder, own) for folder in folders if (own := _whose(self._disk, folder, into)) is not None]
            )

    def _astray(self, inputs: Inputs, path: Path, found: str) -> None:
        """Note a link that leads out of the root; it is a problem where a file of its name would be read.

        By its name alone, so that nothing is told of what it leads to.
        """
        if self._is_looked_at(path):
            inputs.problems.append(Problem(path=str(path), found=found, hint="name the file itself to read it"))
        else:
            inputs.notes.append(Note(kind="link", message=f"{found}, which is not followed", file=str(path)))

    def _is_looked_at(self, path: Path) -> bool:
        """Whether a file of this name in a folder would be opened."""
        readers = [platforms.reader(one) for one in self._platforms]
        if any(path.name in (*reader.FILES, *reader.BESIDE) for reader in readers):
            return True
        own = {*_YAML, ".json"}.union(*(reader.SUFFIXES for reader in readers))
        of_host = self._forced is None and host_files.may_be(path.suffix)
        return path.suffix != "" and (of_host or path.suffix in own)

    def _files(self, inputs: Inputs, here: Path, files: Sequence[str]) -> None:
        taken: set[str] = set()
        for platform in self._in_turn:
            reader = platforms.reader(platform)
            free = [name for name in files if name not in taken]
            if any(name in reader.FILES for name in free):
                canonical = [name for name in free if name in (*reader.FILES, *reader.BESIDE)]
                taken |= set(canonical)
                self._device(inputs, here, canonical, platform)
        for path in (here / name for name in files if name not in taken):
            if path.suffix in _YAML and is_intent(self._disk.head(path)):
                self._intent(inputs, path)
            elif path.name == stated.FILE:
                continue
            elif path.suffix == ".json" and self._disk.is_file(path):
                self._json(inputs, path)
            elif (detected := self._detected(path)) is not None:
                self._other_file(inputs, path, detected)
            elif self._is_of_host(path):
                self._host(inputs, path)

    def _is_beside_others(self, platform: str) -> bool:
        """Whether files of a platform may lie beside those of another, to which they then belong."""
        files = platforms.reader(platform).FILES
        return any(set(files).intersection(platforms.reader(one).BESIDE) for one in self._platforms if one != platform)

    def _json(self, inputs: Inputs, path: Path) -> None:
        platform = self._platform_of(path.name, self._disk.head(path))
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


def _whose(disk: Disk, folder: Path, around: Inputs) -> Inputs | None:
    """Return the inputs to which what lies in a folder belongs; None where it is no device's state."""
    fabric = folder / stated.FILE
    if states(disk, fabric):
        own = Inputs(stated=[disk.text(fabric)])
        around.nested.append(own)
        return own
    return None if folder.name in SKIPPED_FOLDERS else around


def _listed(
    disk: Disk,
    inputs: Inputs,
    here: Path,
    excluded: Callable[[Path], bool] | None,
    astray: Callable[[Path, str], None],
) -> tuple[list[Path], list[str]]:
    """Return the folders in a folder, and the names of its files, sorted, without those that begin with a dot.

    `astray` takes each link that leads out of the root, and what is said of it.
    """
    try:
        entries = disk.entries(here)
    except OSError as error:
        inputs.problems.append(Problem(path=str(here), found=reason(error), expected="a readable folder"))
        return [], []
    folders, files = [], []
    for entry in entries:
        if excluded is not None and excluded(here / entry.name):
            continue
        if entry.kind == "folder":
            folders.append(here / entry.name)
        elif entry.kind == "outside":
            astray(here / entry.name, f"a link that leads out of {entry.root}")
        elif entry.kind == "link":
            message = "a link to a folder, which is not followed; name it to have it read"
            inputs.notes.append(Note(kind="link", message=message, file=str(here / entry.name)))
        else:
            files.append(entry.name)
    return folders, files


def _unrecognised(path: Path, head: bytes) -> Problem:
    if path.suffix in _YAML and _API.search(head) and (kinds := dict.fromkeys(_KIND.findall(head))):
        found = f"Kubernetes {', '.join(kind.decode() for kind in kinds)}: not read"
        hint = "files that are read: NicConfigurationTemplate, SriovNetworkNodePolicy, and environments of containers"
        return Problem(path=str(path), found=found, expected="settings of NICs, or an intent", hint=hint)
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
