"""From readings and intents to outcomes, by the rules that were chosen."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import Choices, unknown

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from nodrop.fabric.index import Index
    from nodrop.fabric.reading import Reading
    from nodrop.inputs import Text
    from nodrop.intent.schema import Intent
    from nodrop.lint.rule import Rule
    from nodrop.platforms.artifact import Artifact
    from nodrop.report.outcome import Outcome


def chosen_rules(choices: Choices, *, routing: bool = False) -> "tuple[Rule, ...]":
    """Return the rules of files, or of `routing`, that were selected and not ignored; an unknown word is an error."""
    from nodrop.lint.rules import of_files, of_routing, shipped

    rules = of_routing(shipped()) if routing else of_files(shipped())
    known = tuple(sorted({word for rule in rules for word in _words(rule)}))
    wanted, unwanted = _named(choices.select, known), _named(choices.ignore, known)
    return tuple(rule for rule in rules if (not wanted or wanted & _words(rule)) and not unwanted & _words(rule))


def _words(rule: "Rule") -> set[str]:
    return {rule.name, rule.area, *rule.aliases}


def _named(values: Sequence[str], known: tuple[str, ...]) -> set[str]:
    """Return the rules and areas that an option names."""
    named = {word.strip() for value in values for word in value.split(",")}
    for word in sorted(named - set(known)):
        raise click.UsageError(unknown("rule or area", word, known))
    return named


def judged(
    reading: "Reading",
    rules: "Sequence[Rule]",
    choices: Choices,
    *,
    index: "Index | None" = None,
    progress: "Callable[[str], None] | None" = None,
) -> "Outcome":
    """Return what the rules say of a reading, with the places that the reports will show."""
    from nodrop import platforms
    from nodrop.lint.engine import judge
    from nodrop.locate import locate
    from nodrop.report.outcome import Outcome, heads

    verdict = judge(reading, rules, strictness=choices.strictness, index=index, progress=progress)
    only = None if choices.whole else heads(verdict.findings)
    pointed = locate(verdict.findings, reading, platforms.where, only=only)
    return Outcome.of(reading, verdict, findings=pointed.findings, notes=pointed.notes, line=pointed.line)


def intent_of(text: "Text") -> "tuple[bytes, Intent]":
    """Read an intent, and return its text too; what is no intent at all is told in one line."""
    from nodrop.errors import InputProblems, Problem
    from nodrop.inputs import is_intent
    from nodrop.intent.load import MAX_BYTES, loads

    if text.path is not None and text.path.is_dir():
        raise InputProblems([Problem(path=text.display, found="a folder", expected="an intent, which is a file")])
    raw = text.read(MAX_BYTES)
    if not is_intent(raw) and b"topology" not in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        hint = "`nodrop lint` judges configurations"
        expected = "an intent, YAML with the key `nodrop: 1`"
        raise InputProblems([Problem(path=text.display, found="no intent", expected=expected, hint=hint)])
    return raw, loads(raw, text.display)


_PRELOADED = ("nodrop.collect", "nodrop.design", "nodrop.lint.engine", "nodrop.lint.rules", "nodrop.locate")
"""What every process of a pool needs."""


@contextmanager
def working(devices: int, choices: Choices) -> "Iterator[Executor | None]":
    """Give the executor that so many devices, and --jobs, ask for."""
    from nodrop.cli.output import calm_collector
    from nodrop.parallel import processes

    with processes(devices, jobs=choices.jobs, preload=_PRELOADED, begin=calm_collector) as executor:
        yield executor


@contextmanager
def collecting(outcomes: "list[Outcome]") -> Iterator[None]:
    """Turn what is wrong with the input into an outcome, so that one fault does not hide the next."""
    from nodrop.errors import InputProblems
    from nodrop.report.outcome import Outcome

    try:
        yield
    except InputProblems as error:
        outcomes.append(Outcome(problems=error.problems))


def built(intent: "Intent", display: str, below: str) -> "tuple[tuple[Artifact, ...], Reading]":
    """Return the files that an intent comes to, and what they say when they are read back as if from `below`."""
    import nodrop
    from nodrop.errors import InputProblems, Problem, Unsupported

    fabric = nodrop.build(intent)
    try:
        artifacts = (*nodrop.write(fabric), *nodrop.host_files(fabric))
    except Unsupported as error:
        raise InputProblems([Problem(path=display, where=error.path, found=error.reason)]) from None
    return (*artifacts, *nodrop.rack(fabric)), nodrop.read_back(artifacts, fabric, below)


def reading_at(path: str) -> "Reading":
    """Return what stands at one path: configurations, or an intent, of which what its switches would be given."""
    from nodrop.collect import read_inputs
    from nodrop.errors import InputProblems, Problem
    from nodrop.fabric.declared import Declared
    from nodrop.inputs import find

    inputs = find((path,))
    if intents := inputs.all_intents():
        text, *others = intents
        if others or inputs.bundles:
            found = "several intents, or an intent and configurations"
            raise InputProblems([Problem(path=path, found=found, expected="one fabric")])
        return built(intent_of(text)[1], text.display, text.display)[1]
    reading = read_inputs(inputs.only(), Declared())
    if not reading.fabric.devices:
        nothing = Problem(path=path, found="no configuration", expected="files of switches, or an intent")
        raise InputProblems(reading.problems or [nothing])
    return reading
