"""Classification of the content of paths: devices, intents, statements, ignored, or not read and why.

Every file below a named folder is in exactly one of: a bundle, an intent, a fabric.yaml, `ignored`, a note that it is
not read, or a problem.
"""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from nodrop import context, platforms
from nodrop.errors import InputProblems, Problem, describe_os_failure
from nodrop.inputs.contents import (
    DEVICE_NOT_READ_NOTE_KIND,
    NOT_READ_NOTE_KIND,
    UnreadFileReason,
    decode_head,
    is_json,
    is_systemd_unit,
    nodrop_yaml_kind,
    unread_reason_by_content,
    unread_reason_by_name,
)
from nodrop.inputs.disk import FILE_HEAD_BYTES, DiskWithHeldTexts
from nodrop.inputs.known import (
    APPLY_FOLDER,
    REASON_BY_IGNORED_FOLDER,
    IgnoredPath,
    ignored_file_reason,
    ignored_folder_reason,
)
from nodrop.inputs.model import DeviceFiles, DeviceStages, FabricInputs, FileText
from nodrop.model.reading import Note
from nodrop.platforms import HOSTS_PLATFORM
from nodrop.platforms import hosts as host_files

_INTENT_KEY_LINE = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?nodrop["']?\s*:""", re.MULTILINE)
_INTENT_LINE = re.compile(
    rb"""(?:^["']?nodrop["']?|\A(?>(?:[ \t]*+(?:#[^\r\n]*+)?\r?\n)*)[ \t]++nodrop)[ \t]*:[ \t]*["']?1["']?[ \t\r]*$""",
    re.MULTILINE,
)
"""Of a file under any name: the key at the beginning of a line, or in the first line behind blanks."""
_YAML_SUFFIXES = (".yaml", ".yml")
PATCHES_FILE = "PATCHES.txt"
"""What lies in a folder of patches, in which no device's state is."""
_PATCHES_FILE_START = b"Patches of nodrop:"
_BUILD_LEFTOVER_PATTERN = re.compile(r"\.[^/]*\.nodrop-(?:old|new)")
"""What a build that was interrupted leaves behind."""
_JSON_OBJECT_LINE = re.compile(rb"^\{", re.MULTILINE)


def find_fabric_file(disk: DiskWithHeldTexts, path: Path) -> Path | None:
    """Return the fabric.yaml next to a path, or in the folder above."""
    base_folder = path if disk.is_folder(path) else path.parent
    above = base_folder.parent if base_folder.name not in ("", "..") else base_folder / ".."
    beside = (folder / context.FABRIC_FILE for folder in (base_folder, above))
    return next((candidate for candidate in beside if is_fabric_file(disk, candidate)), None)


def is_fabric_file(disk: DiskWithHeldTexts, path: Path) -> bool:
    """Whether a path leads to a fabric.yaml; an intent may be called so, too."""
    return disk.is_file(path) and not is_intent(disk.head(path))


def is_intent(file_head: bytes) -> bool:
    """Whether a file that begins so is an intent: YAML with the key `nodrop`."""
    return (
        b"nodrop" in file_head and not file_head.lstrip().startswith(b"{") and bool(_INTENT_KEY_LINE.search(file_head))
    )


