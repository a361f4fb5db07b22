"""A first rule for a rule author: it passes its examples, and its comments show which parts to adapt."""

from nodrop.engine.areas import rule_area_names
from nodrop.engine.rules import RULE_NAME_PATTERN
from nodrop.model.types import nearest

SCHEMA = ".nodrop/rule.schema.json"
"""Where, from the folder of rules, an editor finds what a rule may hold."""

_TEXT = """\
# yaml-language-server: $schema=../{schema}
# {name}: a rule is called as the fault is. Try it with `nodrop test-rules`; docs/own-rules.md says what all keys mean.
severity: warning                 # error: loss, hang, storm, refused; warning: worse than need be; note
scope: interface                  # what it looks at, one by one: a port; also device, link, queue, neighbor …
when: interface.enabled is in_use and interface.mtu_bytes    # where it is asked
assert: interface.mtu_bytes >= options.least_bytes           # what has to hold there
at: mtu_bytes                     # the part that the finding points at
message: >-
  {{{{ interface.name }}}} has an MTU of {{{{ interface.mtu_bytes }}}}; expected {{{{ options.least_bytes }}}} or more
why: "say here what happens where it does not hold"
fix: "say here what to do"
options:
  least_bytes: {{default: 1500, description: "what a site may set in nodrop.yaml"}}
references: ["say here who decided it, and where that is written"]
since: "1"
examples:                         # changes of the fabric intents/two-by-two.yaml, which is sound
  bad:
    - model: {{leaf1/Ethernet0/mtu_bytes: 1499}}
      at: [leaf1/Ethernet0]       # exactly where the rule finds its fault
  good:
    - model: {{leaf1/Ethernet0/mtu_bytes: 1500}}
    - model: {{leaf1/Ethernet0/mtu_bytes: 1499, leaf1/Ethernet0/enabled: false}}
"""


def write_first_rule(area: str, name: str) -> str:
    """Return the text of a rule file; ValueError where there is no such area, or a rule cannot be called so."""
    if area not in rule_area_names():
        raise ValueError(f"no area `{area}` ({nearest(area, rule_area_names())})")
    if not RULE_NAME_PATTERN.fullmatch(name):
        raise ValueError(f"a rule called `{name}`; expected the fault in lower case, words joined by `-`")
    return _TEXT.format(name=name, schema=SCHEMA)
