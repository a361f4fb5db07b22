"""Settings of the switch itself in config_db.json: loopbacks, management port, counters, servers, watchdog polling."""

from nodrop.model.fabric import HASH_FIELDS, Counter, HashField, Loopback, Management
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.platforms.sonic.config import DeviceTables
from nodrop.platforms.sonic.tables import IS_ENABLED_BY_WORD


def read_watchdog_polling_ms(config: DeviceTables) -> int | None | Unknown:
    """Return how often the switch looks for PFC storms, in ms."""
    if not config.is_conclusive_about_table("PFC_WD"):
        return UNKNOWN
    return config.integer(("PFC_WD", "GLOBAL"), config.rows("PFC_WD").get("GLOBAL", {}), "POLL_INTERVAL")


def read_counter_polling_groups(config: DeviceTables) -> tuple[Counter, ...] | Unknown:
    """Return the groups of counters, sorted; one without a status is not polled."""
    if not config.is_conclusive_about_table("FLEX_COUNTER_TABLE"):
        return UNKNOWN
    found_counters = []
    for group, row in sorted(config.rows("FLEX_COUNTER_TABLE").items()):
        keys = ("FLEX_COUNTER_TABLE", group)
        enabled = config.meaning_of_word(keys, row, "FLEX_COUNTER_STATUS", IS_ENABLED_BY_WORD)
        interval = config.integer(keys, row, "POLL_INTERVAL")
        found_counters.append(Counter(group=group, enabled=enabled is True, interval_ms=interval))
    return tuple(found_counters)


def read_gnmi_port(config: DeviceTables) -> int | None | Unknown:
    """Return the TCP port of the gNMI server; None where none is configured."""
    if not config.is_conclusive_about_table("GNMI"):
        return UNKNOWN
    return config.integer(("GNMI", "gnmi"), config.rows("GNMI").get("gnmi", {}), "port")


def read_snmp_text(config: DeviceTables, row: str, field: str) -> str | None | Unknown:
    """Return the facts that SNMP reports about the switch; None if a whole file states nothing."""
    return config.rows("SNMP").get(row, {}).get(field) if config.is_conclusive_about_table("SNMP") else UNKNOWN


def read_ecmp_hash_fields(config: DeviceTables) -> tuple[HashField, ...] | None | Unknown:
    """Return the fields that equal paths are chosen by, in the order of the model; None if it is left to the switch."""
    if not config.is_conclusive_about_table("SWITCH_HASH"):
        return UNKNOWN
    text = config.rows("SWITCH_HASH").get("GLOBAL", {}).get("ecmp_hash", "")
    stated = {word.strip().lower().replace("_", "-") for word in text.split(",") if word.strip()}
    for word in sorted(stated - set(HASH_FIELDS)):
        config.remark_malformed_value(
            ("SWITCH_HASH", "GLOBAL", "ecmp_hash"), word.upper().replace("-", "_"), "a field of the hash"
        )
    return tuple(field for field in HASH_FIELDS if field in stated) or None


def read_row_names(config: DeviceTables, table_name: str) -> tuple[str, ...] | Unknown:
    """Return the names of a table's rows, sorted."""
    return tuple(sorted(config.rows(table_name))) if config.is_conclusive_about_table(table_name) else UNKNOWN


def read_loopbacks(config: DeviceTables) -> tuple[Loopback, ...] | Unknown:
    """Return the loopback interfaces, sorted by name."""
    if not config.is_conclusive_about_table("LOOPBACK_INTERFACE"):
        return UNKNOWN
    rows = config.rows("LOOPBACK_INTERFACE")
    addresses: dict[str, list[str]] = {}
    for key in rows:
        name, _, address = key.partition("|")
        addresses.setdefault(name, []).extend([address] if address else [])
    return tuple(
        Loopback(name=name, addresses=tuple(address_list), vrf=rows.get(name, {}).get("vrf_name"))
        for name, address_list in sorted(addresses.items())
    )


def read_management_port(config: DeviceTables) -> Management | None | Unknown:
    """Return the out-of-band port that has an address, the first where there are several."""
    config.rows("MGMT_PORT")
    own_vrf = config.rows("MGMT_VRF_CONFIG").get("vrf_global", {}).get("mgmtVrfEnabled") == "true"
    if not config.is_conclusive_about_table("MGMT_INTERFACE"):
        return UNKNOWN
    rows = config.rows("MGMT_INTERFACE")
    keys = [key.split("|", 1) for key in rows if "|" in key]
    if not keys:
        return None
    first_interface = keys[0][0]
    gateway = next((row["gwaddr"] for row in rows.values() if "gwaddr" in row), None)
    addresses = tuple(address for name, address in keys if name == first_interface)
    return Management(interface=first_interface, addresses=addresses, gateway=gateway, own_vrf=own_vrf)
