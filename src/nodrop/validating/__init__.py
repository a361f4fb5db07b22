"""Validation by independent software, in addition to the built-in computation: Batfish, and a twin of real daemons."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from nodrop.analyses._computed import compute_observation as compute_observation
from nodrop.analyses._computed import leaves_by_destination_prefix as leaves_by_destination_prefix
from nodrop.analyses._computed import reach_items_with_other_fate_than_dscp as reach_items_with_other_fate_than_dscp
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.routing.observation import ValidatorObservation

if TYPE_CHECKING:
    from nodrop.validating.twin import TwinOptions


def run_validators(
    reading: Reading,
    index: Index,
    *,
    batfish: str | None = None,
    against: Reading | None = None,
    twin: "TwinOptions | None" = None,
    progress: Callable[[str], None],
) -> Iterator[ValidatorObservation]:
    """Yield the observations of each requested validator: the service at `batfish`, a twin according to its options.

    The service also reports which packets another build of the fabric, `against`, delivers and this one does not, or
    the other way round. ServiceUnavailable if a validator is not available.
    """
    if batfish is not None:
        from nodrop.validating.batfish import compare_builds, observe_in_batfish

        observation = observe_in_batfish(reading, index, batfish, progress=progress)
        if against is not None:
            other_difference = compare_builds(against, reading, batfish, index=index, progress=progress)
            observation = replace(
                observation, flows=other_difference.flows, notes=(*observation.notes, *other_difference.notes)
            )
        yield observation
    if twin is not None:
        from nodrop.validating.twin import observe_in_twin as run

        yield run(reading, index, options=twin, progress=progress)
