"""What SONiC can hold: timers for each port, traffic patterns, trimming.

Sources: sonic-pfcwd.yang of every branch (watchdog; polling up to 3000 ms before 202511), init_cfg.json.j2 (counters),
sonic-swss orchagent/flexcounterorch.cpp (groups of counters that orchagent knows) and orchagent/pfc_detect_broadcom.lua
(history of pauses; the Lua of no other ASIC estimates one),
files/build_templates/buffers_config.j2 (share of small packets), sonic-trimming.yang (from 202505) and the HLD of
packet trimming, sonic-utilities scripts/db_migrator.py (master's database is that of 202605).
"""

from dataclasses import replace

from nodrop.model.fabric import HASH_FIELDS, POLLED_COUNTER_GROUPS
from nodrop.model.qos import PfcWatchdog
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.platforms.kit.traits import (
    BgpTableTraits,
    PlatformTraits,
    TelemetryStreamTraits,
    TraitsBeforeRelease,
    TrimmingTraits,
    WatchdogTraits,
)
from nodrop.platforms.sonic.bgp_rows import DATACENTER_HOLD_S, MOST_PATHS, supported_fields
from nodrop.platforms.sonic.policy_rows import ROUTE_MAP_SET_BINDINGS, does_template_drop_ge
from nodrop.platforms.sonic.read_bridging import DEFAULT_MTU_BYTES
from nodrop.platforms.sonic.releases import (
    DATABASE_VERSION_BY_RELEASE,
    FIRST_RELEASE_BY_FEATURE,
    RELEASE_BY_BRANCH,
    WAITING_ANNOUNCEMENTS_FEATURE,
)
from nodrop.platforms.sonic.tables import ROLE_BY_DEVICE_TYPE

_GRACEFUL_SHUTDOWN_REASON = (
    "FRR itself gives routes with GRACEFUL_SHUTDOWN preference 0 (bgpd/bgp_route.c, bgp_update), and SONiC's template "
    "leaves set_local_pref out"
)

_SUPPRESS_FIB_FAULT_REASON = "bgpd can lose the setting at its start and then announces no routes; fixed in 202511"
"""sonic-buildimage src/sonic-frr/patch/0106-bgpd-Fix-suppress-fib-pending-config-race-condition.patch. Branches
202511, 202605 and master have it, 202411 and 202505 do not. It names traffic loss as the result."""

_TRIMMING_TRAITS = TrimmingTraits(
    asics=frozenset({"spectrum-4", "spectrum-5", "spectrum-6", "tomahawk-5", "tomahawk-6"}),
    size_bytes=(256, 1024),
    size_step_bytes=4,
    by_priority=False,
    by_service_port=False,
)

_WRED_COUNTER_GROUPS = frozenset({"WRED_ECN_PORT", "WRED_ECN_QUEUE"})
"""The groups of counters that are off by default."""
_WRED_ECN_COUNTERS_SINCE = "202505"
"""orchagent/flexcounterorch.cpp and `counterpoll` have WRED_ECN_QUEUE and WRED_ECN_PORT since then. The YANG models
have them since 202305: an older switch accepts the rows and ignores them."""

_STREAM_TRAITS = TelemetryStreamTraits(counter_bytes=200, management_mbps=1000)
"""sonic-swss crates/countersyncd/src/message/otel.rs: each counter is a metric of OTLP with name, description and three
attributes, 178 to 187 bytes by the name of its port, and TCP over Ethernet adds 6 %. sonic-mgmt_port.yang: 1000 Mb/s at
most."""

_PLATFORM_DEFAULT_WATCHDOG = PfcWatchdog(priorities=(), detection_ms=200, restoration_ms=400, action="drop")
"""sonic-utilities pfcwd/main.py: `start_default` detects in 200 ms for up to 32 ports and drops; `start` restores after
twice the detection."""

