"""Parts of a device that NVUE cannot express: refused before anything is written, with the model path that prevents it.

Ranges are those of the NVUE command reference (5.14 and 5.16).
"""

import re
from functools import partial

from nodrop.hardware import switch, switches
from nodrop.hardware.ports import PortSplit
from nodrop.hardware.schema import SwitchModel
from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.fabric import HASH_FIELDS, Device, Interface
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit import bindings
from nodrop.platforms.kit.expressible import (
    UNKNOWN_FACT_REASON,
    ScalarCheck,
    check_distinct,
    check_range,
    check_row_names_and_order,
    check_server_addresses,
    check_without_unwritten_parts,
    reason_unwritable_text,
    unsupported_error,
)
from nodrop.platforms.nvue import limits_routing
from nodrop.platforms.nvue.adaptive_routing import THRESHOLD_RANGE_PERCENT
from nodrop.platforms.nvue.ageing import MAC_AGEING_RANGE_S
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.hashing import NVUE_FLAG_BY_FIELD
from nodrop.platforms.nvue.limits_bridging import check_bridging
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_ports import may_be_address
from nodrop.platforms.nvue.release_limits import check_features_in_release, check_release_knows_model
from nodrop.platforms.nvue.spelling import NVUE_WORD_BY_FEC, dialect_of_release
from nodrop.platforms.nvue.traits import TRAITS

_HOSTNAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}")
_VRF_NAME_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,14}")
_MTU_RANGE_BYTES = (552, 9216)
_CABLE_LENGTH_RANGE_M = (1, 100_000)


def description_fault(config_text: str) -> str | None:
    """Return the fault of a description, or None: NVUE takes one line of printable ASCII without apostrophes."""
    if not config_text.isascii() or "'" in config_text:
        return f"{config_text!r} has apostrophes or characters beyond ASCII, which Cumulus Linux does not take"
    return reason_unwritable_text(config_text)


_SCALAR_CHECK_OF_DEVICE = ScalarCheck(
    "role", "mac", "counters", "high_frequency", "side", "port", "advertised_speeds_mbps", "link_training",
    "link_local", "extra", "extra_lines", "headroom_table", "default_ipv4_unicast", "preserve_forwarding",
    "as_path_lists", "matches", "sets",
    description=description_fault, snmp_location=description_fault, snmp_contact=description_fault,
)  # fmt: skip
"""What no file says, and what has a check of its own."""


def check_expressible(device: Device) -> SwitchModel:
    """Return the facts of the device's model; raise UnsupportedByPlatform where NVUE has no setting for something.

    `limits_qos` checks QoS and buffers, once for all devices that have the same.
    """
    _SCALAR_CHECK_OF_DEVICE.check(device)
    facts = _check_device(device)
    check_release_knows_model(device, facts)
    check_features_in_release(device)
    _check_services(device)
    check_row_names_and_order(device.interfaces, "interfaces", order=lambda port: natural_sort_key(port.name))
    split = _check_breakouts(facts, device)
    for interface in device.interfaces:
        _check_port(device, facts, interface, split)
    check_bridging(device, partial(_check_common_settings, device))
    limits_routing.check_routing(device)
    return facts


