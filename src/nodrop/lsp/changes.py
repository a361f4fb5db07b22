"""An editor's actions for a finding: the fix of its rule, or a suppression on the spot or in nodrop.yaml."""

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nodrop.config import CONFIG_FILE
from nodrop.engine.finding import Finding
from nodrop.errors import InputProblems
from nodrop.fixing.files import JudgeOfFiles
from nodrop.fixing.files import find_rewritten_files as rewritten_files
from nodrop.fixing.fix_selection import FixSelector, key_of_finding
from nodrop.fixing.intents import JudgeOfIntents
from nodrop.fixing.intents import find_rewritten_intent as rewritten_intent
from nodrop.inputs import DiskWithHeldTexts, FileText
from nodrop.lsp.desk import OpenTextByPath, TextChecker, TextCheckResult
from nodrop.lsp.rows import EditorLines, encode_text
from nodrop.model.subject import subject_text as subject_text
from nodrop.syntax.json import MAX_JSON_BYTES

SUPPRESSION_REASON_PLACEHOLDER = "say here why this is all right"
_GIT_FOLDER = ".git"
_MOST_DIFFED_LINES = 2_000
"""Up to how many lines that may differ are compared one by one."""
_SUPPRESS_ENTRY_LINES = re.compile(r"^(?P<key>suppress:)[ \t]*(?:#.*)?\n(?P<dash>[ ]*)-[ ]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReplacement:
    """A stretch of a text, by offsets, and its replacement."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRewrite:
    """A file before and after a change; `old` is None where the file does not exist yet."""

    path: str
    old: str | None
    new: str


def fix_findings(look: TextCheckResult, findings: Sequence[Finding], open_texts: OpenTextByPath) -> list[FileRewrite]:
    """Return the files that the fixes of findings change; none where none can be made, or each brings anything new."""
    keys = {key_of_finding(finding) for finding in findings if finding.fix is not None}
    if not keys:
        return []
    settings = replace(look.site.settings, whole=False, advised=False)

    def matches_keys(finding: Finding) -> bool:
        return key_of_finding(finding) in keys

    try:
        if look.inputs is not None:
            files = JudgeOfFiles(rules=look.site.rules, settings=settings).open_documents(look.inputs)
            settler = FixSelector(files, matches_keys)
            settler.make_all_fixes()
            rewritten_intents = list(rewritten_files(files, settler.world))
        else:
            path = next(iter(look.marks))
            intent = JudgeOfIntents(rules=look.site.rules, settings=settings).open_documents(
                FileText(display=path, held=open_texts[path])
            )
            new_settler = FixSelector(intent, matches_keys)
            new_settler.make_all_fixes()
            rewritten_intents = list(rewritten_intent(intent, new_settler.world))
    except InputProblems:
        return []
    return [FileRewrite(path=file.display, old=file.old.decode(), new=file.new.decode()) for file in rewritten_intents]


def suppress_in_config(
    finding: Finding, look: TextCheckResult, path: Path, open_texts: OpenTextByPath
) -> FileRewrite | None:
    """Return the site's nodrop.yaml with an entry for a finding more; None where it has no place for one."""
    where = look.site.settings.config.path or _repository_of(path) / CONFIG_FILE
    if where.suffix == ".toml" or look.site.problems:
        return None
    old = _read_text(where, open_texts)
    subject = _quote_yaml(subject_text(finding.subject))
    entry = f"rule: {finding.rule}\n  at: {subject}\n  reason: {SUPPRESSION_REASON_PLACEHOLDER}\n"
    if old is None or not re.search(r"^suppress:", old, re.MULTILINE):
        before = old if old is None or not old or old.endswith("\n") else f"{old}\n"
        return FileRewrite(path=str(where), old=old, new=f"{before or ''}suppress:\n- {entry}")
    match = _SUPPRESS_ENTRY_LINES.search(old)
    if match is None:
        return None
    at = match.end("key") + old[match.end("key") :].index("\n") + 1
    lines = f"- {entry}".splitlines()
    return FileRewrite(
        path=str(where), old=old, new=old[:at] + "".join(f"{match['dash']}{line}\n" for line in lines) + old[at:]
    )


def suppress_by_comment(
    desk: TextChecker, look: TextCheckResult, finding: Finding, path: Path, line: int, open_texts: OpenTextByPath
) -> FileRewrite | None:
    """Return a file with a comment above a line, from 0, that suppresses a finding; None where none would.

    It is looked at first: the finding is gone with it, and nothing new is there.
    """
    old = open_texts[str(path)].decode()
    if old.lstrip()[:1] in ("{", "["):
        return None
    rows = EditorLines(old)
    at, row = rows.offset((line, 0)), rows.line(line)
    end = "\r\n" if "\r\n" in old else "\n"
    indent = row[: len(row) - len(row.lstrip())]
    new = f"{old[:at]}{indent}# nodrop: allow[{finding.rule}]: {SUPPRESSION_REASON_PLACEHOLDER}{end}{old[at:]}"
    after = desk.check_text(path, {**open_texts, str(path): encode_text(new)})
    mark_keys = set(_diagnostic_identities(after))
    if finding.fingerprint in {key for key, _ in mark_keys} or mark_keys - set(_diagnostic_identities(look)):
        return None
    return FileRewrite(path=str(path), old=old, new=new)


def _diagnostic_identities(look: TextCheckResult) -> Iterator[tuple[str, str]]:
    """Yield the results without their places: by fingerprint, or else by their words."""
    for marks in look.marks.values():
        for mark in marks:
            yield mark.finding.fingerprint if mark.finding else mark.message, mark.code


def _repository_of(path: Path) -> Path:
    """Return the repository that a file lies in, else its folder."""
    return next((parent for parent in path.parents if (parent / _GIT_FOLDER).exists()), path.parent)


def _read_text(path: Path, open_texts: OpenTextByPath) -> str | None:
    if str(path) in open_texts:
        return open_texts[str(path)].decode()
    try:
        return DiskWithHeldTexts().text(path).read_bytes(MAX_JSON_BYTES).decode()
    except (InputProblems, UnicodeDecodeError):
        return None


def _quote_yaml(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", text) else json.dumps(text, ensure_ascii=False)


def find_text_changes(old_text: str, new_text: str) -> list[TextReplacement]:
    """Return the changes that turn a text into another, line by line and no more than that."""
    before, after = old_text.splitlines(keepends=True), new_text.splitlines(keepends=True)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    middle = before[start : len(before) - end], after[start : len(after) - end]
    at = sum(map(len, before[:start]))
    return [*_differing_pieces(*middle, at)]


def _differing_pieces(before: Sequence[str], after: Sequence[str], at: int) -> Iterator[TextReplacement]:
    """Yield the differences between lines, with the first lines at an offset."""
    if len(before) + len(after) > _MOST_DIFFED_LINES:
        yield TextReplacement(start=at, end=at + sum(map(len, before)), text="".join(after))
        return
    starts = [at]
    for line in before:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, first_index, last, new_first, new_last in matcher.get_opcodes():
        if tag != "equal":
            yield TextReplacement(start=starts[first_index], end=starts[last], text="".join(after[new_first:new_last]))
