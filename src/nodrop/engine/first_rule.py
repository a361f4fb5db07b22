"""A first rule for a rule author: it passes its examples, and its comments show which parts to adapt."""

from nodrop.engine.areas import rule_area_names
from nodrop.engine.rules import RULE_NAME_PATTERN
from nodrop.model.types import known_word_hint

RULE_SCHEMA_PATH = ".nodrop/rule.schema.json"
"""Where, from the folder of rules, an editor finds what a rule may hold."""

_RULE_TEMPLATE = """\
# yaml-language-server: $schema=../{schema}
# {name}: name a rule after its fault. Test it with `nodrop test-rules`; docs/own-rules.md describes all keys.
severity: warning                 # error: loss, hang, storm, refused; warning: avoidable harm; note
scope: interface                  # the objects that it checks: ports; also device, link, queue, neighbor …
when: interface.enabled is in_use and interface.mtu_bytes    # where the rule applies
assert: interface.mtu_bytes >= options.least_bytes           # the condition that must be true
at: mtu_bytes                     # the part that the finding names
message: >-
  {{{{ interface.name }}}} has an MTU of {{{{ interface.mtu_bytes }}}}; expected {{{{ options.least_bytes }}}} or more
why: "describe the effect of the fault"
fix: "describe how to correct it"
options:
  least_bytes: {{default: 1500, description: "an option that a site may set in nodrop.yaml"}}
references: ["name the document that requires it"]
since: "1"
examples:                         # changes to the fabric intents/two-by-two.yaml, which has no faults
  bad:
    - model: {{leaf1/Ethernet0/mtu_bytes: 1499}}
      at: [leaf1/Ethernet0]       # exactly where the rule reports its fault
  good:
    - model: {{leaf1/Ethernet0/mtu_bytes: 1500}}
    - model: {{leaf1/Ethernet0/mtu_bytes: 1499, leaf1/Ethernet0/enabled: false}}
"""


def render_starter_rule_file(area: str, name: str) -> str:
    """Return the text of a rule file; ValueError where there is no such area, or a rule cannot be called so."""
    if area not in rule_area_names():
        raise ValueError(f"no area `{area}` ({known_word_hint(area, rule_area_names())})")
    if not RULE_NAME_PATTERN.fullmatch(name):
        raise ValueError(f"a rule called `{name}`; expected the fault in lower case, words joined by `-`")
    return _RULE_TEMPLATE.format(name=name, schema=RULE_SCHEMA_PATH)
