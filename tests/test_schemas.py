"""schemas/: the files are what `nodrop schema` prints; they take what is shipped, and refuse what loaders refuse."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from jsonschema.validators import validator_for
from ruamel.yaml import YAML

from nodrop import config, context
from nodrop.context.profile import loads_profile
from nodrop.engine.rules import load_rules
from nodrop.errors import InputProblems
from nodrop.intent.load import loads
from nodrop.resources import resource_folder
from nodrop.schema_names import PUBLISHED_NAME_BY_CLASS
from nodrop.schemas import SCHEMA_KINDS, USER_FILE_KINDS, json_schema, pydantic_model_of_file_kind
from support.command import nodrop

SHIPPED = {
    "intent": sorted(resource_folder("intents").rglob("*.yaml")),
    "profile": sorted(resource_folder("profiles").glob("*.yaml")),
    "rule": sorted(resource_folder("rules").rglob("*.yaml")),
}


def document(text: str) -> Any:
    """A text as editors read it: 1 is a number, and `on` a text; keys are texts."""
    return _with_text_keys(YAML(typ="safe").load(text))


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _with_text_keys(child) for key, child in value.items()}
    return [_with_text_keys(child) for child in value] if isinstance(value, list) else value


def fits(kind: str, text: str) -> bool:
    return validator(kind).is_valid(document(text))


@cache
def validator(kind: str) -> Draft7Validator:
    """The validator of a kind of files, made once: making it takes longer than a validation."""
    return Draft7Validator(json_schema(kind))


def file_of(kind: str) -> str:
    """The name of the file that holds a schema."""
    return f"{kind}.schema.json"


@pytest.mark.parametrize("kind", SCHEMA_KINDS)
def test_a_file_is_what_the_command_prints(kind: str, update_golden: bool) -> None:
    printed = nodrop("schema", kind).out
    path = resource_folder("schemas") / file_of(kind)
    if update_golden:
        path.write_text(printed)
    assert path.read_text() == printed, "make golden"
    validator_for(json_schema(kind), default=None).check_schema(json_schema(kind))


def test_each_published_name_is_that_of_a_class_in_a_schema() -> None:
    classes = {
        name for kind in USER_FILE_KINDS for name in pydantic_model_of_file_kind(kind).model_json_schema()["$defs"]
    }
    assert PUBLISHED_NAME_BY_CLASS.keys() <= classes
    published = {name for kind in USER_FILE_KINDS for name in json_schema(kind)["$defs"]}
    assert set(PUBLISHED_NAME_BY_CLASS.values()) <= published


@pytest.mark.parametrize("kind", USER_FILE_KINDS)
def test_schemas_of_files_are_of_the_draft_that_editors_read(kind: str) -> None:
    made = json_schema(kind)
    assert list(made)[:4] == ["$schema", "$id", "title", "description"]
    assert made["$schema"] == Draft7Validator.META_SCHEMA["$schema"]
    parts = list(parts_of(made))
    later = {"prefixItems", "unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas"}
    assert [part for part in parts if later & part.keys()] == []
    beside = {key for part in parts if isinstance(part.get("$ref"), str) for key in part} - {"$ref"}
    assert beside <= {"default", "description", "title"}, "draft-07 ignores what stands beside $ref"


def parts_of(part: Any) -> Iterator[dict[str, Any]]:
    """Yield the mappings of a schema."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    for each in part if isinstance(part, list) else ():
        yield from parts_of(each)


def test_there_are_no_other_files() -> None:
    assert {path.name for path in resource_folder("schemas").iterdir()} == {file_of(kind) for kind in SCHEMA_KINDS}


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, paths in SHIPPED.items() for path in paths])
def test_what_is_shipped_fits(kind: str, path: Path) -> None:
    validator(kind).validate(document(path.read_text()))


@pytest.mark.parametrize("path", SHIPPED["intent"], ids=lambda path: path.stem)
def test_an_intent_says_where_its_schema_lies(path: Path) -> None:
    found = re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text())
    assert found is not None
    assert (path.parent / found[1]).resolve() == (resource_folder("schemas") / file_of("intent")).resolve()


