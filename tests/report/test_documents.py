"""Every format writes every node of a document, in its order, and nothing in a text of it is live."""

import re
from importlib import import_module
from types import ModuleType
from typing import get_args

import pytest

from nodrop.engine.finding import Finding
from nodrop.errors import Problem
from nodrop.report.document import (
    ChangeRow,
    ChangeTable,
    FactList,
    FindingList,
    ListItem,
    Node,
    Paragraph,
    ReportDocument,
    RuleName,
    Section,
    Table,
    VerdictLine,
)
from nodrop.results.outcome import FabricOutcome
from support.places import ROOT

FORMATS = sorted(path.stem for path in (ROOT / "src" / "nodrop" / "report").glob("document_*.py"))
HOSTILE = "</summary><img src=x>\x1b[31m|**b** @octocat\u202e"


def module_of(form: str) -> ModuleType:
    return import_module(f"nodrop.report.{form}")


def full(text: str) -> ReportDocument:
    """Return a document with all kinds of nodes, every text of which ends in `text`."""
    row = ChangeRow(
        place=f"place {text}",
        short_place=f"short {text}",
        items=tuple(
            ListItem((f"fact {number} {text}",), details=(ListItem((f"reason {text}",)),)) for number in range(5)
        ),
        others=f"others {text}",
        risk=f"risk {text}",
        risk_rank=1,
        short_risk=f"risk {text}",
        quiet=False,
    )
    finding = Finding(
        rule="some-rule",
        severity="error",
        confidence="certain",
        message=f"message {text}",
        subject=("leaf1",),
        at=("leaf1",),
        device="leaf1",
        group="g",
        fingerprint="g",
        facts={},
    )
    problem = Problem(path=f"file {text}", found="found", expected="expected")
    nodes: tuple[Node, ...] = (
        Paragraph(f"paragraph {text}"),
        Section(
            title=f"open {text}", items=(ListItem((RuleName("a-rule", "new error"), f": item {text}"), tone="error"),)
        ),
        Section(
            title=f"folded {text}",
            items=(ListItem((f"hidden {text}",)),),
            remarks=(ListItem((f"remark {text}",)),),
            folded=True,
        ),
        Section(title=f"steps {text}", items=(ListItem((f"step {text}",)),), folded=True, numbered=True),
        Table(title=f"title {text}", heads=(f"head {text}",), rows=((f"cell {text}",),), explanation=f"because {text}"),
        FactList((("name", f"value {text}"),)),
        ChangeTable(title=f"what {text}", rows=(row,)),
        FindingList(outcome=FabricOutcome(findings=(finding,), problems=(problem,))),
        ReportDocument(
            heading=f"part {text}", body=(Paragraph(f"inner {text}"),), verdict=VerdictLine(text=f"short {text}")
        ),
    )
    return ReportDocument(
        body=nodes, verdict=VerdictLine(text=f"verdict {text}", base=f"base {text}", unchanged=(f"rest {text}",))
    )


def test_the_example_has_all_kinds_of_nodes() -> None:
    assert {type(node) for node in full("").body} == set(get_args(Node))


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_writes_every_node(form: str) -> None:
    page = module_of(form).render(full("end"))
    words = [
        *("paragraph", "item", "hidden", "remark", "step", "title", "head", "cell", "because", "value", "place"),
        *("fact 4", "reason", "others", "message", "part", "inner", "short", "verdict", "base", "rest"),
    ]
    assert [word for word in words if f"{word} end" not in page] == []
    assert "some-rule" in page
    assert "file end" in page


@pytest.mark.parametrize("form", FORMATS)
def test_no_text_of_a_document_is_live_in_any_format(form: str) -> None:
    page = module_of(form).render(full(HOSTILE))
    assert not {"\x1b", "\u202e"} & set(page)
    if form != "document_text":
        without_code = re.sub(r"(`+)[^`\n]+\1", "", page)
        assert not re.findall(r"(?<!\\)<img|(?<!\\)\*\*b|@octocat", without_code)
        assert without_code.count("<summary>") == without_code.count("</summary>") - without_code.count("\\</summary>")


def test_the_verdict_is_where_a_reader_looks_first() -> None:
    document = ReportDocument(
        lead=(Paragraph("lead"),),
        body=(Paragraph("body"),),
        urgent=(Paragraph("urgent"),),
        verdict=VerdictLine(text="verdict", decision=""),
    )
    assert module_of("document_text").render(document) == "lead\n\nbody\n\nurgent\n\nverdict\n"
    assert module_of("document_markdown").render(document) == (
        "### nodrop: ✅ passes; verdict\n\nlead\n\nurgent\n\nbody\n"
    )


def test_a_comment_states_what_it_leaves_out() -> None:
    document = ReportDocument(body=tuple(Paragraph(f"part {number}") for number in range(9)))
    page = module_of("document_markdown").render(document, limit_bytes=30)
    assert (
        page == "part 0\n\npart 1\n\npart 2\n\n6 parts left out here, which would not fit: `--format text` tells all.\n"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_parts_without_content_are_not_shown(form: str) -> None:
    document = ReportDocument(
        body=(Section(title="none", items=()), Table(title="none", heads=("head",), rows=()), Paragraph("only"))
    )
    assert module_of(form).render(document) == "only\n"
