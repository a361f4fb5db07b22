"""A site's own rules: folders laid out as the shipped ones, checked in addition to them, never instead of them.

The requirements that nodrop's own tests check for a shipped rule are checked for a site rule when it is loaded: that it
can apply at all, that the remark or the facts that it names exist, that its options do something, and that its names
are not used by others.
"""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import get_type_hints

from nodrop import analyses
from nodrop.engine.contradictions import find_contradiction
from nodrop.engine.expression_types import accepts_argument
from nodrop.engine.nodes import paths_read_by
from nodrop.engine.rule import OptionArgument, Rule
from nodrop.engine.rule_loader import type_of_value
from nodrop.engine.rules import (
    OverridingTexts,
    find_rule_file_names,
    is_rule_file_name,
    load_rules,
    locate_rule_key,
    locate_rule_names,
    rule_origin,
    shipped_rules,
)
from nodrop.errors import InputProblems, Problem
from nodrop.model.types import known_word_hint, type_of

RuleFileKeys = tuple[str | int, ...]


def load_rules_with_shipped(
    folders: Sequence[Path], texts_by_folder: OverridingTexts | None = None
) -> tuple[Rule, ...]:
    """Return the shipped rules and those of the folders, sorted by name; InputProblems as of `load_site_rules`."""
    return (
        tuple(sorted((*shipped_rules(), *load_site_rules(folders, texts_by_folder)), key=lambda rule: rule.name))
        if folders
        else shipped_rules()
    )


def load_site_rules(folders: Sequence[Path], texts_by_folder: OverridingTexts | None = None) -> tuple[Rule, ...]:
    """Return the rules of a site's folders, sorted by name, with the texts that are `texts_by_folder` instead of files.

    InputProblems holds the faults of all their files, each with its line: faults of the file itself, and rules that
    have the name of another rule, can never apply, or need a fact that nothing supplies.
    """
    rules = load_rules(_remove_duplicate_paths(folders), texts_by_folder)
    _run_rule_checks(rules, (_check_name_clashes, *_RULE_CHECKS))
    return rules


def load_rules_to_test(paths: Sequence[Path]) -> tuple[Rule, ...]:
    """Return the rules of folders and of single files, sorted by name; InputProblems as of `load_site_rules`.

    A path may be the folder or a file of the shipped rules: they are then checked as any others, where they are.
    """
    folders = _remove_duplicate_paths(
        [path for path in paths if os.path.isdir(path) or not is_rule_file_name(path.name)]  # noqa: PTH112
    )
    below = {os.path.realpath(folder / name) for folder in folders for name in find_rule_file_names(folder)}
    alone = [
        path for path in _remove_duplicate_paths(paths) if path not in folders and os.path.realpath(path) not in below
    ]
    rules = load_rules(folders, files=alone)
    in_place = {os.path.realpath(rule.path) for rule in shipped_rules()}
    _run_rule_checks([rule for rule in rules if os.path.realpath(rule.path) not in in_place], (_check_name_clashes,))
    _run_rule_checks(rules, _RULE_CHECKS)
    return rules


