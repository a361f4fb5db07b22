"""What an import could not carry, in few words: facts that are unlike in the same way as one line."""

from collections.abc import Iterable, Iterator

from nodrop.fabric.subject import natural
from nodrop.importing.sight import KEYS, ROLES, Sight
from nodrop.importing.trying import Unlike, grouped
from nodrop.report.names import listing

_MOST = 60
"""Lines, at most; the rest is counted."""


def not_carried(found: Iterable[Unlike], sight: Sight) -> tuple[str, ...]:
    """Return a line for each kind of facts that are unlike, with the switches and parts that have it."""
    lines = list(_lines(found, sight))
    if len(lines) <= _MOST:
        return tuple(lines)
    return (*lines[:_MOST], f"and {len(lines) - _MOST} more kinds of facts")


def _lines(found: Iterable[Unlike], sight: Sight) -> Iterator[str]:
    for (path, has, built, key), devices in sorted(grouped(found).items()):
        at: dict[str, list[str]] = {}
        for device, parts in devices.items():
            at.setdefault(listing(sorted({part for part in parts if part}, key=natural)), []).append(device)
        places = "; ".join(
            _place([sight.was.get(name, name) for name in sorted(names, key=natural) if name], parts)
            for parts, names in at.items()
        )
        if not path:
            yield f"{places}: {has} here, {built} in what this intent comes to"
            continue
        decides = f" ({key} decides it)" if key else ""
        yield f"{places}: {path} is {has}, this intent comes to {built}{decides}"


def _place(names: list[str], parts: str) -> str:
    where = listing(names) if names else "the fabric"
    return f"{where} {parts}" if parts else where


def of_names(sight: Sight) -> Iterator[str]:
    """Yield what switches of a tier are called in their files, where the intent calls them otherwise."""
    for role in ROLES:
        own = [box for box in sight.tier(role) if box.was != box.device.name]
        if own:
            names = ", ".join(f"{box.device.name} is {box.was}" for box in own[:16])
            rest = f" and {len(own) - 16} more" if len(own) > 16 else ""
            yield f"Names of {KEYS[role]}: {names}{rest}."
