"""Switches of two fabrics of one site that have the same name."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._beside import earlier_overlapping_fabrics
from nodrop.model.index import Index

NEEDS_OTHER_FABRICS = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield a hit for each switch whose name a switch of an earlier fabric of the site has."""
    for other_overlapping_fabric in earlier_overlapping_fabrics(index):
        if not other_overlapping_fabric.one_site:
            continue
        for device in index.fabric.devices:
            if device.name in other_overlapping_fabric.index.devices:
                yield AnalysisHit(
                    subject=(device.name,),
                    facts={"device": device.name, "other": other_overlapping_fabric.name},
                    related=((other_overlapping_fabric.subject_of_part(device.name), "the same name"),),
                    discriminator=other_overlapping_fabric.name,
                )
