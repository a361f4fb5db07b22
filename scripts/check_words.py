"""Report phrases of `words.yaml`, and docstrings that do not begin with an imperative.

Pages for readers (README.md, docs/), rule files and the texts that nodrop prints are checked as a whole, docstrings if
they are new. Printed texts and rules have sentences of limited length, too. New are the lines that differ from the
commit `since` of words.yaml: of Markdown without code, and of strings in Python that the module did not have then. D401
of ruff applies to modules that have changed. Without that commit in the history, which a shallow clone has not, nothing
can be compared: reported, and only the texts that are checked as a whole are.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ruamel.yaml import YAML

WORDS = Path(__file__).with_name("words.yaml")
TEXTS = ("*.md", "src/**/*.py", "rules/**/*.yaml", "tools/*.py", "scripts/*.py")
SHOWN = ("docs/rules/", "tests/plan/golden/", "tests/project/story/")
"""Generated pages and snapshots of reports: their text comes from rule files and modules, which are checked."""
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "rules/**/*.yaml")
PRINTING = "src/nodrop/"
"""Where the modules are whose strings nodrop prints."""
MOST_WORDS = 20
"""Of a sentence in messages, notes and reports (of a rule's message, rendered: tests/rules/test_rules.py)."""
MOST_WORDS_OF_HELP = 25
"""Of a sentence in help texts, and in what rules explain."""
HELP = "src/nodrop/cli/"
MADE_OF_CODE = "docs/rule-words.md"
"""A page that consists of docstrings, of which the old ones are not checked."""
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_CODE = re.compile(r"`[^`]*`")
_SENTENCE_END = re.compile(r"(?<=[.;:!?])\s+|\n+")
_EXPLANATION = re.compile(r"^(?:why|fix): (>-\n(?:  .*\n)+|.*\n)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase to avoid, what to write instead, and a sentence with it and one without."""

    pattern: re.Pattern[str]
    instead: str
    wrong: str
    right: str


def phrases(path: Path = WORDS) -> tuple[str, list[Phrase]]:
    """Return the commit since which text is new, and the phrases."""
    data = YAML(typ="safe", pure=True).load(path)
    found = []
    for row in data["phrases"]:
        pattern = re.compile(rf"\b(?:{row['pattern']})\b", re.IGNORECASE)
        found.append(Phrase(pattern, row["instead"], row["wrong"], row["right"]))
    return data["since"], found


def changed(top: Path, since: str) -> dict[str, set[int]] | None:
    """Return the numbers of the lines that differ from a commit, by file; None where there is no such commit."""
    if _git(top, "cat-file", "-e", f"{since}^{{commit}}") is None:
        return None
    pathspecs = [f":(top,glob){one}" for one in ("**/*.md", *TEXTS[1:])]
    lines: dict[str, set[int]] = {}
    file = ""
    for row in (_git(top, "diff", "--unified=0", "--no-ext-diff", since, "--", *pathspecs) or "").splitlines():
        if row.startswith("+++ "):
            file = row.removeprefix("+++ b/")
        elif hunk := _HUNK.match(row):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(file, set()).update(range(first, first + count))
    for file in (_git(top, "ls-files", "--others", "--exclude-standard", "--", *pathspecs) or "").splitlines():
        lines[file] = set(range(1, len((top / file).read_text().splitlines()) + 1))
    return {file: new for file, new in lines.items() if new and not file.startswith(SHOWN)}


def pages(top: Path) -> Iterator[str]:
    """Yield the pages that are checked as a whole."""
    for pattern in PAGES:
        for path in sorted(top.glob(pattern)):
            file = path.relative_to(top).as_posix()
            if file != MADE_OF_CODE and not file.startswith(SHOWN):
                yield file


def prose(file: str, text: str, before: str = "") -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are prose, by number; of Python those with strings that it had not `before`."""
    if file.endswith(".py"):
        yield from _strings(text, {string.value for string in _texts(before)})
        return
    fenced = False
    for number, row in enumerate(text.splitlines(), 1):
        if file.endswith(".md") and row.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not (file.endswith(".md") and row.startswith("    ")):
            yield number, _CODE.sub("``", row)


@lru_cache(maxsize=3)
def _nodes(text: str) -> tuple[ast.AST, ...]:
    """Return the nodes of a module: several checks read each module in turn."""
    return tuple(ast.walk(ast.parse(text)))


def _texts(text: str) -> Iterator[ast.Constant]:
    """Yield the strings with at least two words; of one with values, the texts between these."""
    for node in _nodes(text):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node


def _strings(text: str, old: Set[object]) -> Iterator[tuple[int, str]]:
    """Yield the lines of strings that are not among the old ones: a name that changes beside a text changes no text."""
    rows = text.splitlines()
    seen = set()
    for node in _texts(text):
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1) if node.value not in old else ():
            if number not in seen:
                seen.add(number)
                yield number, _CODE.sub("``", rows[number - 1])


def found(file: str, text: str, new: set[int], avoided: list[Phrase], before: str = "") -> Iterator[str]:
    """Yield a message for each phrase to avoid in new lines of a file, which had other text `before`."""
    any_phrase = _compile_alternatives(tuple(avoided))
    for number, row in prose(file, text, before):
        for phrase in avoided if number in new and any_phrase.search(row) else ():
            for hit in phrase.pattern.finditer(row):
                yield f"{file}:{number}: avoid `{hit[0]}`; write: {phrase.instead}"


@lru_cache(maxsize=1)
def _compile_alternatives(avoided: tuple[Phrase, ...]) -> re.Pattern[str]:
    """Return a pattern that is found where any of the phrases is."""
    return re.compile("|".join(phrase.pattern.pattern for phrase in avoided), re.IGNORECASE)


def printed_texts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module with at least four words that are no docstrings and no patterns, by line."""
    skipped = {id(node.value) for node in _nodes(text) if isinstance(node, ast.Expr)}
    skipped |= {id(part) for node in _nodes(text) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in _nodes(text):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        if id(node) in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        values = [part.value if isinstance(part, ast.Constant) else "…" for part in parts]
        words = "".join(value for value in values if isinstance(value, str))
        if len(words.split()) > 3 and "(?:" not in words:
            yield node.lineno, _CODE.sub("``", words)


def faulty_texts(file: str, text: str, avoided: list[Phrase]) -> Iterator[str]:
    """Yield a message for each phrase to avoid, and each long sentence, in what a module prints or a rule explains."""
    if file.startswith(PRINTING):
        most = MOST_WORDS_OF_HELP if file.startswith(HELP) else MOST_WORDS
        for line, words in printed_texts(text):
            hits = ((phrase, phrase.pattern.search(words)) for phrase in avoided)
            yield from (f"{file}:{line}: avoid `{hit[0]}`; write: {phrase.instead}" for phrase, hit in hits if hit)
            yield from _long_sentences(f"{file}:{line}", words, most)
    elif file.startswith("rules/"):
        for hit in _EXPLANATION.finditer(text):
            line = text.count("\n", 0, hit.start()) + 1
            yield from _long_sentences(
                f"{file}:{line}", _CODE.sub("``", " ".join(hit[1].removeprefix(">-").split())), MOST_WORDS_OF_HELP
            )


def _long_sentences(place: str, words: str, most: int) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(words):
        if (count := len(sentence.split())) > most:
            yield f"{place}: a sentence of {count} words, expected at most {most}: {' '.join(sentence.split()[:6])} …"


def imports(text: str) -> set[int]:
    """Return the numbers of the lines that import names: a package that is renamed changes no docstring."""
    return {
        number
        for node in _nodes(text)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def moods(top: Path, files: list[str]) -> Iterator[str]:
    """Yield a message for each docstring of changed modules that does not begin with an imperative (ruff, D401)."""
    if not files:
        return
    # the rules of the project leave D401 out, since old docstrings break it; nothing else is selected here
    words = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--select",
        "D401",
        "--output-format",
        "json",
        "--exit-zero",
        *files,
    ]
    done = subprocess.run(words, cwd=top, capture_output=True, text=True, check=True)
    for one in json.loads(done.stdout):
        file = Path(one["filename"]).resolve().relative_to(top.resolve())
        yield f"{file}:{one['location']['row']}: {one['message']} (D401)"


def _git(top: Path, *words: str) -> str | None:
    done = subprocess.run(["git", "-C", str(top), *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def main(top: Path = WORDS.parents[1], words: Path = WORDS) -> int:
    """Print what is found; return 1 where there is something."""
    since, avoided = phrases(words)
    new = changed(top, since)
    if new is None:
        print(f"words: only whole texts, for the history has no commit {since} (a shallow clone?)")
        new = {}
    new |= {file: set(range(1, len((top / file).read_text().splitlines()) + 1)) for file in pages(top)}
    printing = {
        path.relative_to(top).as_posix() for path in (*top.glob(f"{PRINTING}**/*.py"), *top.glob("rules/**/*.yaml"))
    }
    messages, modules = [], []
    for file in sorted(printing | new.keys()):
        text, lines = (top / file).read_text(), new.get(file, set())
        if faults := list(found(file, text, lines, avoided)) if lines else []:
            before = _git(top, "show", f"{since}:{file}") if file.endswith(".py") else None
            messages += list(found(file, text, lines, avoided, before)) if before else faults
        if file in printing:
            messages += faulty_texts(file, text, avoided)
        if file.startswith("src/") and file.endswith(".py") and lines - imports(text):
            modules.append(file)
    messages = [*dict.fromkeys(messages), *moods(top, modules)]
    print(
        "\n".join(
            [
                *messages,
                f"words: {len(messages)} to change in whole texts, and in lines that are new since {since[:12]}",
            ]
        )
    )
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
