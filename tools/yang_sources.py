"""The files of SONiC's YANG models, one set per release, from a git repository or from folders."""

import ast
import hashlib
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateError
from jinja2.sandbox import SandboxedEnvironment

MODELS = "src/sonic-yang-models/yang-models"
TEMPLATES = "src/sonic-yang-models/yang-templates"
LOADER = "src/sonic-yang-mgmt/sonic_yang_ext.py"
"""SONiC's reader of the models, which has further facts in two tables."""

_SEPARATORS = "LEAF_LIST_WITH_STRING_VALUE_DICT"
_MAPS = "Type_1_list_maps_model"
_WORDS = {",": "commas", ";": "semicolons"}


class Unusable(Exception):
    """The input is not what the tool expects; the text says what is wrong."""


@dataclass(frozen=True)
class Sources:
    """The models of one release, and what SONiC's reader of them says."""

    release: str
    commit: str
    digest: str
    """SHA-256 over the names and contents of all files read."""
    models: Mapping[str, str]
    """Texts by the name of the file, templates rendered."""
    separated: Mapping[tuple[str, str], str]
    """`commas` or `semicolons`, by table and field: leaf-lists that the file has as one text."""
    maps: frozenset[str]
    """Lists whose inner list is written as fields of any name."""


def from_git(folder: Path, release: str, revision: str) -> Sources:
    """Return the models of a revision of sonic-buildimage; Unusable if git cannot read them."""
    commit = _git(folder, "rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
    listed = _git(folder, "ls-tree", "-r", "--name-only", commit, "--", MODELS, TEMPLATES, LOADER).decode()
    return _sources(release, commit, {name: _git(folder, "show", f"{commit}:{name}") for name in listed.split()})


def from_folder(folder: Path, release: str, commit: str) -> Sources:
    """Return the models of a checkout of sonic-buildimage, which the caller says is of this commit."""
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise Unusable(f"{release}={commit}: expected the commit of {folder}, 40 hexadecimal digits")
    paths = [path for top in (MODELS, TEMPLATES) for path in (folder / top).glob("*")] + [folder / LOADER]
    return _sources(
        release, commit, {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}
    )


def _git(folder: Path, *arguments: str) -> bytes:
    called = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    if called.returncode:
        raise Unusable(f"{folder}: git {arguments[0]}: {called.stderr.decode(errors='replace').strip()}")
    return called.stdout


def _sources(release: str, commit: str, files: Mapping[str, bytes]) -> Sources:
    if LOADER not in files:
        raise Unusable(f"{release}: no {LOADER}")
    digest = hashlib.sha256()
    models = {}
    for name, raw in sorted(files.items()):
        digest.update(f"{name}\0{len(raw)}\0".encode() + raw)
        short = name.rpartition("/")[2]
        if name.startswith(TEMPLATES) and short.endswith(".yang.j2"):
            models[short.removesuffix(".j2")] = _rendered(release, short, raw.decode())
        elif short.endswith(".yang"):
            models[short] = raw.decode()
    tables = _tables(files[LOADER].decode(), (_SEPARATORS, _MAPS))
    if missing := {_SEPARATORS, _MAPS} - set(tables):
        raise Unusable(f"{release}: {LOADER} has no {' and no '.join(sorted(missing))}")
    return Sources(
        release=release,
        commit=commit,
        digest=digest.hexdigest(),
        models=models,
        separated={key: _WORDS[mark] for key, mark in tables[_SEPARATORS].items()},
        maps=frozenset(tables[_MAPS]),
    )


def _rendered(release: str, name: str, text: str) -> str:
    """Render a template as setup.py of sonic-yang-models does for the Python reader."""
    try:
        return SandboxedEnvironment(trim_blocks=True).from_string(text).render(yang_model_type="py")
    except TemplateError as error:
        raise Unusable(f"{release}: {name}: {error}") from error


def _tables(text: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the values that a Python file assigns to these names, without running it."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(name := node.targets[0], ast.Name) and name.id in names:
            found[name.id] = ast.literal_eval(node.value)
    return found


def in_order(releases: Iterable[str]) -> list[str]:
    """Return releases with the oldest first; a name that is no number is the main branch, the newest."""
    return sorted(releases, key=lambda name: (not re.fullmatch("[0-9]+", name), name))
