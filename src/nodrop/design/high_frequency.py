"""High-frequency telemetry: the counters that switches stream, and where release, ASIC or management port refuse it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.design.boxes import PlannedSwitches
from nodrop.design.classes import ClassesAndQosMaps
from nodrop.design.faults import KeyFault
from nodrop.design.topology import Topology
from nodrop.hardware import asic, asics, switch, switches
from nodrop.hardware.schema import CounterSampling, SwitchModel
from nodrop.intent.network import HighFrequencyTelemetry, ManagementServices
from nodrop.intent.topology import Switches
from nodrop.model.buffers import BufferPool
from nodrop.model.fabric import CounterStream, Device, Interface, SampledCounters, SampledKind
from nodrop.model.states import require_fact
from nodrop.platforms.kit.traits import PlatformTraits, first_release, traits_of_platform
from nodrop.units import show_us

COUNTERS_BY_KIND: Mapping[SampledKind, tuple[str, ...]] = {
    "queues": ("CURR_OCCUPANCY_CELLS", "DROPPED_PACKETS", "WATERMARK_CELLS", "WRED_ECN_MARKED_PACKETS"),
    "priority-groups": ("CURR_OCCUPANCY_CELLS", "DROPPED_PACKETS", "WATERMARK_CELLS"),
    "ports": ("IF_IN_DISCARDS", "IF_IN_OCTETS", "IF_OUT_OCTETS"),
    "buffer-pools": ("CURR_OCCUPANCY_CELLS", "WATERMARK_CELLS"),
}
"""The counters that show marks, drops and occupancy; of these a stream has what the ASIC samples.

No ASIC samples frames of PFC by priority (sonic-mgmt tests/high_frequency_telemetry/counter_profiles.py)."""

_HIGH_FREQUENCY_KEY_PATH = ("services", "telemetry", "high_frequency")


def supported_sampling(platform_traits: PlatformTraits, model: str) -> CounterSampling | None:
    """Return the counters that a model samples on a release of a platform; None if either of them streams nothing."""
    return asic(switch(model).asic).sampling if platform_traits.streams and model in switches() else None


def design_streams(
    services: ManagementServices,
    classes: ClassesAndQosMaps,
    switch_model: SwitchModel,
    ports: Iterable[Interface],
    pools: Iterable[BufferPool],
) -> tuple[CounterStream, ...]:
    """Return the stream of a switch whose platform and ASIC have one: of the classes that are lossless or RDMA."""
    wanted_high_frequency = services.telemetry.high_frequency
    if wanted_high_frequency is None:
        return ()
    facts = asic(switch_model.asic).sampling
    able = (
        facts.counters.get(wanted_high_frequency.objects, ())
        if facts
        else COUNTERS_BY_KIND[wanted_high_frequency.objects]
    )
    samples = SampledCounters(
        kind=wanted_high_frequency.objects,
        objects=tuple(_sampled_objects(wanted_high_frequency.objects, classes, ports, pools)),
        counters=tuple(counter for counter in COUNTERS_BY_KIND[wanted_high_frequency.objects] if counter in able),
    )
    return (
        CounterStream(
            name=wanted_high_frequency.objects,
            enabled=True,
            interval_us=wanted_high_frequency.interval,
            samples=(samples,),
        ),
    )


def _sampled_objects(
    kind: SampledKind, classes: ClassesAndQosMaps, ports: Iterable[Interface], pools: Iterable[BufferPool]
) -> Iterator[str]:
    if kind == "buffer-pools":
        yield from (pool.name for pool in pools)
        return
    numbers = _sampled_queue_or_group_indexes(kind, classes)
    for port in ports:
        if port.enabled is True and port.qos is not None:
            yield from (f"{port.name}/{number}" for number in numbers) if kind != "ports" else (port.name,)


def _sampled_queue_or_group_indexes(kind: SampledKind, classes: ClassesAndQosMaps) -> tuple[int, ...]:
    """Return the queues or priority groups of the classes that are lossless or RDMA."""
    mapped = classes.tc_to_queue if kind == "queues" else classes.tc_to_priority_group
    wanted_priorities = [
        traffic_class.priority
        for traffic_class, purpose in classes.wanted
        if traffic_class.lossless or purpose == "rdma"
    ]
    return tuple(sorted({number for tc in wanted_priorities if (number := mapped[tc]) is not None}))


def counter_stream_faults(topology: Topology, services: ManagementServices) -> Iterator[KeyFault]:
    """Yield a stream that no switch of the fabric has, and an interval at which an ASIC does not sample."""
    wanted_high_frequency = services.telemetry.high_frequency
    if wanted_high_frequency is None:
        return
    tiers = [group.wanted for group in topology.groups]
    tier_traits = [traits_of_platform(tier.platform, tier.version) for tier in tiers]
    facts = [
        sampler
        for tier, has in zip(tiers, tier_traits, strict=True)
        if (sampler := supported_sampling(has, tier.model))
    ]
    if facts:
        yield from _interval_faults(wanted_high_frequency, facts)
    elif any(os_traits.streams for os_traits in tier_traits):
        chips = sorted({switch(tier.model).asic for tier in tiers if tier.model in switches()})
        able = sorted(name for name in asics() if asic(name).sampling)
        fault = f"no stream of counters is known of {' and '.join(chips)}"
        yield KeyFault(_HIGH_FREQUENCY_KEY_PATH, fault, f"switches with {', '.join(able)}", "or no high_frequency")
    else:
        names, later = _unable_releases_and_upgrade_hint(tiers)
        fault = f"{names} does not stream ECN marks and watermarks"
        yield KeyFault(_HIGH_FREQUENCY_KEY_PATH, fault, "no high_frequency", later)


def _unable_releases_and_upgrade_hint(tiers: Sequence[Switches]) -> tuple[str, str]:
    """Return the tiers' releases, and a hint that names the first one that streams counters, if there is one."""
    names, later = set(), set()
    for tier in tiers:
        title, since = (
            traits_of_platform(tier.platform).title,
            first_release(tier.platform, lambda one: one.streams is not None),
        )
        names.add(f"{title} {tier.version}" if since else title)
        later |= {f"or {title} {since} or later"} if since else set()
    return " and ".join(sorted(names)), " ".join(sorted(later))


