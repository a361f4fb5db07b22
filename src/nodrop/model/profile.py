"""The limits of a vendor or a site: bands for thresholds, timers and shares, each with its source."""

from typing import Literal

from nodrop.model.values import model_dataclass


@model_dataclass
class Band:
    """The least and the greatest that is right; the two are equal where one number is."""

    low: int
    high: int


@model_dataclass
class EcnBand:
    """Where marking of RDMA begins and is at its most, in bytes of a queue, and how likely it then is."""

    speeds_mbps: tuple[int, ...] = ()
    """Of which ports; of all where it is empty."""
    min_bytes: Band | None = None
    max_bytes: Band | None = None
    probability_percent: Band | None = None
    source: str


@model_dataclass
class WatchdogBand:
    """The timers of PFC watchdogs, and their allowed bands."""

    side: Literal["host", "fabric"] | None = None
    """At which ports; at all where it is None."""
    detection_ms: Band | None = None
    restoration_ms: Band | None = None
    polling_ms: Band | None = None
    actions: tuple[str, ...] = ()
    """What may be done; anything where it is empty."""
    source: str


@model_dataclass
class ShareBand:
    """The share of a port that a kind of traffic may take while all others are busy, in percent."""

    purpose: str
    percent: Band
    source: str


@model_dataclass
class Profile:
    """All bands of a vendor or a site. Of rows about the same, the first that fits a port counts."""

    name: str
    ecn: tuple[EcnBand, ...] = ()
    watchdog: tuple[WatchdogBand, ...] = ()
    shares: tuple[ShareBand, ...] = ()
