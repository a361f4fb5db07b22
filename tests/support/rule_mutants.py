"""The examples of the shipped rules as each platform says them, made once for all rules, to try mutants on."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

from nodrop.engine.example_setup import PlatformExamples
from nodrop.engine.examples import FabricOnPlatform
from nodrop.engine.mutants import find_surviving_mutants as surviving
from nodrop.engine.rule import Rule, RuleExample
from nodrop.engine.rules import shipped_rules
from nodrop.platforms.kit.examples import TIER_CHANGES_BY_PLATFORM


@cache
def _shared() -> Mapping[str, int]:
    """Return how many rules have an equal example, by what it changes."""
    return Counter(key for rule in shipped_rules() for key in {_key(example) for example in rule.examples})


def _key(example: RuleExample) -> str:
    return repr((example.intent, example.model, example.artifact))


def views(example: RuleExample, platform: str) -> list[FabricOnPlatform]:
    """Return an example as a platform says it, made once for all rules; nothing where it cannot say it."""
    key = _key(example)
    if (key, platform) not in _KEPT:
        made = PlatformExamples(platform).render_example(example)
        if _shared()[key] < 2:
            return made
        _KEPT[key, platform] = made
    return _KEPT[key, platform]


_KEPT: dict[tuple[str, str], list[FabricOnPlatform]] = {}


def survivors(rule: Rule) -> list[str]:
    """Return the changes of a rule that none of its examples notices."""
    return [mutant.change for mutant in surviving(rule, TIER_CHANGES_BY_PLATFORM, views)]
