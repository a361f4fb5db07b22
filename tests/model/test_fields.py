"""The table of fields: a row for every field of the model, and columns that agree with each other."""

import ast
import re
from collections.abc import Iterator

import pytest

from nodrop.analyses.siblings import PORT_TRAITS_BY_ASPECT
from nodrop.model.fabric import Device, Interface
from nodrop.model.fields import (
    FIELD_TABLE,
    entry_label,
    field_of,
    impacts_of_path,
    label_of,
    names_of_fields_with_columns,
    unit_of,
)
from nodrop.model.types import ValueType, attributes_of, fields_of
from nodrop.model.values import value_classes
from support.places import ROOT

SOURCE = ROOT / "src" / "nodrop"
NAMES = {path.partition("/")[0] for rows in FIELD_TABLE.values() for path in rows} - {""}


def test_every_field_of_the_model_has_a_row_and_every_row_a_field() -> None:
    wrong = []
    for owner in value_classes():
        names = {path.partition("/")[0] for path in FIELD_TABLE.get(owner, ())} - {""}
        wrong += [f"{owner.__name__}.{name} has no row" for name in fields_of(owner).keys() - names]
        wrong += [f"{owner.__name__} has no {name}" for name in names - attributes_of(owner).keys()]
    assert wrong == []
    assert FIELD_TABLE.keys() == set(value_classes())


def test_every_path_of_a_row_leads_to_a_part_of_the_model() -> None:
    def leads(owner: type, path: list[str]) -> bool:
        kind: ValueType | None = attributes_of(owner).get(path[0])
        rest = path[1:]
        if kind is not None and rest and rest[0] in ("*", "**"):
            kind, rest = kind.element, rest[1:]
        if kind is None or not rest:
            return kind is not None
        return any(isinstance(one, type) and leads(one, rest) for one in kind.owners)

    wrong = [
        (owner, path)
        for owner, rows in FIELD_TABLE.items()
        for path in rows
        if path and not leads(owner, path.split("/"))
    ]
    assert wrong == []


@pytest.mark.parametrize("column", ["label", "numbers", "unordered", "heading"])
def test_classes_agree_about_the_columns_of_a_name(column: str) -> None:
    seen: dict[str, dict[str, object]] = {}
    for owner, rows in FIELD_TABLE.items():
        for path, row in rows.items():
            if getattr(row, column):
                seen.setdefault(path, {})[owner.__name__] = getattr(row, column)
    assert {path: each for path, each in seen.items() if len(set(each.values())) > 1} == {}


def test_a_column_is_stated_only_where_it_is_read() -> None:
    for owner, rows in FIELD_TABLE.items():
        for path, row in rows.items():
            assert not (row.key and row.no_key), (owner, path)
            assert row.routing or (owner in (Device, Interface) and "/" not in path), (owner, path)
            assert "/" not in path.removesuffix("/*") or not (row.label or row.numbers or row.aspect), (owner, path)


def test_no_label_repeats_what_follows_from_the_name() -> None:
    def derived(path: str) -> str:
        name = path.removesuffix("/*")
        if path != name:
            return name.replace("_", " ").removesuffix("s")
        return name.removesuffix(f"_{unit_of(name)}").replace("_", " ")

    labels = [(owner.__name__, path, row.label) for owner, rows in FIELD_TABLE.items() for path, row in rows.items()]
    assert [(owner, path) for owner, path, label in labels if label and label == derived(path)] == []


def test_aspects_are_those_of_siblings() -> None:
    assert {row.aspect for rows in FIELD_TABLE.values() for row in rows.values()} - {""} == PORT_TRAITS_BY_ASPECT.keys()


def test_words_and_units_of_fields() -> None:
    assert [label_of(name) for name in ("hold_s", "mac_ageing_s", "link_training", "guaranteed_burst_bytes")] == [
        "hold time", "MAC ageing", "link training", "guaranteed burst",
    ]  # fmt: skip
    assert [entry_label(name) for name in ("interfaces", "priority_groups")] == ["port", "priority group"]
    assert [unit_of(name) for name in ("hold_s", "peak_bytes_per_s", "mtu_bytes", "trust")] == [
        "s", "bytes_per_s", "bytes", "",
    ]  # fmt: skip
    assert names_of_fields_with_columns(heading=True) == ("bgp", "qos", "wred", "headroom")
    assert not field_of(Interface, "mtu_bytes").routing
    assert field_of(Interface, "addresses").routing
    assert field_of(Device, "access_lists").routing


