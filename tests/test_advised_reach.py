"""Commands say which ports they change where these are more than the findings name."""

from nodrop.advising import add_fix_commands
from nodrop.engine.examples import run_rule
from nodrop.engine.rules import shipped_rules
from support.bad_examples import views


def test_commands_that_reach_more_ports_than_the_finding_name_them_all() -> None:
    (rule,) = (rule for rule in shipped_rules() if rule.name == "adaptive-routing-uneven")
    view = next(view for _, view in views(rule) if view.platform == "nvue")
    findings = add_fix_commands(run_rule(rule, view.reading, view.observed, view.beside).findings, view.reading)
    (finding,) = (finding for finding in findings if finding.rule == rule.name)
    assert finding.subject == ("leaf1", "swp32")
    assert finding.fix is not None
    (commands,) = finding.fix.commands
    assert commands.lines[0] == "nv set interface swp26-31 router adaptive-routing state disabled"
    assert commands.ports == tuple(f"swp{number}" for number in range(26, 32))
