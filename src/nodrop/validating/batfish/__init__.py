"""Batfish, asked about the configurations of a fabric."""

from collections.abc import Callable
from dataclasses import replace

from nodrop.export.batfish import build_snapshot, report_generated_parts, report_omissions
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.routing.observation import ValidatorObservation
from nodrop.validating.batfish.comparing import PacketDifference as PacketDifference
from nodrop.validating.batfish.comparing import compare_builds as compare_builds
from nodrop.validating.batfish.failures import add_failure_observations
from nodrop.validating.batfish.observing import SnapshotObserver
from nodrop.validating.batfish.service import BatfishService


def observe_in_batfish(
    reading: Reading, index: Index, service: str, *, progress: Callable[[str], None] | None = None
) -> ValidatorObservation:
    """Return Batfish's observations of a fabric, limited to the items that the built-in computation has.

    `index` is of the fabric of the reading; `service` is HOST or HOST:PORT; `progress` receives reports of the work.
    ServiceUnavailable if there is no pybatfish, no service answers, or it stops in the middle; InputProblems if a file
    has changed since it was read.
    """
    exported = build_snapshot(reading)
    with BatfishService(service, progress=progress) as opened:
        if progress is not None:
            progress(f"Batfish reads {len(exported.files)} files")
        loaded = opened.load_snapshot(exported.files)
        asked = SnapshotObserver(reading, index, exported, loaded, progress)
        seen = asked.observe_snapshot(opened.versions, *report_omissions(exported), *report_generated_parts(exported))
        observation = add_failure_observations(seen, index, asked.computed, exported, loaded, progress)
    return replace(observation, refused=(*exported.refused, *observation.refused))
