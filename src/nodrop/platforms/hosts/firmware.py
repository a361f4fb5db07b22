"""What `mlxconfig -d <device> query` prints: the settings that a NIC keeps over a restart, port by port.

How a NIC trusts as it starts (QOS_TRUST_STATE) is ignored: the driver's setting replaces it. And what
`mlxreg --reg_name ROCE_ACCL --get` prints, which a restart loses.
"""

import re

from nodrop.platforms.hosts.facts import HostFileContent, HostFileKind, HostFileNote, line_span, parse_byte
from nodrop.syntax.places import Span

_DEVICE_LINE = re.compile(r"Device #([0-9]{1,3}):")
_MLXCONFIG_SETTING_LINE = re.compile(r"[ \t*]+([A-Z0-9_]+?)(?:_P([1-9]))?[ \t]+(\S.*)")
_NUMBER_PATTERN = re.compile(r"(?:^|\()(0x[0-9a-fA-F]+|[0-9]+)\)?$")
_FORCED_ADAPTIVE_ROUTING_LINE = re.compile(r"\s*adaptive_routing_forced_en\s*\|\s*(0x[0-9a-fA-F]+)\s*$")
_NIC_FIELD_BY_MLXCONFIG_SETTING = {
    "CNP_DSCP": "cnp_dscp",
    "CNP_802P_PRIO": "cnp_priority",
    "ROCE_CC_PRIO_MASK": "dcqcn_priorities",
    "LINK_TYPE": "link_layer",
    "ROCE_ADAPTIVE_ROUTING_EN": "adaptive_routing",
}
PORT_SETTING_PATTERN = re.compile(rf"({'|'.join(_NIC_FIELD_BY_MLXCONFIG_SETTING)})(?:_P([1-9]))?")
"""A setting of the firmware that is a fact of a NIC, and its port; one of the whole adapter has none."""
_LINK_LAYER_BY_TYPE = {1: "infiniband", 2: "ethernet"}
"""By LINK_TYPE of the firmware; 3 is found by the NIC itself (mlxconfig: VPI)."""


def priorities_of_mask(mask: int) -> tuple[int, ...]:
    """Return the priorities whose bits are set."""
    return tuple(priority for priority in range(8) if mask >> priority & 1)


def note_infiniband(span: Span) -> HostFileNote:
    """Return the note that a file is about InfiniBand."""
    return HostFileNote("not-checked", "InfiniBand: rules for RoCE do not apply", span)


def record_firmware_setting(parsed_facts: HostFileContent, nic_part: str, setting: str, value: int, span: Span) -> None:
    """Record the value of a firmware setting, by its name without the port."""
    field = _NIC_FIELD_BY_MLXCONFIG_SETTING[setting]
    link_layer: object = value
    if field == "dcqcn_priorities":
        link_layer = priorities_of_mask(value)
    elif field == "adaptive_routing":
        link_layer = bool(value)
    elif field == "link_layer":
        link_layer = _LINK_LAYER_BY_TYPE.get(value)
    if link_layer is not None:
        parsed_facts.record_fact(nic_part, field, link_layer, span)
    if link_layer == "infiniband":
        parsed_facts.notes.append(note_infiniband(span))


def _is_mlxconfig_output(head: str) -> bool:
    return "Configurations:" in head and ("Device type:" in head or "Device #" in head or "_P1 " in head)


def _parse_mlxconfig_output(file_text: str) -> tuple[HostFileContent, ...]:
    parsed_facts = HostFileContent()
    device = ""
    several = len(_DEVICE_LINE.findall(file_text)) > 1
    for number, line in enumerate(file_text.splitlines(), 1):
        if (match := _DEVICE_LINE.match(line)) is not None:
            device = f"device{match[1]}." if several else ""
        elif (setting := _MLXCONFIG_SETTING_LINE.match(line)) is not None and setting[
            1
        ] in _NIC_FIELD_BY_MLXCONFIG_SETTING:
            # Default, current and next boot stand side by side where all are shown: what the next boot has counts.
            written = _NUMBER_PATTERN.search(setting[3].split()[-1])
            value = parse_byte(written[1]) if written else None
            if value is not None:
                nic_part = f"{device}P{setting[2]}" if setting[2] else device.rstrip(".")
                record_firmware_setting(parsed_facts, nic_part, setting[1], value, line_span(number, line))
    return (parsed_facts,)


def _is_register_dump(head: str) -> bool:
    return "adaptive_routing_forced_en" in head and any(map(_FORCED_ADAPTIVE_ROUTING_LINE.match, head.splitlines()))


def _parse_adaptive_routing(text: str) -> tuple[HostFileContent, ...]:
    parsed_facts = HostFileContent()
    for number, line in enumerate(text.splitlines(), 1):
        if (forced := _FORCED_ADAPTIVE_ROUTING_LINE.match(line)) is not None:
            parsed_facts.record_fact("", "adaptive_routing", int(forced[1], 16) != 0, line_span(number, line))
    return (parsed_facts,)


FILE_KIND = HostFileKind(_is_mlxconfig_output, _parse_mlxconfig_output, printed=True)
REGISTER_DUMP_FILE_KIND = HostFileKind(_is_register_dump, _parse_adaptive_routing, printed=True)
