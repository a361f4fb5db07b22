"""The sessions with neighbors outside the fabric, as plain data and as rows of a table."""

from collections.abc import Iterator, Sequence
from typing import Any

from nodrop.model.addresses import other_address_of_pair
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import natural_sort_key

FactsByKey = dict[str, Any]
OUTSIDE_HEADS = ("switch", "port", "address", "neighbor", "its address", "AS", "accepts", "announces")


def outside_session_facts(fabric: Fabric) -> list[FactsByKey]:
    """Return a session for each address of a neighbor outside, with its routes as stated, by switch and port."""
    return sorted(
        _session_facts(fabric), key=lambda row: (natural_sort_key(row["switch"]), natural_sort_key(row["port"]))
    )


def _session_facts(fabric: Fabric) -> Iterator[FactsByKey]:
    index = Index(fabric) if fabric.external else None
    for neighbor in fabric.external:
        for port in neighbor.ports:
            end = None if index is None else index.far_end(neighbor.name, port.name)
            for address in port.addresses if end is not None else ():
                far, length = address.split("/")
                own = other_address_of_pair(address)
                if end is not None and own is not None:
                    yield {
                        "switch": end.node,
                        "port": end.port,
                        "address": f"{own}/{length}",
                        "neighbor": neighbor.name,
                        "neighbor_address": far,
                        "asn": None if isinstance(neighbor.asn, Unknown) else neighbor.asn,
                        "accepts": _of_family(known_rows(neighbor.announces), far),
                        "announces": _of_family(known_rows(neighbor.receives), far),
                    }


def _of_family(prefixes: Sequence[str], address: str) -> list[str]:
    return [prefix for prefix in prefixes if (":" in prefix) is (":" in address)]


def outside_session_rows(sessions: Sequence[FactsByKey]) -> Iterator[Sequence[str]]:
    """Yield the rows of a table with `OUTSIDE_HEADS`."""
    for row in sessions:
        yield (
            row["switch"],
            row["port"],
            row["address"],
            row["neighbor"],
            row["neighbor_address"],
            "" if row["asn"] is None else str(row["asn"]),
            ", ".join(row["accepts"]) or "nothing",
            ", ".join(row["announces"]) or "nothing",
        )