TRAITS = PlatformTraits(
    title="SONiC",
    releases=(*DATABASE_VERSION_BY_RELEASE, *RELEASE_BY_BRANCH),
    usual="202505",
    same_as=RELEASE_BY_BRANCH,
    before=(
        TraitsBeforeRelease(
            release="202511",
            traits={
                "routing_tables": None,
                "wait_fault": _SUPPRESS_FIB_FAULT_REASON,
                "watchdog": WatchdogTraits(
                    polling_ms=(100, 3000),
                    detection_ms=(100, 5000),
                    restoration_ms=(100, 60000),
                    actions=True,
                    usual=_PLATFORM_DEFAULT_WATCHDOG,
                ),
            },
        ),
        TraitsBeforeRelease(release=FIRST_RELEASE_BY_FEATURE["high-frequency telemetry"], traits={"streams": None}),
        TraitsBeforeRelease(release=FIRST_RELEASE_BY_FEATURE["weighted paths"], traits={"weighted_paths": False}),
        TraitsBeforeRelease(
            release=_WRED_ECN_COUNTERS_SINCE,
            traits={
                "counters": tuple(
                    counter_group
                    for counter_group in POLLED_COUNTER_GROUPS
                    if counter_group not in _WRED_COUNTER_GROUPS
                ),
                "mark_counters": None,
            },
        ),
        TraitsBeforeRelease(
            release=FIRST_RELEASE_BY_FEATURE[WAITING_ANNOUNCEMENTS_FEATURE], traits={"announces_installed": False}
        ),
        TraitsBeforeRelease(release=FIRST_RELEASE_BY_FEATURE["a pool's percentage"], traits={"pool_shares": False}),
        TraitsBeforeRelease(
            release=FIRST_RELEASE_BY_FEATURE["packet trimming"],
            traits={
                "trimming": replace(_TRIMMING_TRAITS, asics=frozenset()),
                "hash_fields": frozenset(HASH_FIELDS) - {"ipv6-flow-label"},
            },
        ),
        TraitsBeforeRelease(
            release=FIRST_RELEASE_BY_FEATURE["fields of the hash"], traits={"hash_fields": frozenset()}
        ),
        TraitsBeforeRelease(release=FIRST_RELEASE_BY_FEATURE["name servers"], traits={"most_dns_servers": 0}),
    ),
    watchdog=WatchdogTraits(
        stock_ms=200,  # sonic-utilities pfcwd/main.py, start_default
        usual=_PLATFORM_DEFAULT_WATCHDOG,
        polling_ms=(100, 1000),
        detection_ms=(100, 5000),
        restoration_ms=(100, 60000),
        actions=True,
        history=frozenset({"broadcom"}),
    ),
    trimming=_TRIMMING_TRAITS,
    loopback=None,
    counters=POLLED_COUNTER_GROUPS,
    mark_counters="WRED_ECN_QUEUE",
    spare={"fec": None, "mtu_bytes": DEFAULT_MTU_BYTES},
    strict_guarantees=True,
    fec_through_sai=True,
    qos_on_every_port=False,
    lossy_cable_length=True,
    pool_shares=True,
    port_buffers=True,
    most_dns_servers=3,
    hash_fields=frozenset(HASH_FIELDS),
    most_tiers=len(ROLE_BY_DEVICE_TYPE),  # each has a type with its hash seed (dockers/docker-orchagent/switch.json.j2)
    adaptive_routing=False,
    most_paths=None,
    global_next_hops=True,  # neighsyncd/neighsync.cpp, isLinkLocalEnabled; bgpd/templates/general/policies.conf.j2
    lists_ports=True,  # sonic-swss portsyncd/portsyncd.cpp, handlePortConfigFromConfigDB
    port_channel="PortChannel{}",
    session_dscp=True,
    routing_tables=BgpTableTraits(
        most_paths=MOST_PATHS,
        hold_s=DATACENTER_HOLD_S,
        process=supported_fields(Bgp),
        session=supported_fields(BgpNeighbor),
        lost_sets=frozenset(row.field for row in ROUTE_MAP_SET_BINDINGS if row.encode is None),
        loses_ge=does_template_drop_ge,
    ),
    queue_reserves=True,
    red_marks=True,
    zero_xon_is_none=True,
    hwskus=True,
    autoneg=None,
    fec=None,
    shared_headroom=True,
    pattern_mtu_bytes=None,
    small_packet_percent=None,
    otlp=False,
    gnmi=True,
    gnmi_beside_otlp=False,
    streams=_STREAM_TRAITS,
    additions=frozenset({"tables", "lines"}),
    taken={},
    reasons={
        "@counters": f"SONiC counts ECN marks since {_WRED_ECN_COUNTERS_SINCE}",
        "@bgp/suppress_fib_pending": (
            f"SONiC's BGP waits for the hardware since {FIRST_RELEASE_BY_FEATURE[WAITING_ANNOUNCEMENTS_FEATURE]}, "
            "and in frr.conf only"
        ),
        "@buffer_pools/*": "SONiC shares its memory evenly among pools before 202405",
        "@bgp/session_dscp": "no table has the DSCP of BGP's packets: they leave with FRR's own CS6, DSCP 48",
        "@bgp/requires_policy": "no table turns off FRR's default, by which a session without policies passes nothing",
        "@bgp/neighbors/*/hold_s": "FRR's own hold time is 180 s when it is configured from tables",
        "@bgp/maximum_paths": f"a table takes {MOST_PATHS} equal paths at most",
        "@bgp/maximum_paths_ipv6": f"a table takes {MOST_PATHS} equal paths at most",
        "@bgp/prefix_lists": "a range in a table has both ends; SONiC's template drops a `ge` not above the prefix "
        "length, compared as text",
        "@bgp/route_maps": _GRACEFUL_SHUTDOWN_REASON,
        "@bgp/community_lists": _GRACEFUL_SHUTDOWN_REASON,
        "@bgp": "no table has a column for it",
        "@watchdog_conditions": "SONiC's watchdog goes by what its daemon has for the ASIC",
        "@high_frequency": f"SONiC has it since {FIRST_RELEASE_BY_FEATURE['high-frequency telemetry']}, "
        "and from Spectrum-4 on",
        "@otlp_collectors": "SONiC sends nothing by OTLP by itself: collectors subscribe by gNMI",
    },
)