def _check_device(device: Device) -> SwitchModel:
    model = str(device.model)
    if device.platform != "nvue":
        raise unsupported_error(["platform"], f"{device.platform} is not nvue")
    if not _HOSTNAME_PATTERN.fullmatch(device.name):
        raise unsupported_error(["name"], f"{device.name} is no hostname of Cumulus Linux")
    if model not in switches():
        raise unsupported_error(["model"], f"{model} is not in the catalogue, so the names of its ports are unknown")
    if device.version not in TRAITS.releases:
        raise unsupported_error(["version"], f"is written for {TRAITS.releases[0]} to {TRAITS.releases[-1]}")
    if device.hwsku is not None:
        raise unsupported_error(["hwsku"], "NVUE has no field for SONiC's SKU")
    if device.switch_dscp_to_tc is not None:
        raise unsupported_error(["switch_dscp_to_tc"], "NVUE maps DSCP by profiles of ports only")
    if device.buffer_model != "dynamic":
        raise unsupported_error(["buffer_model"], "NVUE computes headroom itself: its buffer model is dynamic")
    check_without_unwritten_parts(device)
    if require_fact(device.routing_tables):
        raise unsupported_error(["routing_tables"], "NVUE has no tables of routing")
    if require_fact(device.shut_by_daemon):
        raise unsupported_error(["shut_by_daemon"], "NVUE writes frr.conf by itself, and shuts ports by `link state`")
    if require_fact(device.qos_style) not in TRAITS.styles:
        raise unsupported_error(["qos_style"], f"NVUE has QoS in style {' or '.join(TRAITS.styles)}")
    if not device.interfaces:
        raise unsupported_error(["interfaces"], "a configuration without ports is taken for a part of one")
    return switch(model)


def _check_services(device: Device) -> None:
    if (management := require_fact(device.management)) is not None:
        if management.interface != "eth0":
            raise unsupported_error(["management", "interface"], "the management port of Cumulus Linux is eth0")
        _check_addresses(device, management.addresses, "management")
    loopbacks = require_fact(device.loopbacks)
    check_row_names_and_order(loopbacks, "loopbacks")
    for loopback in loopbacks:
        if loopback.name != TRAITS.loopback:
            raise unsupported_error(["loopbacks", loopback.name], f"the only loopback of NVUE is {TRAITS.loopback}")
        if loopback.vrf is not None:
            raise unsupported_error(["loopbacks", loopback.name, "vrf"], "loopbacks of VRFs are not written")
        _check_addresses(device, loopback.addresses, "loopbacks", loopback.name)
    check_row_names_and_order(require_fact(device.ntp_servers), "ntp_servers")
    check_row_names_and_order(require_fact(device.syslog_servers), "syslog_servers")
    check_row_names_and_order(require_fact(device.dns_servers), "dns_servers")
    check_server_addresses(require_fact(device.dns_servers), "dns_servers")
    fields = require_fact(device.hash_fields)
    if fields is not None and (
        not fields or list(fields) != [hash_field for hash_field in HASH_FIELDS if hash_field in fields]
    ):
        raise unsupported_error(
            ["hash_fields"], "are not fields of the hash in the order in which they would be read back"
        )
    lacking = [field for field in fields or () if field not in NVUE_FLAG_BY_FIELD]
    if lacking:
        raise unsupported_error(["hash_fields"], f"NVUE does not hash by {lacking[0]}")
    check_range(require_fact(device.mac_ageing_s), *MAC_AGEING_RANGE_S, "mac_ageing_s")
    bindings.check_fields(SWITCH_BINDINGS, device)
    _check_telemetry(device)
    _check_trimming(device)


def _check_utilization_threshold(interface: Interface) -> None:
    percent, (low, high) = require_fact(interface.utilization_threshold_percent), THRESHOLD_RANGE_PERCENT
    if percent is not None and not low <= percent <= high:
        path = ("interfaces", interface.name, "utilization_threshold_percent")
        raise unsupported_error(path, f"{percent} is not from {low} to {high}")


def _check_addresses(device: Device, addresses: tuple[str, ...], *path: str) -> None:
    check_distinct(addresses, *path, "addresses")
    for address in addresses:
        if not may_be_address(address):
            raise unsupported_error((*path, "addresses"), f"{address} is no address")
    families = [":" in address for address in addresses]
    if not dialect_of_release(device.version).old and families != sorted(families):
        raise unsupported_error(
            (*path, "addresses"), "are read back with IPv4 first, for the two stand apart since 5.15"
        )


