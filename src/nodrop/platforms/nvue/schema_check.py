"""Check the settings of a file against the schema: words, values, and the features of its release or its dialect.

The walk finds faults of any release, and settings that not every release has; the release decides which of them count.
Switches of one design have mostly the same settings, and a repeated part costs one comparison.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from nodrop.hardware import switch
from nodrop.limits import MAX_DETAILED_SCHEMA_CHECKS, MAX_NVUE_SETTING_FAULTS
from nodrop.model.states import Unknown
from nodrop.platforms.kit.near_words import find_near_word
from nodrop.platforms.nvue.corrections import respelling_remedy
from nodrop.platforms.nvue.names import RESERVED_NAMES, expand_numbers
from nodrop.platforms.nvue.read_values import NvueConfigFile, render_path
from nodrop.platforms.nvue.schema import WordsAfterPath, paths_by_object_word, schema_root, suggest_path
from nodrop.platforms.nvue.schema_types import (
    FUTURE_CHIP_GENERATION,
    NEW,
    UNLIMITED_SPAN,
    ChipGenerations,
    Dialect,
    Release,
    SettingAvailability,
    SettingLeaf,
    parse_release,
)
from nodrop.platforms.nvue.tree import Node, Path
from nodrop.platforms.nvue.unit_suffixes import remedy_for_number_with_unit
from nodrop.syntax.places import quote_text, sanitize_for_message

_MAX_CACHED_VALUES_PER_PLACE = 8
"""Values kept by place: switches differ by tier, pod and generation, and not much further."""
_USER_NAME_KINDS = frozenset({"interface", "profile"})
_RELEASES_BY_DIALECT: Mapping[Dialect, str] = {"old": "5.14 and earlier", "new": "5.15 and later"}


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """A fault at a path, in all or some releases; the same fault on many ports counts once, at its first place."""

    kind: Literal["word", "undocumented", "number", "name", "list", "unit", "value", "span"]
    path: Path
    place: WordsAfterPath | SettingLeaf
    text: str
    spans: tuple[SettingAvailability, ...] = ()

    @property
    def is_unknown_setting(self) -> bool:
        """Whether NVUE, or its documents, have no such setting."""
        return self.kind in ("word", "undocumented")


_FaultByKey = dict[tuple[WordsAfterPath | SettingLeaf, str, str], SchemaFault]


def check_schema(
    config: NvueConfigFile, version: str | None | Unknown, model_name: str | Unknown
) -> tuple[SchemaFault, ...]:
    """Report settings that the release of a file, or the chip of its model, does not take; return the unlisted faults.

    Values that are already reported are skipped.
    """
    if config.tree is None:
        return ()
    release = _cumulus_release(version)
    found_faults = _cached_faults(schema_root(), config.tree.root, ())
    _report_release_faults(config, release, found_faults.values())
    _report_chip_faults(config, model_name, found_faults.values())
    _remark_unknown_unset_words(config, release)
    spans = {remark.place.span for remark in config.remarks if remark.place and remark.kind == "malformed-value"}
    faults = [
        fault for fault in found_faults.values() if fault.kind != "span" and not _may_exist_in_release(fault, release)
    ]
    for fault in faults[:MAX_NVUE_SETTING_FAULTS]:
        if config.has_reached_fault_limit:
            break
        place = config.place(fault.path) if spans else None
        if place is None or place.span not in spans:
            _report_fault(config, release, fault)
    return tuple(faults[MAX_NVUE_SETTING_FAULTS:])


def _may_exist_in_release(fault: SchemaFault, release: Release | None) -> bool:
    """Whether a release may have a word that no document has: there is none of that release."""
    return (
        fault.kind == "undocumented" and isinstance(fault.place, WordsAfterPath) and release not in fault.place.complete
    )


def find_dialect(root: Node, version: str | None | Unknown) -> Dialect:
    """Return the dialect of a file's settings, whose header names a release or none."""
    return _choose_dialect(
        _cumulus_release(version), _filter_availability_faults(_cached_faults(schema_root(), root, ()).values())
    )


def _filter_availability_faults(faults: Iterable[SchemaFault]) -> list[SchemaFault]:
    return [fault for fault in faults if fault.kind == "span"]


