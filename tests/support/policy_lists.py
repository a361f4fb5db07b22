"""Lists of values in routing policies."""

from typing import Any

from nodrop.model.routing import (
    PrefixList,
    PrefixRule,
)


def listed(name: str, *lines: str, family: Any = "ipv4") -> PrefixList:
    """A prefix list, each line like `deny 10.0.0.0/8 le 24`."""
    rules = []
    for number, line in enumerate(lines, 1):
        action, text, *bounds = line.split()
        said = {bounds[n]: int(bounds[n + 1]) for n in range(0, len(bounds), 2)}
        rules.append(PrefixRule(sequence=5 * number, action=action, prefix=text, **said))  # type: ignore[arg-type]
    return PrefixList(name=name, family=family, rules=tuple(rules))
