"""The shipped rules come back from the store as they were read from their files, and from nothing else."""

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nodrop import cache, fabric_readings, judging
from nodrop.cache import Store
from nodrop.config import Config
from nodrop.engine import rule_cache, rules
from nodrop.engine.rule import Rule
from nodrop.engine.rules import load_shipped_rules, select_lint_rules
from nodrop.engine.scopes import SCOPES, Scope
from nodrop.engine.verdicts import judge
from nodrop.engine.vocabulary import VocabularyWord, vocabulary
from nodrop.model.types import ValueType
from nodrop.resources import resource_folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return Store(folder, b"this nodrop", b"secret" * 5 + b"ab")


@pytest.fixture(scope="module")
def loaded() -> tuple[Rule, ...]:
    return load_shipped_rules()


@pytest.fixture(autouse=True)
def loads(monkeypatch: pytest.MonkeyPatch, loaded: tuple[Rule, ...]) -> list[str]:
    """How often the files of the rules are read; each test begins as a process does that has no rules yet."""
    counted: list[str] = []

    def load() -> tuple[Rule, ...]:
        counted.append("read")
        return loaded

    monkeypatch.setattr(rule_cache, "load_shipped_rules", load)
    forget(monkeypatch)
    return counted


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be another process, which has no rules yet."""
    monkeypatch.setattr(rules, "_shipped_rules_of_process", [])


def take(store: Store, monkeypatch: pytest.MonkeyPatch) -> tuple[Rule, ...]:
    forget(monkeypatch)
    return judging.all_rules(Config(), store)


def assert_same(one: Any, other: Any) -> None:
    """Check that two values are equal, kind by kind: 1 is neither 1.0 nor true, and a word is that word itself."""
    assert type(one) is type(other)
    if isinstance(one, type | Scope | VocabularyWord):
        assert one is other
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, Mapping):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for value, other_value in zip(one, other, strict=True):
            assert_same(value, other_value)
    else:
        assert one == other


def test_rules_come_back_as_they_were_loaded(
    store: Store, monkeypatch: pytest.MonkeyPatch, loaded: tuple[Rule, ...], loads: list[str]
) -> None:
    assert take(store, monkeypatch) is loaded
    recalled = take(store, monkeypatch)
    assert recalled is not loaded
    assert loads == ["read"]
    assert len(recalled) == len(loaded) > 300
    assert [rule.__dict__.keys() for rule in recalled] == [{field.name for field in dataclasses.fields(Rule)}] * len(
        recalled
    )
    for rule, loaded_rule in zip(recalled, loaded, strict=True):
        assert_same(rule, loaded_rule)
    assert recalled == loaded
    assert judging.all_rules(Config()) is judging.all_rules(Config(), store) is recalled


def test_recalled_rules_compute_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch, loaded: tuple[Rule, ...]
) -> None:
    take(store, monkeypatch)
    recalled = take(store, monkeypatch)
    assert recalled is not loaded

    def source(function: Any) -> tuple[object, ...]:
        words = {name: word for name, word in function.__globals__.items() if name.startswith("w")}
        return function.__code__.co_code, function.__code__.co_consts, function.__code__.co_names, list(words)

    for rule, loaded_rule in zip(recalled, loaded, strict=True):
        assert rule.facts_used == loaded_rule.facts_used
        assert rule.topics == loaded_rule.topics
        assert rule.deciding_attributes == loaded_rule.deciding_attributes
        assert rule.verdict_columns == loaded_rule.verdict_columns
        if rule.claim is not None:
            assert source(rule.check_function) == source(loaded_rule.check_function)
        for node, loaded_node in zip(rule.message_nodes, loaded_rule.message_nodes, strict=True):
            assert source(rule.function_of_expression(node)) == source(loaded_rule.function_of_expression(loaded_node))
    reading = fabric_readings.read_fabric_at_path(str(resource_folder("examples") / "stock-switch"))
    verdicts = [judge(reading, select_lint_rules(known_rules)) for known_rules in (recalled, loaded)]
    assert len(verdicts[0].findings) > 3
    assert verdicts[0].findings == verdicts[1].findings


def test_everything_that_rules_may_name_is_in_the_table(loaded: tuple[Rule, ...]) -> None:
    """Words and scopes that no rule uses yet, and the types that words return, can be packed too."""
    packer = rule_cache._rule_packer()
    words = tuple(vocabulary().values())
    everything = words, tuple(SCOPES.values()), tuple(word.result for word in words)
    assert_same(packer.unpack(packer.pack(everything)), everything)


@pytest.mark.parametrize("damage", ["empty", "list", "cut", "other", "nothing", "word", "class", "swapped"])
def test_an_entry_that_says_something_else_is_read_from_the_files(
    store: Store, monkeypatch: pytest.MonkeyPatch, loaded: tuple[Rule, ...], loads: list[str], damage: str
) -> None:
    packer = rule_cache._rule_packer()
    good = packer.pack(loaded)
    bad = {
        "empty": b"",
        "list": b"[]",
        "cut": good[:-40],
        "other": packer.pack((ValueType(),)),
        "nothing": packer.pack(()),
        "word": good.replace(b'"filter speed"', b'"filter system"'),
        "class": good.replace(b'"class Interface"', b'"class Popen"'),
        "swapped": good.replace(b'"scope interface"', b'"class Interface"'),
    }[damage]
    assert bad != good
    key = key_of(store, monkeypatch)
    store.put(key, bad)
    loads.clear()
    assert take(store, monkeypatch) is loaded
    assert take(store, monkeypatch) == loaded
    assert loads == ["read"], "the good entry has replaced it"


def key_of(store: Store, monkeypatch: pytest.MonkeyPatch) -> str:
    take(store, monkeypatch)
    (entry,) = store.folder.iterdir()
    return entry.name


def test_a_file_that_was_altered_is_read_from_the_files(
    store: Store, monkeypatch: pytest.MonkeyPatch, loaded: tuple[Rule, ...], loads: list[str]
) -> None:
    file = store.folder / key_of(store, monkeypatch)
    for altered in (file.read_bytes()[:-1], file.read_bytes()[:-1] + b"\0", b"", b"nodrop 2"):
        file.write_bytes(altered)
        loads.clear()
        assert take(store, monkeypatch) is loaded
        assert loads == ["read"]


def test_another_nodrop_or_user_or_folder_has_other_entries(
    store: Store, monkeypatch: pytest.MonkeyPatch, loads: list[str]
) -> None:
    take(store, monkeypatch)
    take(Store(store.folder, b"another nodrop", store.seal), monkeypatch)
    assert len(loads) == 2
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(rule_cache, "resource_folder", lambda name: Path("/elsewhere") / name)
        take(store, monkeypatch)
    assert len(loads) == 3
    take(store, monkeypatch)
    assert len(loads) == 3
    take(Store(store.folder, store.code, b"another secret" * 2 + b"abcd"), monkeypatch)
    assert len(loads) == 4


@pytest.mark.parametrize("name", ["chosen_rules", "list_rules"])
def test_a_command_with_a_store_keeps_and_recalls_them(
    store: Store, monkeypatch: pytest.MonkeyPatch, loads: list[str], name: str
) -> None:
    for _ in range(2):
        forget(monkeypatch)
        assert getattr(judging, name)(judging.CheckSettings(store=store))
    assert loads == ["read"]


def test_without_a_store_nothing_is_kept_or_recalled(loads: list[str]) -> None:
    assert judging.all_rules(Config()) == load_shipped_rules()
    assert not loads


def test_rules_are_part_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = cache.code_digest()
    copy = shutil.copytree(resource_folder("rules"), tmp_path / "rules")
    rule = next(path for path in sorted(copy.rglob("*.yaml")))
    rule.write_bytes(rule.read_bytes() + b"\n")
    monkeypatch.setattr(cache, "resource_folder", lambda name: copy if name == "rules" else resource_folder(name))
    cache.code_digest.cache_clear()
    assert cache.code_digest() != now
    cache.code_digest.cache_clear()