def _choose_dialect(release: Release | None, bound: Iterable[SchemaFault]) -> Dialect:
    if release is not None:
        return "new" if release >= NEW else "old"
    counts = Counter(fault.spans[0].dialect for fault in bound)
    return "new" if counts["new"] >= counts["old"] else "old"


def _cumulus_release(version: str | None | Unknown) -> Release | None:
    """Return a release of Cumulus Linux 5; None for others, and for HBN and NVOS, whose numbering differs."""
    return parse_release(version) if isinstance(version, str) and version.startswith("5.") else None


def _report_fault(config: NvueConfigFile, release: Release | None, fault: SchemaFault, *, unset: bool = False) -> None:
    place, path = fault.place, fault.path
    if isinstance(place, WordsAfterPath):
        if fault.kind == "name":
            config.remark_malformed_value(
                path, quote_text(fault.text), f"another name than {', '.join(sorted(RESERVED_NAMES))}"
            )
        elif fault.kind == "number":
            assert place.chosen is not None
            expected = f"numbers from {place.chosen.low} to {place.chosen.high}, such as 0-2,4"
            config.remark_malformed_value(path, quote_text(fault.text), expected)
        else:
            facts = {
                "path": render_path(path[:-1]) or "NVUE",
                "word": sanitize_for_message(path[-1]),
                "hint": suggest_path(place, path, release),
            }
            if unset:
                config.remark_unset("unknown-setting", path, **facts)
            else:
                config.remark("unknown-setting", (), path, **facts)
    elif fault.kind == "unit":
        correct = partial(remedy_for_number_with_unit, config.top, path, fault.text, place, release)
        config.remark("unit-suffix", (), path, correct, path=render_path(path), found=fault.text, unit=place.unit)
    else:
        found_text = "a list" if fault.kind == "list" else quote_text(fault.text)
        config.remark_malformed_value(path, found_text, place.expected(release))


def _report_release_faults(config: NvueConfigFile, release: Release | None, faults: Iterable[SchemaFault]) -> None:
    """Report settings that the file's release does not have; settings of the other dialect only, as a mixture of both.

    A file that does not state its release has the dialect that most kinds of its settings are in.
    """
    bound = _filter_availability_faults(faults)
    dialect = _choose_dialect(release, bound)
    stated = release and ".".join(map(str, release))
    because = (
        f"the file is of {stated}"
        if stated
        else f"the rest of the file has the syntax of {_RELEASES_BY_DIALECT[dialect]}"
    )
    for fault in bound:
        first_span = fault.spans[0]
        if first_span.dialect is not None:
            if first_span.dialect != dialect:
                facts = {
                    "releases": _RELEASES_BY_DIALECT[first_span.dialect],
                    "because": because,
                    "instead": first_span.instead,
                }
                correct = partial(respelling_remedy, config.top, fault.path, first_span.instead, release)
                config.remark("mixed-dialect", (), fault.path, correct, path=render_path(fault.path), **facts)
        elif not any(span.has_release(release) for span in fault.spans):
            facts = {"path": f"{render_path(fault.path)} {fault.text}".strip(), "releases": _render_spans(fault.spans)}
            instead = f"; use {first_span.instead}" if first_span.instead else ""
            config.remark("setting-of-another-release", (), fault.path, **facts, because=because + instead)


def _report_chip_faults(config: NvueConfigFile, model: str | Unknown, faults: Iterable[SchemaFault]) -> None:
    """Report settings that the chip of the model does not have."""
    if isinstance(model, Unknown) or (chip := _spectrum_generation(switch(model).asic)) is None:
        return
    for fault in _filter_availability_faults(faults):
        lacking = [span.chips for span in fault.spans if span.chips and not span.has_chip(chip)]
        if len(lacking) == len(fault.spans):
            facts = {
                "path": f"{render_path(fault.path)} {fault.text}".strip(),
                "chips": " or ".join(map(_format_chip_range, lacking)),
            }
            config.remark("setting-of-another-chip", (), fault.path, **facts, model=model, chip=f"Spectrum-{chip}")


def _spectrum_generation(asic: str) -> int | None:
    name, _, number = asic.partition("-")
    return int(number) if name == "spectrum" else None


def _format_chip_range(chips: ChipGenerations) -> str:
    oldest, newest = chips
    return f"Spectrum-{oldest}" + (
        "" if newest == oldest else " and later" if newest == FUTURE_CHIP_GENERATION else f" to -{newest}"
    )


