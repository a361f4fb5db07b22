"""What an intent says of single switches: draining."""

import difflib
from collections.abc import Iterator

from nodrop.design.boxes import Boxes
from nodrop.errors import Problem
from nodrop.intent.schema import Intent
from nodrop.units import show_ids


def settings_faults(intent: Intent, switches: Boxes) -> Iterator[Problem]:
    """Yield settings of switches that the fabric does not have."""
    names = [node.name for node in switches.all]
    for name in sorted(intent.devices.keys() - set(names)):
        close = difflib.get_close_matches(name, names, n=1)
        tiers = (
            f"{tier[0].role} {show_ids(tuple(node.id for node in tier))}" for tier in (switches.leaves, switches.spines)
        )
        hint = f"did you mean {close[0]}?" if close else f"there are {' and '.join(tiers)}"
        yield intent.problem(("devices", name), f"no switch {name}", "a switch of the fabric", hint)


def drained(intent: Intent, name: str) -> bool:
    """Whether a switch is to be routed around."""
    return name in intent.devices and intent.devices[name].drained
