"""Words about links: the FEC of a port, and the far end of its cable."""

from nodrop.engine.vocabulary import declare_word
from nodrop.hardware import asic_of, medium
from nodrop.hardware.lanes import PAM4_LANE_MBPS
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.platforms.kit.traits import newest_traits

SPEEDS_WITHOUT_RS_FEC_MBPS = frozenset({10, 100, 1000, 2500, 5000, 10_000, 20_000, 40_000})
"""Speeds of which no physical layer has RS-FEC (IEEE 802.3 clause 91 is of 100G, 108 of 25G)."""


@declare_word("function")
def has_pam4(lane_mbps: int | None) -> bool:
    """Whether lanes of that speed carry two bits a symbol, which RS-FEC has to correct."""
    return lane_mbps is not None and lane_mbps >= PAM4_LANE_MBPS


@declare_word("test")
def without_rs(fec: str | None | Unknown) -> bool:
    """Whether a port has a configured FEC other than RS, or none: `interface.fec is without_rs`."""
    return not isinstance(fec, Unknown) and fec in ("none", "fc")


@declare_word("function")
def has_no_rs(speed_mbps: int | None) -> bool:
    """Return whether a speed of Ethernet has no physical layer with RS-FEC, with any number of lanes."""
    return speed_mbps in SPEEDS_WITHOUT_RS_FEC_MBPS


@declare_word("test", rests_on=("models",))
def ignores_unfit_fec(device: Device) -> bool:
    """Whether a switch leaves a speed at its default where the configured FEC is not for it: `device is …`."""
    chip, platform_traits = asic_of(device.model), newest_traits(device.platform)
    return chip is not None and chip.fec_by_speed and platform_traits is not None and platform_traits.fec_through_sai


@declare_word("function")
def fecs_differ(fec_a: str | None, fec_b: str | None) -> bool:
    """Whether two ports have different configured FECs; where a switch chooses, it does so by the module."""
    return fec_a != fec_b and not {None, "auto"} & {fec_a, fec_b}


@declare_word("filter")
def fec_in_words(fec: str | None) -> str:
    """Write a FEC in words; where none is stated or it is `auto`, the switch chooses."""
    return "of the switch's choice" if fec in (None, "auto") else str(fec)


@declare_word("function", rests_on=("cables",), naming=True)
def far_end(device: Device, interface: Interface, *, index: Index) -> str:
    """Return the far end of a port's cable: `spine1 Ethernet0`, or `another device` if no source names it."""
    end = index.far_end(device.name, interface.name)
    return "another device" if end is None or isinstance(end, Unknown) else f"{end.node} {end.port}".strip()


@declare_word("test")
def passive(media: str | None | Unknown) -> bool:
    """Whether a cable is known to be passive copper: `link.media is passive`."""
    kind = medium(media)
    return kind is not None and kind.passive


@declare_word("function")
def module_has_fec(media: str | None | Unknown, speed_mbps: int | None | Unknown) -> bool:
    """Whether a transceiver has the FEC itself at some lanes of its port, whose FEC is off then: 100GBASE-DR."""
    kind = medium(media)
    return kind is not None and isinstance(speed_mbps, int) and kind.may_ends_differ_in_fec(speed_mbps)


@declare_word("function")
def advertised_speed_only(mbps: int | None) -> tuple[int, ...] | None:
    """Return a port's speed as the one that it advertises."""
    return None if mbps is None else (mbps,)


@declare_word("function")
def negotiate_alike(platform_a: str, autoneg_a: bool | None, platform_b: str, autoneg_b: bool | None) -> bool:
    """Whether two ends both negotiate or neither does.

    An end that says nothing does what its platform does by itself; SONiC does not negotiate then, and of what nothing
    is known nothing follows.
    """
    if None not in (autoneg_a, autoneg_b):
        return autoneg_a == autoneg_b
    traits = newest_traits(platform_a)
    silent = platform_a == platform_b and traits is not None and traits.autoneg is None
    return not silent or bool(autoneg_a) == bool(autoneg_b)