def _remark_unknown_unset_words(config: NvueConfigFile, release: Release | None) -> None:
    """Remark words that are taken back and that no release has."""
    tree = config.tree
    if tree is None or not tree.unset:
        return
    faults: _FaultByKey = {}
    _find_faults(schema_root(), tree.unset, (), faults)
    for fault in faults.values():
        if fault.is_unknown_setting and not _may_exist_in_release(fault, release):
            _report_fault(config, release, fault, unset=True)


def _render_spans(spans: Iterable[SettingAvailability]) -> str:
    return " or ".join(filter(None, map(_format_release_span, spans)))


def _format_release_span(span: SettingAvailability) -> str:
    since, until = (release and ".".join(map(str, release)) for release in (span.since, span.until))
    if since == until:
        return since or ""
    return f"{since} to {until}" if since and until else f"{since} and later" if since else f"{until} and earlier"


def _cached_faults(place: WordsAfterPath, value: object, path: Path) -> _FaultByKey:
    """Return the faults below a place that each file has only once."""
    for seen_value, seen_faults in place.seen:
        if seen_value == value:
            return dict(seen_faults)
    fresh: _FaultByKey = {}
    _find_faults(place, value, path, fresh)
    place.seen.insert(0, (value, fresh))
    del place.seen[_MAX_CACHED_VALUES_PER_PLACE:]
    return dict(fresh)


def _find_faults(statement_words: WordsAfterPath, value: object, path: Path, faults: _FaultByKey) -> None:
    if type(value) is not dict:
        if not isinstance(value, str) or not value:
            return
        value = {value: {}}
    words, chosen = statement_words.words, statement_words.chosen
    for key, below in value.items():
        node = words.get(key)
        if node is None:
            if chosen is None:
                if "," not in key and (
                    not statement_words.open
                    or key in paths_by_object_word()
                    or find_near_word(key, statement_words.words)
                ):
                    _add_fault(faults, SchemaFault("word", (*path, key), statement_words, key))
                elif "," not in key and statement_words.complete:
                    _add_fault(faults, SchemaFault("undocumented", (*path, key), statement_words, key))
                continue
            if chosen.high is not None and not _is_in_range(key, chosen.low, chosen.high):
                _add_fault(faults, SchemaFault("number", (*path, key), statement_words, key))
                continue
            if key in RESERVED_NAMES and chosen.name in _USER_NAME_KINDS:
                _add_fault(faults, SchemaFault("name", (*path, key), statement_words, key))
            node = chosen.below
        if node.span is not UNLIMITED_SPAN and node.span.has_limits:
            _add_fault(faults, SchemaFault("span", (*path, key), node, "", (node.span,)))
        if isinstance(node, SettingLeaf):
            _check_value(node, below, (*path, key), faults)
        elif not (node.open and not node.words and node.chosen is None):
            if node.fixed:
                for fault_key, fault in _cached_faults(node, below, (*path, key)).items():
                    faults.setdefault(fault_key, fault)
            elif not node.seen or node.seen[0][1] is not faults or node.seen[0][0] != below:
                node.seen[:] = [(below, faults)]  # what is the same as before on many ports has the same faults
                _find_faults(node, below, (*path, key), faults)


def _check_value(leaf: SettingLeaf, value: object, path: Path, faults: _FaultByKey) -> None:
    if type(value) is dict:
        value = next(reversed(value), None)
    elif isinstance(value, list):
        _add_fault(faults, SchemaFault("list", path, leaf, ""))
        return
    if value is None:
        return
    text = value if type(value) is str else "true" if value is True else "false" if value is False else str(value)
    verdict = leaf.verdict(text)
    if isinstance(verdict, str):
        _add_fault(faults, SchemaFault(verdict, path, leaf, text))
    elif verdict is not None:
        _add_fault(faults, SchemaFault("span", path, leaf, "" if verdict[0].instead else text, verdict))


def _add_fault(faults: _FaultByKey, fault: SchemaFault) -> None:
    if len(faults) < MAX_DETAILED_SCHEMA_CHECKS:
        word = fault.text if not fault.spans else str(fault.spans)
        faults.setdefault((fault.place, fault.kind, word), fault)


def _is_in_range(key: str, low: int, high: int) -> bool:
    found_numbers = expand_numbers(key)
    return bool(found_numbers) and min(found_numbers) >= low and max(found_numbers) <= high
