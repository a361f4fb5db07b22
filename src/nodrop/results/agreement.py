"""What several validators saw of a fabric side by side, check by check: where they agree, differ, or cannot see."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodrop.analyses._computed import compute_observation
from nodrop.analyses._expected import NOTHING_SEEN, expected_ports_by_route, is_as_expected
from nodrop.model.index import Index
from nodrop.routing.observation import OBSERVATION_CHECKS, ObservationCheck, ValidatorObservation
from nodrop.routing.stand_ins import index_with_stand_ins


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatorCheckCounts:
    """A validator's results for a check, in items: `correct` of the `observed` are as expected.

    `different` are seen differently from nodrop's computation; `reasons` are the most frequent reasons for the rest.
    """

    validator: str
    correct: int
    observed: int
    not_observable: int
    different: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAgreementRow:
    """One check; nodrop's own column is the first."""

    check: str
    items: int
    columns: tuple[ValidatorCheckCounts, ...]

    @property
    def verdict(self) -> str:
        """Return the result of the columns: `agree`, `differ` with the number of items, or `cannot see`.

        It is `cannot see` if no other validator saw anything. If none of them saw all items, `partly` gives the number
        for the one that saw most.
        """
        differs = [f"{column.validator} in {column.different}" for column in self.columns if column.different]
        if differs:
            return f"differ: {', '.join(differs)}"
        other_columns = self.columns[1:]
        if self.items and not any(column.observed for column in other_columns):
            return "cannot see"
        most = max((self.items - column.not_observable for column in other_columns), default=self.items)
        return "agree" if most >= self.items else f"partly, {most:,} of {self.items:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricValidation:
    """The results of validators for one fabric, and their reports on how they got them."""

    name: str
    rows: tuple[CheckAgreementRow, ...]
    notes: tuple[str, ...]


def compare_validators_by_check(index: Index, observations: Sequence[ValidatorObservation]) -> FabricValidation:
    """Return what nodrop and the validators saw of a fabric, check by check."""
    index = index_with_stand_ins(index)
    messages = tuple(
        words if words.startswith(observation.by) else f"{observation.by}: {words}"
        for observation in observations
        for words in dict.fromkeys(observation.notes)
    )
    return FabricValidation(
        name="", rows=tuple(_count_results_by_check_and_validator(index, observations)), notes=messages
    )


def _count_results_by_check_and_validator(
    index: Index, observations: Sequence[ValidatorObservation]
) -> Iterator[CheckAgreementRow]:
    own_observation = compute_observation(index)
    for check in OBSERVATION_CHECKS:
        items = own_observation.seen.get(check, {})
        columns = tuple(
            _count_results_of_validator(index, check, observation) for observation in (own_observation, *observations)
        )
        if items or any(column.observed for column in columns):
            yield CheckAgreementRow(check=check, items=len(items), columns=columns)


def _count_results_of_validator(
    index: Index, check: ObservationCheck, seen: ValidatorObservation
) -> ValidatorCheckCounts:
    own_observation = compute_observation(index)
    values = seen.seen.get(check, {})
    should = expected_ports_by_route(index, seen) if check == "routes" else {}
    blind = Counter(
        words
        for item in own_observation.seen.get(check, {})
        if item not in values and (words := seen.reason_unseen(check, item))
    )
    differs = sum(
        1
        for item, value in own_observation.seen.get(check, {}).items()
        if not own_observation.reason_unseen(check, item)
        and not seen.reason_unseen(check, item)
        and values.get(item, NOTHING_SEEN) != value
    )
    return ValidatorCheckCounts(
        validator=seen.by,
        correct=sum(is_as_expected(check, item, value, should) for item, value in values.items()),
        observed=len(values),
        not_observable=blind.total(),
        different=differs,
        reasons=tuple(words for words, _ in blind.most_common()),
    )
