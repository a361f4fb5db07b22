"""Switches of two fabrics of one site that have the same name."""

from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._beside import beside
from nodrop.model.index import Index

BESIDE = True


def find(index: Index) -> Iterator[Hit]:
    """Yield a hit for each switch whose name a switch of an earlier fabric of the site has."""
    for other in beside(index):
        if not other.one_site:
            continue
        for device in index.fabric.devices:
            if device.name in other.index.devices:
                yield Hit(
                    subject=(device.name,),
                    facts={"device": device.name, "other": other.name},
                    related=((other.subject(device.name), "the same name"),),
                    discriminator=other.name,
                )
