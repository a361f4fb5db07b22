"""What there is to read: texts, the files of each device, and what makes up one fabric."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from nodrop.errors import InputProblems, Problem
from nodrop.inputs.known import IgnoredPath
from nodrop.limits import MAX_TEXT_BYTES
from nodrop.model.reading import Note
from nodrop.syntax.places import open_regular_file, read_regular_file
from nodrop.syntax.root import InputRoot

if TYPE_CHECKING:
    from nodrop.inputs.disk import DiskWithHeldTexts


NAMED_FILE_PATH_EXPECTED = "a path below the repository, or below this file's folder where there is none"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """A text and how to show whose it is: a file that is read when it is asked for, or one held in memory."""

    display: str
    path: Path | None = None
    held: bytes = b""
    root: InputRoot | None = field(default=None, compare=False, repr=False)
    """What no link leads out of when the file is opened; without one, it is opened as it is named."""
    disk: "DiskWithHeldTexts | None" = field(default=None, compare=False, repr=False)
    """What the files lie on that an intent names; None for other texts, and those without a folder."""

    def read_bytes(self, max_bytes: int) -> bytes:
        """Return the bytes; InputProblems gives the reason why they are not available."""
        return self.held if self.path is None else read_regular_file(self.path, self.display, max_bytes, self.root)

    def open_stream(self) -> AbstractContextManager[tuple[BinaryIO, int]]:
        """Return what gives the text, open, and its size in bytes; InputProblems as of `read`."""
        if self.path is None:
            return nullcontext((BytesIO(self.held), len(self.held)))
        return open_regular_file(self.path, self.display, root=self.root)

    def find_named_text(self, name: str) -> "FileText":
        """Return a file that an intent names, by its path from the intent's folder.

        InputProblems if that leads out of the repository, or the intent has no folder.
        """
        folder = Path(self.display).parent
        if self.disk is None:
            raise InputProblems([Problem(path=name, found="a file, of a text without a folder")])
        if reason := self.disk.explain_path_outside_repository(folder, name):
            raise InputProblems([Problem(path=name, found=reason, expected=NAMED_FILE_PATH_EXPECTED)])
        return self.disk.text(folder / name)

    def open_named_file(self, name: str) -> tuple[str, bytes]:
        """Return the displayed path and the bytes of a file that an intent names; InputProblems if it has none."""
        text = self.find_named_text(name)
        return text.display, text.read_bytes(MAX_TEXT_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFiles:
    """The files of one device, each with its canonical name."""

    name: str
    platform: str
    files: tuple[tuple[str, FileText], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStages:
    """The stages that lead to the state of a device, next to the file with that state."""

    platform: str
    state: FileText
    texts: tuple[FileText, ...]


@dataclass(slots=True)
class FabricInputs:
    """The parts of one fabric; `intents` and `nested`, folders with their own fabric.yaml, are fabrics too."""

    bundles: list[DeviceFiles] = field(default_factory=list)
    hosts: list[DeviceFiles] = field(default_factory=list)
    """Files that say how NICs are set, one by one; those of one name belong together."""
    intents: list[FileText] = field(default_factory=list)
    stated: list[FileText] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    ignored: list[IgnoredPath] = field(default_factory=list)
    """Files and folders that are known to be no configuration, or excluded."""
    stages: list[DeviceStages] = field(default_factory=list)
    nested: list["FabricInputs"] = field(default_factory=list)

    def fabrics(self) -> list["FabricInputs"]:
        """Return the inputs that make up one fabric each; none where there is nothing but intents."""
        inner = [fabric for nested in self.nested for fabric in nested.fabrics()]
        return [self, *inner] if self.bundles or self.hosts or self.problems or self.notes else inner

    @property
    def folder_of_fabric(self) -> str:
        """Return where the files of the fabric lie: next to its fabric.yaml, else the folder that contains all."""
        if self.stated:
            return str(Path(self.stated[0].display).parent)
        folders = {os.path.dirname(text.display) or "." for bundle in self.bundles for _, text in bundle.files}  # noqa: PTH120 -- of a site, in a tenth of the time
        try:
            return os.path.commonpath(folders) or "."
        except ValueError:  # absolute and relative paths, or no file at all
            return "."

    def require_single_fabric(self) -> "FabricInputs":
        """Return the inputs of the one fabric there is; InputProblems names them where there are several."""
        fabrics = self.fabrics()
        if sum(bool(inputs.bundles) for inputs in fabrics) > 1:
            fault_text = "one of several fabrics"
            beside = (text.display for inputs in fabrics for text in inputs.stated)
            raise InputProblems(Problem(path=path, found=fault_text, hint="read each by itself") for path in beside)
        whole_inputs = FabricInputs()
        for fabric in fabrics:
            whole_inputs.absorb_inputs(fabric)
        return whole_inputs

    def with_all_nested_fabrics(self) -> Iterator["FabricInputs"]:
        """Yield these inputs and those of all folders below that have a fabric.yaml."""
        yield self
        for nested in self.nested:
            yield from nested.with_all_nested_fabrics()

    def all_intents(self) -> list[FileText]:
        """Return every intent."""
        return [*self.intents, *(intent for nested in self.nested for intent in nested.all_intents())]

    def absorb_inputs(self, fabric_inputs: "FabricInputs") -> None:
        """Make what belongs to another fabric part of this one."""
        self.bundles += fabric_inputs.bundles
        self.hosts += fabric_inputs.hosts
        self.intents += fabric_inputs.intents
        self.stated += fabric_inputs.stated
        self.problems += fabric_inputs.problems
        self.notes += fabric_inputs.notes
        self.ignored += fabric_inputs.ignored
        self.stages += fabric_inputs.stages
        self.nested += fabric_inputs.nested
