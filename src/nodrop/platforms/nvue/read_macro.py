"""Defaults of a switch without settings, and the changes that `qos roce` makes to them in each mode.

Sources: Cumulus Linux 5.9, 5.14 and 5.16, RDMA over Converged Ethernet (tables and `nv show qos roce`); Quality of
Service of 5.16; the applied revision of an untouched switch (`nv show` as JSON, 5.5).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

NvueTrust = Literal["l2", "l3", "port", "both"]
ROCE_MODES = ("lossless", "lossless-single-ipool", "lossy", "lossy-multi-tc")

ROCE_MACRO_CABLE_M = 100
PFC_PROFILE_CABLE_M = 10
DEFAULT_MTU_BYTES = 9216
DEFAULT_WATCHDOG_POLLING_MS = 100
DEFAULT_WATCHDOG_ROBUSTNESS = 3
DEFAULT_WATCHDOG_RECOVERY_POLLINGS = 2
"""From 5.19 on (Quality of Service, PFC Watchdog)."""
CLASS_SELECTOR_PRIORITY_BY_DSCP = tuple(dscp // 8 for dscp in range(64))
"""Whole class-selector blocks: DSCP 24 to 31 mean switch priority 3."""
IDENTITY_PRIORITY_MAP = tuple(range(8))


@dataclass(frozen=True, slots=True)
class ClassCongestionControl:
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
class SchedulerShare:
    """A traffic class's place in the scheduler."""

    mode: Literal["dwrr", "strict"] = "dwrr"
    percent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvueQosDefaults:
    """All defaults in effect unless set explicitly, and their source (`reason`)."""

    reason: str
    trust: NvueTrust = "l2"
    dscp: tuple[int, ...] = CLASS_SELECTOR_PRIORITY_BY_DSCP
    traffic_classes: tuple[int, ...] = IDENTITY_PRIORITY_MAP
    shares: Mapping[int, SchedulerShare] = field(default_factory=dict)
    markings: Mapping[int, ClassCongestionControl] = field(default_factory=dict)
    pfc_priorities: tuple[int, ...] = ()
    cable_length_m: int = PFC_PROFILE_CABLE_M
    lossless_percent: int | None = None
    lossy_percent: int | None = 100
    one_ingress_pool: bool = False
    trims: bool = False


SWITCH_QOS_DEFAULTS = NvueQosDefaults(
    reason="NVUE's default",
    shares={tc: SchedulerShare("dwrr", 12 + tc % 2) for tc in range(8)},
    markings={0: ClassCongestionControl()},
)
QOS_PROFILE_DEFAULTS = NvueQosDefaults(reason="the default of a profile")
"""What a profile of one's own says where it says nothing."""

_ROCE_CLASS_BY_PRIORITY = (0, 0, 0, 3, 0, 0, 6, 0)
_ROCE_SHARE_BY_CLASS = {0: SchedulerShare("dwrr", 50), 3: SchedulerShare("dwrr", 50), 6: SchedulerShare("strict")}
_ROCE_CONGESTION_CONTROL_BY_CLASS = {0: ClassCongestionControl(), 3: ClassCongestionControl()}
_LOSSY_MULTI_TC_PRIORITY_BY_DSCP = (0, 1, 1, 2, 2, 3, 3, *(0,) * 4, *(4,) * 30, *(5,) * 10, *(0,) * 13)
_LOSSY_MULTI_TC_PERCENT_BY_CLASS = (4, 8, 18, 22, 22, 22, 4, 0)

ROCE_DEFAULTS_BY_MODE: Mapping[str, NvueQosDefaults] = {
    "lossless": NvueQosDefaults(
        reason="`qos roce` makes it so in mode lossless",
        trust="both",
        traffic_classes=_ROCE_CLASS_BY_PRIORITY,
        shares=_ROCE_SHARE_BY_CLASS,
        markings=_ROCE_CONGESTION_CONTROL_BY_CLASS,
        pfc_priorities=(3,),
        cable_length_m=ROCE_MACRO_CABLE_M,
        lossless_percent=50,
        lossy_percent=50,
    ),
    "lossless-single-ipool": NvueQosDefaults(
        reason="`qos roce` makes it so in mode lossless-single-ipool",
        trust="both",
        traffic_classes=_ROCE_CLASS_BY_PRIORITY,
        shares=_ROCE_SHARE_BY_CLASS,
        markings=_ROCE_CONGESTION_CONTROL_BY_CLASS,
        pfc_priorities=(3,),
        cable_length_m=ROCE_MACRO_CABLE_M,
        lossy_percent=100,
        one_ingress_pool=True,
    ),
    "lossy": NvueQosDefaults(
        reason="`qos roce` makes it so in mode lossy",
        trust="both",
        traffic_classes=_ROCE_CLASS_BY_PRIORITY,
        shares=_ROCE_SHARE_BY_CLASS,
        markings=_ROCE_CONGESTION_CONTROL_BY_CLASS,
        cable_length_m=ROCE_MACRO_CABLE_M,
        lossy_percent=None,
    ),
    "lossy-multi-tc": NvueQosDefaults(
        reason="`qos roce` makes it so in mode lossy-multi-tc",
        trust="both",
        dscp=_LOSSY_MULTI_TC_PRIORITY_BY_DSCP,
        shares={tc: SchedulerShare("dwrr", percent) for tc, percent in enumerate(_LOSSY_MULTI_TC_PERCENT_BY_CLASS)},
        markings=dict.fromkeys(
            (1, 2, 3), ClassCongestionControl(min_bytes=163 * 1024, max_bytes=234 * 1024, probability_percent=5)
        ),
        cable_length_m=ROCE_MACRO_CABLE_M,
        trims=True,
    ),
}
