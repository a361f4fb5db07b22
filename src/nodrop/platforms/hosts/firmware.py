"""What `mlxconfig -d <device> query` prints: the settings that a NIC keeps over a restart, port by port.

How a NIC trusts as it starts (QOS_TRUST_STATE) is left aside: the driver's setting replaces it.
"""

import re

from nodrop.platforms.hosts.facts import Form, Parsed, byte, line_span

_DEVICE = re.compile(r"Device #([0-9]{1,3}):")
_SETTING = re.compile(r"[ \t*]+([A-Z0-9_]+)_P([1-9])[ \t]+(\S.*)")
_NUMBER = re.compile(r"(?:^|\()(0x[0-9a-fA-F]+|[0-9]+)\)?$")
_FIELDS = {"CNP_DSCP": "cnp_dscp", "CNP_802P_PRIO": "cnp_priority", "ROCE_CC_PRIO_MASK": "dcqcn_priorities"}


def priorities(mask: int) -> tuple[int, ...]:
    """Return the priorities whose bits are set."""
    return tuple(priority for priority in range(8) if mask >> priority & 1)


def _shows(head: str) -> bool:
    return "Configurations:" in head and ("Device type:" in head or "Device #" in head or "_P1 " in head)


def _parse(text: str) -> tuple[Parsed, ...]:
    found = Parsed()
    device = ""
    several = len(_DEVICE.findall(text)) > 1
    for number, line in enumerate(text.splitlines(), 1):
        if (of := _DEVICE.match(line)) is not None:
            device = f"device{of[1]}." if several else ""
        elif (setting := _SETTING.match(line)) is not None and setting[1] in _FIELDS:
            # Default, current and next boot stand side by side where all are shown: what the next boot has counts.
            written = _NUMBER.search(setting[3].split()[-1])
            value = byte(written[1]) if written else None
            if value is not None:
                field = _FIELDS[setting[1]]
                held = priorities(value) if field == "dcqcn_priorities" else value
                found.say(f"{device}P{setting[2]}", field, held, line_span(number, line))
    return (found,)


FORM = Form(_shows, _parse)