class InputFinder:
    """Reads paths and adds its results to inputs; a path found before counts once, no matter who named it."""

    def __init__(self, disk: DiskWithHeldTexts, platform: str | None, exclude: Callable[[Path], bool] | None) -> None:
        self._disk = disk
        self._excluded = exclude
        self._forced = platform
        self._platforms = (platform,) if platform else platforms.platform_names()
        self._in_turn = sorted(self._platforms, key=self._may_lie_beside_other_platforms)
        self._seen: set[str] = set()
        self._taken: set[Path] = set()  # of devices in folders above
        self._met = 0
        """How often it met something to read, be it for the first time or not."""

    def add_named_path(self, inputs: FabricInputs, path: Path) -> None:
        """Look at a path that was named."""
        if self._disk.is_folder(path):
            met, faults = self._met, len(inputs.problems)
            self._add_folder_tree(inputs, path)
            if (self._met, len(inputs.problems)) == (met, faults):
                inputs.notes.append(self._empty_folder_note(path))
        elif not self._disk.is_file(path):
            fault_text, hint = "not a regular file", "`-` reads standard input"
            inputs.problems.append(Problem(path=str(path), found=fault_text, expected="a file or a folder", hint=hint))
        else:
            self._add_named_file(inputs, path)

    def add_standard_input(self, inputs: FabricInputs, file_content: bytes) -> None:
        """Look at the text of standard input."""
        text = FileText(display="<stdin>", held=file_content)
        head = decode_head(file_content[:FILE_HEAD_BYTES])
        if is_intent(head):
            inputs.intents.append(text)
            return
        platform = self._forced_or_detected_platform("stdin", head)
        if platform is None and host_files.has_nic_settings(head):
            inputs.hosts.append(DeviceFiles(name="stdin", platform=HOSTS_PLATFORM, files=(("stdin", text),)))
            return
        unread = self._classify_unread_file("", head) if platform is None and is_json(head) else None
        if unread is not None and unread.is_known:
            inputs.problems.append(_unrecognized_file_problem(Path(text.display), unread))
            return
        platform = platform or self._platform_with_json_files()
        files = ((_canonical_name(platform, Path("stdin"), head), text),)
        inputs.bundles.append(DeviceFiles(name="stdin", platform=platform, files=files))

    def _empty_folder_note(self, folder: Path) -> Note:
        every = [
            (platform, name) for platform in self._platforms for name in platforms.reader(platform).CANONICAL_FILES
        ]
        canonical = sorted({name for platform, name in every if _canonical_name(platform, Path(name)) == name})
        message = f"holds neither configurations ({', '.join(canonical)}, other JSON) nor intents (YAML)"
        return Note(kind="nothing", message=message, file=str(folder))

    def _forced_or_detected_platform(self, name: str, head: bytes) -> str | None:
        return self._forced if self._forced is not None else self._detect_platform(name, head)

    def _detect_platform(self, name: str, head: bytes) -> str | None:
        """Return the platform that a text shows itself to be of, even if another is forced."""
        return next((other for other in self._platforms if head and platforms.reader(other).detect(name, head)), None)

    def _platform_with_json_files(self) -> str:
        """Return the platform whose files are JSON, the first where there are several or none."""
        files = {platform: platforms.reader(platform).CANONICAL_FILES for platform in self._platforms}
        return next((candidate for candidate, names in files.items() if any(map(_is_json, names))), self._platforms[0])

    def _register_if_new(self, path: Path | str) -> bool:
        self._met += 1
        count = len(self._seen)
        self._seen.add(os.path.abspath(path))  # noqa: PTH100 -- following links would cost a look at every folder above
        return len(self._seen) > count

    def _add_named_file(self, inputs: FabricInputs, path: Path) -> None:
        head = decode_head(self._disk.head(path))
        if _may_be_intent(path.name, head):
            self._add_intent(inputs, path)
            return
        platform = self._forced_or_detected_platform(path.name, head)
        if platform is None and self._has_host_nic_settings(path, head):
            self._add_host(inputs, path)
            return
        unread = self._classify_unread_file(path.name, head) if platform is None else None
        if unread is not None and path.suffix.lower() == ".json":
            of_json = self._platform_with_json_files()
            if not unread.is_known or path.name in platforms.reader(of_json).CANONICAL_FILES:
                platform = of_json  # its reader says where the JSON is broken
        if platform is None:
            inputs.problems.append(_unrecognized_file_problem(path, unread))
        elif path.name in (files := platforms.reader(platform).CANONICAL_FILES):
            names = sorted((*files, *platforms.reader(platform).COMPANION_FILES))
            files_there = [name for name in names if self._disk.is_file(path.parent / name)]
            self._add_canonical_files_as_device(inputs, path.parent, files_there, platform)
        else:
            self._add_file_of_other_name_as_device(inputs, path, platform, head)

    def _has_host_nic_settings(self, path: Path, file_head: bytes) -> bool:
        """Whether a file states the settings of NICs."""
        return (
            self._forced is None
            and host_files.may_be_host_file(path.suffix.lower())
            and host_files.has_nic_settings(file_head)
        )

    def _add_host(self, inputs: FabricInputs, path: Path) -> None:
        if self._register_if_new(path):
            name = _safe_device_name(host_files.host_name_of_path(path.absolute()))
            text = self._disk.text(path)
            inputs.hosts.append(DeviceFiles(name=name, platform=HOSTS_PLATFORM, files=((path.name, text),)))

    def _add_intent(self, inputs: FabricInputs, path: Path) -> None:
        if self._register_if_new(path):
            inputs.intents.append(self._disk.intent(path))

    def _add_canonical_files_as_device(
        self, inputs: FabricInputs, folder: Path, names: Sequence[str], platform: str
    ) -> None:
        """Add the canonical files of a folder as one device, called as the folder is."""
        if self._register_if_new(f"{folder}/{names[0]}"):
            names = (*names, *self._device_files_in_subfolders(folder, platform))
            files = tuple((name, self._disk.text(folder / name)) for name in names)
            name = folder.name if folder.name not in ("", "..") else folder.resolve().name
            inputs.bundles.append(DeviceFiles(name=_safe_device_name(name), platform=platform, files=files))

    def _device_files_in_subfolders(self, folder: Path, platform: str) -> list[str]:
        """Return the files in folders below that of a device that belong to it, by their paths from there."""
        for below, ending in platforms.reader(platform).SUBFOLDER_ENDINGS:
            path = folder / below
            entries = self._disk.entries(path) if self._disk.is_folder(path) else ()
            files = [path / entry.name for entry in entries if entry.kind == "file" and entry.name.endswith(ending)]
            if own_paths := [file for file in files if self._excluded is None or not self._excluded(file)]:
                self._taken.update(own_paths)
                return [str(file.relative_to(folder)) for file in own_paths]
        return []

    def _add_file_of_other_name_as_device(self, inputs: FabricInputs, path: Path, platform: str, head: bytes) -> None:
        """Add a file of any other name as a separate device."""
        if self._register_if_new(path):
            files = ((_canonical_name(platform, path, head), self._disk.text(path)),)
            inputs.bundles.append(DeviceFiles(name=_safe_device_name(path.stem), platform=platform, files=files))

    def _add_folder_tree(self, inputs: FabricInputs, top: Path) -> None:
        """Read a folder and all below it; a folder with its own fabric.yaml is another fabric."""
        pending = [(top, inputs, "")]
        states: dict[Path, tuple[str, FileText]] = {}
        while pending:
            path, into, why = pending.pop()
            folders, files = self._list_subfolders_and_files(into, path, top)
            if path in states:
                files = self._add_stages(into, path, files, *states.pop(path))
            if (
                PATCHES_FILE in files
                and path != top
                and self._disk.head(path / PATCHES_FILE).startswith(_PATCHES_FILE_START)
            ):
                why = f"in a folder of patches ({path})"
                self._ignore_path(into, path / PATCHES_FILE, "the description of patches")
                files.remove(PATCHES_FILE)
            if why:
                for name in files:
                    self._note_unread(into, path / name, UnreadFileReason(why))
            else:
                state = self._classify_folder_files(into, path, files)
                if state is not None:
                    states[path / APPLY_FOLDER] = state
            pending += reversed(
                [
                    (
                        folder,
                        into if why or below else self._inputs_or_nested_fabric_of_folder(folder, into),
                        why or below,
                    )
                    for folder, below in folders
                ]
            )

    def _inputs_or_nested_fabric_of_folder(self, folder: Path, around: FabricInputs) -> FabricInputs:
        """Return the inputs that the content of a folder belongs to."""
        fabric = folder / context.FABRIC_FILE
        if not is_fabric_file(self._disk, fabric):
            return around
        own_inputs = FabricInputs(stated=[self._disk.text(fabric)])
        around.nested.append(own_inputs)
        return own_inputs

    def _list_subfolders_and_files(
        self, inputs: FabricInputs, folder: Path, top: Path
    ) -> tuple[list[tuple[Path, str]], list[str]]:
        """Return the folders to search, each with the reason why nothing in it is read, and the names of files.

        Ignored and excluded entries, and links that lead to no file, are added to the inputs.
        """
        try:
            entries = self._disk.entries(folder)
        except OSError as error:
            inputs.problems.append(
                Problem(path=str(folder), found=describe_os_failure(error), expected="a readable folder")
            )
            return [], []
        folders: list[tuple[Path, str]] = []
        files: list[str] = []
        for entry in entries:
            path = folder / entry.name
            if self._excluded is not None and self._excluded(path):
                self._ignore_path(inputs, path, "excluded by the configuration file", is_excluded=True)
            elif entry.kind == "folder":
                if ignored := ignored_folder_reason(entry.name):
                    self._ignore_path(inputs, path, ignored)
                else:
                    folders.append(
                        (path, "left by an interrupted build" if _BUILD_LEFTOVER_PATTERN.fullmatch(entry.name) else "")
                    )
            elif entry.kind == "outside":
                self._note_outside_link(inputs, path, f"a link that leads out of {entry.root}")
            elif entry.kind == "link":
                self._note_folder_link(inputs, path, top)
            else:
                files.append(entry.name)
        return folders, files

    def _note_folder_link(self, inputs: FabricInputs, path: Path, top: Path) -> None:
        """Add a link to a folder: ignored where that folder is searched itself, else not read."""
        target, searched = Path(os.path.realpath(path)), Path(os.path.realpath(top))
        if target.is_relative_to(searched) and REASON_BY_IGNORED_FOLDER.keys().isdisjoint(
            target.relative_to(searched).parts
        ):
            self._ignore_path(inputs, path, "a link to a folder that is searched itself")
        else:
            self._note_unread(
                inputs, path, UnreadFileReason("a link to a folder, not followed; name it to read it", True)
            )

    def _note_outside_link(self, inputs: FabricInputs, path: Path, link_fault: str) -> None:
        """Note a link that leads out of the root; it is a problem where a file of its name would be read.

        By its name alone, to reveal nothing about its target.
        """
        if self._has_config_file_name(path):
            inputs.problems.append(Problem(path=str(path), found=link_fault, hint="name the file itself to read it"))
        else:
            self._note_unread(inputs, path, UnreadFileReason(f"{link_fault}, which is not followed"))

    def _has_config_file_name(self, path: Path) -> bool:
        """Whether the name of a file shows that it is a configuration."""
        readers = [platforms.reader(platform) for platform in self._platforms]
        if any(path.name in (*reader.CANONICAL_FILES, *reader.COMPANION_FILES) for reader in readers):
            return True
        config_suffixes = {*_YAML_SUFFIXES, ".json"}.union(*(reader.USUAL_SUFFIXES for reader in readers))
        of_host = self._forced is None and host_files.may_be_host_file(path.suffix)
        return path.suffix != "" and (of_host or path.suffix in config_suffixes)

    def _add_stages(
        self, inputs: FabricInputs, path: Path, files: list[str], platform: str, state: FileText
    ) -> list[str]:
        """Add the stages of a device that lie in a folder, and return the names of the other files there."""
        forms = staged.STAGE_FILE_SUFFIXES if (staged := platforms.find_staged_module(platform)) else ()
        texts = tuple(self._disk.text(path / name) for name in files if name.endswith(forms))
        if texts:
            inputs.stages.append(DeviceStages(platform=platform, state=state, texts=texts))
        return [name for name in files if not name.endswith(forms)]

    def _classify_folder_files(
        self, inputs: FabricInputs, path: Path, files: Sequence[str]
    ) -> tuple[str, FileText] | None:
        """Classify the files of a folder, and return platform and state of its device, if that may have stages."""
        state: tuple[str, FileText] | None = None
        taken: set[str] = set()
        for platform in self._in_turn:
            reader = platforms.reader(platform)
            free = [name for name in files if name not in taken]
            if any(name in reader.CANONICAL_FILES for name in free):
                canonical = [name for name in free if name in (*reader.CANONICAL_FILES, *reader.COMPANION_FILES)]
                taken |= set(canonical)
                self._add_canonical_files_as_device(inputs, path, canonical, platform)
                if platforms.find_staged_module(platform) is not None:
                    state = platform, self._disk.text(path / reader.CANONICAL_FILES[0])
        for name in files:
            if name not in taken and path / name not in self._taken:
                self._classify_file(inputs, path / name, of_device=bool(taken))
        return state

    def _classify_file(self, inputs: FabricInputs, path: Path, *, of_device: bool) -> None:
        """Classify a file in a folder that is no canonical one; `of_device`: whether the folder has canonical ones."""
        if path.name == context.FABRIC_FILE and is_fabric_file(self._disk, path):
            return
        if ignored := ignored_file_reason(path.parent.name, path.name):
            self._ignore_path(inputs, path, ignored)
            return
        head = self._disk.head(path)
        text = decode_head(head)
        if why := unread_reason_by_name(path.name):
            self._note_unread(
                inputs, path, UnreadFileReason(why, not of_device and self._detect_platform("", text) is not None)
            )
        elif _may_be_intent(path.name, text):
            self._add_intent(inputs, path)
        elif (platform := self._platform_in_folder(path, text)) is not None:
            self._add_file_of_other_name_as_device(inputs, path, platform, text)
        elif self._has_host_nic_settings(path, text):
            self._add_host(inputs, path)
        elif kind := nodrop_yaml_kind(text) if path.suffix.lower() in _YAML_SUFFIXES else "":
            self._ignore_path(inputs, path, f"a {kind} of nodrop")
        elif path.suffix.lower() == ".service" and is_systemd_unit(text):
            self._ignore_path(inputs, path, "a unit of systemd")
        else:
            unread = self._find_open_failure(path) or self._classify_unread_file(path.name, head)
            self._note_unread(inputs, path, unread._replace(is_device=unread.is_device and not of_device))

    def _platform_in_folder(self, path: Path, text: bytes) -> str | None:
        """Return the platform for reading a file in a folder: a forced one where it is JSON, else its own."""
        is_json = path.suffix.lower() == ".json" and self._disk.is_file(path)
        return self._forced if self._forced is not None and is_json else self._detect_platform(path.name, text)

    def _find_open_failure(self, path: Path) -> UnreadFileReason | None:
        """Return why a file cannot be opened; None where it can."""
        if not self._disk.is_file(path):
            return UnreadFileReason("a link that leads nowhere, or no regular file")
        try:
            with self._disk.text(path).open_stream():
                return None
        except InputProblems as error:
            return UnreadFileReason(error.problems[0].found, is_device=True)

    def _classify_unread_file(self, name: str, head: bytes) -> UnreadFileReason:
        def is_switch(name: str, text: bytes) -> bool:
            return self._detect_platform(name, text) is not None

        return unread_reason_by_content(
            name,
            head,
            is_whole=len(head) < FILE_HEAD_BYTES,
            switch_json=_canonical_name(self._platform_with_json_files(), Path(".json")),
            is_switch=is_switch,
        )

    def _ignore_path(self, inputs: FabricInputs, path: Path, why: str, *, is_excluded: bool = False) -> None:
        if str(path) not in self._seen:
            self._seen.add(str(path))
            inputs.ignored.append(IgnoredPath(str(path), why, is_excluded))

    def _note_unread(self, inputs: FabricInputs, path: Path, unread: UnreadFileReason) -> None:
        """Note that a file is not read."""
        if str(path) not in self._seen:
            self._seen.add(str(path))
            kind = DEVICE_NOT_READ_NOTE_KIND if unread.is_device else NOT_READ_NOTE_KIND
            inputs.notes.append(Note(kind=kind, message=unread.reason, file=str(path)))

    def _may_lie_beside_other_platforms(self, platform: str) -> bool:
        """Whether files of a platform may lie next to those of another, which they then belong to."""
        files = platforms.reader(platform).CANONICAL_FILES
        others = (name for name in self._platforms if name != platform)
        return any(set(files).intersection(platforms.reader(name).COMPANION_FILES) for name in others)


