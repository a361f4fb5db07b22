"""What NVUE (Cumulus Linux) can hold: one watchdog for the switch, QoS on every port, no traffic pattern.

Sources: Cumulus Linux 5.14 and 5.16, Quality of Service (watchdog, profiles, small-packet-probability) and RoCE; 5.6
What's New (ranges of polling and robustness); Packet Trimming (sizes, ASICs); Open Telemetry Export, gNMI Streaming.
"""

from nodrop.platforms.traits import Traits, TrimmingTraits, WatchdogTraits

_OF_SWITCH = "NVUE has one polling and robustness for the switch: its host ports are watched, which act first"
_HEADROOM = "NVUE works headroom out for packets of 1024 bytes, all of them small, and for no other pattern"

TRAITS = Traits(
    title="NVUE",
    releases=("5.14", "5.16"),
    watchdog=WatchdogTraits(polling_ms=(100, 5000), detection_ms=(100, 5_000_000), robustness=(1, 1000)),
    trimming=TrimmingTraits(
        asics=frozenset({"spectrum-4"}),
        size_bytes=(256, 1024),
        size_step_bytes=4,
        by_priority=True,
        by_service_port=True,
    ),
    loopback="lo",
    counters=(),
    qos_on_every_port=True,
    lossy_cable_length=False,
    port_buffers=False,
    most_paths=128,
    session_dscp=False,
    red_marks=False,
    autoneg=True,
    fec="auto",
    pattern_mtu_bytes=1024,
    small_packet_percent=100,
    otlp=True,
    gnmi_beside_otlp=False,
    additions=frozenset({"paths"}),
    reasons={
        "@gnmi_port": "Cumulus Linux is not to run gNMI beside OTLP",
        "@loopbacks": "NVUE calls its loopback lo",
        "@bgp/maximum_paths": "NVUE takes 128 equal paths at most",
        "@bgp/session_dscp": "NVUE has no setting for it: BGP's packets leave with FRR's own CS6, DSCP 48",
        "@counters": "NVUE has no groups of counters: telemetry says what is counted",
        "@dynamic_buffers": _HEADROOM,
        "@buffer_pools/*/size_bytes": "what headroom leaves; NVUE reserves no more for each port",
        "@watchdog_polling_ms": "NVUE's detection is polling × robustness, in whole numbers",
        "@trimming/tc": "NVUE gives cut packets a switch priority, whose queue they take",
        "*/autoneg": "NVUE negotiates unless told not to",
        "*/enabled": "NVUE sends cut packets round by the last service port",
        "*/fec": "NVUE has no port without FEC mode",
        "*/cable_length_m": "NVUE has a cable length wherever it has PFC, on ports that are shut too, and nowhere else",
        "*/qos/pfc_watchdog/restoration_ms": "NVUE has no time of restoration before 5.19",
        "*/qos/pfc_watchdog/action": "NVUE has no choice of action before 5.19",
        "*/qos/pfc_watchdog": _OF_SWITCH,
        "*/qos/priority_groups/*/buffer/size_bytes": _HEADROOM,
        "*/qos/priority_groups/*/buffer/headroom": _HEADROOM,
        "*/qos/queues/*/wred/*/enabled": "NVUE marks without RED, so that packets without ECN are not dropped early",
        "*/qos/ingress_buffers": "NVUE has buffers for priority groups and queues only",
        "*/qos/egress_buffers": "NVUE has buffers for priority groups and queues only",
        "*/qos": "NVUE's QoS holds for ports that are shut too",
    },
)