def _interval_faults(
    wanted_high_frequency: HighFrequencyTelemetry, facts: Iterable[CounterSampling]
) -> Iterator[KeyFault]:
    shortest, longest = (max(fact.interval_us[0] for fact in facts), min(fact.interval_us[1] for fact in facts))
    step = max(fact.step_us for fact in facts)
    if not shortest <= wanted_high_frequency.interval <= longest or wanted_high_frequency.interval % step:
        expected = f"a multiple of {show_us(step)} from {show_us(shortest)} to {show_us(longest)}"
        yield KeyFault((*_HIGH_FREQUENCY_KEY_PATH, "interval"), show_us(wanted_high_frequency.interval), expected)


def stream_lane_and_rate_faults(
    services: ManagementServices, switches: PlannedSwitches, devices: Mapping[str, Device]
) -> Iterator[KeyFault]:
    """Yield the ports of each tier that are not sampled, else a stream that is too fast for the management port."""
    for tier in switches:
        sending = [node for node in tier if require_fact(devices[node.name].high_frequency)]
        if not sending:
            continue
        node = max(sending, key=lambda node: _count_streamed_counters(devices[node.name]))
        device, facts = devices[node.name], asic(node.model.asic).sampling
        assert facts is not None
        yield from _ports_too_wide_to_sample_faults(device, facts) or _telemetry_rate_faults(
            services, node.declaration, device, facts
        )


def _count_streamed_counters(device: Device) -> int:
    return sum(stream.counters_count for stream in require_fact(device.high_frequency))


def _ports_too_wide_to_sample_faults(device: Device, facts: CounterSampling) -> list[KeyFault]:
    sampled = {
        name.partition("/")[0]
        for counter_stream in require_fact(device.high_frequency)
        for row in counter_stream.samples
        for name in row.objects
    }
    wide = [
        port
        for port in device.interfaces
        if port.name in sampled and (require_fact(port.lanes) or 0) > facts.most_lanes
    ]
    if not wide:
        return []
    fault = (
        f"{wide[0].name} of {device.name} has {wide[0].lanes} lanes; ports are sampled with at most {facts.most_lanes}"
    )
    return [
        KeyFault(
            _HIGH_FREQUENCY_KEY_PATH, fault, "ports that are broken out, such as split: 2", "or objects: buffer-pools"
        )
    ]


def _telemetry_rate_faults(
    services: ManagementServices, tier: Switches, device: Device, facts: CounterSampling
) -> list[KeyFault]:
    stream_traits, wanted_high_frequency = (
        traits_of_platform(tier.platform, tier.version).streams,
        services.telemetry.high_frequency,
    )
    assert stream_traits is not None
    assert wanted_high_frequency is not None
    counters = _count_streamed_counters(device)
    mbps = stream_traits.stream_bandwidth_mbps(counters, wanted_high_frequency.interval)
    if mbps <= stream_traits.management_mbps:
        return []
    bits, step = counters * stream_traits.counter_bytes * 8, facts.step_us
    fits = -(-bits // (stream_traits.management_mbps * step)) * step
    sent = f"{counters} counters of {stream_traits.counter_bytes} bytes, {mbps} Mb/s"
    fault = f"every {show_us(wanted_high_frequency.interval)} {device.name} sends {sent}; its management port has "
    fault += f"{stream_traits.management_mbps} Mb/s"
    if fits > facts.interval_us[1]:
        return [
            KeyFault(
                (*_HIGH_FREQUENCY_KEY_PATH, "interval"), fault, "objects: buffer-pools", "no interval is long enough"
            )
        ]
    return [KeyFault((*_HIGH_FREQUENCY_KEY_PATH, "interval"), fault, f"{show_us(fits)} or longer")]