def _is_json(name: str) -> bool:
    return name.endswith(".json")


def _may_be_intent(name: str, content_bytes: bytes) -> bool:
    """Whether a file is an intent: YAML with the key `nodrop`, or any other text with the line `nodrop: 1`."""
    if b"nodrop" not in content_bytes:
        return False
    return (name.lower().endswith(_YAML_SUFFIXES) and is_intent(content_bytes)) or bool(
        _INTENT_LINE.search(content_bytes)
    )


def _canonical_name(platform: str, path: Path, head: bytes = b"") -> str:
    """Return the canonical name under which a file of another name is read: one of its kind, else the first."""
    names = platforms.reader(platform).CANONICAL_FILES
    if _is_json(names[0]) and _JSON_OBJECT_LINE.search(head):
        return names[0]
    return next((name for name in names if Path(name).suffix == path.suffix), names[0])


def _unrecognized_file_problem(path: Path, unread: UnreadFileReason | None) -> Problem:
    if unread is not None and unread.is_known:
        expected = f"a configuration of {', '.join(platforms.platform_names())}, or an intent in YAML"
        return Problem(path=str(path), found=unread.reason, expected=expected, hint=unread.hint)
    if path.suffix in _YAML_SUFFIXES:
        expected = "an intent, which starts with `nodrop: 1`, or an NVUE file, a list with `header` and `set`"
        return Problem(path=str(path), found="YAML that is not recognized", expected=expected)
    expected = f"a configuration of {', '.join(platforms.platform_names())}, or an intent in YAML"
    hint = "--platform says which"
    return Problem(path=str(path), found="a file of no known platform", expected=expected, hint=hint)


def _safe_device_name(name: str) -> str:
    """Return a valid device name: each character that a path may have and a name may not becomes a dash."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-")[:63] or "device"