CONFIG = """
version: 1
rules: [rules/ours]
strictness: pedantic
fail_on: error
severity: {ecn-at-no-probability: "off"}
options: {watchdog-slower-than-rdma-timeout: {timeout_ms: 500}}
profile: nvidia
fabric: {mode: lossless, classes: {rdma: {dscp: 26, tc: 3, lossless: true, share: 60%}}, roles: {leaf1: leaf}}
suppress:
  - {rule: pfc-on-lossy-class, at: "leaf*/Ethernet0", reason: a pilot, until: "2027-06-30"}
exclude: [lab, "old/*"]
"""
FABRIC = """
name: pod1
mode: lossless
classes: {rdma: {dscp: [26], tc: 3}, default: {dscp: rest}}
roles: {leaf1: leaf}
models: {leaf1: SN4700}
cables: ["leaf1:Ethernet0--spine1:Ethernet8 30m DR4"]
hosts: {gpu1: {gpus: 8, nic: ConnectX-7, ports: {eth0: {speed: 400G, lanes: 4}}, pfc: [3], dcqcn: true}}
policy: {watchdog: {hosts: {detection: 200ms}, fabric: "off"}, lossless_pool: 90%, max_oversubscription: 1.5}
"""
PROFILE = """
about: ours
ecn: [{speeds: [100G, 400G], min: 150kB, max: 1MB to 2MB, probability: 5%, source: us}]
watchdog: [{side: hosts, detection: 200ms to 400ms, actions: [drop], source: us}]
shares: [{purpose: rdma, share: 50% to 95%, source: us}]
"""
INTENT = (resource_folder("intents") / "two-by-two.yaml").read_text()
RULE = (resource_folder("rules") / "pfc" / "link-pause-with-pfc.yaml").read_text()
BASES = {"config": CONFIG, "fabric": FABRIC, "profile": PROFILE, "intent": INTENT, "rule": RULE}


def _load_config(text: str) -> object:
    Path("nodrop.yaml").write_text(text)
    return config.load(Path("nodrop.yaml"))


def _load_rule(text: str) -> object:
    folder = Path("rules/pfc")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "link-pause-of-ours.yaml").write_text(text)
    return load_rules([Path("rules")])


LOADERS: dict[str, Callable[[str], object]] = {
    "config": _load_config,
    "fabric": lambda text: context.loads(text.encode(), "fabric.yaml"),
    "profile": lambda text: loads_profile(text.encode(), "ours.yaml", "ours"),
    "intent": lambda text: loads(text.encode(), "intent.yaml"),
    "rule": _load_rule,
}


@pytest.mark.parametrize("kind", BASES)
def test_what_the_loader_takes_fits(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    LOADERS[kind](BASES[kind])
    assert fits(kind, BASES[kind])


FAULTS = [
    ("config", "version: 1", "version: 2"),
    ("config", "strictness: pedantic", "strictness: strict"),
    ("config", "fail_on: error", "fail_on: errors"),
    ("config", "rules: [rules/ours]", "rules: {ours: true}"),
    ("config", "profile: nvidia", "profiles: nvidia"),
    ("config", '"off"}', "fatal}"),
    ("config", "reason: a pilot, ", ""),
    ("config", "2027-06-30", "in June"),
    ("config", "mode: lossless", "mode: lossles"),
    ("config", "tc: 3", "tc: 16"),
    ("fabric", "mode: lossless", "mode: none"),
    ("fabric", "dscp: [26]", "dscp: [64]"),
    ("fabric", "dscp: [26], ", ""),
    ("fabric", "tc: 3", "queue: 3"),
    ("fabric", "speed: 400G", "speed: fast"),
    ("fabric", "dcqcn: true", "dcqcn: maybe"),
    ("fabric", "detection: 200ms", "detection: 200"),
    ("fabric", '"off"', '"none"'),
    ("fabric", "lossless_pool: 90%", "lossless_pool: 90"),
    ("fabric", "cables: [", "cables: [{}, "),
    ("profile", "about: ours", "title: ours"),
    ("profile", "min: 150kB", "min: 150"),
    ("profile", "1MB to 2MB", "1MB-2MB"),
    ("profile", "side: hosts", "side: both"),
    ("profile", "actions: [drop]", "actions: [dorp]"),
    ("profile", "purpose: rdma, ", ""),
    ("profile", ", source: us}]\nwatchdog", "}]\nwatchdog"),
    ("intent", "nodrop: 1", "nodrop: 2"),
    ("intent", "kind: leaf-spine", "kind: leaf"),
    ("intent", "platform: sonic", "platform: sonik"),
    ("intent", "speed: 400G", "speed: 400"),
    ("intent", "length: 3m", "length: 3"),
    ("intent", "topology:", "topologie:"),
    ("intent", "per_spine: 2", "per_spine: 0"),
    ("intent", "probability: 100%", "probability: 200"),
    ("intent", "routing: {asn", "routing: {asns"),
    ("rule", "severity: error", "severity: fatal"),
    ("rule", "scope: interface", "scope: port"),
    ("rule", "why:", "because:"),
    ("rule", "since:", "since: []\nfrom:"),
]


@pytest.mark.parametrize(("kind", "old", "new"), FAULTS)
def test_what_the_loader_refuses_does_not_fit(
    kind: str, old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert old in BASES[kind]
    text = BASES[kind].replace(old, new, 1)
    with pytest.raises(InputProblems):
        LOADERS[kind](text)
    assert not fits(kind, text)
