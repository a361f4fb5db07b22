"""Words for commands of rules: values as they are typed."""

from nodrop.engine.vocabulary import declare_word
from nodrop.model.routing import TITLE_BY_ADDRESS_FAMILY
from nodrop.units import show_ids


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
