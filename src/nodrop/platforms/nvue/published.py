"""Add the paths of NVIDIA's OpenAPI documents where schema.yaml leaves them open.

published.yaml is made by tools/openapi2schema.py. It has the notation of schema.yaml, and the words that lead to an
open place. schema.yaml counts before it: units, generations of Spectrum and dialects are in no document.
"""

from collections.abc import Mapping
from pathlib import Path as File
from typing import Any

from nodrop.platforms.nvue.schema_types import Release, parse_release
from nodrop.syntax.yaml import parse_yaml

PUBLISHED_SCHEMA_FILE = File(__file__).with_name("published.yaml")

ALL_WORDS_DOCUMENTED = "complete"
"""Stands for `open` after `...` where the documents have every word of their releases."""

SchemaWords = Mapping[str, Any]


def read_published_settings() -> tuple[SchemaWords, frozenset[Release]]:
    """Return the settings of the documents, and their releases."""
    data: Any = parse_yaml(PUBLISHED_SCHEMA_FILE.read_bytes(), PUBLISHED_SCHEMA_FILE.name).data
    return data["settings"], frozenset(parse_release(name) for name in data["sources"])


def fill_open_schema_words(stated_values: SchemaWords, doc_words: SchemaWords) -> SchemaWords:
    """Return the words of a place of schema.yaml, with those of the documents where it is open."""
    words = {word: spec for key, spec in stated_values.items() for word in (key.split(", ") if key != "-" else [key])}
    below = {word: _fill_word(spec, doc_words, word) for word, spec in words.items()}
    if "..." not in words:
        return below
    names = {_word_without_range(word) for word in words}
    return {
        **below,
        **{word: _mark_words_complete(spec) for word, spec in doc_words.items() if word not in names},
        "...": ALL_WORDS_DOCUMENTED,
    }


def _word_without_range(word: str) -> str:
    """Return a chosen word without its range: `<dscp 0..63>` is `<dscp>`."""
    return word.partition(" ")[0] + ">" if word.startswith("<") and " " in word else word


def _fill_word(spec: Any, doc_words: SchemaWords, word: str) -> Any:
    if word in ("", "-", "...") or (published_spec := doc_words.get(_word_without_range(word))) is None:
        return spec
    if isinstance(spec, Mapping):
        return fill_open_schema_words(spec, published_spec)
    if spec == "open":
        return _mark_words_complete(published_spec)
    span = spec.replace(" open", "")  # "since 5.15 open, was ip igmp"
    return {**_mark_words_complete(published_spec), "": span} if isinstance(published_spec, Mapping) else spec


def _mark_words_complete(spec: object) -> Any:
    if not isinstance(spec, Mapping):
        return spec
    return {**{word: _mark_words_complete(word_spec) for word, word_spec in spec.items()}, "...": ALL_WORDS_DOCUMENTED}
