"""Why rules print nothing to type: each reason is a short clause. Who has one: `test_commands.py`."""

from nodrop.engine.rules import shipped_rules

MAX_WORDS = 20


def test_reasons_are_short_clauses() -> None:
    for rule in shipped_rules():
        for reason in rule.no_commands.values():
            assert len(reason.split()) <= MAX_WORDS, rule.name
            assert not reason.endswith("."), rule.name
