"""Well-known communities: names of FRR, with the few that NVUE takes.

NVUE knows local-as, no-advertise and no-export by name, and writes 0:0 for the value named `internet` before 5.14
(Cumulus Linux 5.14 and 5.17, NVUE Format Reference, well-known-community); all others are numbers AA:NN there. The
numbers are those of IANA's registry, the names FRR's.
"""

from collections.abc import Mapping

from nodrop.platforms.nvue.releases import has_feature

INTERNET_COMMUNITY = "internet"

NVUE_COMMUNITY_BY_NAME: Mapping[str, str] = {
    "accept-own": "65535:1",
    "accept-own-nexthop": "65535:8",
    "blackhole": "65535:666",
    "graceful-shutdown": "65535:0",
    INTERNET_COMMUNITY: "0:0",
    "llgr-stale": "65535:6",
    "local-AS": "local-as",
    "no-advertise": "no-advertise",
    "no-export": "no-export",
    "no-llgr": "65535:7",
    "no-peer": "65535:65284",
    "route-filter-translated-v4": "65535:2",
    "route-filter-translated-v6": "65535:4",
    "route-filter-v4": "65535:3",
    "route-filter-v6": "65535:5",
}
"""How NVUE spells what has a name in FRR."""
_NAME_BY_NVUE_COMMUNITY = {
    **{spelt: name for name, spelt in NVUE_COMMUNITY_BY_NAME.items()},
    "65535:65281": "no-export",
    "65535:65282": "no-advertise",
    "65535:65283": "local-AS",
}


def render_community(community: str, release: object) -> str:
    """Return a community as a release of NVUE writes it."""
    if community == INTERNET_COMMUNITY and not has_feature(release, "the community internet as a number"):
        return community
    return NVUE_COMMUNITY_BY_NAME.get(community, community)


def community_name(community: str) -> str:
    """Return a community as the model has it: by its name if it has one."""
    return _NAME_BY_NVUE_COMMUNITY.get(community, community)


def render_link_bandwidth(value: str) -> str:
    """Return how NVUE writes the link bandwidth that FRR gives a route."""
    return value.replace("num-multipaths", "multipaths").replace(" ", "-")


def link_bandwidth_in_frr_words(spelt: str) -> str:
    """Return FRR's words for a link bandwidth."""
    return spelt.replace("multipaths", "num-multipaths").replace("-non-transitive", " non-transitive")
