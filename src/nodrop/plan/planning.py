"""`nodrop.plan`: what lies between two fabrics."""

from dataclasses import replace

from nodrop.fabric.reading import Reading
from nodrop.fabric.subject import natural
from nodrop.plan.effects import Effects
from nodrop.plan.facts import Comparing, of_fabric
from nodrop.plan.model import RISKS, Effect, Plan, Risk, Together, Told, worst
from nodrop.plan.order import stages
from nodrop.plan.telling import merged, told


def plan(old: Reading, new: Reading) -> Plan:
    """Return what lies between two fabrics, as they were read or built.

    What one side does not say is no change; it is among what is `unsaid`. What changes do to switches is judged by the
    old switches' own files, which are opened for that where they are not held.
    """
    comparing = Comparing(old.derived, new.derived)
    before, after = ({device.name: device for device in one.fabric.devices} for one in (old, new))
    names = sorted({*before, *after}, key=natural)
    compared = (comparing.device(before.get(name), after.get(name)) for name in names)
    found = [one for one in compared if one is not None]
    changes = [one for one in found if one.parts or one.kind != "changed"]
    stated, unsaid = of_fabric(old, new)
    effects = Effects(old, changes)
    facts = [
        *([Told(devices=(), ports=(), facts=tuple(merged(stated)))] if stated else []),
        *(effects.judged(one) for one in told(changes)),
    ]
    silent = [*([Told(devices=(), ports=(), facts=tuple(merged(unsaid)))] if unsaid else []), *told(found, "unsaid")]
    worsts: dict[str, Risk] = {one.name: effects.of_kind(one.kind).risk for one in changes}
    for block in facts:
        here = worst(fact.effect.risk for fact in block.facts)
        for name in block.devices:
            worsts[name] = worst((worsts[name], here))
    together: dict[Effect, list[str]] = {}
    for one in changes:
        effect = effects.together(one)
        if RISKS.index(effect.risk) > RISKS.index(worsts[one.name]):
            worsts[one.name] = effect.risk
            together.setdefault(effect, []).append(one.name)
    made = Plan(
        old=old.fabric.name,
        new=new.fabric.name,
        devices=tuple(changes),
        told=tuple(facts),
        together=tuple(Together(devices=tuple(names), effect=effect) for effect, names in together.items()),
        unsaid=tuple(silent),
        problems=(*old.problems, *new.problems),
        effects=worsts,
    )
    return replace(made, order=stages(changes, new.fabric))
