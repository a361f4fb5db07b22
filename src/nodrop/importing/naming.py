"""The names of switches and hosts as an intent states them: the templates that fit most, and exceptions."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from nodrop.design.naming import HOST_ROLE, NON_SWITCH_FOLDERS, NodeIdentity, fill_name_template
from nodrop.importing.parts import KeyTree
from nodrop.intent.names import NameTemplate, TemplateField, format_template
from nodrop.intent.types import NAME_PATTERN

_DIGITS_PATTERN = re.compile("([0-9]+)")
_MAX_NUMBER_DIGITS = 9
_MIN_NAMES_PER_TEMPLATE = 2
"""Names that a template has to fit: one alone is an exception."""

NamesByIdentity = Mapping[NodeIdentity, str]


def names_valid_in_intent(names: NamesByIdentity) -> dict[NodeIdentity, str]:
    """Return the names that an intent can give: valid ones, the first of those that differ in case alone."""
    kept: dict[str, NodeIdentity] = {}
    for identity, name in names.items():
        if re.fullmatch(NAME_PATTERN, name) and name.casefold() not in NON_SWITCH_FOLDERS:
            kept.setdefault(name.casefold(), identity)
    return {identity: names[identity] for identity in kept.values()}


def derive_names(names: NamesByIdentity) -> KeyTree:
    """Return the key `names` of an intent that names switches and hosts so; empty where they have their identities."""
    tree: KeyTree = {}
    exceptions: dict[str, str] = {}
    by_role = all(identity.group == identity.role for identity in names if identity.role != HOST_ROLE)
    kinds: tuple[tuple[str, Literal["role", "group"], bool], ...] = (
        ("template", "role" if by_role else "group", False), ("hosts", "group", True),
    )  # fmt: skip
    for key, word, of_hosts in kinds:
        groups: dict[str, dict[NodeIdentity, str]] = {}
        for identity, name in names.items():
            if (identity.role == HOST_ROLE) is of_hosts:
                groups.setdefault(identity.group, {})[identity] = name
        templates = _choose_templates(groups, word)
        tree |= _shortest_template_key(key, templates, word)
        for group, own_names in groups.items():
            exceptions |= {
                str(each): name for each, name in own_names.items() if not _fits_name(templates[group], each, name)
            }
    return tree | ({"devices": exceptions} if exceptions else {})


def _choose_templates(groups: Mapping[str, NamesByIdentity], word: Literal["role", "group"]) -> dict[str, NameTemplate]:
    """Return the template of each group: its best, or that of another group if it fits more names."""
    own_templates = {
        group: _replace_word_by_field(_best_name_template(names), group, word) for group, names in groups.items()
    }
    return {
        group: max(
            (own_templates[group], *own_templates.values()),
            key=lambda template: sum(_fits_name(template, each, name) for each, name in names.items()),
        )
        for group, names in groups.items()
    }


def _shortest_template_key(key: str, templates: Mapping[str, NameTemplate], word: str) -> KeyTree:
    """Return the key of templates: one for all where one fits; without those that are the default.

    A group alone has its own, which another that is added later need not fit.
    """
    texts = {group: format_template(template) for group, template in templates.items()}
    stated = {group: text for group, text in texts.items() if text != f"{{{word}}}{{id}}"}
    if not stated:
        return {}
    for_all = len(set(texts.values())) == 1 and (len(texts) > 1 or f"{{{word}}}" in next(iter(texts.values())))
    return {key: next(iter(stated.values())) if for_all else stated}


def _fits_name(template: NameTemplate, identity: NodeIdentity, name: str) -> bool:
    values = {"role": identity.role, "group": identity.group, "id": str(identity.id), "pod": str(identity.pod)}
    return fill_name_template(template, values) == name


def _replace_word_by_field(template: NameTemplate, group: str, word: Literal["role", "group"]) -> NameTemplate:
    """Return a template with the first word that is its role or group as a field."""
    pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(group)}(?![A-Za-z0-9])")
    for place, piece in enumerate(template):
        if isinstance(piece, str) and (match := pattern.search(piece)):
            halves = (piece[: match.start()], TemplateField(word, 0), piece[match.end() :])
            return _merge_texts((*template[:place], *halves, *template[place + 1 :]))
    return template


def _best_name_template(names: NamesByIdentity) -> NameTemplate:
    """Return the template that most names of a group fit, the default where no other fits more."""
    votes = Counter(template for identity, name in names.items() for template in set(_templates_of(identity, name)))
    default = (next(iter(names)).group, TemplateField("id", 0))
    best = max(votes, key=lambda template: (votes[template], -_total_width(template), str(template)), default=default)
    return best if votes[best] > votes[default] and votes[best] >= _MIN_NAMES_PER_TEMPLATE else default


def _total_width(template: NameTemplate) -> int:
    return sum(piece.width for piece in template if isinstance(piece, TemplateField))


def _templates_of(identity: NodeIdentity, name: str) -> Iterator[NameTemplate]:
    """Yield every template that gives a name: with the number in it, at one place or at all, as a field."""
    pieces = _DIGITS_PATTERN.split(name)
    places = [place for place in range(1, len(pieces), 2) if int(pieces[place][-_MAX_NUMBER_DIGITS:]) == identity.id]
    for chosen in {*((place,) for place in places), tuple(places)} - {()}:
        digits = {pieces[place] for place in chosen}
        for width in _possible_widths(digits, str(identity.id)):
            yield _merge_texts(
                TemplateField("id", width) if place in chosen else text for place, text in enumerate(pieces)
            )


def _merge_texts(pieces: Iterable[str | TemplateField]) -> NameTemplate:
    """Return pieces with texts that follow each other as one, and none empty."""
    merged: list[str | TemplateField] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece:
            merged.append(piece)
    return tuple(merged)


def _possible_widths(digits: set[str], number: str) -> Iterator[int]:
    """Yield the widths that give all these digits for a number; 0 is as many as it has."""
    longest, shortest = max(map(len, digits)), min(map(len, digits))
    if longest != shortest or longest > _MAX_NUMBER_DIGITS:
        return
    if longest == len(number):
        yield 0
        yield from range(2, longest + 1)
    else:
        yield longest
