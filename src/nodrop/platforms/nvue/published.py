"""Add the paths of NVIDIA's OpenAPI documents where schema.yaml leaves them open.

published.yaml is made by tools/openapi2schema.py. It has the notation of schema.yaml, and the words that lead to an
open place. schema.yaml counts before it: units, generations of Spectrum and dialects are in no document.
"""

from collections.abc import Mapping
from pathlib import Path as File
from typing import Any

from nodrop.platforms.nvue.schema_types import Release, release_of
from nodrop.syntax.yaml import parse

FILE = File(__file__).with_name("published.yaml")

COMPLETE = "complete"
"""Stands for `open` after `...` where the documents have every word of their releases."""

Stated = Mapping[str, Any]


def published() -> tuple[Stated, frozenset[Release]]:
    """Return the settings of the documents, and their releases."""
    data: Any = parse(FILE.read_bytes(), FILE.name).data
    return data["settings"], frozenset(release_of(name) for name in data["sources"])


def fill_words(stated_values: Stated, doc_words: Stated) -> Stated:
    """Return the words of a place of schema.yaml, with those of the documents where it is open."""
    words = {word: spec for key, spec in stated_values.items() for word in (key.split(", ") if key != "-" else [key])}
    below = {word: _fill_word(spec, doc_words, word) for word, spec in words.items()}
    if "..." not in words:
        return below
    names = {_name(word) for word in words}
    return {
        **below,
        **{word: _mark_words_complete(spec) for word, spec in doc_words.items() if word not in names},
        "...": COMPLETE,
    }


def _name(word: str) -> str:
    """Return a chosen word without its range: `<dscp 0..63>` is `<dscp>`."""
    return word.partition(" ")[0] + ">" if word.startswith("<") and " " in word else word


def _fill_word(spec: Any, doc_words: Stated, word: str) -> Any:
    if word in ("", "-", "...") or (published_spec := doc_words.get(_name(word))) is None:
        return spec
    if isinstance(spec, Mapping):
        return fill_words(spec, published_spec)
    if spec == "open":
        return _mark_words_complete(published_spec)
    span = spec.replace(" open", "")  # "since 5.15 open, was ip igmp"
    return {**_mark_words_complete(published_spec), "": span} if isinstance(published_spec, Mapping) else spec


def _mark_words_complete(spec: object) -> Any:
    if not isinstance(spec, Mapping):
        return spec
    return {**{word: _mark_words_complete(word_spec) for word, word_spec in spec.items()}, "...": COMPLETE}
