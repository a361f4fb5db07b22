"""The settings that the commands of a running-config make: for the switch, for its pools, and for every interface."""

from dataclasses import dataclass, field, replace
from typing import Any

from nodrop.model.buffers import BufferPool, BufferProfile
from nodrop.platforms.onyx.commands import OnyxCommand

ROCE_MODES = ("lossless", "semi-lossless", "lossy")


@dataclass(slots=True)
class TrafficPool:
    """A pool of basic buffer management: its kind, its share of the memory in percent, and whose traffic it holds."""

    lossless: bool = False
    percent: float | None = None
    priorities: set[int] = field(default_factory=set)


@dataclass(slots=True)
class StatedPortQos:
    """The stated QoS of a port; settings that are not stated are missing, None or empty."""

    trust: str | None = None
    dscp: dict[int, int] = field(default_factory=dict)
    pcp: dict[int, int] = field(default_factory=dict)
    traffic_class: dict[int, int] = field(default_factory=dict)
    """Switch priority to traffic class."""
    ets: dict[int, tuple[str, int | None]] = field(default_factory=dict)
    ecn: dict[int, Any] = field(default_factory=dict)
    """By traffic class: kind and thresholds, UNKNOWN where those are no numbers, None where marking is off."""
    pfc: object = None
    """Whether PFC is on; UNKNOWN where it is left to the far end, by DCBX."""
    watchdog: bool = False
    group_of: dict[int, int] = field(default_factory=dict)
    """Switch priority to priority group, with advanced buffers."""
    groups: dict[int, BufferProfile] = field(default_factory=dict)
    queues: dict[int, BufferProfile] = field(default_factory=dict)
    rewrite: bool | None = None
    pause: dict[str, bool] = field(default_factory=dict)

    def completed_from(self, below: "StatedPortQos") -> "StatedPortQos":
        """Return these settings, and those of the port channel that the port is part of where it has none itself."""
        return StatedPortQos(
            trust=self.trust or below.trust,
            dscp=below.dscp | self.dscp,
            pcp=below.pcp | self.pcp,
            traffic_class=below.traffic_class | self.traffic_class,
            ets=below.ets | self.ets,
            ecn=below.ecn | self.ecn,
            pfc=below.pfc if self.pfc is None else self.pfc,
            watchdog=self.watchdog or below.watchdog,
            group_of=below.group_of | self.group_of,
            groups=below.groups | self.groups,
            queues=below.queues | self.queues,
            rewrite=below.rewrite if self.rewrite is None else self.rewrite,
            pause=below.pause | self.pause,
        )


@dataclass(slots=True)
class StatedLinkSettings:
    """The stated settings of an interface that are not QoS."""

    enabled: bool | None = None
    speed_mbps: Any = None
    autoneg: bool | None = None
    fec: str | None = None
    mtu_bytes: int | None = None
    addresses: list[str] = field(default_factory=list)
    vrf: str | None = None
    description: str | None = None
    splits: int | None = None
    channel: str | None = None
    lacp: bool = True
    access_vlan: int | None = None
    tagged_vlans: set[int] = field(default_factory=set)
    mode: str = "access"
    routed: bool = False


@dataclass(slots=True)
class StatedNonRoutingSettings:
    """All of a running-config but routing."""

    roce: str | None = None
    pfc: bool = False
    pfc_priorities: dict[int, bool] = field(default_factory=dict)
    traffic_pools: dict[str, TrafficPool] = field(default_factory=dict)
    advanced: bool = False
    pools: dict[str, BufferPool] = field(default_factory=dict)
    qos: dict[str, StatedPortQos] = field(default_factory=dict)
    links: dict[str, StatedLinkSettings] = field(default_factory=dict)
    vlans: set[int] = field(default_factory=set)
    hostname: str | None = None
    ntp: list[str] = field(default_factory=list)
    dns: list[str] = field(default_factory=list)
    syslog: list[str] = field(default_factory=list)
    routing: list[OnyxCommand] = field(default_factory=list)
    management_vrf: bool = False

    @property
    def has_class_settings(self) -> bool:
        """Whether any setting distinguishes classes of traffic, or treats one of them unlike the others.

        PFC that is on for no priority, as guides have it for the link between the switches of an MLAG pair, does not.
        """
        return bool(
            self.roce
            or self.pfc_priorities
            or self.traffic_pools
            or self.pools
            or any(replace(qos, pause={}, pfc=None) != StatedPortQos() for qos in self.qos.values())
        )

    def ensure_link(self, name: str) -> StatedLinkSettings:
        """Return the stated settings of an interface, for adding to them."""
        return self.links.setdefault(name, StatedLinkSettings())

    def ensure_port_qos(self, name: str) -> StatedPortQos:
        """Return the stated QoS of an interface, for adding to it."""
        return self.qos.setdefault(name, StatedPortQos())
