"""Limits of a network OS that a design has to know before anything is written.

A platform's figures are in `platforms/<os>/traits.py`, as `TRAITS`. The design makes a switch that its platform can
hold, and notes how it adapted the wishes (`design.adapting`); a writer never repairs.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from nodrop.model.fabric import QosStyle
from nodrop.model.qos import PfcWatchdog, WatchdogConditions

InclusiveRange = tuple[int, int]
"""The least and the most that a platform takes, both included."""

_PLATFORMS_FOLDER = Path(__file__).parent.parent


PORTS_PER_STOCK_WATCHDOG_TIME = 32
"""For how many ports the times of `WatchdogTraits.stock_ms` hold once (sonic-utilities pfcwd/main.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchdogTraits:
    """The PFC watchdog's settings and their ranges, ms."""

    polling_ms: InclusiveRange
    """How often a switch looks, on all its ports."""
    detection_ms: InclusiveRange
    restoration_ms: InclusiveRange | None = None
    """None where the platform has no time of restoration to state."""
    actions: bool
    """Whether it can be chosen what happens to a queue that is stuck."""
    robustness: InclusiveRange | None = None
    """None where every port has its own timers. Else a switch has one set for all its ports: it acts after that many
    pollings, so that detection is polling × robustness, exactly."""
    recovery: InclusiveRange | None = None
    """The same of restoration: after how many pollings without pause such a switch frees a queue."""
    conditions: WatchdogConditions | None = None
    """The watchdog conditions that apply without a setting; None where the switch has no setting for them."""
    history: frozenset[str] = frozenset()
    """On which ASICs, by their `sonic_type`, a switch can estimate the history of pauses."""
    stock_ms: int | None = None
    """Detection, restoration and polling of the watchdogs that the system starts by itself, for each 32 ports begun;
    None where it starts none."""
    usual: PfcWatchdog | None = None
    """What a watchdog does that is started with the documented defaults, whatever its priorities; None where no
    document says it."""
    queue_polling_ms: int = 0
    """The shortest time in ms between two checks of the fill of queues: polling is slower than that."""

    def has_stock_times(self, ports: int, polling_ms: int | None, watchdog: PfcWatchdog) -> bool:
        """Return whether a watchdog has the times with which the system starts watchdogs of so many ports by itself."""
        if self.stock_ms is None:
            return False
        stock_ms = self.stock_ms * max(1, -(-ports // PORTS_PER_STOCK_WATCHDOG_TIME))
        at_once = polling_ms in (stock_ms, min(stock_ms, self.polling_ms[1]))
        return at_once and watchdog.detection_ms == watchdog.restoration_ms == stock_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmingTraits:
    """Packet trimming: the ASICs that do it, and their sizes in bytes."""

    asics: frozenset[str]
    size_bytes: InclusiveRange
    size_step_bytes: int
    """A size is a multiple of it."""
    by_priority: bool
    """Whether it is by a traffic class of theirs that cut packets take a queue."""
    by_service_port: bool
    """Whether cut packets go round through the last service port, which then has to be up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryStreamTraits:
    """High-frequency telemetry: the size of a counter on its way to the collector, and the port that it takes."""

    counter_bytes: int
    management_mbps: int
    """The speed of a management port, at most."""

    def stream_bandwidth_mbps(self, counters: int, interval_us: int) -> int:
        """Return the bandwidth of a stream of so many counters in Mb/s, rounded up."""
        return -(-counters * self.counter_bytes * 8 // interval_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class BgpTableTraits:
    """What tables hold of BGP, where a platform has it in tables rather than in a file of the routing daemon."""

    most_paths: int
    """How many equal paths a table takes."""
    hold_s: int
    """The hold time that a session states because that of the daemon is far longer."""
    process: frozenset[str]
    """The fields of a process that tables hold."""
    session: frozenset[str]
    """The fields of a session that tables hold."""
    lost_sets: frozenset[str]
    """What a route map sets that does not reach the routing daemon."""
    loses_ge: Callable[[str, int], bool]
    """Whether a rule for a prefix loses its least length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitsBeforeRelease:
    """What else applies in all releases before one."""

    release: str
    traits: Mapping[str, Any]
    """Fields of `PlatformTraits`, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformTraits:
    """Limits of a platform, and its facts that no configuration changes: in the newest release."""

    title: str
    """What messages call it."""
    releases: tuple[str, ...]
    """The releases that are written, oldest first."""
    usual: str
    """The release of a first intent."""
    same_as: Mapping[str, str] = field(default_factory=dict)
    """Releases that no configuration names, and by which release theirs are named."""
    before: tuple[TraitsBeforeRelease, ...] = ()
    """What is otherwise in older releases, the newest change first."""
    watchdog: WatchdogTraits
    trimming: TrimmingTraits
    loopback: str | None
    """Name of the loopback interface for the device's own address; None where it is a choice."""
    counters: tuple[str, ...]
    """Groups of counters that are turned on by name; none where the platform counts all by itself."""
    mark_counters: str | None = None
    """The one of them that counts ECN marks by queue, and is off by default."""
    spare: Mapping[str, Any]
    """What a port has, by attribute, of which a file states only that it is shut, beside what every port has to
    state."""
    styles: Mapping[QosStyle, InclusiveRange] = field(default_factory=dict)
    """The styles in which QoS can be written, and the numbers of lossless classes for which each is the default, in the
    order of preference; none if there is one way only."""
    strict_guarantees: bool
    """Whether a cap of a strict queue is taken only beside a guaranteed rate (SONiC's YANG: `must`)."""
    fec_through_sai: bool = False
    """Whether the vendor's SAI sets the FEC of a port."""
    qos_on_every_port: bool
    """Whether ports that are shut have the switch's QoS too, and so a cable length."""
    lossy_cable_length: bool
    """Whether a port without PFC has a cable length."""
    pool_shares: bool
    """Whether pools have shares of the memory that are theirs to state; else those of a direction share it evenly."""
    port_buffers: bool
    """Whether a port has lists of buffers beside those of its priority groups and queues."""
    most_dns_servers: int
    """0 where there are no name servers to state; the resolver of Linux asks three at most."""
    hash_fields: frozenset[str]
    """The parts of a packet by which equal paths can be chosen; none where nodrop leaves it to the switch."""
    most_tiers: int | None = None
    """How many tiers of switches it has types for, from the hosts up; None is any number."""
    own_hash_seed: bool = False
    """Whether a switch chooses a random seed for that choice, so that no two tiers hash alike without a stated one."""
    adaptive_routing: bool
    """Whether a switch can choose among equal paths by load, where its ASIC can."""
    weighted_paths: bool = True
    """Whether the hardware takes the weights that BGP has for equal paths."""
    most_paths: int | None
    """The largest setting for equal paths of BGP; None where it is the number of ports."""
    global_next_hops: bool
    """Whether routes of IPv6 have to go by a neighbor's global address, the link-local one being resolved on no port
    that has a global one."""
    lists_ports: bool = False
    """Whether a configuration lists every port that there is: an interface that one with ports lacks does not exist."""
    counts_ports: bool = False
    """Whether its documents state how many ports each model can have at most."""
    port_channel: str
    """What a port channel is called, with `{}` for its number."""
    mac_ageing_s: int | None = None
    """After how long a MAC address is forgotten where nothing is said; None where nothing can be said."""
    reachable_s: int | None = None
    """How long a resolved neighbor counts as reachable then."""
    announces_installed: bool = True
    """Whether BGP can wait for the hardware before it announces a route."""
    wait_fault: str = ""
    """A fault of a release that does so, for the source of that default; "" if none is known."""
    session_dscp: bool
    """Whether the DSCP of BGP's own packets can be set."""
    routing_tables: BgpTableTraits | None = None
    """What tables hold of BGP; None if it has no tables of BGP."""
    queue_reserves: bool
    """Whether a lossy queue can have reserved memory."""
    red_marks: bool
    """Whether ECN marks only where the WRED flag is on too."""
    zero_xon_is_none: bool
    """Whether a resume threshold of 0 without an offset counts as none, so that a pause ends where it begins."""
    relative_marking: frozenset[str] = frozenset()
    """The ASICs on which a queue can mark by its share of the memory that it may take."""
    hwskus: bool = False
    """Whether its configuration names a HWSKU of the model."""
    autoneg: bool | None
    """The default auto-negotiation of a port; None where `not set` is a separate state."""
    fec: str | None
    """The default FEC of a port; None where `not set` is a separate state."""
    shared_headroom: bool
    """Whether ports can share headroom."""
    pattern_mtu_bytes: int | None
    """The packet size in the computation of headroom; None where it can be set."""
    small_packet_percent: int | None
    """The share of small packets that headroom is computed with; None where it can be set."""
    otlp: bool
    """Whether a switch can send its counters by OTLP by itself."""
    without_otlp: frozenset[str] = frozenset()
    """ASICs of which it cannot."""
    gnmi: bool
    """Whether it answers gNMI."""
    gnmi_beside_otlp: bool
    """Whether it can answer gNMI while it does."""
    streams: TelemetryStreamTraits | None = None
    """None where it streams no ECN marks, drops and occupancy at short intervals."""
    additions: frozenset[str]
    """What an owner can add: `tables`, `paths`, `lines` of the routing daemon's file."""
    taken: Mapping[str, str]
    """The part of a device at a path of the platform, for additions that find it taken: the first that fits."""
    reasons: Mapping[str, str]
    """Why a switch of this platform lacks a wanted setting, by path of the device: the first that fits is reported.

    A path begins with a device's attribute behind `@`, or with `*` for its ports; a path covers all below it.
    """

    def default_qos_style(self, lossless_classes: int) -> QosStyle | None:
        """Return the default style of a switch with so many lossless classes; None if the platform has no styles."""
        return next((name for name, (low, high) in self.styles.items() if low <= lossless_classes <= high), None)


@cache
def traits_of_platform(platform: str, release: str | None = None) -> PlatformTraits:
    """Return the limits of a platform, in the given release if that is written, else in the newest.

    Raises KeyError for an unknown platform.
    """
    if not (_PLATFORMS_FOLDER / platform / "traits.py").is_file():
        raise KeyError(platform)
    newest = cast("PlatformTraits", importlib.import_module(f"nodrop.platforms.{platform}.traits").TRAITS)
    if release not in newest.releases:
        return newest
    at = newest.releases.index
    older = [version.traits for version in newest.before if at(release) < at(version.release)]
    return replace(newest, **{name: value for overrides in older for name, value in overrides.items()})


def newest_traits(platform: str) -> PlatformTraits | None:
    """Return the limits of a platform in its newest release; None where nothing is known of the platform."""
    try:
        return traits_of_platform(platform)
    except KeyError:
        return None


def canonical_release(platform: str, release: str) -> str:
    """Return the release that names configurations of a release: itself, unless nothing distinguishes two releases."""
    return traits_of_platform(platform).same_as.get(release, release)


def first_release(platform: str, holds: Callable[[PlatformTraits], bool]) -> str | None:
    """Return the first release of a platform whose traits fulfil a condition; None where there is none."""
    return next(
        (release for release in traits_of_platform(platform).releases if holds(traits_of_platform(platform, release))),
        None,
    )
