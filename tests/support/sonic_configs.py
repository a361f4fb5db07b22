"""Configurations as others write them, made by hand and small, and the way to read them."""

import json
from collections.abc import Mapping
from typing import Any

from nodrop.model.reading import DeviceReading, Remark, Source
from nodrop.platforms.sonic.reader import read_device as read_files

Tables = Mapping[str, Any]
NAME = "sw1"


def stock(**tables: Any) -> dict[str, Any]:
    """A switch in the manner of SONiC's own templates: two ports, AZURE maps, lossless on 3 and 4; some tables changed.

    A table that is None is left out.
    """
    ports = ("Ethernet0", "Ethernet8")
    lossy = {"profile": "egress_lossy_profile"}
    config: dict[str, Any] = {
        "DEVICE_METADATA": {
            "localhost": {"hostname": NAME, "hwsku": "ACS-MSN4700", "type": "LeafRouter", "buffer_model": "traditional"}
        },
        "PORT": {
            port: {
                "admin_status": "up",
                "index": str(number),
                "lanes": ",".join(str(lane) for lane in range(8 * number - 8, 8 * number)),
                "mtu": "9100",
                "speed": "400000",
            }
            for number, port in enumerate(ports, 1)
        },
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): str({3: 3, 4: 4, 46: 5, 48: 6}.get(dscp, 1)) for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {"AZURE": {str(tc): str(tc) for tc in range(8)}},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(tc): str(tc if tc in (3, 4, 7) else 0) for tc in range(8)}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {str(priority): str(priority) for priority in range(8)}},
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "3", "4": "4"}},
        "PORT_QOS_MAP": {
            port: {
                "dscp_to_tc_map": "AZURE",
                "pfc_enable": "3,4",
                "pfc_to_pg_map": "AZURE",
                "pfc_to_queue_map": "AZURE",
                "pfcwd_sw_enable": "3,4",
                "tc_to_pg_map": "AZURE",
                "tc_to_queue_map": "AZURE",
            }
            for port in ports
        },
        "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "DWRR", "weight": "15"}},
        "WRED_PROFILE": {
            "AZURE_LOSSLESS": {
                "ecn": "ecn_all",
                "green_drop_probability": "5",
                "green_max_threshold": "2097152",
                "green_min_threshold": "1048576",
                "wred_green_enable": "true",
            }
        },
        "QUEUE": {
            f"{port}|{queue}": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
            if queue == "3-4"
            else {"scheduler": "scheduler.0"}
            for port in ports
            for queue in ("0", "3-4")
        },
        "BUFFER_POOL": {
            "egress_lossless_pool": {"mode": "dynamic", "size": "60817392", "type": "egress"},
            "egress_lossy_pool": {"mode": "dynamic", "size": "56000000", "type": "egress"},
            "ingress_lossless_pool": {"mode": "dynamic", "size": "56000000", "type": "ingress"},
        },
        "BUFFER_PROFILE": {
            "egress_lossy_profile": {"dynamic_th": "7", "pool": "egress_lossy_pool", "size": "9216"},
            "ingress_lossy_profile": {"dynamic_th": "3", "pool": "ingress_lossless_pool", "size": "0"},
        },
        "BUFFER_PG": {f"{port}|0": {"profile": "ingress_lossy_profile"} for port in ports},
        "BUFFER_QUEUE": {f"{port}|0-2": lossy for port in ports},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(ports, "7m")},
        "VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}},
    }
    config |= tables
    return {table: rows for table, rows in config.items() if rows is not None}


def part(*tables: str) -> dict[str, Any]:
    """Some of its tables, as a file that is a part of a configuration."""
    return {table: rows for table, rows in stock().items() if table in tables}


def read(config: Tables | str | None, frr: str | None = None, name: str = NAME) -> DeviceReading:
    """Read a config_db.json, given as tables or text, and a frr.conf."""
    texts = {
        "config_db.json": config if isinstance(config, str | None) else json.dumps(config, indent=2),
        "frr.conf": frr,
    }
    return read_bundle({file: text for file, text in texts.items() if text is not None}, name)


def read_bundle(texts: Mapping[str, str], name: str = NAME) -> DeviceReading:
    """Read the files of a device, by canonical name."""
    return read_files(name, [(Source(name=file, display=file), text.encode()) for file, text in texts.items()])


def said(remark: Remark) -> str:
    """A remark in a line: its kind, subject, facts and the line it stands on."""
    facts = ", ".join(f"{name} {value}" for name, value in remark.facts.items())
    line = remark.place.span.line if remark.place else None
    return f"{remark.kind} at {'/'.join(remark.subject)}: {facts} (line {line})"


def remarks(reading: DeviceReading) -> list[str]:
    """What was remarked, without the lines."""
    return [said(remark).rpartition(" (")[0] for remark in reading.remarks]
