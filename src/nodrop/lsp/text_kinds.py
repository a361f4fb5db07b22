"""What kind of file a text is: what nodrop reads, by name, place and beginning."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from nodrop import context, platforms
from nodrop.config import CONFIG_FILE
from nodrop.config.toml import parse_nodrop_table
from nodrop.engine.areas import rule_area_names
from nodrop.errors import InputProblems
from nodrop.inputs import is_intent
from nodrop.inputs.contents import nodrop_yaml_kind
from nodrop.platforms import hosts

TextKind = Literal["intent", "fabric", "config", "profile", "rule", "device", "other"]
YAML_KINDS: tuple[TextKind, ...] = ("intent", "fabric", "config", "profile", "rule")
"""Kinds that have a schema."""
_YAML_SUFFIXES = (".yaml", ".yml")
_RULES, _PROFILES = "rules", "profiles"


def text_kind_of_file(path: Path, content_bytes: bytes, rule_folders: Sequence[Path] = ()) -> TextKind:
    """Return the kind of a file; `rule_folders` are those that the site's configuration names."""
    head = content_bytes[:65_536]
    if path.suffix == ".toml":
        return "config" if _has_nodrop_table(content_bytes, path) else "other"
    if path.suffix in _YAML_SUFFIXES:
        if is_intent(head):
            return "intent"
        if path.name in (context.FABRIC_FILE, CONFIG_FILE):
            return "fabric" if path.name == context.FABRIC_FILE else "config"
        kind = nodrop_yaml_kind(head)
        if _lies_with_rules(path, rule_folders) or kind == "rule":
            return "rule"
        if kind == "profile" or path.parent.name == _PROFILES:
            return "profile"
    return "device" if _is_device_file(path, head) else "other"


def _has_nodrop_table(text: bytes, path: Path) -> bool:
    try:
        return b"nodrop" in text and parse_nodrop_table(text, str(path)) is not None
    except InputProblems:
        return b"[tool.nodrop" in text


def _lies_with_rules(path: Path, folders: Sequence[Path]) -> bool:
    folder = path.parent.parent
    return path.parent.name in rule_area_names() and (folder.name == _RULES or folder in folders)


def _is_device_file(path: Path, head: bytes) -> bool:
    """Whether a file is of a platform or a host; a file with a wrong text still has the kind that its name shows."""
    readers = [platforms.reader(name) for name in platforms.platform_names()]
    if any(path.name in (*reader.CANONICAL_FILES, *reader.COMPANION_FILES) for reader in readers):
        return True
    if any(reader.detect(path.name, head) for reader in readers):
        return True
    return hosts.may_be_host_file(path.suffix) and hosts.has_nic_settings(head)
