"""SONiC as a container, docker-sonic-vs: a device's tables, and a port of the container for each of its ports.

The image drops every port without an interface `ethN`, and lanes tie an interface to a port: its start-up script
(sonic-buildimage platform/vs/docker-sonic-vs/start.sh) uses lanemap.ini and port_config.ini, and ends if one of them
does not have an existing interface. Both are made from the device's ports, so no name, lane or breakout of its tables
has to change. SAI's virtual switch takes ports of 1, 2, 4 or 8 lanes (sonic-sairedis vslib/LaneMap.cpp). The image
neither renders FRR's configuration from tables nor starts bgpd up to 202605.
"""

import json
import re
from collections.abc import Iterator, Mapping

from nodrop.model.fabric import Device
from nodrop.platforms.frr.files import FRR_FILE
from nodrop.platforms.kit.virtual_switches import ContainerlabNodeKind, VirtualSwitch
from nodrop.platforms.sonic.document import (
    CONFIG_DB_FILE,
    CONFIG_FILES,
    TablesDocument,
    documents_at_start,
    merge_documents,
)
from nodrop.syntax.json import parse_json_text

WRITES = (CONFIG_DB_FILE, "lanemap.ini", "port_config.ini", FRR_FILE)
"""The names of the files of a switch."""
KIND = ContainerlabNodeKind(
    name="sonic-vs",
    image="docker-sonic-vs:latest",
    binds={"sonic.sh": "/nodrop.sh"},
    scripts=("sonic.sh",),
    command="/nodrop.sh before",
    execute=("bash /nodrop.sh after",),
    takes_frr=True,
    empty_ports=True,
    remarks=(
        "ethN is the N-th port of the PORT table, for which the image gets a separate lane map",
        "ports without a cable are dummy interfaces",
        "buffers, PFC, ECN, schedulers and watchdogs are configured and do nothing: there is no ASIC",
        "eth0 has the address that containerlab gives it",
    ),
)

_LANES_PATTERN = re.compile(r"[0-9]+(?:,[0-9]+)*")
_LANE_COUNTS = frozenset({1, 2, 4, 8})
_CONTAINER_FOLDER = "/nodrop"


def make_virtual_switch(device: Device, config_files: Mapping[str, bytes], frr: str | None) -> VirtualSwitch:
    """Return the switch: its tables as they were read, its ports, and the commands that FRR gets once it runs."""
    documents = documents_at_start(
        [TablesDocument(name, config_files[name], name) for name in CONFIG_FILES if name in config_files]
    )
    tables = merge_documents(documents)
    remarks: list[str] = []
    rows = list(_port_config_ini_rows(tables, remarks))
    files = {
        CONFIG_DB_FILE: _config_db_text(documents, config_files, tables, remarks),
        "lanemap.ini": "".join(f"eth{number}:{lanes}\n" for number, (_, lanes, *_) in enumerate(rows, 1)),
        "port_config.ini": "".join(f"{'  '.join(row)}\n" for row in [_PORT_CONFIG_HEADER, *rows]),
    }
    if frr is None:
        remarks.append("FRR starts without a configuration, for nothing is known of routing")
    else:
        files[FRR_FILE] = frr
    ports = {name: f"eth{number}" for number, (name, *_) in enumerate(rows, 1)}
    known_names = {port.name for port in device.interfaces}
    return VirtualSwitch(
        files=files,
        binds={name: f"{_CONTAINER_FOLDER}/{name}" for name in files},
        ports={name: ports[name] for name in ports if name in known_names},
        remarks=tuple(remarks),
    )


_PortConfigRow = tuple[str, str, str, str, str]
_PORT_CONFIG_HEADER: _PortConfigRow = ("# name", "lanes", "alias", "index", "speed")


def _port_config_ini_rows(config_tables: Mapping[str, object], remarks: list[str]) -> Iterator[_PortConfigRow]:
    """Yield the ports that a container can have, in the order of the table."""
    table = config_tables.get("PORT")
    used: set[str] = set()
    for number, (name, row) in enumerate(table.items() if isinstance(table, dict) else ()):
        fields = row if isinstance(row, dict) else {}
        lanes = str(fields.get("lanes", "")).replace(" ", "")
        single = lanes.split(",")
        if not _LANES_PATTERN.fullmatch(lanes) or len(single) not in _LANE_COUNTS:
            remarks.append(
                f"{name} is not there: a port of the virtual switch has 1, 2, 4 or 8 lanes, not {lanes or 'none'}"
            )
        elif not used.isdisjoint(single):
            remarks.append(f"{name} is not there: its lanes {lanes} are another port's")
        else:
            used.update(single)
            alias, index = str(fields.get("alias") or name), str(fields.get("index") or number)
            yield (
                name,
                lanes,
                _underscored_or_dash(alias),
                _underscored_or_dash(index),
                _underscored_or_dash(str(fields.get("speed") or "0")),
            )


def _underscored_or_dash(text: str) -> str:
    return "_".join(text.split()) or "-"


def _config_db_text(
    documents: list[TablesDocument],
    config_files: Mapping[str, bytes],
    config_tables: Mapping[str, object],
    messages: list[str],
) -> str:
    """Return the tables as one file, the very text of it where there is one that has nothing else."""
    if len(documents) == 1 and (raw := config_files[documents[0].name]) == documents[0].raw:
        if parse_json_text(raw, CONFIG_DB_FILE) == config_tables:
            return raw.decode()
        messages.append(f"its tables are {CONFIG_DB_FILE}, without the other content of the file that was read")
    elif not documents:
        messages.append("no file of tables was read, and so no port is there")
    elif len(documents) > 1:
        messages.append(
            f"{', '.join(document.name for document in documents)} are laid over each other as {CONFIG_DB_FILE}"
        )
    else:
        messages.append(f"its tables are {CONFIG_DB_FILE}, without the text around them")
    return json.dumps(config_tables, indent=4, ensure_ascii=False) + "\n"