@pytest.mark.parametrize("process", ["bgp", "vrf_bgp/red"])
@pytest.mark.parametrize(
    ("field", "disruption", "reason"),
    [
        ("neighbors/10.0.0.1/hold_s", "none", "the session keeps the timers that it has until it opens again"),
        ("neighbors/10.0.0.1/update_source", "traffic-affecting", "the BGP session closes and opens again"),
        ("route_maps/X/rules/10/sets", "traffic-affecting", "routes are evaluated again, and may come and go"),
        ("maximum_paths", "traffic-affecting", "flows move to other paths, and some of their packets overtake others"),
    ],
)
def test_a_change_of_bgp_has_the_same_effect_in_every_vrf(
    process: str, field: str, disruption: str, reason: str
) -> None:
    (found,) = impacts_of_path((*process.split("/"), *field.split("/")), of_port=False)
    assert (found.disruption, found.reason) == (disruption, reason)


SIDE_TABLES = {
    "analyses/*.py LOOKS_AT": "what the code of the analysis reads",
    "analyses/nic_settings.py CHECKS_BY_SETTING": "the functions of the analysis, by what they check",
    "analyses/nic_settings.py GIVES_CHANGES": "the arguments with which the analysis names changes",
    "analyses/nic_settings.py RESTS_ON_WITH": "the arguments with which the analysis takes a statement for true",
    "analyses/nic_settings.py FIELDS_BY_SETTING": "where the functions of the analysis look for one value",
    "analyses/storage_tos.py STORAGE_TOS_OPTIONS": "names and options of programs, by what the analysis checks",
    "analyses/nic_settings.py _TOS_FIELDS": "where the functions of the analysis look for one value",
    "checking/policy.py _DECLARED_POLICY_KEYS": "keys of fabric.yaml",
    "model/qos.py COLORS": "values, of which each is a field of `WredProfile` too",
    "model/qos.py Color": "values, of which each is a field of `WredProfile` too",
    "model/types.py ROW_KEY_ATTRIBUTES": "the names by which a row is called, in order",
    "importing/trial_build.py _PLATFORM_DEPENDENT_FIELDS": "what import leaves out for another platform",
    "engine/evidence.py EvidenceTopic": "words of rule files",
    "engine/nearby.py _STATED_FABRIC_FIELDS": "all fields but these",
    "engine/rule_loader.py _PARTS_WITH_SIBLINGS": "scopes of rules",
    "engine/scopes.py _ALL_SCOPES": "words of rules",
    "engine/scopes.py _NAME_IDENTITY_FIELDS": "words of rules",
    "engine/unknowns.py _ADVICE_BY_FIELD": "by keys of fabric.yaml, also for whole classes",
    "engine/unknowns.py _RDMA_FACT_STARTS": "words of rules",
    "engine/unknowns.py _TYPE_BY_ROOT": "words of rules",
    "analyses/_link_layers.py _ROCE_ONLY_SETTINGS": "what settles the link layer of a host",
    "engine/vocabulary/__init__.py Topic": "keys of fabric.yaml",
    "plan/facts.py _FABRIC_FIELDS": "the order of a report",
    "report/names.py _SINGULAR_BY_QUEUE_FIELD": "words of a title",
    "report/rack.py _HOST_COLUMNS": "words of a generated page",
    "design/decisions.py _PATH_BY_PART_KIND": "paths to the parts of a fabric",
    "validating/batfish/blind.py _IGNORED_BGP_FIELDS": "what Batfish ignores",
}
"""Tables that name fields for another reason than to state facts about them."""


def _side_tables() -> Iterator[str]:
    """Yield the collections of constants of modules that name three fields or more.

    Fields are named by texts such as `mtu_bytes` or `queue.wred`. Either three have an underscore, which makes it
    unlikely that another thing is meant, or half of all texts are names. The folders of platforms are left out: how
    a platform's files say a field belongs there.
    """
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE)
        if module.is_relative_to("platforms") or module.is_relative_to("model/fields"):
            continue
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and _names_fields(node.value):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                folder = module.parent / "*.py" if ast.unparse(target) == "LOOKS_AT" else module
                yield f"{folder.as_posix()} {ast.unparse(target)}"


def _names_fields(value: ast.expr) -> bool:
    texts = {one.value for one in ast.walk(value) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    parts = {text: re.split(r"[/.]", text) for text in texts}
    whole = [text for text, words in parts.items() if all(word in NAMES for word in words)]
    marked = {word for words in parts.values() for word in words if "_" in word and word in NAMES}
    return len(marked) >= 3 or (len(whole) >= 3 and 2 * len(whole) >= len(texts))


def test_facts_about_fields_are_in_no_other_table() -> None:
    assert set(_side_tables()) == SIDE_TABLES.keys()


def test_analyses_look_at_fields() -> None:
    for path in (SOURCE / "analyses").glob("*.py"):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LOOKS_AT":
                texts = {one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)}
                assert texts <= fields_of(Device).keys() | fields_of(Interface).keys(), path.name
