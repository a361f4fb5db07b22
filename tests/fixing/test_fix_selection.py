"""Which of many fixes are made, in a world of findings and facts without files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from nodrop.engine.finding import Finding, UnknownVerdict
from nodrop.fixing.fix_selection import FindingKey, FixSelector, FixTrial, find_new_results, key_of_finding
from nodrop.limits import MAX_FIX_FABRIC_CHECKS
from nodrop.model.subject import Subject
from nodrop.results.outcome import FabricOutcome
from support.report_samples import finding, outcome


@dataclass(frozen=True)
class World:
    """Findings by subject; fixing one takes it out, and puts those in that it brings about."""

    there: tuple[str, ...]
    brings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stays: frozenset[str] = frozenset()
    by_hand: Mapping[str, str] = field(default_factory=dict)
    writes: Mapping[str, object] = field(default_factory=dict)
    """What the fix at a subject writes at one place for all."""

    @property
    def outcome(self) -> FabricOutcome:
        return outcome(*(finding(subject) for subject in self.there))

    def edits_of_fix(self, one: Finding) -> Sequence[tuple[Subject, object]]:
        subject = "/".join(one.subject)
        return [(("place",), self.writes[subject])] if subject in self.writes else [(one.subject, "fixed")]

    def try_fixes(self, findings: Sequence[Finding]) -> "FixTrial[World]":
        made = ["/".join(one.subject) for one in findings if "/".join(one.subject) not in self.by_hand]
        left = [one for one in self.there if one not in made or one in self.stays]
        new = [one for subject in made for one in self.brings.get(subject, ()) if one not in left]
        said = {key_of_finding(finding(subject)): words for subject, words in self.by_hand.items()}
        return FixTrial(world=replace(self, there=(*left, *new)), by_hand=said)


def settled(world: World) -> FixSelector[World]:
    settler = FixSelector(world=world, fixable=lambda one: "/".join(one.subject) in world.there)
    settler.make_all_fixes()
    return settler


def keys(*subjects: str) -> set[FindingKey]:
    return {key_of_finding(finding(subject)) for subject in subjects}


PORTS = tuple(f"leaf1/Ethernet{number}" for number in range(4))


def test_fixes_that_bring_about_nothing_are_made_with_one_look() -> None:
    made = settled(World(there=PORTS))
    assert (made.world.there, made.refused, made.trials) == ((), {}, 1)


def test_a_fix_that_brings_about_something_is_refused_and_the_others_are_made() -> None:
    made = settled(World(there=PORTS, brings={PORTS[2]: ("leaf2/Ethernet9",)}))
    assert made.world.there == (PORTS[2],)
    assert made.refused.keys() == keys(PORTS[2])
    assert "leaf2/Ethernet9" in made.refused[key_of_finding(finding(PORTS[2]))]


def test_a_fix_that_changes_nothing_is_told() -> None:
    made = settled(World(there=PORTS[:2], stays=frozenset(PORTS[:1])))
    assert made.world.there == PORTS[:1]
    assert made.refused.keys() == keys(PORTS[0])


def test_what_is_to_be_done_by_hand_is_left_with_its_words() -> None:
    made = settled(World(there=PORTS[:2], by_hand={PORTS[1]: "replace the cable"}))
    assert made.world.there == (PORTS[1],)
    assert made.by_hand == {key_of_finding(finding(PORTS[1])): "replace the cable"}


def test_findings_that_are_not_to_be_fixed_are_left() -> None:
    settler = FixSelector(world=World(there=PORTS), fixable=lambda one: one.subject[1] == "Ethernet1")
    settler.make_all_fixes()
    assert settler.world.there == (PORTS[0], PORTS[2], PORTS[3])


def test_of_two_fixes_that_write_otherwise_at_one_place_one_waits_for_the_other() -> None:
    made = settled(World(there=PORTS[:2], writes={PORTS[0]: 1, PORTS[1]: 2}))
    assert (made.world.there, made.trials) == ((), 2)
    made = settled(World(there=PORTS[:2], writes={PORTS[0]: 1, PORTS[1]: 1}))
    assert (made.world.there, made.trials) == ((), 1)


def test_looks_at_a_fabric_are_counted() -> None:
    every = tuple(f"leaf{number}/Ethernet0" for number in range(300))
    made = settled(World(there=every, brings=dict.fromkeys(every, ("leaf999/Ethernet0",))))
    assert made.trials <= MAX_FIX_FABRIC_CHECKS
    assert made.refused.keys() == keys(*every)


@pytest.mark.parametrize(
    ("before", "after", "fixed", "expected"),
    [
        ((), (), (), []),
        (("leaf1/Ethernet0",), (), (), []),
        ((), ("leaf1/Ethernet0",), (), ["leaf1/Ethernet0"]),
        (("leaf1/Ethernet0",), ("leaf1/Ethernet0",), (), []),
        (("leaf1/Ethernet0",), ("leaf1/Ethernet4",), (), ["leaf1/Ethernet4"]),
    ],
)
def test_findings_that_appear(
    before: tuple[str, ...], after: tuple[str, ...], fixed: tuple[str, ...], expected: list[str]
) -> None:
    one, other = (outcome(*map(finding, subjects)) for subjects in (before, after))
    found = list(find_new_results(one, other, keys(*fixed)))
    assert ["/".join(new.finding.subject) for new in found if new.finding] == expected


def test_a_finding_that_was_not_to_be_fixed_may_not_get_other_numbers() -> None:
    one, other = (outcome(finding("leaf1/Ethernet0", facts={"bytes": count})) for count in (1, 2))
    (new,) = find_new_results(one, other, ())
    assert "would say something else at leaf1/Ethernet0" in new.text
    assert list(find_new_results(one, other, keys("leaf1/Ethernet0"))) == []


def test_verdicts_that_are_lost_problems_and_guesses_are_new_too() -> None:
    lost = UnknownVerdict(
        rule="headroom-too-small", missing="speed", subjects_count=2, devices=("leaf1",), resolved_by="a speed"
    )
    before = outcome(unknown=(replace(lost, subjects_count=1),))
    assert [new.text for new in find_new_results(before, outcome(unknown=(lost,)), ())] == [
        "headroom-too-small could not be decided any more: it needs speed"
    ]
    assert list(find_new_results(outcome(unknown=(lost,)), before, ())) == []
