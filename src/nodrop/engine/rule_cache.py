"""A cache of the shipped rules, parsed and typed, which takes a tenth of the time that parsing them takes.

They change with nodrop only, so an entry depends on the code, of which the files of the rules are part, and on the
folder that these lie in. Rules of a site are parsed each time.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from typing import get_args

from nodrop.cache import Store
from nodrop.engine.nodes import Node
from nodrop.engine.rule import OptionArgument, Rule, RuleExample, RuleOption
from nodrop.engine.rules import load_shipped_rules, shipped_rules
from nodrop.engine.scopes import SCOPES
from nodrop.engine.vocabulary import vocabulary
from nodrop.model.buffers import HeadroomRow
from nodrop.model.fabric import Port
from nodrop.model.types import RecordType, ValueType
from nodrop.model.values import value_classes
from nodrop.resources import resource_folder
from nodrop.syntax.packed import CannotPackValue, PackerOfClasses

_CLASSES = (*get_args(Node), OptionArgument, RecordType, Rule, RuleExample, RuleOption, ValueType)
"""What rules consist of, besides named objects, numbers and texts."""


def take_shipped_rules_from(store: Store) -> None:
    """Take the shipped rules from the store instead of from their files, unless this process has them already."""
    shipped_rules(partial(_recall_or_load_shipped_rules, store))


def _recall_or_load_shipped_rules(store: Store) -> tuple[Rule, ...]:
    """Return the shipped rules from the store; where it does not have them, load and keep them."""
    key = store.entry_name("rules", os.fsencode(resource_folder("rules")))
    rules = store.recall(key, _unpack_rules)
    if rules is None:
        rules = load_shipped_rules()
        with suppress(CannotPackValue):
            store.put(key, _rule_packer().pack(rules))
    return rules


def _unpack_rules(packed: bytes) -> tuple[Rule, ...]:
    """Return packed rules; ValueError if there are none, or they cannot be decoded."""
    rules: tuple[Rule, ...] = _rule_packer().unpack(packed, tuple[Rule, ...])
    if not rules:
        raise ValueError("no rules")
    return rules


@cache
def _rule_packer() -> PackerOfClasses:
    return PackerOfClasses(_CLASSES, (), _named_objects())


def _named_objects() -> Mapping[str, object]:
    """Return what rules refer to and cannot be taken apart: classes, words of the vocabulary, and scopes."""
    classes = {f"class {kind.__name__}": kind for kind in (str, int, float, bool, HeadroomRow, Port, *value_classes())}
    words = {f"{kind} {name}": word for (kind, name), word in vocabulary().items()}
    return {**classes, **words, **{f"scope {name}": scope for name, scope in SCOPES.items()}}