def _remove_duplicate_paths(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the paths without those that lead to the same place as another."""
    return tuple({os.path.realpath(path): path for path in paths}.values())


def _run_rule_checks(rules: Sequence[Rule], checks: Sequence[Callable[[Rule], Iterator[Problem]]]) -> None:
    """Raise InputProblems with all that the checks find."""
    if problems := [problem for rule in rules for check in checks for problem in check(rule)]:
        raise InputProblems(problems)


def _build_fault(rule: Rule, keys: RuleFileKeys, found_text: str, expected: str = "", hint: str = "") -> Problem:
    line, column = locate_rule_key(rule, keys, of="key" if keys and isinstance(keys[-1], str) else "value")
    where = ".".join(map(str, keys))
    return Problem(
        path=rule.path, line=line, column=column, where=where, found=found_text, expected=expected, hint=hint
    )


def _check_name_clashes(rule: Rule) -> Iterator[Problem]:
    """Check that a name, former names included, means one rule; none replaces a shipped rule."""
    for keys, name in locate_rule_names(rule):
        if (other_rule := _shipped_rules_by_name().get(name)) is not None:
            former = "" if other_rule.name == name else f", which is now called `{other_rule.name}`"
            yield _build_fault(
                rule,
                keys,
                f"a rule `{name}`, as the shipped {rule_origin(other_rule)}{former}",
                "an unused name",
                f"to be without the shipped one, leave it out: `--ignore {other_rule.name}`",
            )


@cache
def _shipped_rules_by_name() -> Mapping[str, Rule]:
    return {name: rule for rule in shipped_rules() for name in (*rule.aliases, rule.name)}


def _check_has_effect(rule: Rule) -> Iterator[Problem]:
    """Refuse a rule that finds nothing in any fabric: it has no effect."""
    found_contradiction = find_contradiction(rule)
    if found_contradiction is None:
        return
    together = " and ".join(f"`{clause}`" for clause in found_contradiction.parts)
    mode = any("fabric.mode" in clause for clause in found_contradiction.parts)
    yield _build_fault(
        rule,
        (found_contradiction.key,),
        f"the rule can never apply: {together} "
        f"{'are never all true' if len(found_contradiction.parts) > 1 else 'is never true'}",
        f"what a fabric can have{', in the modes ' + ', '.join(sorted(rule.modes)) if mode else ''}",
    )


def _check_remark_sources(rule: Rule) -> Iterator[Problem]:
    """Refuse a remark that no reader makes, and facts that its remarks or hits do not bring."""
    if not (rule.remark or rule.analysis):
        return
    facts_by_source: dict[str, set[str]] = {}
    for other_rule in shipped_rules():
        if named_remark := other_rule.remark if rule.remark else other_rule.analysis:
            facts_by_source.setdefault(named_remark, set()).update(name for name, _ in other_rule.facts)
    if rule.remark and rule.remark not in facts_by_source:
        yield _build_fault(
            rule, ("remark",), f"no remark `{rule.remark}`", hint=known_word_hint(rule.remark, facts_by_source)
        )
        return
    brought = facts_by_source.get(rule.remark or rule.analysis)
    for name, _ in rule.facts if brought is not None else ():
        if name not in (brought or ()):
            source_text = f"`{rule.remark or rule.analysis}`"
            yield _build_fault(
                rule, ("facts",), f"{source_text} brings no fact `{name}`", hint=known_word_hint(name, brought or ())
            )


def _check_analysis_arguments(rule: Rule) -> Iterator[Problem]:
    """Report arguments that an analysis cannot use, and required arguments that are missing.

    The words that it takes are those of shipped rules, because each exists for one of them.
    """
    if not rule.analysis:
        return
    find: Callable[..., object] = analyses.analysis_module(rule.analysis).find
    hints, parameters = get_type_hints(find), list(inspect.signature(find).parameters.values())[1:]
    options = {option.name: option.type for option in rule.options}
    for parameter in parameters:
        if parameter.name not in rule.arguments:
            if parameter.default is parameter.empty:
                yield _build_fault(
                    rule, ("with",), f"`{rule.analysis}` without `{parameter.name}`", f"the key with.{parameter.name}"
                )
            continue
        value = rule.arguments[parameter.name]
        try:
            parameter_type = type_of(hints[parameter.name])
            given_option = options[value.name] if isinstance(value, OptionArgument) else type_of_value(value)
        except TypeError:
            continue
        known_arguments = {
            other_rule.arguments.get(parameter.name)
            for other_rule in shipped_rules()
            if other_rule.analysis == rule.analysis
        }
        if not accepts_argument(parameter_type, given_option):
            yield _build_fault(rule, ("with", parameter.name), given_option.describe(), parameter_type.describe())
        elif isinstance(value, str) and value not in known_arguments:
            yield _build_fault(
                rule,
                ("with", parameter.name),
                f"`{value}`",
                hint=known_word_hint(value, filter(None, map(str, known_arguments))),
            )


def _check_unused_options(rule: Rule) -> Iterator[Problem]:
    """Refuse an option that nothing reads."""
    nodes = (*rule.conditions, *rule.message_nodes, *(value for _, value in rule.changes))
    read = {path[1] for node in nodes for path in paths_read_by(node) if path[0] == "options" and len(path) > 1}
    read |= {value.name for value in rule.arguments.values() if isinstance(value, OptionArgument)}
    for option in rule.options:
        if option.name not in read and f"options.{option.name}" not in str(rule.intent_fix):
            yield _build_fault(
                rule, ("options", option.name), "an option that nothing reads", f"`options.{option.name}`"
            )


_RULE_CHECKS = (_check_has_effect, _check_remark_sources, _check_analysis_arguments, _check_unused_options)
"""What any rule is checked for; a site's own also for `_check_name_clashes`."""
