"""A switch as SONiC's Generic Config Updater sees it."""

from typing import Any

from support.sonic_configs import stock

PORT, OTHER = "Ethernet0", "Ethernet8"
TIMES = {"action": "drop", "detection_time": "200", "restoration_time": "400"}


def switch(release: str, hwsku: str = "ACS-MSN4700", **tables: Any) -> dict[str, Any]:
    """A stock switch of a release, whose first port is watched."""
    config = stock(
        PFC_WD={"GLOBAL": {"POLL_INTERVAL": "100"}, PORT: TIMES},
        VERSIONS={"DATABASE": {"VERSION": f"version_{release}_01"}},
        NTP_SERVER={"192.0.2.1": {}},
    )
    config["DEVICE_METADATA"]["localhost"]["hwsku"] = hwsku
    config |= tables
    return {table: rows for table, rows in config.items() if rows is not None}
