"""What NVUE (Cumulus Linux) can hold: one watchdog for the switch, QoS on every port, no traffic pattern.

Sources: Cumulus Linux 5.14 and 5.16, Quality of Service (watchdog, profiles, small-packet-probability) and RoCE; 5.6
What's New (ranges of polling and robustness); 5.19, Switch Port Attributes (how many ports); Packet Trimming (sizes,
ASICs); Open Telemetry Export, gNMI Streaming; 5.10, `nv show qos advance-buffer-config default-global
egress-mgmt-buffer` (traffic class 16 of BGP, OSPF and BFD); 5.16, Equal Cost Multipath (unique hash seed).

`qos roce` is the default style for one lossless priority: NVIDIA documents how to move its PFC to another priority
(5.16, RDMA over Converged Ethernet, Change the Default Configuration), but not PFC on several.
"""

from dataclasses import replace

from nodrop.model.qos import PfcWatchdog
from nodrop.platforms.kit.traits import PlatformTraits, TraitsBeforeRelease, TrimmingTraits, WatchdogTraits
from nodrop.platforms.nvue.ageing import USUAL_MAC_AGEING_S, USUAL_REACHABLE_S
from nodrop.platforms.nvue.conditions import DEFAULT_WATCHDOG_CONDITIONS, QUEUE_CONDITION_POLLING_ABOVE_MS
from nodrop.platforms.nvue.hashing import NVUE_FLAG_BY_FIELD
from nodrop.platforms.nvue.read_macro import (
    DEFAULT_MTU_BYTES,
    DEFAULT_WATCHDOG_POLLING_MS,
    DEFAULT_WATCHDOG_RECOVERY_POLLINGS,
    DEFAULT_WATCHDOG_ROBUSTNESS,
)
from nodrop.platforms.nvue.releases import FIRST_RELEASE_BY_FEATURE, RELEASES

_SWITCH_WIDE_TIMERS_REASON = (
    "NVUE has one polling and robustness for the switch: its host ports are watched, which act first"
)
_NO_TRAFFIC_PATTERN_REASON = (
    "NVUE takes no traffic pattern: what follows is the formula of the ASIC for small packets only"
)
_HEADROOM_NOT_SHARED_REASON = "NVUE's ports have separate headroom in these releases; shared headroom exists since 5.18"
_TRIMMING_TRAITS = TrimmingTraits(
    asics=frozenset({"spectrum-4", "spectrum-5"}),
    size_bytes=(256, 1024),
    size_step_bytes=4,
    by_priority=True,
    by_service_port=True,
)

_PLATFORM_DEFAULT_WATCHDOG = PfcWatchdog(
    priorities=(),
    detection_ms=DEFAULT_WATCHDOG_POLLING_MS * DEFAULT_WATCHDOG_ROBUSTNESS,
    restoration_ms=None,
    action=None,
)
_WATCHDOG_TRAITS = WatchdogTraits(
    polling_ms=(100, 5000),
    detection_ms=(100, 5_000_000),
    robustness=(1, 1000),
    actions=False,
    usual=_PLATFORM_DEFAULT_WATCHDOG,
)
RECOVERY_POLLINGS_RANGE = (1, 1000)
"""In how many pollings without pause, one after the other, a queue is free again (5.19, Quality of Service)."""

