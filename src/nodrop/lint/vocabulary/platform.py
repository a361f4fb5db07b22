"""Words about what a platform does whatever is configured."""

from functools import cache

from nodrop.lint.vocabulary import word
from nodrop.platforms.traits import traits


@word("function")
@cache
def marking_needs_wred(platform: str) -> bool:
    """Whether a platform marks only where the WRED flag of the color is on too; not where nothing is known of it."""
    try:
        return traits(platform).red_marks
    except KeyError:
        return False


@word("function")
@cache
def needs_link_local(platform: str) -> bool:
    """Whether a platform resolves link-local neighbors on ports alone that are told to route by them."""
    try:
        return traits(platform).global_next_hops
    except KeyError:
        return False


@word("function")
@cache
def chooses_session_dscp(platform: str) -> bool:
    """Whether a platform can be told the DSCP of BGP's own packets; not where nothing is known of it."""
    try:
        return traits(platform).session_dscp
    except KeyError:
        return False
