"""Static routes that zebra never uses, for their administrative distance is the largest."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model.index import Index
from nodrop.model.states import known_rows

READS_NEARBY_FACTS = True
LOOKS_AT = frozenset({"static_routes"})


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield every static route with a distance of 255 (FRR, zebra/zebra_rib.c, rib_process)."""
    for device in index.fabric.devices:
        for at, route in enumerate(known_rows(device.static_routes)):
            if route.distance == MAX_ADMINISTRATIVE_DISTANCE:
                yield AnalysisHit(
                    subject=(device.name, "@static_routes", str(at)),
                    at=(device.name, "@static_routes", route.prefix, "distance"),
                    facts={"device": device.name, "prefix": route.prefix, "distance": route.distance},
                    discriminator=f"{route.prefix} via {route.next_hop}",
                )
