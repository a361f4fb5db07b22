"""Words about a platform's behavior regardless of its configuration; none of it for an unknown platform."""

from nodrop.engine.vocabulary import declare_word
from nodrop.platforms.kit.traits import newest_traits


@declare_word("function")
def marking_needs_wred(platform: str) -> bool:
    """Whether a platform marks only where the WRED flag of the color is on too; not where nothing is known of it."""
    traits = newest_traits(platform)
    return traits is not None and traits.red_marks


@declare_word("function")
def is_zero_xon_none(platform: str) -> bool:
    """Whether a platform takes a resume threshold of 0 without an offset as none; not where this is unknown."""
    traits = newest_traits(platform)
    return traits is not None and traits.zero_xon_is_none


@declare_word("function")
def needs_link_local(platform: str) -> bool:
    """Whether a platform resolves link-local neighbors only on ports that are configured to route by them."""
    traits = newest_traits(platform)
    return traits is not None and traits.global_next_hops


@declare_word("function")
def chooses_session_dscp(platform: str) -> bool:
    """Whether a platform has a setting for the DSCP of BGP packets; not where this is unknown."""
    traits = newest_traits(platform)
    return traits is not None and traits.session_dscp
