"""High-frequency telemetry of a fabric: the streams of each kind of switch, and their bandwidth."""

from collections.abc import Iterator
from typing import Any

from nodrop.model.fabric import CounterStream, Device, Fabric
from nodrop.platforms.kit.traits import newest_traits
from nodrop.report.buffering import known_or_none


def stream_facts(fabric: Fabric) -> Iterator[dict[str, object]]:
    """Yield each kind of stream once by role and model, of the switch that samples most counters."""
    worst: dict[tuple[Any, ...], tuple[Device, CounterStream]] = {}
    for device in fabric.devices:
        for stream in device.high_frequency if isinstance(device.high_frequency, tuple) else ():
            key = (known_or_none(device.role), device.platform, known_or_none(device.model), stream.name)
            if key not in worst or stream.counters_count > worst[key][1].counters_count:
                worst[key] = (device, stream)
    for (role, platform, model, _), (device, stream) in worst.items():
        traits = newest_traits(device.platform)
        stream_traits = traits.streams if traits else None
        yield {
            "role": role,
            "platform": platform,
            "model": model,
            "objects": [sample.kind for sample in stream.samples],
            "interval_us": stream.interval_us,
            "counters": stream.counters_count,
            "counter_bytes": stream_traits.counter_bytes if stream_traits else None,
            "mbps": stream_traits.stream_bandwidth_mbps(stream.counters_count, stream.interval_us)
            if stream_traits and stream.interval_us
            else None,
            "management_mbps": stream_traits.management_mbps if stream_traits else None,
        }
