"""Neighbors of a switch from its tables: their names, and their kinds."""

import re
from collections.abc import Iterator

from nodrop.model.fabric import End
from nodrop.model.reading import Cable
from nodrop.platforms.sonic.config import Config, Row
from nodrop.platforms.sonic.tables import side_of_type

_ASIC = re.compile(r"ASIC[0-9]{1,3}", re.IGNORECASE)


def neighbor_cables(config: Config, localhost: Row) -> Iterator[Cable]:
    """Yield the neighbors that DEVICE_NEIGHBOR names, with their kind by DEVICE_NEIGHBOR_METADATA."""
    kinds = config.rows("DEVICE_NEIGHBOR_METADATA")
    for port, row in config.rows("DEVICE_NEIGHBOR").items():
        if name := row.get("name"):
            yield Cable(
                local_port=row.get("local_port", port),
                remote=End(_neighbor_name(localhost, name), row.get("port", "")),
                evidence="DEVICE_NEIGHBOR",
                side=side_of_type(kinds.get(name, {}).get("type", "")),
            )


def _neighbor_name(localhost: Row, name: str) -> str:
    """Return a neighbor's name; the ASICs of a chassis know each other as ASIC0, ASIC1 ..."""
    host = localhost.get("hostname")
    inside = host and "asic_name" in localhost and _ASIC.fullmatch(name)
    return f"{host}-{name.lower()}" if inside else name
