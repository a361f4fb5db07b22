"""Defaults of a switch without settings, and the changes that `qos roce` makes to them in each mode.

Sources: Cumulus Linux 5.9, 5.14 and 5.16, RDMA over Converged Ethernet (tables and `nv show qos roce`); Quality of
Service of 5.16; the applied revision of an untouched switch (`nv show` as JSON, 5.5).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Trust = Literal["l2", "l3", "port", "both"]
MODES = ("lossless", "lossless-single-ipool", "lossy", "lossy-multi-tc")

MACRO_CABLE_M = 100
PROFILE_CABLE_M = 10
MTU_BYTES = 9216
POLLING_MS = 100
ROBUSTNESS = 3
RECOVERY_POLLINGS = 2
"""From 5.19 on (Quality of Service, PFC Watchdog)."""
BLOCKS = tuple(dscp // 8 for dscp in range(64))
"""Whole class-selector blocks: DSCP 24 to 31 mean switch priority 3."""
IDENTITY = tuple(range(8))


@dataclass(frozen=True, slots=True)
class Marking:
    """Congestion control of a traffic class; thresholds in bytes of queue depth."""

    ecn: bool = True
    red: bool = False
    min_bytes: int = 150_000
    max_bytes: int = 1_500_000
    probability_percent: int = 100
    relative: bool = False
    """Whether the percentages count, of what the queue may take at the moment, and not the bytes."""
    min_percent: int = 0
    max_percent: int = 100


@dataclass(frozen=True, slots=True)
class Share:
    """A traffic class's place in the scheduler."""

    mode: Literal["dwrr", "strict"] = "dwrr"
    percent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """All defaults in effect unless set explicitly, and their source (`reason`)."""

    reason: str
    trust: Trust = "l2"
    dscp: tuple[int, ...] = BLOCKS
    traffic_classes: tuple[int, ...] = IDENTITY
    shares: Mapping[int, Share] = field(default_factory=dict)
    markings: Mapping[int, Marking] = field(default_factory=dict)
    pfc_priorities: tuple[int, ...] = ()
    cable_length_m: int = PROFILE_CABLE_M
    lossless_percent: int | None = None
    lossy_percent: int | None = 100
    one_ingress_pool: bool = False
    trims: bool = False


UNTOUCHED = Defaults(
    reason="NVUE's default",
    shares={tc: Share("dwrr", 12 + tc % 2) for tc in range(8)},
    markings={0: Marking()},
)
PROFILE = Defaults(reason="the default of a profile")
"""What a profile of one's own says where it says nothing."""

_ROCE_CLASSES = (0, 0, 0, 3, 0, 0, 6, 0)
_ROCE_SHARES = {0: Share("dwrr", 50), 3: Share("dwrr", 50), 6: Share("strict")}
_ROCE_MARKINGS = {0: Marking(), 3: Marking()}
_TRIM_DSCP = (0, 1, 1, 2, 2, 3, 3, *(0,) * 4, *(4,) * 30, *(5,) * 10, *(0,) * 13)
_TRIM_WEIGHTS = (4, 8, 18, 22, 22, 22, 4, 0)

MACRO: Mapping[str, Defaults] = {
    "lossless": Defaults(
        reason="`qos roce` makes it so in mode lossless",
        trust="both",
        traffic_classes=_ROCE_CLASSES,
        shares=_ROCE_SHARES,
        markings=_ROCE_MARKINGS,
        pfc_priorities=(3,),
        cable_length_m=MACRO_CABLE_M,
        lossless_percent=50,
        lossy_percent=50,
    ),
    "lossless-single-ipool": Defaults(
        reason="`qos roce` makes it so in mode lossless-single-ipool",
        trust="both",
        traffic_classes=_ROCE_CLASSES,
        shares=_ROCE_SHARES,
        markings=_ROCE_MARKINGS,
        pfc_priorities=(3,),
        cable_length_m=MACRO_CABLE_M,
        lossy_percent=100,
        one_ingress_pool=True,
    ),
    "lossy": Defaults(
        reason="`qos roce` makes it so in mode lossy",
        trust="both",
        traffic_classes=_ROCE_CLASSES,
        shares=_ROCE_SHARES,
        markings=_ROCE_MARKINGS,
        cable_length_m=MACRO_CABLE_M,
        lossy_percent=None,
    ),
    "lossy-multi-tc": Defaults(
        reason="`qos roce` makes it so in mode lossy-multi-tc",
        trust="both",
        dscp=_TRIM_DSCP,
        shares={tc: Share("dwrr", percent) for tc, percent in enumerate(_TRIM_WEIGHTS)},
        markings=dict.fromkeys((1, 2, 3), Marking(min_bytes=163 * 1024, max_bytes=234 * 1024, probability_percent=5)),
        cable_length_m=MACRO_CABLE_M,
        trims=True,
    ),
}
