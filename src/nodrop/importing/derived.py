"""An import from beginning to end: parts derived, defaults left out, the intent built and held against the files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

from nodrop.errors import InputProblems, Problem
from nodrop.fabric.fabric import Fabric, Interface
from nodrop.importing.additions import Added, Files, beside, otherwise
from nodrop.importing.addressing import addressing
from nodrop.importing.classes import classes
from nodrop.importing.endpoints import endpoints
from nodrop.importing.found import Found, Tree, together
from nodrop.importing.leaving import without_defaults
from nodrop.importing.settings import buffers, fabric, hosts, routing, services, trimming, watchdog
from nodrop.importing.sharing import ratio
from nodrop.importing.sight import Cables, Sight, see
from nodrop.importing.spelling import spell
from nodrop.importing.telling import not_carried, of_names
from nodrop.importing.tiers import tiers
from nodrop.importing.trying import Unlike, built, unlike
from nodrop.importing.uplinks import uplinks
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent

FILE = "intent.yaml"
_ROUNDS = 8
"""How often what is refused is taken out and the rest tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """An intent that was derived, and how well it says what the files do."""

    text: str
    """The intent with remarks; where something is to be added, it does not build yet."""
    intent: Intent | None
    """None where its text is no intent yet."""
    guessed: tuple[str, ...]
    lacking: tuple[str, ...]
    left: tuple[str, ...]
    """What no key says, and what the intent comes to otherwise, in words."""
    unlike: tuple[Unlike, ...]
    problems: tuple[Problem, ...]
    """Why the intent cannot be built."""

    @property
    def equal(self) -> bool:
        """Whether the intent is built into the fabric that was imported."""
        return self.intent is not None and not (self.left or self.unlike or self.problems or self.lacking)


def derive(imported: Fabric, *, source: str, files: Files | None = None) -> Imported:
    """Return the intent of a fabric; `source` is what its text says it was imported from.

    Of `files`, what is beside the model is carried too, as far as an intent can.

    Of what no key of an intent says, `left` tells; nothing is left out in silence, for the intent is built and held
    against the fabric.
    """
    sight = see(imported)
    found = _found(sight)
    found = replace(found, keys=without_defaults(found.keys, lambda keys: spell(replace(found, keys=keys))))
    intent, problems = _loaded(spell(found))
    if intent is not None and (shared := ratio(sight, intent)):
        found = together((found, Found(keys={"buffers": {"shared_headroom": shared}})))
        intent, problems = _loaded(spell(found))
    differing: tuple[Unlike, ...] = ()
    beyond: tuple[str, ...] = ()
    if intent is not None:
        try:
            fabric_built, made = built(intent)
            differing = unlike(sight, fabric_built)
            if files is not None:
                added = beside(sight, files, made)
                unlike_devices = {one.device for one in differing}
                alike = [box.device.name for box in sight.boxes if box.device.name not in unlike_devices]
                added = replace(added, unlike=frozenset(unlike_devices))
                said = otherwise(sight, files, made, alike, added)
                found, beyond = _with_additions(found, sight, added)
                beyond = (*beyond, *said)
        except InputProblems as error:
            problems = error.problems
    left = (*found.left, *not_carried(differing, sight), *beyond)
    head = (f"Imported from {source} by `nodrop import`.", *of_names(sight))
    untold = [one for one in problems if not (found.lacking and " is missing" in one.found)]
    text = spell(found, head, tail=_tail(left, untold, tried=intent is not None and not problems))
    intent, _ = _loaded(text)
    return Imported(
        text=text,
        intent=intent,
        guessed=tuple(f"{'.'.join(keys)}: {why}" for keys, why in found.guessed.items()),
        lacking=tuple(f"{'.'.join(keys)}: {why}" for keys, why in found.lacking.items()),
        left=left,
        unlike=differing,
        problems=problems,
    )


