"""Comments that allow findings, `nodrop: allow[...]`: those of a change count as far as the base has them too."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nodrop.checking.policy import PolicyFileChange
from nodrop.model.reading import AllowComment, Reading

_CommentKey = tuple[str, str, str, str]
"""Device, file and rule of a comment, and what it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowCommentReview:
    """A reading with the comments that count, and those that are new or hold longer than before."""

    reading: Reading
    changes: tuple[PolicyFileChange, ...] = ()


def keep_only_former_allow_comments(reading: Reading, former_reading: Reading | None) -> AllowCommentReview:
    """Return a reading with only the comments that the former state has too, and only as long as they apply there.

    A comment is the same if it names the same rule and is about the same part of the file (`Allow.around`).
    """
    if not reading.allowed:
        return AllowCommentReview(reading=reading)
    known_allows = dict(_allows_by_key(former_reading)) if former_reading is not None else {}
    kept_allows: dict[str, list[AllowComment]] = {}
    changes = []
    for key, allow in _allows_by_key(reading):
        before = known_allows.get(key)
        if before is not None:
            kept_allows.setdefault(key[0], []).append(replace(allow, until=before.until))
        if before is None or before.until != allow.until:
            file, line = _find_display_path(reading, key[0], allow), allow.span.line
            changes.append(
                PolicyFileChange(
                    file=file, kind="comment", what=_describe_allow_comment_change(allow, before), line=line
                )
            )
    if not changes:
        return AllowCommentReview(reading=reading)
    allowed = {device: tuple(kept_allows.get(device, ())) for device in reading.allowed}
    return AllowCommentReview(reading=replace(reading, allowed=allowed), changes=tuple(changes))


def _describe_allow_comment_change(allow: AllowComment, before: AllowComment | None) -> str:
    if before is None:
        return f"a new comment allows {allow.rule}"
    return f"a comment allows {allow.rule} {'for good' if allow.until is None else f'until {allow.until}'}"


def _find_display_path(reading: Reading, device: str, allow: AllowComment) -> str:
    sources = reading.sources.get(device, ())
    return next((source.display for source in sources if source.name == allow.file), allow.file)


def _allows_by_key(reading: Reading) -> Iterator[tuple[_CommentKey, AllowComment]]:
    for device, allows in reading.allowed.items():
        for allow in allows:
            yield (device, allow.file if device else "", allow.rule, allow.around), allow
