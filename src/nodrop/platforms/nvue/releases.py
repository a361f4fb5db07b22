"""The releases of Cumulus Linux that are written: which dialect each speaks, and since when it has what.

Sources: Cumulus Linux 5.10 to 5.19, What's New (new, changed and removed NVUE commands); 5.15, New and Changed NVUE
Commands (the dialects); NVUE command reference (version history of `system gnmi-server`, `system syslog`,
`system snmp-server`); 5.14, Packet Trimming and NVUE Format Reference (communities); NVIDIA's OpenAPI documents of
5.16 and 5.17, which `published.yaml` names (`small-packet-probability`). OTLP is in 5.10, as a beta of Spectrum-4 and
without statistics of buffers, which come with 5.12.
"""

from functools import cache

RELEASES = tuple(f"5.{minor}" for minor in range(9, 20))
"""Oldest first."""

FIRST_RELEASE_BY_FEATURE = {
    "SNMP beside the services": "5.11",
    "export by OTLP": "5.12",
    "a state that is saved by itself": "5.12",
    "servers of syslog beside the VRF": "5.13",
    "a gNMI server": "5.13",
    "adaptive routing as a setting of the switch": "5.13",
    "packet trimming": "5.14",
    "the community internet as a number": "5.14",
    "a DHCP client by family": "5.15",
    "enabled instead of on": "5.15",
    "relative marking": "5.17",
    "a share of small packets": "5.17",
    "a time of restoration": "5.19",
    "conditions of the watchdog": "5.19",
}
"""The first release that has something; what is not here they all have."""


def has_feature(release: object, feature: str) -> bool:
    """Whether a release, such as 5.16, has something that is not in all of them; KeyError for anything else."""
    return is_same_or_earlier(FIRST_RELEASE_BY_FEATURE[feature], release)


def is_same_or_earlier(release: str, other_release: object) -> bool:
    """Whether a release is another or came before it."""
    return _release_sort_key(release) <= _release_sort_key(str(other_release))


@cache
def _release_sort_key(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
