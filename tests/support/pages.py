"""Reports as people read them."""

from typing import Any

from nodrop.plan.model import Plan
from nodrop.report import document_markdown, document_text
from nodrop.report.fabric_document import build_fabric_document
from nodrop.report.plan_document import build_plans_document


def text_of_plan(plan: Plan) -> str:
    """Return a plan as a terminal shows it."""
    return document_text.render(build_plans_document([plan]))


def markdown_of_plan(plan: Plan) -> str:
    """Return a plan as a comment."""
    return document_markdown.render(build_plans_document([plan]))


def text_of_fabric(facts: dict[str, Any]) -> str:
    """Return a fabric as `nodrop show` shows it on a terminal."""
    return document_text.render(build_fabric_document(facts))