def _check_telemetry(device: Device) -> None:
    if not isinstance(device.high_frequency, Unknown) and device.high_frequency:
        raise unsupported_error(["high_frequency"], "NVUE samples no ECN marks, drops or watermarks at short intervals")
    collectors = require_fact(device.otlp_collectors)
    check_row_names_and_order([row.address for row in collectors], "otlp_collectors")
    for collector in collectors:
        if not 1 <= collector.port <= 65535:
            raise unsupported_error(["otlp_collectors"], f"{collector.port} is no TCP port")
    chip = switch(str(device.model)).asic
    if collectors and chip in TRAITS.without_otlp:
        raise unsupported_error(["otlp_collectors"], f"Cumulus Linux sends nothing by OTLP on {chip.title()}")
    port = require_fact(device.gnmi_port)
    if port is None:
        return
    if collectors:
        raise unsupported_error(["otlp_collectors"], "NVUE does not run gNMI and OTLP at the same time")
    if not 1 <= port <= 65535:
        raise unsupported_error(["gnmi_port"], "is no TCP port")


def _check_trimming(device: Device) -> None:
    trimming = require_fact(device.trimming)
    if trimming is None:
        return
    size, (low, high), step = trimming.size_bytes, TRAITS.trimming.size_bytes, TRAITS.trimming.size_step_bytes
    if switch(str(device.model)).asic not in TRAITS.trimming.asics:
        raise unsupported_error(["trimming"], f"{device.model} does not trim packets")
    if not isinstance(size, int) or not low <= size <= high or size % step:
        raise unsupported_error(["trimming", "size_bytes"], f"is not a multiple of {step} from {low} to {high}")
    if not isinstance(trimming.dscp, int) or not 0 <= trimming.dscp <= 63:
        raise unsupported_error(["trimming", "dscp"], "NVUE marks trimmed packets with one DSCP from 0 to 63")
    if trimming.tc is None or not 0 <= trimming.tc <= 7:
        raise unsupported_error(["trimming", "tc"], "trimmed packets have a switch priority from 0 to 7")
    maps = (port.qos.tc_to_queue for port in device.interfaces if isinstance(port.qos, QosProfile))
    if any(isinstance(tc_map, tuple) and tc_map[trimming.tc : trimming.tc + 1] != (trimming.queue,) for tc_map in maps):
        raise unsupported_error(
            ["trimming", "queue"], "NVUE sends trimmed packets on the queue of their switch priority"
        )


def _check_breakouts(facts: SwitchModel, device: Device) -> dict[int, int]:
    """Return into how many parts panel ports are broken out."""
    lanes: dict[int, set[object]] = {}
    splits_by_panel: dict[int, list[int]] = {}
    unsplit_panels = set()
    for interface in device.interfaces:
        named_nvue_port = nvue_port(interface.name)
        if isinstance(interface.port, Unknown):
            raise unsupported_error(["interfaces", interface.name, "port"], UNKNOWN_FACT_REASON)
        if named_nvue_port is None or named_nvue_port.port != interface.port:
            raise unsupported_error(["interfaces", interface.name, "name"], "is not what NVUE calls that port")
        panel = named_nvue_port.port.panel
        if named_nvue_port.part:
            splits_by_panel.setdefault(panel, []).append(named_nvue_port.port.split)
            lanes.setdefault(panel, set()).add(require_fact(interface.lanes))
        else:
            unsplit_panels.add(panel)
    for panel, split_numbers in splits_by_panel.items():
        path = ("interfaces", f"swp{panel}s{split_numbers[0]}")
        count = len(split_numbers)
        if panel in unsplit_panels:
            raise unsupported_error(("interfaces", f"swp{panel}"), "is broken out, and so no port itself")
        breakout = next((option for option in breakouts_of_panel(facts, panel) if option.into == count), None)
        if sorted(split_numbers) != list(range(count)) or breakout is None:
            counts = ", ".join(str(option.into) for option in breakouts_of_panel(facts, panel))
            raise unsupported_error(
                (*path, "port"), f"{facts.name} is broken out into {counts}, and all of the parts are there"
            )
        if breakout.blocks_next and (panel % 2 == 0 or {panel + 1} & (splits_by_panel.keys() | unsplit_panels)):
            raise unsupported_error((*path, "port"), f"{count} parts need a port of odd number, and no port after it")
        if len(lanes[panel]) != 1:
            raise unsupported_error((*path, "lanes"), "the parts of a port have equally many lanes")
    return {panel: len(splits) for panel, splits in splits_by_panel.items()}


