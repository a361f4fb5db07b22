"""Puts single faults into clean builds and looks at what is found: `make faults` prints all of it.

The faults are those of tests/data/faults/*.yaml. Each platform that a fault names is built from the same intent.
"""

import io
import json
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from ruamel.yaml import YAML

import nodrop
from nodrop import platforms
from nodrop.context import FABRIC_FILE
from nodrop.engine.example_setup import (
    EXAMPLES,
    build_port_name_table,
    merge_overlay,
    rename_ports,
    rename_subject_ports,
)
from nodrop.engine.finding import FabricVerdict
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.errors import UnsupportedByPlatform
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.intent.schema import Intent
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading, Source
from nodrop.model.subject import matches, natural_sort_key
from nodrop.model.subject import parse_subject as parse_subject
from nodrop.platforms.kit.artifact import Artifact
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml
from support.places import DATA, TESTS

HERE = DATA / "faults"
RELEASES = {"sonic": "202505", "nvue": "5.16"}
WORDS = {"device": "device alone", "stated": "device and what is stated", "fabric": "whole fabric"}
"""What it may take to see a fault."""


@dataclass(frozen=True, eq=False)
class Fault:
    """One fault of the list on one platform."""

    row: Mapping[str, Any]
    platform: str
    file: str

    @property
    def name(self) -> str:
        """What it is called in tests and tables."""
        return f"{self.row['of']}: {self.row['fault']} ({self.platform})"

    @property
    def fabric(self) -> Fabric:
        """The fabric that it is put into; its ports have the platform's names."""
        release = self.row.get("release", RELEASES[self.platform])
        return clean(self.row.get("intent", "two-by-two"), self.platform, release, repr(self.row.get("overlay", {})))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is found in a build with a fault, and whether that is what must be."""

    fault: Fault
    verdict: FabricVerdict
    missed: tuple[str, ...]
    """What should have been found and is not: at which subject, and from how much."""
    others: tuple[str, ...]
    """Other rules that speak, with their severities."""


def read_faults(path: str) -> Any:
    """Return the rows of a list of faults, below tests/."""
    return parse_yaml((TESTS / path).read_bytes(), path).data


@cache
def faults() -> tuple[Fault, ...]:
    """Return all faults, those on two platforms twice."""
    return tuple(
        Fault(row, platform, path.name)
        for path in sorted(HERE.glob("*.yaml"))
        for row in read_faults(f"data/faults/{path.name}")
        for platform in RELEASES
        if platform in row or platform in row.get("model", {}).get("on", ())
    )


@cache
def clean(intent: str, platform: str, release: str, overlay: str) -> Fabric:
    """Return the fabric of an intent with an overlay, built for a release of a platform."""
    path = resource_folder("intents") / f"{intent}.yaml"
    tiers = {tier: {"platform": platform, "version": release} for tier in ("spines", "leaves")}
    data = merge_overlay(
        parse_yaml(path.read_bytes(), path.name).data, {"topology": tiers} if platform != EXAMPLES else {}
    )
    fabric = nodrop.build(Intent.model_validate(merge_overlay(data, literal_eval(overlay))))
    return replace(fabric, devices=tuple(map(fill_in_computed_buffer_sizes, fabric.devices)))


def written(fabric: Fabric) -> dict[str, str]:
    """Return the files of a fabric, switches' and hosts', by device and name."""
    artifacts = (*nodrop.write(fabric), *nodrop.host_files(fabric))
    return {f"{one.device}/{one.path}".removeprefix("/"): one.text for one in artifacts}


def inject(fault: Fault) -> dict[str, str]:
    """Return the files of a build that has the fault; ValueError where it cannot be put there."""
    fabric = fault.fabric
    if fault.platform in fault.row.get("model", {}).get("on", ()):
        changed = rename_ports(fabric, build_port_name_table(fabric, EXAMPLES))
        for subject, value in fault.row["model"].items():
            if subject != "on":
                changed = set_value(changed, parse_subject(subject), value)
        try:
            settled = replace(changed, devices=tuple(map(fill_in_computed_buffer_sizes, changed.devices)))
            return written(rename_ports(settled, build_port_name_table(settled, fault.platform)))
        except UnsupportedByPlatform as error:
            raise ValueError(f"{fault.name}: {error}") from None
    return edited(fault, written(fabric))


def edited(fault: Fault, clean: Mapping[str, str]) -> dict[str, str]:
    """Return clean files with the edits of a fault; ValueError where one of them cannot be made."""
    files = dict(clean)
    said = fault.row[fault.platform]
    for name, edits in said.get("set", {}).items():
        files[name] = edits if isinstance(edits, str) else _tree(files[name], edits, name)
    for name, edits in said.get("replace", {}).items():
        for edit in edits:
            if edit["old"] not in files[name]:
                raise ValueError(f"{fault.name}: {name} has no {edit['old']!r}")
            files[name] = files[name].replace(edit["old"], edit["new"], 1)
    return files


def _tree(text: str, edits: Mapping[str, Any], name: str) -> str:
    tree = json.loads(text) if name.endswith(".json") else YAML(typ="safe").load(text)
    for path, value in edits.items():
        _set(tree, [part.replace("%2F", "/") for part in path.split("/")], value, f"{name}: {path}")
    if name.endswith(".json"):
        return json.dumps(tree, indent=4) + "\n"
    out = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.version = (1, 2)
    yaml.dump(tree, out)
    return "".join(
        line for line in out.getvalue().splitlines(keepends=True) if line.strip() not in ("%YAML 1.2", "---")
    )


def _set(tree: Any, path: list[str], value: Any, where: str) -> None:
    first, *rest = path
    if isinstance(tree, list):
        _set(tree[int(first)], rest, value, where)
        return
    pattern = any(character in first for character in "*?[")
    keys = [key for key in tree if fnmatchcase(str(key), first)] if pattern or value is None else [first]
    if not keys:
        raise ValueError(f"{where}: nothing is there")
    for key in keys:
        if rest:
            _set(tree.setdefault(key, {}), rest, value, where)
        elif value is None:
            del tree[key]
        else:
            merged = isinstance(value, dict) and isinstance(tree.get(key), dict)
            tree[key] = {**tree[key], **value} if merged else value


@cache
def outcome(fault: Fault) -> Outcome:
    """Return what is found of a fault: in the whole fabric, and in as little of it as shows the fault."""
    files = inject(fault)
    level = fault.row.get("strictness", "regular")
    rules = (*select_lint_rules(shipped_rules()), *(rule for rule in shipped_rules() if rule.failures))
    verdict = judge(reading_of(fault, files), rules, strictness=level)
    missed = [*_missing(fault, verdict)]
    if fault.row["from"] != "fabric":
        alone = judge(_alone(fault, files), select_lint_rules(shipped_rules()), strictness=level)
        missed += (f"{subject} from the {WORDS[fault.row['from']]}" for subject in _missing(fault, alone))
    others = {f"{one.severity} {one.rule}" for one in verdict.findings if one.rule != fault.row["rule"]}
    return Outcome(fault, verdict, tuple(missed), tuple(sorted(others)))


def _missing(fault: Fault, verdict: FabricVerdict) -> Iterator[str]:
    """Where the rule that must find a fault does not, in either platform's names of ports."""
    spelling = build_port_name_table(fault.fabric, EXAMPLES)
    found = {one.subject for one in verdict.findings if one.rule == fault.row["rule"]}
    found |= {rename_subject_ports(one, spelling) for one in found}
    for expected in fault.row["at"]:
        if not any(matches(parse_subject(expected), subject) for subject in found):
            yield expected


