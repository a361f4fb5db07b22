"""Words about the counters and reports of a switch."""

from nodrop.engine.vocabulary import declare_word
from nodrop.model.fabric import Collector, Counter, Device
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile, WredProfile
from nodrop.model.states import Unknown, require_fact
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.traits import first_release, newest_traits, traits_of_platform

STORM_COUNTER_GROUPS = frozenset({"PORT", "QUEUE", "PG_DROP", "PG_WATERMARK", "QUEUE_WATERMARK", "PORT_BUFFER_DROP"})
"""The groups that show a pause storm: frames of PFC by port, packets and drops by queue and priority group, and how
far buffers fill (sonic-swss orchagent/portsorch.cpp). All are on by default (init_cfg.json.j2)."""
FAST_COUNTER_GROUPS = frozenset({"PORT", "QUEUE", "PG_DROP", "WRED_ECN_PORT", "WRED_ECN_QUEUE"})
"""The groups that only count, so that what happened between two pollings cannot be told apart. The switch keeps the
peak of a watermark until it is read, however seldom that is."""


@declare_word("function")
def storm_counters_off(counters: tuple[Counter, ...]) -> tuple[str, ...]:
    """Return the groups of counters that show a pause storm and are turned off; those that are not named are on."""
    return tuple(counter.group for counter in counters if not counter.enabled and counter.group in STORM_COUNTER_GROUPS)


@declare_word("function")
def slow_counters(counters: tuple[Counter, ...], slowest_ms: int) -> tuple[str, ...]:
    """Return the groups of counters that are read more seldom than every `slowest_ms`, each with its interval."""
    return tuple(
        f"{counter.group} every {counter.interval_ms} ms"
        for counter in counters
        if counter.enabled
        and counter.group in FAST_COUNTER_GROUPS
        and counter.interval_ms is not None
        and counter.interval_ms > slowest_ms
    )


@declare_word("function")
def ecn_mark_counter_group(device: Device) -> str:
    """Return the group of counters of ECN marks, off by default, that the switch's release has; else nothing."""
    if newest_traits(device.platform) is None:
        return ""
    first_version = first_release(device.platform, lambda platform_traits: platform_traits.mark_counters is not None)
    if first_version is None or str(require_fact(device.version, "device.version")) < first_version:
        return ""
    return traits_of_platform(device.platform).mark_counters or ""


@declare_word("function")
def marking_ports(device: Device) -> tuple[str, ...]:
    """Return the ports of a switch that are not shut and have a queue that marks, as far as is known."""
    return tuple(port.name for port in device.interfaces if port.enabled is True and _has_ecn_marking(port.qos))


def _has_ecn_marking(qos: QosProfile | None | Unknown) -> bool:
    queues = qos.queues if isinstance(qos, QosProfile) else ()
    found_queues = () if isinstance(queues, Unknown) else queues
    return any(isinstance(queue.wred, WredProfile) and queue.wred.ecn_colors for queue in found_queues)


@declare_word("function")
def is_counter_group_on(counters: tuple[Counter, ...], group: str) -> bool:
    """Whether a group of counters is on that is off by default."""
    return any(counter.enabled for counter in counters if counter.group == group)


@declare_word("function")
def counters_with_group_on(counters: tuple[Counter, ...], group: str) -> tuple[Counter, ...]:
    """Return the counters of a switch, with a group that is on."""
    on = next(
        (replace_fields(counter, enabled=True) for counter in counters if counter.group == group),
        Counter(group=group, enabled=True),
    )
    return tuple(sorted((*(counter for counter in counters if counter.group != group), on), key=lambda row: row.group))


@declare_word("function", whole=True)
def most_switches_state(fact: str, platform: str, *, index: Index) -> bool:
    """Whether more than half of a platform's switches state something: `ntp_servers`, `syslog_servers` or `export`.

    Where none does it is cared for elsewhere, in an image or by a tool of the site's; where one alone does not, it was
    forgotten. Switches whose source does not cover it do not count.
    """

    def most_switches_state() -> bool:
        states = [_states_fact(device, fact) for device in index.fabric.devices if device.platform == platform]
        return states.count(True) > states.count(False)

    return index.compute_once(f"most state {fact} on {platform}", most_switches_state)


def _states_fact(device: Device, fact: str) -> bool | None:
    """Return whether a switch states a fact; None where its source does not cover it."""
    export_fields = ("gnmi_port", "otlp_collectors", "snmp_location", "snmp_contact")
    facts = [getattr(device, field) for field in (export_fields if fact == "export" else (fact,))]
    return None if any(isinstance(fact_value, Unknown) for fact_value in facts) else any(facts)


@declare_word("function")
def exports_no_counters(
    gnmi_port: int | None | Unknown,
    collectors: tuple[Collector, ...] | Unknown,
    snmp_location: str | None | Unknown,
    snmp_contact: str | None | Unknown,
) -> bool:
    """Whether a switch is known to have no export of counters: gNMI, OTLP, or SNMP."""
    facts = (gnmi_port, collectors, snmp_location, snmp_contact)
    return not any(isinstance(fact, Unknown) or fact for fact in facts)
