"""The stages next to a `startup.yaml`, `apply/*.nv` and `apply/*.yaml`: whether they result in the state of that file.

Stages are applied in the order of their names, each over the ones before; together they set the same as the state.
Texts that nodrop wrote are compared statement by statement; only if those differ are all of them parsed.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from nodrop.errors import InputProblems, Problem
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.read_values import STARTUP_FILE
from nodrop.platforms.nvue.settings import merge_files, read_settings_tree
from nodrop.syntax import nvset

STAGE_FILE_SUFFIXES = (".nv", ".yaml")
"""How the names of stages end; each form has all stages."""
_UNQUOTED_WORDS_PATTERN = re.compile(r"[A-Za-z0-9_@%+=:,./ -]*")
_YAML_LINE = re.compile(r"( *)((?>(?:'[^']*+'|[^\s:'?-][^:']*+)+)): ?(.*)")
_StatementWords = tuple[str, ...]


def report_stages_unlike_state(state: bytes, display: str, stages: Mapping[str, bytes]) -> list[Problem]:
    """Return a problem for each form of the stages, given by path, that results in other settings than the state.

    A stage that cannot be read is reported as such; a state that cannot be read is left to the reader of the device.
    """
    problems: list[Problem] = []
    for form in STAGE_FILE_SUFFIXES:
        files = {name: raw for name, raw in sorted(stages.items()) if name.endswith(form)}
        if files and not _has_same_settings(state, files.values(), form):
            try:
                reason = _describe_first_difference(
                    merge_files({STARTUP_FILE: state})[1], merge_files({STARTUP_FILE: b"\n".join(files.values())})[1]
                )
            except InputProblems:
                problems += (problem for name, raw in files.items() for problem in _reading_problems(name, raw))
                continue
            if reason:
                expected = f"what {display} sets; run `nodrop build` again, or make the same change here"
                problems.append(Problem(path=next(iter(files)), found=reason, expected=expected))
    return problems


def find_outdated_stages(state: bytes, stages: Mapping[str, bytes], command_lines: Sequence[str]) -> tuple[str, ...]:
    """Return the stages, given by path, that agree with a state less once commands changed it.

    That are those which set what a command changes or takes back. What no stage of a form sets is missing in the one
    that sets most on the way to it, unless the state sets more there already: then it was missing before.
    """
    script = nvset.parse_nv_commands("\n".join(line for line in command_lines if line.startswith("nv ")))
    deleted = [match[1].split(" ") for line in command_lines if (match := _DELETED_SETTING_LINE.match(line))]
    changes = [*((command.verb, command.words) for command in script.commands), *(("unset", path) for path in deleted)]
    try:
        state_tree = read_settings_tree(STARTUP_FILE, state)
        trees = {name: read_settings_tree(STARTUP_FILE, raw) for name, raw in stages.items()}
    except InputProblems:
        return tuple(stages)
    outdated: set[str] = set()
    for form in STAGE_FILE_SUFFIXES:
        of_form = {name: tree for name, tree in trees.items() if name.endswith(form)}
        for verb, words in changes if of_form else ():
            depths = {name: _depth_of_words(tree, words) for name, tree in of_form.items()}
            most = max(depths.values())
            behind = {name for name, depth in depths.items() if depth == most}
            if verb == "unset":
                outdated |= behind if most == len(words) else set()
            elif most < len(words) and (most == len(words) - 1 or _depth_of_words(state_tree, words) <= most):
                outdated |= behind
    return tuple(name for name in stages if name in outdated)


_DELETED_SETTING_LINE = re.compile(r"# delete (.+) from line [0-9]+ of ")


def _depth_of_words(tree: object, words: Sequence[str], parent: str = "") -> int:
    """Return how many words lead to a setting of a tree, by any of the ports that a word stands for."""
    if not words or not isinstance(tree, dict):
        return int(bool(words) and tree is not None and str(tree) == words[0])
    below = [tree[key] for key in expand_key(parent, words[0]) if key in tree]
    return max((1 + _depth_of_words(node, words[1:], words[0]) for node in below), default=0)


def _reading_problems(name: str, raw: bytes) -> tuple[Problem, ...]:
    """Return why a stage cannot be read; nothing if it can."""
    try:
        merge_files({STARTUP_FILE: raw})
    except InputProblems as error:
        return tuple(replace(problem, path=name) for problem in error.problems)
    return ()


def _has_same_settings(state: bytes, stages: Iterable[bytes], form: str) -> bool:
    texts = [raw.decode("utf-8", "replace") for raw in stages]
    stated_settings = set().union(
        *(map(set, map(_statements_of_commands if form == ".nv" else _statements_of_yaml, texts)))
    )
    return stated_settings == set(_statements_of_yaml(state.decode("utf-8", "replace")))


def _statements_of_commands(text: str) -> Iterator[_StatementWords]:
    for line in text.splitlines():
        words = line.removeprefix("nv set ")
        yield tuple(words.split(" ") if _UNQUOTED_WORDS_PATTERN.fullmatch(words) else _split_words(words))


def _split_words(command_text: str) -> list[str]:
    try:
        return shlex.split(command_text)
    except ValueError:
        return [command_text]


def _statements_of_yaml(text: str) -> Iterator[_StatementWords]:
    """Yield each leaf below `- set:` as the words of its path; a line of another shape stands for itself."""
    path: list[str] = []
    _, _, body = text.partition("- set:\n")
    for line in body.splitlines():
        match = _YAML_LINE.fullmatch(line)
        if match is None:
            yield ("", line)
            continue
        depth, (key, value) = len(match[1]) // 2 - 2, (_strip_quotes(match[2]), match[3])
        path[depth:] = [key]
        if value:
            yield (*path, *(() if value == "{}" else (_strip_quotes(value),)))


def _strip_quotes(word: str) -> str:
    return word[1:-1].replace("''", "'") if len(word) > 1 and word[0] == word[-1] == "'" else word


def _as_mapping(value: object) -> dict[str, object]:
    """Return a value as a mapping: `a: b` and `a: {b: {}}` are one setting."""
    if isinstance(value, dict):
        return value
    return {} if value is None else {str(value): {}}


def _describe_first_difference(state: object, stages: object, path: _StatementWords = ()) -> str:
    """Return the first setting that differs, and how; nothing where none does."""
    if isinstance(state, dict) or isinstance(stages, dict):
        state, stages = _as_mapping(state), _as_mapping(stages)
        for key in sorted(state.keys() | stages.keys()):
            below = path if key == STARTUP_FILE and not path else (*path, str(key))
            if key not in stages or key not in state:
                return f"`{' '.join(below)}` {'is not set' if key in state else 'is set'}"
            if difference := _describe_first_difference(state[key], stages[key], below):
                return difference
        return ""
    return "" if state == stages else f"`{' '.join(path)} {stages}`, and not {state}"
