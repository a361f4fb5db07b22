"""Words about links: which FEC runs on a port, and what is at the far end of its cable."""

from nodrop.fabric.fabric import Device, Interface
from nodrop.fabric.index import Index
from nodrop.fabric.states import Unknown, UnknownFact
from nodrop.lint.vocabulary import word

PAM4_LANE_MBPS = 50_000
"""Lanes from 50 Gb/s carry two bits a symbol, for which RS-FEC is mandatory (IEEE 802.3cd, 802.3ck)."""


@word("function")
def fec_in_effect(fec: str | None, lane_mbps: int | None) -> str:
    """The FEC that runs on a port: what is stated; where the switch chooses, RS on lanes of 50 Gb/s or more.

    On slower lanes the choice depends on the module and no file says it: UNKNOWN, where the other end is stated. Where
    both ends choose, they choose for one cable: `chosen_fec` is the same for both.
    """
    if fec not in (None, "auto"):
        return fec
    if lane_mbps is None or lane_mbps < PAM4_LANE_MBPS:
        raise UnknownFact("interface.fec")
    return "rs"


@word("filter")
def chosen_fec(fec: str | None) -> str:
    """A FEC in words; where none is stated or it is `auto`, the switch chooses."""
    return "of the switch's choice" if fec in (None, "auto") else str(fec)


@word("function", rests_on=("cables",))
def far_end(device: Device, interface: Interface, *, index: Index) -> str:
    """What a port's cable leads to: `spine1 Ethernet0`, or `another device` where no source names it."""
    end = index.far_end(device.name, interface.name)
    return "another device" if end is None or isinstance(end, Unknown) else f"{end.node} {end.port}".strip()
