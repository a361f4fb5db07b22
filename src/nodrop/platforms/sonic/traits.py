"""What SONiC can hold: timers for each port, traffic patterns, trimming. A design is made in its terms.

Sources: sonic-pfcwd.yang (watchdog; polling up to 1000 ms holds in every release), init_cfg.json.j2 (counters),
files/build_templates/buffers_config.j2 (share of small packets), sonic-trimming.yang and the HLD of packet trimming.
"""

from nodrop.platforms.traits import Traits, TrimmingTraits, WatchdogTraits

TRAITS = Traits(
    title="SONiC",
    releases=("202505",),
    watchdog=WatchdogTraits(polling_ms=(100, 1000), detection_ms=(100, 5000), restoration_ms=(100, 60000)),
    trimming=TrimmingTraits(
        asics=frozenset({"spectrum-4"}),
        size_bytes=(256, 1024),
        size_step_bytes=4,
        by_priority=False,
        by_service_port=False,
    ),
    loopback="Loopback0",
    counters=(
        "BUFFER_POOL_WATERMARK",
        "PFCWD",
        "PG_DROP",
        "PG_WATERMARK",
        "PORT",
        "PORT_BUFFER_DROP",
        "QUEUE",
        "QUEUE_WATERMARK",
        "RIF",
    ),
    qos_on_every_port=False,
    lossy_cable_length=True,
    port_buffers=True,
    most_paths=None,
    session_dscp=True,
    red_marks=True,
    autoneg=None,
    fec=None,
    shared_headroom=True,
    pattern_mtu_bytes=None,
    small_packet_percent=50,
    otlp=False,
    gnmi_beside_otlp=False,
    additions=frozenset({"tables", "lines"}),
    taken={},
    reasons={"@otlp_collectors": "SONiC sends nothing by OTLP by itself: collectors subscribe by gNMI"},
)
