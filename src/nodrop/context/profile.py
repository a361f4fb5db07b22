"""A profile: bands for thresholds as YAML, `profiles/NAME.yaml` or a site's own file; faults name line and column."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nodrop import units
from nodrop.errors import InputProblems, Problem
from nodrop.intent.load import validate_document
from nodrop.intent.types import ScalarAnnotation, SpeedMbps, Text
from nodrop.model.profile import Band, EcnBand, Profile, ShareBand, WatchdogBand
from nodrop.model.types import did_you_mean_hint
from nodrop.paths import find_path_fault
from nodrop.resources import resource_folder
from nodrop.syntax.places import read_regular_file
from nodrop.syntax.root import InputRoot
from nodrop.syntax.yaml import parse_yaml
from nodrop.units import MalformedText

PROFILES_FOLDER = "profiles"
MAX_PROFILE_BYTES = 1_000_000
_BAND_SEPARATOR = " to "


def _make_band_scalar(read: Callable[[str], int], pattern: str, example: str, unit: str) -> ScalarAnnotation:
    """Return the type of a band: `150kB`, or `150kB to 300kB`."""

    def both(value: object) -> Band:
        low, to, high = (value if isinstance(value, str) else "").partition(_BAND_SEPARATOR)
        try:
            band = Band(low=read(low.strip()), high=read(high.strip() if to else low.strip()))
        except MalformedText as wrong:
            raise MalformedText(f"{example}, a number or the least and the greatest", hint=wrong.hint) from None
        if band.low > band.high:
            raise MalformedText(f"{high.strip()}{_BAND_SEPARATOR}{low.strip()}", f"{value}, which runs backwards")
        return band

    return ScalarAnnotation(
        both, {"type": "string", "pattern": f"^({pattern})( +to +({pattern}))?$", "description": unit}
    )


_BytesBand = Annotated[
    Band, _make_band_scalar(units.parse_size_bytes, units.SIZE_REGEX, "150kB or 150kB to 300kB", "bytes")
]
_TimeBand = Annotated[Band, _make_band_scalar(units.parse_time_ms, units.TIME_REGEX, "200ms or 200ms to 400ms", "time")]
_PercentBand = Annotated[
    Band, _make_band_scalar(units.parse_percent, units.PERCENT_REGEX, "5% or 5% to 20%", "percentage")
]
_Source = Annotated[Text, Field(description="who says so: a document, a paper, a file, a decision of the site")]


class _SchemaMapping(BaseModel):
    """A mapping of the file: closed, and frozen once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EcnThresholdBand(_SchemaMapping):
    """Marking of RDMA's queue, on ports of some speeds or of all."""

    speeds: tuple[SpeedMbps, ...] = Field((), description="ports that it is about, such as [100G, 200G]; default: all")
    min: _BytesBand | None = Field(None, description="queue depth from which packets are marked")
    max: _BytesBand | None = Field(None, description="queue depth from which marking is at its most")
    probability: _PercentBand | None = Field(None, description="share of packets that is marked then")
    source: _Source

    @model_validator(mode="after")
    def _require_any_threshold(self) -> "EcnThresholdBand":
        _require_any_key(self, ("min", "max", "probability"))
        return self


class WatchdogTimerBand(_SchemaMapping):
    """PFC watchdogs, at ports of one side or of all."""

    side: Literal["hosts", "fabric"] | None = Field(
        None, description="ports that it is about: towards hosts, or between switches; default: all"
    )
    detection: _TimeBand | None = Field(None, description="time in pause until it acts: 200ms to 400ms")
    restoration: _TimeBand | None = Field(None, description="time without pause until the queue is restored: 400ms")
    polling: _TimeBand | None = Field(None, description="time between two readings of the queues: 100ms to 200ms")
    actions: tuple[Literal["drop", "forward", "alert"], ...] = Field(
        (), description="what it may do; default: anything"
    )
    source: _Source

    @model_validator(mode="after")
    def _require_any_timer(self) -> "WatchdogTimerBand":
        _require_any_key(self, ("detection", "restoration", "polling", "actions"))
        return self


class PortShareBand(_SchemaMapping):
    """The share of a port that the class of a purpose has while all others are busy."""

    purpose: Literal["rdma", "cnp", "storage", "inband", "control", "default"] = Field(
        description="kind of traffic that the class is for"
    )
    share: _PercentBand = Field(description="share of the port: 50% to 95%")
    source: _Source


class ProfileFile(_SchemaMapping):
    """Bands for thresholds, timers and shares; of rows about the same, the first that fits a port counts."""

    about: Text = Field(description="whose numbers these are, in a line")
    ecn: tuple[EcnThresholdBand, ...] = Field((), description="marking of the queue of RDMA")
    watchdog: tuple[WatchdogTimerBand, ...] = Field((), description="timers and actions of PFC watchdogs")
    shares: tuple[PortShareBand, ...] = Field((), description="shares of a port that classes have")

    @model_validator(mode="after")
    def _require_any_band(self) -> "ProfileFile":
        _require_any_key(self, ("ecn", "watchdog", "shares"))
        return self


def _require_any_key(base_model: BaseModel, keys: Sequence[str]) -> None:
    """Refuse a part that has none of the keys."""
    if all(getattr(base_model, key) in (None, ()) for key in keys):
        raise MalformedText(f"at least one of {', '.join(keys)}", "no band")


def shipped_profile_names() -> tuple[str, ...]:
    """Return the profiles that are shipped, sorted."""
    return tuple(sorted(path.stem for path in resource_folder(PROFILES_FOLDER).glob("*.yaml")))


def load_profile(named_display: str, root: InputRoot | None = None) -> Profile:
    """Return the profile that is shipped under a name, or that a file holds; raise InputProblems with its faults.

    With a `root`, no link leads out of it; without a root, the file is opened as it is named.
    """
    if named_display in shipped_profile_names():
        return loads_profile(
            (resource_folder(PROFILES_FOLDER) / f"{named_display}.yaml").read_bytes(),
            f"{PROFILES_FOLDER}/{named_display}.yaml",
            named_display,
        )
    path, wrong = Path(named_display), find_path_fault(named_display, root)
    if wrong is not None or path.is_dir():
        defect, shown = (wrong.found, wrong.path) if wrong else ("a folder", named_display)
        expected = f"a file, or a profile that is shipped: {', '.join(shipped_profile_names())}"
        raise InputProblems(
            [
                Problem(
                    path=shown,
                    found=defect,
                    expected=expected,
                    hint=did_you_mean_hint(named_display, shipped_profile_names()),
                )
            ]
        )
    return loads_profile(read_regular_file(path, named_display, MAX_PROFILE_BYTES, root), named_display, path.stem)


def loads_profile(file_content: bytes, display: str, name: str) -> Profile:
    """Return the profile of this text, which problems name `display`."""
    file = validate_document(parse_yaml(file_content, display, max_bytes=MAX_PROFILE_BYTES), ProfileFile)
    return Profile(
        name=name,
        ecn=tuple(
            EcnBand(
                speeds_mbps=row.speeds,
                min_bytes=row.min,
                max_bytes=row.max,
                probability_percent=row.probability,
                source=row.source,
            )
            for row in file.ecn
        ),
        watchdog=tuple(
            WatchdogBand(
                side="host" if row.side == "hosts" else row.side,
                detection_ms=row.detection,
                restoration_ms=row.restoration,
                polling_ms=row.polling,
                actions=row.actions,
                source=row.source,
            )
            for row in file.watchdog
        ),
        shares=tuple(ShareBand(purpose=row.purpose, percent=row.share, source=row.source) for row in file.shares),
    )