def _with_additions(found: Found, sight: Sight, added: Added) -> tuple[Found, tuple[str, ...]]:
    """Return an intent with what its switches' files have beside the model, and what of that is left."""
    for _ in range(_ROUNDS):
        tree = added.tree(sight)
        if not tree:
            return found, added.shortened
        more = replace(found, keys={**found.keys, "extra": tree})
        try:
            built(loads(spell(more).encode(), FILE))
        except InputProblems as error:
            fewer = added.without(error.problems, sight)
            if (fewer.settings, fewer.lines) == (added.settings, added.lines):
                break
            added = fewer
        else:
            return more, added.shortened
    untried = tuple(f"{name}: {len(own)} settings beside the model" for name, own in added.settings.items() if own)
    return found, (*added.shortened, *untried)


def _loaded(text: str) -> tuple[Intent | None, tuple[Problem, ...]]:
    try:
        return loads(text.encode(), FILE), ()
    except InputProblems as error:
        return None, error.problems


def _found(sight: Sight) -> Found:
    """Return all parts as one."""
    cables = Cables(sight)
    parts = [fabric(sight), tiers(sight), uplinks(sight, cables), endpoints(sight, cables), _limit(sight)]
    parts += [classes(sight), watchdog(sight), buffers(sight), trimming(sight), hosts(sight), routing(sight)]
    parts += [addressing(sight, cables), services(sight)]
    found = together(parts)
    keys = dict(found.keys)
    pools = keys.pop("vlans", {})
    if "endpoints" in keys:
        keys["endpoints"] = _with_pools(keys["endpoints"], pools)
    guessed = {at: why for at, why in found.guessed.items() if _stands(keys, at)}
    return replace(found, keys=keys, guessed=guessed)


def _with_pools(groups: Tree, pools: Mapping[int, object]) -> Tree:
    """Return groups of hosts with the pools of their VLANs, those with VLANs in the order of the pools."""
    number = {name: group["vlan"]["id"] for name, group in groups.items() if "vlan" in group}
    known = list(pools)
    ordered = iter(sorted(number, key=lambda name: known.index(number[name]) if number[name] in pools else len(known)))
    made: Tree = {}
    for name in [next(ordered) if name in number else name for name in groups]:
        pool = pools.get(number.get(name, 0))
        made[name] = groups[name] | ({"vlan": {"id": number[name], "pool": pool}} if pool else {})
    return made


def _stands(keys: Tree, at: tuple[str, ...]) -> bool:
    inside: object = keys
    for key in at:
        if not isinstance(inside, dict) or key not in inside:
            return False
        inside = inside[key]
    return True


def _limit(sight: Sight) -> Found:
    """Return the stated limit of oversubscription, else what the leaf that has most comes to."""
    limit = sight.fabric.policy.max_oversubscription
    if not isinstance(limit, int | float):
        limit = max((1.0, *_ratios(sight)))
    return Found(keys={"topology": {"max_oversubscription": limit}} if limit != 1 else {})


def _ratios(sight: Sight) -> Iterator[float]:
    cables = Cables(sight)
    for box in sight.leaves:
        up = down = 0
        for port in box.device.interfaces:
            if not isinstance(port.speed_mbps, int) or port.enabled is False:
                continue
            if _up(box.device.name, port, cables):
                up += port.speed_mbps
            else:
                down += port.speed_mbps
        if up and down > up:
            yield ceil(100 * down / up) / 100


def _up(name: str, port: Interface, cables: Cables) -> bool:
    return (name, port.name) in cables.joined


def _tail(left: tuple[str, ...], problems: list[Problem], *, tried: bool) -> Iterator[str]:
    """Yield what the text says at its end: what is not carried, and why it cannot be built."""
    if problems:
        yield ""
        yield "This intent cannot be built yet:"
        for one in problems:
            yield f"  {_words(one)}"
    if left:
        yield ""
        yield "Not carried:"
        for line in left:
            yield f"  {line}"
    if not tried:
        yield ""
        yield "Once it builds, `nodrop plan` of the configurations and this intent tells what else it does not carry."


def _words(problem: Problem) -> str:
    expected = f"; expected {problem.expected}" if problem.expected else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"{problem.where}: {problem.found}{expected}{hint}"
