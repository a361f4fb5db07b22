"""Neighbors of a switch from its tables: their names, and their kinds."""

import re
from collections.abc import Iterator

from nodrop.model.fabric import End
from nodrop.model.reading import CableEvidence
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.platforms.sonic.tables import far_end_kind_of_neighbor_type

_ASIC_NAME_PATTERN = re.compile(r"ASIC[0-9]{1,3}", re.IGNORECASE)


def neighbor_cables(config: DeviceTables, localhost: RowFields) -> Iterator[CableEvidence]:
    """Yield the neighbors that DEVICE_NEIGHBOR names, with their kind by DEVICE_NEIGHBOR_METADATA."""
    kinds = config.rows("DEVICE_NEIGHBOR_METADATA")
    for port, row in config.rows("DEVICE_NEIGHBOR").items():
        if name := row.get("name"):
            yield CableEvidence(
                local_port=row.get("local_port", port),
                remote=End(_neighbor_name(localhost, name), row.get("port", "")),
                evidence="DEVICE_NEIGHBOR",
                side=far_end_kind_of_neighbor_type(kinds.get(name, {}).get("type", "")),
            )


def _neighbor_name(localhost: RowFields, name: str) -> str:
    """Return a neighbor's name; the ASICs of a chassis know each other as ASIC0, ASIC1 ..."""
    host = localhost.get("hostname")
    inside = host and "asic_name" in localhost and _ASIC_NAME_PATTERN.fullmatch(name)
    return f"{host}-{name.lower()}" if inside else name
