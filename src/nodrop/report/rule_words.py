"""All that a rule may name, as Markdown: scopes, words and the model's parts, taken from the code that checks rules."""

import inspect
from collections.abc import Iterable, Iterator

from nodrop.engine.areas import rule_area_names
from nodrop.engine.scopes import SCOPES
from nodrop.engine.vocabulary import VocabularyWord, vocabulary
from nodrop.model.fabric import Fabric
from nodrop.model.types import AttributeOwner, RecordType, ValueType, attributes_of, is_property, owner_label
from nodrop.report.document_markdown import format_markdown_table
from nodrop.report.escape import format_nodrop_text_as_markdown

_HEADING_BY_WORD_KIND = {
    "filter": "Filters: `value | filter`",
    "test": "Tests: `value is test`",
    "function": "Functions",
}


def render_word_reference() -> str:
    """Return the page that lists every area, scope, word and attribute, in addition to the guide to own rules."""
    return "\n".join(_document_lines()) + "\n"


def _document_lines() -> Iterator[str]:
    yield "# What rules may name"
    yield ""
    yield "Written by `make golden` from the code that checks rules; [own-rules.md](own-rules.md) says how to use it."
    yield ""
    yield "## Areas"
    yield ""
    yield f"The folders that rules lie in: {', '.join(f'`{area}`' for area in rule_area_names())}."
    yield ""
    yield "## Scopes and their names"
    yield ""
    yield "Besides these, every expression may name `fabric` and `options`; analyses and remarks bring `facts` instead."
    yield ""
    scopes = (
        (
            f"`{scope.name}`",
            ", ".join(f"`{name}` ({owner_label(kind)})" for name, kind in scope.parts.items()) or "none",
            f"`{_EXAMPLE_SUBJECT_BY_SCOPE[scope.name]}`",
        )
        for scope in SCOPES.values()
    )
    yield from format_markdown_table(("scope", "names", "subject"), scopes)
    for sort, title in _HEADING_BY_WORD_KIND.items():
        yield ""
        yield f"## {title}"
        yield ""
        words = sorted((word for (of, _), word in vocabulary().items() if of == sort), key=lambda word: word.name)
        yield from format_markdown_table(("word", "gives", "says"), map(_list_word_cells, words))
    yield ""
    yield "## The model"
    yield ""
    yield "What each part of a fabric has. Fields with a `*` are computed from other fields."
    for owner in _classes_reachable_by_rules():
        yield ""
        yield f"### {owner_label(owner)}"
        yield ""
        if summary := (inspect.getdoc(owner) or "").partition("\n\n")[0]:
            yield " ".join(summary.split())
            yield ""
        fields = (
            (f"`{name}`" + ("\\*" if is_property(owner, name) else ""), _escape_cell(_describe_type(kind)))
            for name, kind in sorted(attributes_of(owner).items())
        )
        yield from format_markdown_table(("attribute", "is"), fields)


_EXAMPLE_SUBJECT_BY_SCOPE = {
    "fabric": "@fabric",
    "device": "leaf1",
    "interface": "leaf1/Ethernet0",
    "link": "@fabric/links/leaf1:Ethernet224--spine1:Ethernet0",
    "traffic_class": "@fabric/classes/rdma",
    "queue": "leaf1/Ethernet0/qos/queues/3",
    "priority_group": "leaf1/Ethernet0/qos/priority_groups/3",
    "neighbor": "leaf1/@neighbors/10.1.0.1",
    "buffer_pool": "leaf1/@buffer_pools/ingress_lossless",
}


def _list_word_cells(word: VocabularyWord) -> tuple[str, str, str]:
    parameters = [f"{name}: {_describe_type(kind)}" for name, kind in word.parameters]
    parameters = [parameter if at < word.required else f"[{parameter}]" for at, parameter in enumerate(parameters)]
    if word.kind != "function":
        receiver, *arguments = parameters
        written = f"{receiver} → {word.name}" + (f"({', '.join(arguments)})" if arguments else "")
    else:
        written = f"{word.name}({', '.join(parameters)})"
    text = " ".join(word.doc.split()).partition(". ")[0].rstrip(".").removeprefix("Return ")
    text = text[:1].upper() + text[1:]
    result = _escape_cell(word.result.describe())
    return f"`{_escape_cell(written)}`", result, format_nodrop_text_as_markdown(text, cell=True)


def _describe_type(kind: ValueType) -> str:
    if kind.anything:
        return "anything"
    return f"{kind.describe()}, or unknown" if kind.unknown else kind.describe()


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _classes_reachable_by_rules() -> list[AttributeOwner]:
    """Return the classes of the model that an expression can reach, from the fabric and the scopes down."""
    owners: dict[AttributeOwner, None] = {}
    waiting: list[AttributeOwner] = [Fabric, *(kind for scope in SCOPES.values() for kind in scope.parts.values())]
    while waiting:
        owner = waiting.pop(0)
        if owner not in owners and not isinstance(owner, RecordType):
            owners[owner] = None
            waiting += _model_classes_in_types(attributes_of(owner).values())
    return sorted(owners, key=owner_label)


def _model_classes_in_types(kinds: Iterable[ValueType]) -> Iterator[AttributeOwner]:
    for kind in kinds:
        yield from kind.owners
        if kind.element is not None:
            yield from _model_classes_in_types((kind.element,))