def reading_of(fault: Fault, files: Mapping[str, str]) -> Reading:
    """Return what the files of a build with a fault say, with what is stated of the fabric."""
    return nodrop.read_back(_artifacts(files, fault.fabric), fault.fabric)


def _alone(fault: Fault, files: Mapping[str, str]) -> Reading:
    """What the device says at which a fault is, by its files and, where the fault needs that, what is stated."""
    (device,) = {_device(subject, fault.fabric) for subject in fault.row["at"]}
    own = {name: text for name, text in files.items() if name.startswith((f"{device}/", FABRIC_FILE))}
    return reading_of(fault, own) if fault.row["from"] == "stated" else _bare(fault.platform, device, own)


def _bare(platform: str, device: str, files: Mapping[str, str]) -> Reading:
    bundle = [
        (Source(name=name.partition("/")[2], display=name, held=text.encode()), text.encode())
        for name, text in files.items()
        if name != FABRIC_FILE and "/apply/" not in name
    ]
    return assemble_fabric([platforms.reader(platform).read_device(device, bundle)], DeclaredFacts())


def _device(subject: str, fabric: Fabric) -> str:
    """The device that a subject is about; of a link, the switch that it names first."""
    known = {device.name for device in fabric.devices}
    first, *rest = parse_subject(subject)
    words = [first] if first in known else [end.partition(":")[0] for part in rest for end in part.split("--")]
    return next((word for word in words if word in known), "")


def _artifacts(files: Mapping[str, str], fabric: Fabric) -> list[Artifact]:
    devices = {device.name for device in fabric.devices}
    split = [(name.partition("/"), name, text) for name, text in files.items()]
    return [
        Artifact(device=first, path=rest, text=text) if first in devices else Artifact(device="", path=name, text=text)
        for (first, _, rest), name, text in split
    ]


def table(outcomes: Iterable[Outcome], repaired: Callable[[Outcome], str]) -> str:
    """Return what is found of each fault and what its fix comes to, a few lines each."""
    lines = []
    for one in sorted(outcomes, key=lambda each: (each.fault.file, natural_sort_key(each.fault.row["of"]))):
        lines.append(f"{'MISSED' if one.missed else 'found '} {one.fault.name}: {one.fault.row['rule']}")
        lines += [f"         not at {missed}" for missed in one.missed]
        lines.append(f"         {repaired(one)}")
        if one.others:
            lines.append(f"         besides: {', '.join(one.others)}")
        lines += [f"         unknown: {each.rule} for want of {each.missing}" for each in one.verdict.unknown]
    return "\n".join(lines) + "\n"
