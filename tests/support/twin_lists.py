"""What the twin shows of faults of access lists, in the words of the acceptance list."""

from collections.abc import Hashable
from typing import Final

from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.routing.observation import ObservationCheck, ValidatorObservation
from nodrop.validating import compute_observation
from nodrop.validating.twin import TwinOptions, observe_in_twin
from support.running_faults import read
from support.single_faults import Fault

CHECKS: Final[frozenset[ObservationCheck]] = frozenset({"sessions", "routes", "reach"})
_UNAPPLIED: Final = "not applied in the twin: "


def seen(case: Fault) -> tuple[ValidatorObservation, ValidatorObservation]:
    """Return what is computed of a case, and what the twin shows."""
    return seen_of(read(case))


def seen_of(reading: Reading) -> tuple[ValidatorObservation, ValidatorObservation]:
    """Return what is computed of a fabric, and what the twin shows."""
    index = Index(reading.fabric)
    return compute_observation(index), observe_in_twin(reading, index, options=TwinOptions(checks=CHECKS))


def different(
    own: ValidatorObservation, twin: ValidatorObservation
) -> dict[tuple[ObservationCheck, Subject], tuple[Hashable, Hashable]]:
    """Return the items that both have to see and that they see differently: computed, and in the twin."""
    return {
        (check, item): (found, twin.seen[check].get(item))
        for check in CHECKS
        for item, found in own.seen[check].items()
        if not (own.reason_unseen(check, item) or twin.reason_unseen(check, item))
        and twin.seen[check].get(item) != found
    }


def words(twin: ValidatorObservation) -> str:
    """Return what the twin shows to be wrong, and what of lists it does not apply."""
    parts = []
    down = sorted(
        ("/".join(item[::2]) for item, state in twin.seen["sessions"].items() if state != "up"), key=natural_sort_key
    )
    if down:
        parts.append(f"{len(down)} session ends down ({down[0]} first)")
    for fate in ("denied", "no route", "loop"):
        lost = sorted(
            (f"{item[0]} to {item[3]}" for item, found in twin.seen["reach"].items() if found == fate),
            key=natural_sort_key,
        )
        if lost:
            parts.append(f"packets {fate}: {lost[0]}{f' and {len(lost) - 1} more' if len(lost) > 1 else ''}")
    parts += [
        line.removeprefix(_UNAPPLIED).join(["not applied: ", ""]) for line in twin.notes if line.startswith(_UNAPPLIED)
    ]
    return "; ".join(parts) or "nothing"


def naming(twin: ValidatorObservation, entry: str) -> list[str]:
    """Return what the twin said of packets that an entry drops, by the entry's subject."""
    _, _, name, _, number = entry.split("/")
    what = f"by entry {number} of access list {name}"
    ends = (f", dropped there {what}", f", dropped {what} where it leaves ", f", dropped {what} where it enters ")
    return [words for words in twin.said.values() if any(end in words for end in ends)]
