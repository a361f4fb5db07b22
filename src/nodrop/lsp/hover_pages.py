"""The text of a hover about a rule: its page, as Markdown that fits a small window."""

from nodrop.engine.rule import Rule
from nodrop.report.escape import format_nodrop_text_as_markdown
from nodrop.report.rules import RulePagePart, build_rule_page

_OMITTED_SECTION_TITLES = ("Fails", "Passes")
"""Parts with examples, which `nodrop explain` has."""


def rule_page(rule: Rule) -> str:
    """Return a rule's fault, its importance, the remedy, its options and references."""
    rule_sheet = build_rule_page(rule)
    lines = [f"**{rule.name}** ({rule.severity}, {rule.confidence}, area {rule.area})"]
    shown_parts = (section for section in rule_sheet.parts if not section.title.startswith(_OMITTED_SECTION_TITLES))
    lines += [
        f"**{format_nodrop_text_as_markdown(section.title)}**\n\n{_render_blocks(section)}" for section in shown_parts
    ]
    lines.append(f"`nodrop explain {rule.name}` has examples.")
    return "\n\n".join(lines)


def _render_blocks(section: RulePagePart) -> str:
    texts = [format_nodrop_text_as_markdown(block) for block in section.blocks if isinstance(block, str)]
    return "\n\n".join(texts) if section.prose else "\n".join(f"* {text}" for text in texts)
