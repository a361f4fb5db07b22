"""`nodrop.plan`: what lies between two fabrics."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from nodrop.model.reading import Reading
from nodrop.model.subject import natural
from nodrop.plan.effects import Effects
from nodrop.plan.facts import Comparing, of_fabric
from nodrop.plan.model import RISKS, DeviceChange, Effect, Found, Outside, Plan, Risk, Together, Told, worst
from nodrop.plan.order import stages
from nodrop.plan.outside import outside, staying
from nodrop.plan.telling import merged, told


def plan(old: Reading, new: Reading) -> Plan:
    """Return what lies between two fabrics, as they were read or built.

    What one side does not say is no change; it is among what is `unsaid`. What changes do to switches is judged by the
    old switches' own files, which are opened for that where they are not held.
    """
    found = compared(old, new)
    beside = outside(old, new, found)
    return planned(old, new, found, of_fabric(old, new), beside, exact=True)


def compared(old: Reading, new: Reading) -> list[DeviceChange]:
    """Return the switches, by name, that change or of which one side leaves something unsaid."""
    comparing = Comparing(old.derived, new.derived)
    before, after = ({device.name: device for device in one.fabric.devices} for one in (old, new))
    names = sorted({*before, *after}, key=natural)
    found = (comparing.device(before.get(name), after.get(name)) for name in names)
    return [one for one in found if one is not None]


def planned(
    old: Reading,
    new: Reading,
    found: Sequence[DeviceChange],
    of_fabric: Found,
    beside: Sequence[Outside] = (),
    *,
    exact: bool = False,
) -> Plan:
    """Return what changes of switches, and of what is stated of the fabric, come to; `exact` is as in `Plan`.

    `beside` is what changes in files, and in no fact.
    """
    outer: dict[str, Risk] = {}
    for part in beside:
        outer |= {name: worst((outer.get(name, "none"), part.effect.risk)) for name in part.devices}
    changes = [one for one in found if one.parts or one.kind != "changed" or one.name in outer]
    changes = sorted([*changes, *_otherwise_equal(old, new, changes, outer)], key=lambda one: natural(one.name))
    stated, unsaid = of_fabric
    effects = Effects(old, changes, new if exact else None, outer)
    facts = [
        *([Told(devices=(), ports=(), facts=tuple(merged(stated)))] if stated else []),
        *(effects.judged(one) for one in told(changes)),
    ]
    silent = [*([Told(devices=(), ports=(), facts=tuple(merged(unsaid)))] if unsaid else []), *told(found, "unsaid")]
    worsts: dict[str, Risk] = {
        one.name: worst((effects.of_kind(one.kind).risk, outer.get(one.name, "none"))) for one in changes
    }
    for block in facts:
        here = worst(fact.effect.risk for fact in block.facts)
        for name in block.devices:
            worsts[name] = worst((worsts[name], here))
    together: dict[Effect, list[str]] = {}
    for one in (each for each in changes if each.parts):
        effect = effects.together(one)
        if RISKS.index(effect.risk) > RISKS.index(worsts[one.name]):
            worsts[one.name] = effect.risk
            together.setdefault(effect, []).append(one.name)
        if (moved := effects.regrouped(one)) is not None:
            worsts[one.name] = worst((worsts[one.name], moved.risk))
            together.setdefault(moved, []).append(one.name)
    made = Plan(
        old=old.fabric.name,
        new=new.fabric.name,
        devices=tuple(changes),
        told=tuple(facts),
        together=tuple(Together(devices=tuple(names), effect=effect) for effect, names in together.items()),
        outside=tuple(beside),
        unsaid=tuple(silent),
        problems=(*old.problems, *new.problems),
        effects=worsts,
        left=effects.left,
        exact=exact,
    )
    return replace(made, order=stages(changes, new.fabric))


def _otherwise_equal(
    old: Reading, new: Reading, changes: Sequence[DeviceChange], names: Collection[str]
) -> Iterator[DeviceChange]:
    """Yield the switches of which only what is outside of the model changes."""
    left = set(names) - {one.name for one in changes}
    return (one for _, one in staying(old, new, changes) if one.name in left)
