"""Words for commands of rules: values as they are typed."""

from nodrop.engine.vocabulary import declare_word
from nodrop.model import effects
from nodrop.model.fabric import Fabric
from nodrop.model.qos import QosProfile
from nodrop.model.routing import TITLE_BY_ADDRESS_FAMILY
from nodrop.model.states import Unknown, require_fact
from nodrop.units import show_ids

_IP_LAYER = 3
_USUAL_RDMA_TC = 3


@declare_word("filter")
def as_key(numbers: tuple[int, ...] | None) -> str | None:
    """Numbers as one key of a command that takes a list: (24, 25, 27) is `24-25,27`; none where there are none."""
    return show_ids(numbers).replace(" ", "") if numbers else None


@declare_word("filter")
def as_keys(numbers: tuple[int, ...] | None) -> tuple[str, ...] | None:
    """Numbers as keys that are a number or a range each, and give a command each: (24, 25, 27) is `24-25`, `27`."""
    return tuple(show_ids(numbers).split(", ")) if numbers else None


@declare_word("filter")
def as_list(names: str) -> str:
    """Names as one word of a command: `swp1, swp2` is `swp1,swp2`."""
    return names.replace(", ", ",")


@declare_word("filter")
def as_each(names: str) -> tuple[str, ...] | None:
    """Names that give a command each: `swp1, swp2` is `swp1`, `swp2`; none where there are none."""
    return tuple(names.split(", ")) if names else None


@declare_word("filter")
def family_of(prefix: str) -> str:
    """Return the address family of a prefix or address, or of its name such as `IPv6`: `ipv4` or `ipv6`."""
    return "ipv6" if ":" in prefix or prefix == TITLE_BY_ADDRESS_FAMILY["ipv6"] else "ipv4"


@declare_word("filter")
def protocol_of(prefix: str) -> str:
    """Return how commands begin about a prefix, an address, or a family such as `IPv6`: `ip` or `ipv6`."""
    return "ipv6" if ":" in prefix or prefix == TITLE_BY_ADDRESS_FAMILY["ipv6"] else "ip"


@declare_word("function")
def layers_to_trust(qos: QosProfile | None) -> tuple[int, ...]:
    """Return the layer whose marks a port has to trust before a map of DSCPs has an effect: 3 (IP), or none."""
    trust = None if qos is None else require_fact(qos.trust, "interface.qos.trust")
    return () if trust in ("dscp", "both") else (_IP_LAYER,)


@declare_word("function")
def lossy_tc(qos: QosProfile | None) -> int | None:
    """Return the first traffic class of a port that nothing pauses; None where there is none."""
    return next((tc for tc in range(8) if not effects.is_lossless(qos, tc)), None)


@declare_word("function", rests_on=("classes",))
def lossless_tc_for_rdma(fabric: Fabric, qos: QosProfile | None) -> int:
    """Return the traffic class for RDMA on a port: the stated one, else 3 if the port pauses it, else one that it does.

    Where it pauses none, 3.
    """
    stated = (roce_class.tc for roce_class in effects.rdma_classes(fabric) if not isinstance(roce_class.tc, Unknown))
    paused = [tc for tc in range(8) if effects.is_lossless(qos, tc)]
    wanted = [*stated, _USUAL_RDMA_TC]
    return next((tc for tc in (*wanted, *paused) if tc in paused), wanted[0])


@declare_word("function", rests_on=("classes",))
def rdma_dscps_without_map(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the DSCPs of RDMA that are lossless without a map, because a port that trusts no DSCP pauses all packets.

    Once it trusts DSCP, they need one.
    """
    if not layers_to_trust(qos):
        return ()
    return tuple(dscp for dscp in effects.rdma_dscps(fabric) if effects.is_lossless(qos, effects.tc_of_dscp(qos, dscp)))
