"""The text of a fix is true of the commands below it, whatever these take from other switches."""

import pytest

from nodrop.advising import add_fix_commands
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from support.single_faults import Fault, inject, reading_of

POOL = "BUFFER_POOL/egress_lossy_pool"


@pytest.mark.parametrize(
    ("size_at_sibling", "command"),
    [
        pytest.param(None, 'HDEL "BUFFER_POOL|egress_lossy_pool" size', id="computed"),
        pytest.param("20000000", 'HSET "BUFFER_POOL|egress_lossy_pool" size 20000000', id="stated"),
    ],
)
def test_the_text_about_a_pool_is_true_whether_commands_set_or_delete_its_size(
    size_at_sibling: str | None, command: str
) -> None:
    edits = {"leaf1/config_db.json": {f"{POOL}/size": "60817392", f"{POOL}/percentage": None}}
    if size_at_sibling:
        edits["leaf2/config_db.json"] = {f"{POOL}/size": size_at_sibling, f"{POOL}/percentage": None}
    fault = Fault({"of": "pools", "fault": "a pool", "sonic": {"set": edits}}, "sonic", "")
    reading = reading_of(fault, inject(fault))
    found = add_fix_commands(judge(reading, select_lint_rules(shipped_rules())).findings, reading)
    (fix,) = (one.fix for one in found if one.rule == "lossy-pool-eats-headroom" and one.fix)
    assert [line.partition("CONFIG_DB ")[2].strip() for line in fix.commands[0].lines[:-1]] == [command]
    assert fix.text.startswith("give the pool the size of similar switches, which may be one that the switch computes;")
