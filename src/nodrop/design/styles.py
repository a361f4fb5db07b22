"""The QoS style in the configurations of a tier's switches (`topology.*.style`)."""

from collections.abc import Collection, Iterator

from nodrop import platforms
from nodrop.design.faults import KeyFault
from nodrop.design.topology import Topology
from nodrop.intent.topology import Switches
from nodrop.model.fabric import QosStyle
from nodrop.platforms.kit.traits import traits_of_platform


def qos_style(tier: Switches, lossless: Collection[int]) -> QosStyle | None:
    """Return the style of a tier's switches: the stated one, else the default for their lossless priorities."""
    return tier.style or traits_of_platform(tier.platform, tier.version).default_qos_style(len(lossless))


def style_faults(topology: Topology) -> Iterator[KeyFault]:
    """Yield tiers with a style that their platform does not have."""
    for group in topology.groups:
        tier = group.wanted
        tier_traits = traits_of_platform(tier.platform, tier.version)
        if tier.style is None or tier.style in tier_traits.styles:
            continue
        able = [os_traits for name in platforms.writable_platforms() if (os_traits := traits_of_platform(name)).styles]
        hint = "; ".join(f"{os_traits.title} has the styles {' and '.join(os_traits.styles)}" for os_traits in able)
        fault = f"{tier.style}, but {tier_traits.title} has one way to state QoS"
        yield KeyFault((*group.keys, "style"), fault, "no style", hint)
