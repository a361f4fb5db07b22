"""High-frequency telemetry in SONiC's tables: HIGH_FREQUENCY_TELEMETRY_PROFILE and HIGH_FREQUENCY_TELEMETRY_GROUP.

Sources: sonic-high-frequency-telemetry.yang, and sonic-swss orchagent/high_frequency_telemetry, which takes an interval
in microseconds (the description in the YANG model gives milliseconds).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nodrop.limits import MAX_UINT32
from nodrop.model.fabric import CounterStream, Device, SampledCounters, SampledKind
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.expressible import check_distinct, check_row_names_and_order, unsupported_error
from nodrop.platforms.sonic.config import DeviceTables
from nodrop.platforms.sonic.draft import EditableTables
from nodrop.platforms.sonic.read_buffers import model_pool_name
from nodrop.platforms.sonic.spelling import sonic_pool_name

PROFILE, GROUP = "HIGH_FREQUENCY_TELEMETRY_PROFILE", "HIGH_FREQUENCY_TELEMETRY_GROUP"
TELEMETRY_GROUP_BY_SAMPLED_KIND: dict[SampledKind, str] = {
    "ports": "PORT",
    "queues": "QUEUE",
    "priority-groups": "INGRESS_PRIORITY_GROUP",
    "buffer-pools": "BUFFER_POOL",
}
_SAMPLED_KIND_BY_TELEMETRY_GROUP = {group: kind for kind, group in TELEMETRY_GROUP_BY_SAMPLED_KIND.items()}
IS_ENABLED_BY_WORD = {"enabled": True, "disabled": False}
WORD_BY_IS_ENABLED = {value: word for word, value in IS_ENABLED_BY_WORD.items()}


class TelemetryGroupRow(NamedTuple):
    """A row of HIGH_FREQUENCY_TELEMETRY_GROUP."""

    key: str
    counters: tuple[str, ...]
    objects: tuple[str, ...]


def telemetry_rows_of_stream(stream: CounterStream) -> Iterator[TelemetryGroupRow]:
    """Yield the rows of a stream's groups."""
    for sampled in stream.samples:
        objects = tuple(_spell_object_name(sampled.kind, name) for name in sampled.objects)
        yield TelemetryGroupRow(
            f"{stream.name}|{TELEMETRY_GROUP_BY_SAMPLED_KIND[sampled.kind]}", sampled.counters, objects
        )


def _spell_object_name(kind: SampledKind, name: str) -> str:
    return sonic_pool_name(name) if kind == "buffer-pools" else name.replace("/", "|")


def telemetry_group_word_of_kind(kind: str) -> str | None:
    """Return SONiC's word for a kind of objects; None if it has none."""
    return next((group for object_kind, group in TELEMETRY_GROUP_BY_SAMPLED_KIND.items() if object_kind == kind), None)


def require_expressible_streams(stated_streams: Iterable[CounterStream]) -> None:
    """Raise UnsupportedByPlatform where streams cannot be written as they are, or are read back in another order."""
    stated_streams = tuple(stated_streams)
    check_row_names_and_order(stated_streams, "high_frequency")
    for stream in stated_streams:
        path = ("high_frequency", stream.name)
        if stream.interval_us is None:
            raise unsupported_error((*path, "interval_us"), "a stream has an interval")
        if not 0 <= stream.interval_us <= MAX_UINT32:
            raise unsupported_error((*path, "interval_us"), f"is not from 0 to {MAX_UINT32}")
        check_row_names_and_order(stream.samples, *path, "samples")
        for sampled in stream.samples:
            where = (*path, "samples", sampled.kind)
            for name, words, key in (
                ("objects", sampled.objects, natural_sort_key),
                ("counters", sampled.counters, str),
            ):
                check_distinct(words, *where, name)
                if list(words) != sorted(words, key=key):
                    raise unsupported_error((*where, name), "are not in the order in which they would be read back")


def read_streams(config: DeviceTables) -> tuple[CounterStream, ...] | Unknown:
    """Return the streams, sorted by name; a group of another object or without a profile is left to the schema."""
    if not config.is_conclusive_about_table(PROFILE):
        return UNKNOWN
    sampled: dict[str, list[SampledCounters]] = {}
    for key, row in config.rows(GROUP).items():
        profile, _, group = key.partition("|")
        if kind := _SAMPLED_KIND_BY_TELEMETRY_GROUP.get(group):
            objects = tuple(
                sorted(
                    (_model_object_name(kind, name) for name in _split_list_field(row, "object_names")),
                    key=natural_sort_key,
                )
            )
            counters = tuple(sorted(_split_list_field(row, "object_counters")))
            sampled.setdefault(profile, []).append(SampledCounters(kind=kind, objects=objects, counters=counters))
    return tuple(
        CounterStream(
            name=name,
            enabled=config.meaning_of_word((PROFILE, name), row, "stream_state", IS_ENABLED_BY_WORD) is True,
            interval_us=config.integer((PROFILE, name), row, "poll_interval"),
            samples=tuple(sorted(sampled.get(name, ()), key=lambda sampled_counters: sampled_counters.kind)),
        )
        for name, row in sorted(config.rows(PROFILE).items())
    )


def change_streams(draft: EditableTables, old_device: Device, new_device: Device) -> None:
    """Bring the streams of `new` into tables that state those of `old`; rows with the same settings stay."""
    if isinstance(old_device.high_frequency, Unknown) or isinstance(new_device.high_frequency, Unknown):
        return
    before = {stream.name: stream for stream in old_device.high_frequency}
    after = {stream.name: stream for stream in new_device.high_frequency}
    for name in before.keys() - after.keys():
        draft.remove(PROFILE, name)
    for name, stream in after.items():
        was = before.get(name)
        if was is None or (was.enabled, was.interval_us) != (stream.enabled, stream.interval_us):
            interval = None if stream.interval_us is None else str(stream.interval_us)
            draft.update(PROFILE, name, {"poll_interval": interval, "stream_state": WORD_BY_IS_ENABLED[stream.enabled]})
    stated = {group.key: group for stream in before.values() for group in telemetry_rows_of_stream(stream)}
    wanted_group = {group.key: group for stream in after.values() for group in telemetry_rows_of_stream(stream)}
    for key in stated.keys() - wanted_group.keys():
        draft.remove(GROUP, key)
    for key, group in wanted_group.items():
        was_group = stated.get(key)
        if was_group is None:
            draft.add_empty_row(GROUP, key)
        if was_group is None or was_group.counters != group.counters:
            draft.update(GROUP, key, {"object_counters": list(group.counters) or None})
        if was_group is None or was_group.objects != group.objects:
            draft.update(GROUP, key, {"object_names": list(group.objects) or None})


def _model_object_name(kind: SampledKind, name: str) -> str:
    return model_pool_name(name) if kind == "buffer-pools" else name.replace("|", "/")


def _split_list_field(table_row: dict[str, str], field: str) -> list[str]:
    return [word for word in table_row.get(field, "").split(",") if word]
