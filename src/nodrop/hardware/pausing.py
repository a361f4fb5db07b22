"""What headroom a port needs in front of a chip that stops later after a pause than IEEE 802.3 allows."""

from nodrop.hardware.schema import Asic
from nodrop.model.states import UnknownFact
from nodrop.units import show_speed

MISSING_RESPONSE_TEXT_START = "pause response of "
"""How the fact begins that is missing where a chip is known to be slow, but not how slow."""


def xoff_for_peer_chip_bytes(chip: Asic, speed_mbps: int) -> int:
    """Return the xoff that a port of a speed needs in front of a slow chip, in bytes.

    UnknownFact if no source has a figure for the speed.
    """
    if speed_mbps not in chip.headroom_before_bytes:
        raise UnknownFact(f"{MISSING_RESPONSE_TEXT_START}{chip.name} at {show_speed(speed_mbps)}")
    return chip.headroom_before_bytes[speed_mbps]
