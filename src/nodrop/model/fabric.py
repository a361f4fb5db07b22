"""The fabric: devices and their ports, hosts, links, traffic classes and the owner's statements about them."""

from typing import Literal, NamedTuple, get_args

from nodrop.model.access import AccessList
from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.buffers import BufferPool, DynamicBuffers, HeadroomRow
from nodrop.model.external import ExternalNeighbor
from nodrop.model.nics import Nic
from nodrop.model.overlays import MultiChassis, MuxCable, Tunnel
from nodrop.model.profile import Profile
from nodrop.model.qos import NumberMap, PfcWatchdog, QosProfile, WatchdogConditions
from nodrop.model.routing import Bgp, BgpNeighbor, StaticRoute
from nodrop.model.states import UNKNOWN, Unknown, known_rows
from nodrop.model.values import model_dataclass

Mode = Literal["lossless", "pfc-only", "lossy", "trim", "uec"]
MODES: tuple[Mode, ...] = ("lossless", "pfc-only", "lossy", "trim", "uec")
StorageProtocol = Literal["nvme-rdma", "nvme-tcp", "lustre-o2ib", "lustre-tcp", "nfs-rdma"]
Purpose = Literal["rdma", "cnp", "storage", StorageProtocol, "inband", "control", "default", "unknown"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
PortSide = Literal["host", "fabric"]
Fec = Literal["rs", "fc", "none", "auto"]
HostPortSpread = Literal["leaves", "rails", "one-leaf"]
"""How the ports of a host lie on leaves: on several, port k of all hosts on the leaf of rail k, or all on one."""

QosStyle = Literal["macro", "explicit"]
"""How a configuration states QoS: by a macro and what differs from its defaults, or setting by setting."""

HashField = Literal[
    "in-port", "dst-mac", "src-mac", "ethertype", "vlan-id", "ip-protocol", "dst-ip", "src-ip", "l4-dst-port",
    "l4-src-port", "inner-dst-mac", "inner-src-mac", "inner-ethertype", "inner-ip-protocol", "inner-dst-ip",
    "inner-src-ip", "inner-l4-dst-port", "inner-l4-src-port", "ipv6-flow-label",
]  # fmt: skip
HASH_FIELDS: tuple[HashField, ...] = get_args(HashField)

POLLED_COUNTER_GROUPS = (
    "BUFFER_POOL_WATERMARK",
    "PFCWD",
    "PG_DROP",
    "PG_WATERMARK",
    "PORT",
    "PORT_BUFFER_DROP",
    "QUEUE",
    "QUEUE_WATERMARK",
    "RIF",
    "WRED_ECN_PORT",
    "WRED_ECN_QUEUE",
)
"""The groups of counters that every switch polls, where its platform has groups (`Counter.group`)."""

SampledKind = Literal["queues", "priority-groups", "ports", "buffer-pools"]
"""The kinds of objects of which a switch can stream counters (`SampledCounters.kind`)."""


class Port(NamedTuple):
    """The neutral identity of a port: the number on the panel, from 1, and the split, 0 where it is not split."""

    panel: int
    split: int = 0


class End(NamedTuple):
    """One end of a link: a device or host, and the name of its port."""

    node: str
    port: str

    def __str__(self) -> str:
        return f"{self.node}:{self.port}"


@model_dataclass
class Interface:
    """A port of a switch, with its effects on traffic in `qos`.

    `port` is identity, `name` is the platform's name for it. `cable_length_m` is the configured length; the true one is
    the link's `length_m`. `side` is stated context: whether a host or another switch is at the far end, None where the
    port is known to be uncabled.
    """

    name: str
    port: Port | None | Unknown = None
    enabled: bool | Unknown = True
    speed_mbps: int | None | Unknown = None
    lanes: int | None | Unknown = None
    fec: Fec | None | Unknown = None
    autoneg: bool | None | Unknown = None
    advertised_speeds_mbps: tuple[int, ...] | None | Unknown = None
    """The speeds that the port offers while it negotiates, slowest first; None is all that it supports."""
    link_training: bool | None | Unknown = None
    mtu_bytes: int | None | Unknown = None
    addresses: tuple[str, ...] | Unknown = ()
    link_local: bool | Unknown = False
    """Whether the port is told to route with its IPv6 link-local address, which BGP over an interface needs."""
    vrf: str | None | Unknown = None
    description: str | None | Unknown = None
    link_pause: bool | None | Unknown = None
    """Whether 802.3x link pause is on, which stops every class."""
    macsec: bool | Unknown = False
    """Whether frames of the link are encrypted or authenticated (IEEE 802.1AE), whatever the profile is."""
    cable_length_m: int | None | Unknown = None
    adaptive_routing: bool | Unknown = False
    """Whether it is one of the equal paths among which the switch chooses by load, packet by packet."""
    utilization_threshold_percent: int | None | Unknown = None
    """From which utilization of the link on the port counts as loaded there, where the switch looks at utilization;
    None leaves it to the switch."""
    qos: QosProfile | None | Unknown = None
    side: PortSide | None | Unknown = UNKNOWN

    @property
    def lane_mbps(self) -> int | None:
        """Speed of one lane, Mb/s; None where the port has no speed or lanes."""
        if self.speed_mbps is None or self.lanes is None:
            return None
        return self.speed_mbps // self.lanes


@model_dataclass
class Loopback:
    """A loopback interface and its addresses."""

    name: str
    addresses: tuple[str, ...]
    vrf: str | None = None


@model_dataclass
class Management:
    """The out-of-band port: its addresses, its gateway and whether it has a separate VRF."""

    interface: str
    addresses: tuple[str, ...]
    gateway: str | None
    own_vrf: bool


@model_dataclass
class Counter:
    """A group of counters that the switch polls."""

    group: str
    enabled: bool
    interval_ms: int | None = None


@model_dataclass
class Trimming:
    """Packet trimming: a packet that does not fit is cut to `size_bytes` and sent on `queue` with `dscp`."""

    size_bytes: int | None
    dscp: int | Literal["from-tc"] | None
    tc: int | None
    queue: int | Literal["dynamic"] | None


@model_dataclass
class Collector:
    """Where a switch sends its counters by itself (OTLP over gRPC)."""

    address: str
    port: int

    @property
    def key(self) -> str:
        """The collector's name in a subject: address and port."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


@model_dataclass
class SampledCounters:
    """Counters that a stream has of objects of one kind.

    An object is a port or a pool by its name, or a queue or priority group: `Ethernet0/3`. Counters have SAI's names.
    """

    kind: SampledKind
    objects: tuple[str, ...]
    counters: tuple[str, ...]

    @property
    def key(self) -> str:
        """The name of the row in a subject: a stream has each kind once."""
        return self.kind


@model_dataclass
class CounterStream:
    """A stream of high-frequency telemetry: counters that the switch samples every `interval_us` and sends on."""

    name: str
    enabled: bool
    interval_us: int | None
    samples: tuple[SampledCounters, ...] = ()

    @property
    def counters_count(self) -> int:
        """How many counters each sampling has."""
        return sum(len(sample.objects) * len(sample.counters) for sample in self.samples)


@model_dataclass
class Extra:
    """A setting that no field of the model covers, by the platform's own path, the outermost part first.

    Without a value it is there and no more; several values are a list.
    """

    path: tuple[str, ...]
    value: str | tuple[str, ...] | None = None

    @property
    def key(self) -> str:
        """The addition's name in a subject: its path, with dots."""
        return ".".join(self.path)


@model_dataclass
class Device:
    """One switch, with its settings that are not per port: pools, watchdog polling, hash seed, services."""

    name: str
    platform: str
    version: str | None | Unknown = UNKNOWN
    model: str | Unknown = UNKNOWN
    hwsku: str | None | Unknown = None
    """SONiC's name of a use of the model, which has a headroom table of its own; None where it is the usual one."""
    role: str | Unknown = UNKNOWN
    mac: str | None | Unknown = None
    interfaces: tuple[Interface, ...] = ()
    loopbacks: tuple[Loopback, ...] | Unknown = ()
    port_channels: tuple[PortChannel, ...] | Unknown = ()
    vlans: tuple[Vlan, ...] | Unknown = ()
    mac_ageing_s: int | None | Unknown = None
    """After how long a MAC address is forgotten that nothing is heard of; None leaves it to the switch."""
    arp_reachable_s: int | None | Unknown = None
    """How long a neighbor of IPv4 counts as reachable once it is resolved; None leaves it to the switch."""
    nd_reachable_s: int | None | Unknown = None
    """The same of a neighbor of IPv6."""
    multi_chassis: MultiChassis | None | Unknown = None
    dual_tor: bool | Unknown = False
    """Whether servers have a second leaf, to which traffic that arrives here may be sent through a tunnel."""
    mux_cables: tuple[MuxCable, ...] | Unknown = ()
    """The ports to these servers, sorted by port."""
    tunnels: tuple[Tunnel, ...] | Unknown = ()
    access_lists: tuple[AccessList, ...] | Unknown = ()
    """Its access lists, sorted by name."""
    management: Management | None | Unknown = None
    bgp: Bgp | None | Unknown = None
    """The BGP process of the default VRF."""
    vrf_bgp: tuple[Bgp, ...] | Unknown = ()
    """Those of other VRFs, sorted by VRF."""
    static_routes: tuple[StaticRoute, ...] | Unknown = ()
    routing_tables: bool | Unknown = False
    """Whether BGP and static routes are in tables of SONiC's configuration database (frrcfgd), not in FRR's file."""
    shut_by_daemon: tuple[str, ...] | Unknown = ()
    """The interfaces that the routing daemon takes down in the kernel when it starts, sorted by name."""
    qos_style: QosStyle | None | Unknown = None
    """How the configuration states QoS; None if the platform has one way only."""
    buffer_model: Literal["dynamic", "traditional"] | None | Unknown = None
    dynamic_buffers: DynamicBuffers | None | Unknown = None
    headroom_table: tuple[HeadroomRow, ...] | None | Unknown = UNKNOWN
    """What the switch's image gives lossless priority groups by speed and cable, where its own file is there. UNKNOWN
    is what its SKU ships today, None what it shipped in a release before those known."""
    buffer_pools: tuple[BufferPool, ...] | Unknown = ()
    switch_dscp_to_tc: NumberMap | None | Unknown = None
    """The map that holds for the whole switch rather than a port."""
    watchdog_polling_ms: int | None | Unknown = None
    watchdog_conditions: WatchdogConditions | None | Unknown = None
    """What the watchdogs of all ports go by; None where the platform or its release has no setting for it."""
    counters: tuple[Counter, ...] | Unknown = ()
    trimming: Trimming | None | Unknown = None
    hash_seed: int | None | Unknown = None
    ntp_servers: tuple[str, ...] | Unknown = ()
    syslog_servers: tuple[str, ...] | Unknown = ()
    dns_servers: tuple[str, ...] | Unknown = ()
    snmp_location: str | None | Unknown = None
    snmp_contact: str | None | Unknown = None
    hash_fields: tuple[HashField, ...] | None | Unknown = None
    """What of a packet chooses among equal paths, in the order of `HASH_FIELDS`; None leaves it to the switch."""
    adaptive_routing: bool | Unknown = False
    """Whether the switch chooses among equal paths by load, on the ports that have it (adaptive routing)."""
    weighs_utilization: bool | Unknown = False
    """Whether it looks at the utilization of links for that, beside their queues."""
    gnmi_port: int | None | Unknown = None
    """TCP port on which collectors may subscribe; None where none is configured."""
    otlp_collectors: tuple[Collector, ...] | Unknown = ()
    high_frequency: tuple[CounterStream, ...] | Unknown = ()
    extra: tuple[Extra, ...] | Unknown = UNKNOWN
    """What its owner adds to the configuration, merged last; a reader cannot tell it from what it does not read."""
    extra_lines: tuple[str, ...] | Unknown = UNKNOWN
    """Such additions to the routing daemon's own file, line by line."""

    @property
    def neighbors(self) -> tuple[BgpNeighbor, ...] | Unknown:
        """The BGP neighbors; none where the device does not speak BGP."""
        if isinstance(self.bgp, Unknown):
            return UNKNOWN
        return () if self.bgp is None else self.bgp.neighbors

    @property
    def known_bgp_processes(self) -> tuple[Bgp, ...]:
        """The BGP processes of all VRFs, the default one first, as far as they are known."""
        return (*((self.bgp,) if isinstance(self.bgp, Bgp) else ()), *known_rows(self.vrf_bgp))


@model_dataclass
class Link:
    """A cable between two ends, sorted; `length_m` is the truth, `media` its kind."""

    a: End
    b: End
    length_m: int | None | Unknown = UNKNOWN
    media: str | None | Unknown = UNKNOWN


@model_dataclass
class HostPort:
    """A network port of a host."""

    name: str
    speed_mbps: int | Unknown
    lanes: int | Unknown
    addresses: tuple[str, ...] = ()
    """Its own, or those of the bond that it is a member of, which every member has."""
    bond: str | None = None
    """The bond (IEEE 802.1AX) that it is a member of."""


@model_dataclass
class Host:
    """A server or storage node, as its owner states it; no switch file can contain any of this."""

    name: str
    group: str
    gpus: int
    nic: str | Unknown
    ports: tuple[HostPort, ...]
    spread: HostPortSpread | Unknown = UNKNOWN
    tos: int | Unknown = UNKNOWN
    fifo_tos: int | Unknown = UNKNOWN
    """ToS byte of the control messages of NCCL, where they have another than its data."""
    cnp_dscp: int | Unknown = UNKNOWN
    trust: Literal["dscp", "pcp"] | Unknown = UNKNOWN
    pfc_priorities: tuple[int, ...] | Unknown = UNKNOWN
    dcqcn: bool | Unknown = UNKNOWN
    rdma_mtu_bytes: int | Unknown = UNKNOWN
    queue_pairs: int | Unknown = UNKNOWN
    """Queue pairs that NCCL opens for a connection between two GPUs."""
    out_of_order: bool | Unknown = UNKNOWN
    """Whether its NICs take packets of a connection in any order."""


@model_dataclass
class TrafficClass:
    """The owner's statement about a kind of traffic: who sends it (`purpose`), its DSCPs, and where it must land."""

    name: str
    purpose: Purpose
    dscp: tuple[int, ...]
    tc: int | Unknown
    lossless: bool | Unknown
    share_percent: int | Unknown = UNKNOWN
    """What it is to have, at least, of the bandwidth that strict queues leave."""


@model_dataclass
class Policy:
    """Requirements of the owner for every port of a kind; None means stated as off.

    Roles in `fabric_unwatched_roles` have no watchdog towards other switches, whether or not `fabric_watchdog` is set:
    a switch with one set of timers watches either side, not both one after the other. `max_oversubscription` is the
    allowed load of a leaf's ports towards hosts, divided by the capacity of its uplinks.
    """

    host_watchdog: PfcWatchdog | None | Unknown = UNKNOWN
    fabric_watchdog: PfcWatchdog | None | Unknown = UNKNOWN
    fabric_unwatched_roles: tuple[str, ...] = ()
    rdma_mtu_bytes: int | Unknown = UNKNOWN
    max_oversubscription: float | Unknown = UNKNOWN
    lossless_pool_percent: int | Unknown = UNKNOWN
    """The share of the memory to be shared that lossless traffic is to have."""
    rails: Literal["joined", "isolated"] | Unknown = UNKNOWN
    """Whether switches join the leaves of a host's ports, or its GPUs forward between them (NVLink)."""
    parts: Literal["joined", "separate"] | Unknown = UNKNOWN
    """Whether cables join all hosts, or parts of the fabric are separate, such as planes or a network for storage."""
    drained: tuple[str, ...] = ()
    """The switches that the owner has drained, by name."""


@model_dataclass
class Fabric:
    """All of it: devices sorted by name, links sorted by their ends, hosts, classes, mode and policy."""

    name: str
    mode: Mode
    devices: tuple[Device, ...]
    links: tuple[Link, ...] = ()
    hosts: tuple[Host, ...] = ()
    nics: tuple[Nic, ...] = ()
    """How files of hosts say that NICs are set; what the owner states of them is in `hosts`."""
    external: tuple[ExternalNeighbor, ...] = ()
    """The nodes in `links` that are outside the fabric by its owner's statement, such as a WAN router, by name."""
    classes: tuple[TrafficClass, ...] = ()
    policy: Policy = Policy()
    profile: Profile | None = None
    """The bands that whoever judges the fabric holds it against."""

    def device(self, name: str) -> Device:
        """Return the device of that name; KeyError where there is none."""
        for device in self.devices:
            if device.name == name:
                return device
        raise KeyError(name)