TRAITS = PlatformTraits(
    title="NVUE",
    releases=RELEASES,
    usual="5.16",
    before=(
        TraitsBeforeRelease(
            release=FIRST_RELEASE_BY_FEATURE["a time of restoration"], traits={"watchdog": _WATCHDOG_TRAITS}
        ),
        TraitsBeforeRelease(
            release=FIRST_RELEASE_BY_FEATURE["packet trimming"],
            traits={"trimming": replace(_TRIMMING_TRAITS, asics=frozenset())},
        ),
        TraitsBeforeRelease(release=FIRST_RELEASE_BY_FEATURE["a gNMI server"], traits={"gnmi": False}),
        TraitsBeforeRelease(release=FIRST_RELEASE_BY_FEATURE["export by OTLP"], traits={"otlp": False}),
    ),
    watchdog=replace(
        _WATCHDOG_TRAITS,
        restoration_ms=(100, 5_000_000),
        recovery=RECOVERY_POLLINGS_RANGE,
        usual=replace(
            _PLATFORM_DEFAULT_WATCHDOG, restoration_ms=DEFAULT_WATCHDOG_POLLING_MS * DEFAULT_WATCHDOG_RECOVERY_POLLINGS
        ),
        conditions=DEFAULT_WATCHDOG_CONDITIONS,
        queue_polling_ms=QUEUE_CONDITION_POLLING_ABOVE_MS,
    ),
    trimming=_TRIMMING_TRAITS,
    loopback="lo",
    counters=(),
    spare={"speed_mbps": None, "fec": "auto", "autoneg": True, "mtu_bytes": DEFAULT_MTU_BYTES},
    styles={"macro": (1, 1), "explicit": (0, 8)},
    strict_guarantees=False,
    qos_on_every_port=True,
    lossy_cable_length=False,
    pool_shares=True,
    port_buffers=False,
    most_dns_servers=3,
    hash_fields=frozenset(NVUE_FLAG_BY_FIELD),
    own_hash_seed=True,
    adaptive_routing=True,
    most_paths=128,
    global_next_hops=False,
    counts_ports=True,
    port_channel="bond{}",
    mac_ageing_s=USUAL_MAC_AGEING_S,
    reachable_s=USUAL_REACHABLE_S,
    session_dscp=False,
    queue_reserves=False,
    red_marks=False,
    zero_xon_is_none=False,
    relative_marking=frozenset({"spectrum-4", "spectrum-5", "spectrum-6"}),
    autoneg=True,
    fec="auto",
    shared_headroom=False,
    pattern_mtu_bytes=1024,
    small_packet_percent=100,
    otlp=True,
    without_otlp=frozenset({"spectrum-1"}),
    gnmi=True,
    gnmi_beside_otlp=False,
    additions=frozenset({"paths"}),
    taken={
        "bridge/**": "vlans",
        "interface/eth0/**": "management",
        "interface/lo/**": "loopbacks",
        "interface/*/bond/**": "port_channels",
        "interface/*/bridge/**": "vlans",
        "interface/bond*/**": "port_channels",
        "interface/vlan*/**": "vlans",
        "interface/*/link/mtu/**": "interfaces/*/mtu_bytes",
        "interface/*/link/speed/**": "interfaces/*/speed_mbps",
        "interface/*/qos/pfc-watchdog/**": "interfaces/*/qos/pfc_watchdog",
        "interface/*/qos/**": "interfaces/*/qos",
        "interface/*/router/adaptive-routing/**": "interfaces/*/adaptive_routing",
        "interface/*/ip/**": "interfaces/*/addresses",
        "interface/*/ipv4/**": "interfaces/*/addresses",
        "interface/*/ipv6/**": "interfaces/*/addresses",
        "interface/**": "interfaces",
        "qos/pfc-watchdog/*/**": "watchdog_conditions",
        "qos/pfc-watchdog/**": "watchdog_polling_ms",
        "qos/traffic-pool/**": "buffer_pools",
        "qos/congestion-control/**": "interfaces/*/qos/queues/*/wred",
        "qos/**": "interfaces/*/qos",
        "router/adaptive-routing/**": "adaptive_routing",
        "router/**": "bgp",
        "service/ntp/**": "ntp_servers",
        "system/ntp/**": "ntp_servers",
        "service/syslog/**": "syslog_servers",
        "system/syslog/**": "syslog_servers",
        "service/dns/**": "dns_servers",
        "system/dns/**": "dns_servers",
        "system/forwarding/ecmp-hash/**": "hash_fields",
        "system/gnmi-server/**": "gnmi_port",
        "*/snmp-server/system-location/**": "snmp_location",
        "*/snmp-server/system-contact/**": "snmp_contact",
        "system/telemetry/**": "otlp_collectors",
        "system/forwarding/packet-trim/**": "trimming",
        "vrf/**": "bgp",
    },
    reasons={
        "@gnmi_port": f"Cumulus Linux has gNMI since {FIRST_RELEASE_BY_FEATURE['a gNMI server']}, "
        "and is not to run it beside OTLP",
        "@otlp_collectors": "Cumulus Linux sends counters of buffers by OTLP "
        f"since {FIRST_RELEASE_BY_FEATURE['export by OTLP']}, and from Spectrum-2 on",
        "@loopbacks": "NVUE calls its loopback lo",
        "@bgp/maximum_paths": "NVUE takes 128 equal paths at most",
        "@bgp/maximum_paths_ipv6": "NVUE takes 128 equal paths at most",
        "@bgp/route_maps": "Cumulus Linux resolves link-local next hops on every port, so that none has to be global",
        "@bgp/session_dscp": "NVUE has no setting for it: BGP's packets leave with FRR's own CS6, DSCP 48",
        "@hash_seed": "Cumulus Linux gives each switch a random seed; a stated one restarts switchd and all ports",
        "@hash_fields": "NVUE chooses by addresses, ports, protocol, flow label and port of entry, within tunnels too",
        "@high_frequency": "NVUE samples no ECN marks, drops or watermarks at short intervals",
        "@counters": "NVUE has no groups of counters: telemetry says what is counted",
        "@dynamic_buffers/over_subscribe_ratio": _HEADROOM_NOT_SHARED_REASON,
        "@dynamic_buffers": _NO_TRAFFIC_PATTERN_REASON,
        "@buffer_pools/*/shared_headroom_bytes": _HEADROOM_NOT_SHARED_REASON,
        "@buffer_pools/*/size_bytes": "what headroom leaves; NVUE reserves no more for each port",
        "@watchdog_conditions": "the conditions for a stuck queue can be set since 5.19; this is the default",
        "@watchdog_polling_ms": "NVUE's detection is polling × robustness, in whole numbers",
        "@trimming/tc": "NVUE gives cut packets a switch priority, whose queue they take",
        "*/autoneg": "NVUE negotiates by default",
        "*/enabled": "NVUE sends cut packets round by the last service port",
        "*/speed_mbps": "NVUE sends cut packets round by the last service port",
        "*/fec": "NVUE has no port without FEC mode",
        "*/cable_length_m": "NVUE has a cable length wherever it has PFC, on ports that are shut too, and nowhere else",
        "*/qos/pfc_watchdog/restoration_ms": "NVUE has no time of restoration before 5.19",
        "*/qos/pfc_watchdog/action": "NVUE has no choice of action: it drops the packets of a stuck queue",
        "*/qos/pfc_watchdog": _SWITCH_WIDE_TIMERS_REASON,
        "*/qos/priority_groups/*/buffer/size_bytes": _NO_TRAFFIC_PATTERN_REASON,
        "*/qos/priority_groups/*/buffer/headroom": _NO_TRAFFIC_PATTERN_REASON,
        "*/qos/queues/*/buffer/size_bytes": "nodrop reserves nothing by queue in NVUE; packets of BGP and BFD that the "
        "switch sends have a separate pool (traffic class 16)",
        "*/qos/queues/*/wred/*/enabled": "NVUE marks without RED, so that packets without ECN are not dropped early",
        "*/qos/ingress_buffers": "NVUE has buffers for priority groups and queues only",
        "*/qos/egress_buffers": "NVUE has buffers for priority groups and queues only",
        "*/qos": "NVUE's QoS applies to shut ports too",
    },
)
