"""The exceptions of a comment: `nodrop: allow[rule, other-rule] until 2027-06-30: reason`.

    allowing = "nodrop:" "allow" "[" rule { "," rule } "]" [ "until" day ] [ ":" ] reason

`until` names the last day on which it applies. A comment that begins with `nodrop:` and is something else is a remark,
and allows nothing.
"""

import re
from collections.abc import Iterable
from datetime import date

from nodrop.limits import MAX_ALLOW_COMMENT_RULES
from nodrop.model.reading import AllowComment, FilePlace, Remark
from nodrop.model.subject import Subject
from nodrop.model.types import did_you_mean_hint
from nodrop.syntax.comments import BEHIND_COMMAND, IN_BRACKETS, LONE_CR_REASON, NodropComment
from nodrop.syntax.places import Span

MALFORMED, REASONLESS = "malformed-suppression", "suppression-without-reason"

_ADVICE_BY_MISPLACEMENT = {
    BEHIND_COMMAND: "write it on the line above",
    LONE_CR_REASON: "end every line with a line feed",
    IN_BRACKETS: "write it before the brackets or behind them, or write this part indented instead",
}
"""By where a comment cannot be, where to write it."""

_NODROP_COMMENT_START = re.compile(r"nodrop:[ \t]*", re.IGNORECASE)
_VERB_PATTERN = re.compile(r"([A-Za-z][\w-]*)[ \t]*")
_RULE_BRACKETS_PATTERN = re.compile(r"\[([^\]\[]*)\]")
_RULE_NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_UNTIL_PATTERN = re.compile(r"[ \t]*+until\b[ \t]*+([^\s:]*)", re.IGNORECASE)
_DATE_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_VERSION_PATTERN = re.compile(r"[0-9]")


class _MisreadAllowComment(Exception):
    """A comment with other content: the found text, and the kind of the remark."""

    def __init__(self, fault: str, hint: str = "", kind: str = MALFORMED) -> None:
        self.found, self.hint, self.kind = fault, hint, kind


def parse_allow_comments(
    comments: Iterable[NodropComment], file: str, subject: Subject
) -> tuple[list[AllowComment], list[Remark]]:
    """Return what comments of a file allow, and remarks at `subject` about those that allow nothing."""
    allows: list[AllowComment] = []
    remarks: list[Remark] = []
    full = False
    for comment in comments:
        if full:
            break
        if _VERSION_PATTERN.match(
            comment.text, _comment_content_start(comment)
        ):  # a line of an intent that is commented out: `nodrop: 1`
            continue
        try:
            read = _parse_comment(comment, file)
            full = len(allows) + len(read) > MAX_ALLOW_COMMENT_RULES
            if full:
                raise _MisreadAllowComment(
                    f"more than {MAX_ALLOW_COMMENT_RULES:,} allowed rules in one file, those from here on"
                )
            allows += read
        except _MisreadAllowComment as wrong:
            span = Span(comment.line, comment.column, comment.line, comment.column + len(comment.text))
            facts = {"found": wrong.found, "hint": wrong.hint and f" ({wrong.hint})"}
            remarks.append(Remark(kind=wrong.kind, subject=subject, place=FilePlace(file, span), facts=facts))
    return allows, remarks


def _comment_content_start(comment: NodropComment) -> int:
    match = _NODROP_COMMENT_START.match(comment.text)
    return match.end() if match else 0


def _parse_comment(comment: NodropComment, file: str) -> list[AllowComment]:
    text = comment.text
    if comment.misplaced:
        raise _MisreadAllowComment(f"a comment {comment.misplaced}", _ADVICE_BY_MISPLACEMENT[comment.misplaced])
    verb = _VERB_PATTERN.match(text, _comment_content_start(comment))
    if verb is None or verb[1] != "allow":
        word = verb[1] if verb else text[_comment_content_start(comment) :].split(" ")[0]
        raise _MisreadAllowComment(f"`{word}`" if word else "nothing", did_you_mean_hint(word, ("allow",)))
    named_match = _RULE_BRACKETS_PATTERN.match(text, verb.end())
    if named_match is None:
        raise _MisreadAllowComment(
            "a list without its end" if text.startswith("[", verb.end()) else "no rule in brackets"
        )
    rules = _parse_named_rules(named_match)
    at = named_match.end()
    until = None
    if (match := _UNTIL_PATTERN.match(text, at)) is not None:
        until, at = _parse_day(match[1]), match.end()
    reason = text[at:].strip().removeprefix(":").strip()
    if not reason:
        raise _MisreadAllowComment(", ".join(rules), kind=REASONLESS)
    return [
        AllowComment(
            rule=rule,
            reason=reason,
            until=until,
            file=file,
            span=Span(comment.line, comment.column + start, comment.line, comment.column + start + len(rule)),
            lines=comment.lines,
            around=comment.around,
        )
        for rule, start in rules.items()
    ]


def _parse_named_rules(named_match: re.Match[str]) -> dict[str, int]:
    """Return the rules in brackets, each once, with its position in the text."""
    rules: dict[str, int] = {}
    at = named_match.start(1)
    for piece in named_match[1].split(","):
        name = piece.strip()
        if not _RULE_NAME_PATTERN.fullmatch(name):
            raise _MisreadAllowComment(f"`{name}` for the name of a rule" if name else "no name of a rule")
        rules.setdefault(name, at + len(piece) - len(piece.lstrip()))
        at += len(piece) + 1
    return rules


def _parse_day(word: str) -> str:
    try:
        if _DATE_PATTERN.fullmatch(word):
            return date.fromisoformat(word).isoformat()
    except ValueError:
        pass
    raise _MisreadAllowComment(f"`{word}` for a day" if word else "no day after `until`")