def breakouts_of_panel(facts: SwitchModel, panel: int) -> list[PortSplit]:
    """Return NVUE's breakouts of a panel port; none where the model has no such port."""
    group = facts.group(panel)
    return group.splits_on("nvue") if group else []


def _check_port(device: Device, facts: SwitchModel, interface: Interface, split: dict[int, int]) -> None:
    path = ("interfaces", interface.name)
    if require_fact(interface.macsec):
        raise unsupported_error((*path, "macsec"), "NVUE has no setting for MACsec")
    port = require_fact(interface.port)
    assert port is not None
    group = facts.group(port.panel)
    if group is None:
        raise unsupported_error((*path, "port"), f"{facts.name} has no such port")
    lanes = require_fact(interface.lanes)
    split_count = split.get(port.panel, 1)
    if split_count == 1 and lanes != group.lanes:
        raise unsupported_error(
            (*path, "lanes"), f"an unsplit port of {facts.name} has {group.lanes}; others are not written"
        )
    if lanes not in (1, 2, 4, 8) or lanes * split_count > group.lanes:
        raise unsupported_error(
            (*path, "lanes"), f"a port of {facts.name} has {group.lanes} for its {split_count} parts"
        )
    speed = require_fact(interface.speed_mbps)
    if speed not in group.speeds and (speed is not None or interface.enabled):
        raise unsupported_error((*path, "speed_mbps"), f"is no speed of {facts.name}, and NVUE states one")
    if require_fact(interface.fec) not in NVUE_WORD_BY_FEC:
        raise unsupported_error((*path, "fec"), "a port has one in NVUE, `auto` unless it is said")
    if require_fact(interface.autoneg) is None:
        raise unsupported_error((*path, "autoneg"), "auto-negotiation of a port is on or off in NVUE")
    _check_common_settings(device, interface, path)
    if not isinstance(interface.qos, QosProfile):
        raise unsupported_error((*path, "qos"), "a port of an NVUE switch has the QoS of the switch")
    _check_utilization_threshold(interface)
    cable = require_fact(interface.cable_length_m)
    if cable is not None and not _CABLE_LENGTH_RANGE_M[0] <= cable <= _CABLE_LENGTH_RANGE_M[1]:
        raise unsupported_error(
            (*path, "cable_length_m"), f"is not from {_CABLE_LENGTH_RANGE_M[0]} to {_CABLE_LENGTH_RANGE_M[1]}"
        )


def _check_common_settings(device: Device, row: Interface | PortChannel | Vlan, path: tuple[str, str]) -> None:
    """Refuse what interfaces of all kinds have."""
    mtu = require_fact(row.mtu_bytes)
    if mtu is None or not _MTU_RANGE_BYTES[0] <= mtu <= _MTU_RANGE_BYTES[1]:
        raise unsupported_error((*path, "mtu_bytes"), f"is not from {_MTU_RANGE_BYTES[0]} to {_MTU_RANGE_BYTES[1]}")
    if (vrf := require_fact(row.vrf)) is not None and (not _VRF_NAME_PATTERN.fullmatch(vrf) or vrf == "default"):
        raise unsupported_error((*path, "vrf"), f"{vrf} is no name of a VRF")
    _check_addresses(device, require_fact(row.addresses), *path)
