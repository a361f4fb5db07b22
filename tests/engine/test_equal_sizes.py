"""Sizes in a message: exact where two of them would be written alike."""

from nodrop.engine.example_setup import Setting
from nodrop.engine.examples import build_example_views, run_rule
from nodrop.engine.rules import shipped


def test_equal_sizes_are_written_to_the_byte() -> None:
    rule = next(rule for rule in shipped() if rule.name == "headroom-exceeds-memory")
    bad = [example for example in rule.examples if example.kind == "bad"]
    setting = Setting("sonic")
    messages = [
        finding.message
        for example in bad
        for view in build_example_views(example, setting.base, setting.views, setting.artifact)
        if view.platform == "sonic"
        for finding in run_rule(rule, view.reading, view.observed, view.beside).findings
    ]
    assert "headroom and reserves of spine2 take 60817392 B; expected less than the 60817392 B of SN4700" in messages
    assert "headroom and reserves of spine1 take 80.26 MB; expected less than the 60.82 MB of SN4700" in messages
