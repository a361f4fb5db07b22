"""The releases of SONiC that are written: how each names its database, and since when it knows what.

Sources, by branch: sonic-utilities scripts/db_migrator.py (CURRENT_VERSION), sonic-buildimage
src/sonic-yang-models/yang-models (tables, fields, ranges); SWITCH_HASH and DNS_NAMESERVER have models before 202311,
but neither sonic-swss orchagent nor sonic-buildimage files/image_config/resolv-config reads them there. High-frequency
telemetry has models in 202505 already, but orchagent (high_frequency_telemetry) and countersyncd since 202511 only.
Before 202511 the YANG models want a sequence number in the keys of PREFIX, and frrcfgd and its templates know none
(sonic-buildimage pull request 22888); before 202505 they take `true` for an active address family, and the models `up`
only.
"""

DATABASE_VERSION_BY_RELEASE = {
    "202305": "version_202305_01",
    "202311": "version_202311_03",
    "202405": "version_202405_02",
    "202411": "version_202411_02",
    "202505": "version_202505_01",
    "202511": "version_202511_01",
    "202605": "version_202605_01",
}
"""VERSIONS.DATABASE.VERSION by release, oldest first."""

RELEASE_BY_BRANCH = {"master": "202605"}
"""Branches whose database is still that of a release: nothing in a file tells them apart."""

WAITING_ANNOUNCEMENTS_FEATURE = "announcements that wait for the hardware"
"""Zebra waits for fpmsyncd's answer (sonic-buildimage dockers/docker-fpm-frr/frr/supervisord/supervisord.conf.j2,
`--asic-offload=notify_on_offload`) since the templates say `bgp suppress-fib-pending`. Before, it answers BGP when the
kernel has a route; 202311 has the field of DEVICE_METADATA, and no daemon that reads it."""

MAP_WITHOUT_ENTRY_FEATURE = "a map without an entry"
FIRST_RELEASE_BY_FEATURE = {
    "modes of a golden configuration": "202311",
    "FEC mode auto": "202311",
    "name servers": "202311",
    "fields of the hash": "202311",
    "a pool's percentage": "202405",
    "a pool of both directions": "202405",
    "a map of traffic classes to DSCPs": "202411",
    "queues 8 and 9": "202411",
    WAITING_ANNOUNCEMENTS_FEATURE: "202411",
    "weighted paths": "202411",
    "PFC without priorities": "202505",
    "packet trimming": "202505",
    "a packet's discard action": "202505",
    "hashes of the IPv6 flow label": "202505",
    "speeds above 800G": "202511",
    "routing in tables": "202511",
    "a history of pauses": "202511",
    "high-frequency telemetry": "202511",
    "separated routing in frr.conf": "202605",
    MAP_WITHOUT_ENTRY_FEATURE: "202605",
}
"""The first release whose models or start scripts hold something; what is not here they all hold."""


def has_feature(release: str, feature: str) -> bool:
    """Whether a release that is written knows of something that is not in all of them; KeyError for anything else."""
    return release >= FIRST_RELEASE_BY_FEATURE[feature]
