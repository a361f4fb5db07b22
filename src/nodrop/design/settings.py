"""The settings of an intent for single switches, and for services outside the fabric itself: draining, telemetry."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter

from nodrop.design.boxes import PlannedSwitches
from nodrop.design.faults import KeyFault
from nodrop.design.high_frequency import counter_stream_faults
from nodrop.design.topology import Topology, show_group_ids, topology_of
from nodrop.hardware import switch
from nodrop.hardware import switches as catalogue
from nodrop.intent.network import ManagementServices, Routing
from nodrop.intent.schema import Intent, Pfc
from nodrop.intent.topology import Switches
from nodrop.model.fabric import HASH_FIELDS, Collector, HashField
from nodrop.model.qos import WatchdogConditions
from nodrop.platforms.kit.traits import PlatformTraits, first_release, traits_of_platform

GNMI_PORT = 9339
"""The port that IANA has for gNMI, which is Cumulus Linux's default too."""


def settings_faults(intent: Intent, switches: PlannedSwitches) -> Iterator[KeyFault]:
    """Yield settings of switches that the fabric does not have, and telemetry that none of them can carry."""
    topology = topology_of(intent)
    yield from _telemetry_faults(topology, intent.services)
    yield from counter_stream_faults(topology, intent.services)
    yield from _dns_and_hash_release_faults(topology, intent.routing, intent.services)
    names = [word for node in switches.all for word in node.words]
    for node in switches.all:
        stated = [word for word in node.words if word in intent.devices]
        if stated[1:]:
            fault = f"{stated[0]} and {stated[1]} are one switch"
            yield KeyFault(("devices", stated[1]), fault, f"one of the two, such as {stated[0]}")
    for name in sorted(intent.devices.keys() - set(names)):
        close = difflib.get_close_matches(name, names, n=1)
        tiers = map(show_group_ids, switches.groups)
        hint = f"did you mean {close[0]}?" if close else f"there are {' and '.join(tiers)}"
        yield KeyFault(("devices", name), f"no switch {name}", "a switch of the fabric", hint)


def _telemetry_faults(topology: Topology, services: ManagementServices) -> Iterator[KeyFault]:
    wanted_telemetry = services.telemetry
    tiers = [group.wanted for group in topology.groups]
    held = [traits_of_platform(tier.platform, tier.version) for tier in tiers]
    titles = " and ".join(sorted({os_traits.title for os_traits in held}))
    chips = [switch(tier.model).asic if tier.model in catalogue() else "" for tier in tiers]
    sends = [os_traits.otlp and chip not in os_traits.without_otlp for os_traits, chip in zip(held, chips, strict=True)]
    if wanted_telemetry.otlp and not any(sends):
        names, hint = _describe_unable_tiers(tiers, attrgetter("otlp"))
        if any(os_traits.otlp for os_traits in held):
            names, hint = f"{titles} on {' and '.join(sorted(set(chips)))}", ""
        expected = "collectors that subscribe: gnmi: true" if any(os_traits.gnmi for os_traits in held) else "otlp: []"
        yield KeyFault(("services", "telemetry", "otlp"), f"{names} sends nothing by OTLP by itself", expected, hint)
    elif wanted_telemetry.gnmi and not any(os_traits.gnmi for os_traits in held):
        names, hint = _describe_unable_tiers(tiers, attrgetter("gnmi"))
        yield KeyFault(("services", "telemetry", "gnmi"), f"{names} does not answer gNMI", "gnmi: false", hint)
    elif wanted_telemetry.otlp and wanted_telemetry.gnmi and all(one.otlp and not one.gnmi_beside_otlp for one in held):
        fault = f"{titles} is not to run gNMI beside OTLP"
        yield KeyFault(("services", "telemetry", "gnmi"), fault, "one of the two")


def _describe_unable_tiers(tiers: Iterable[Switches], able: Callable[[PlatformTraits], bool]) -> tuple[str, str]:
    """Return the names of tiers without a feature, and the releases that have it, if there are any."""
    names, later = set(), set()
    for tier in tiers:
        title, since = traits_of_platform(tier.platform).title, first_release(tier.platform, able)
        names.add(f"{title} {tier.version}" if since else title)
        later |= {f"{title} {since} or later"} if since else set()
    return " and ".join(sorted(names)), " ".join(f"or {release}" for release in sorted(later))


def _dns_and_hash_release_faults(
    topology: Topology, routing: Routing, services: ManagementServices
) -> Iterator[KeyFault]:
    """Yield name servers and hash fields that a tier's release does not know, though a later one does."""
    for group in reversed(topology.groups):
        tier = group.wanted
        newest, held = traits_of_platform(tier.platform), traits_of_platform(tier.platform, tier.version)
        where, name = (*group.keys, "version"), f"{held.title} {tier.version}"
        if services.dns and not held.most_dns_servers:
            since = first_release(tier.platform, lambda release_traits: release_traits.most_dns_servers > 0)
            yield KeyFault(where, f"{name} knows no name servers", f"{since} or later", "or without services.dns")
        elif len(services.dns) > held.most_dns_servers:
            fault = f"{len(services.dns)} name servers"
            yield KeyFault(("services", "dns"), fault, f"at most {held.most_dns_servers}, all that {name} takes")
        lacking = {str(field) for field in newest.hash_fields.intersection(routing.hash) - held.hash_fields}
        if lacking:
            since = first_release(tier.platform, partial(_supports_hash_fields, lacking))
            fault = f"{name} does not hash by {', '.join(sorted(lacking))}"
            yield KeyFault(where, fault, f"{since} or later", "or another routing.hash")


def _supports_hash_fields(fields: set[str], held: PlatformTraits) -> bool:
    return held.hash_fields >= fields


def ecmp_hash_fields(routing: Routing) -> tuple[HashField, ...] | None:
    """Return the fields that select among equal paths, in the order of the model; None leaves them to the switch."""
    return tuple(hash_field for hash_field in HASH_FIELDS if hash_field in routing.hash) or None


def gnmi_port(services: ManagementServices) -> int | None:
    """Return the TCP port on which switches answer gNMI; None where they do not."""
    return GNMI_PORT if services.telemetry.gnmi else None


def stuck_queue_conditions(pfc: Pfc) -> WatchdogConditions | None:
    """Return the stated conditions for a queue to count as stuck; None if none is stated."""
    conditions = pfc.watchdog.stuck
    if conditions is None:
        return None
    return WatchdogConditions(
        pause_ten_thousandths=None if conditions.paused is None else 100 * conditions.paused,
        sent_frames=conditions.sent,
        queue_percent=conditions.fill,
        recovery_pause_frames=0,
    )


def otlp_collectors(services: ManagementServices) -> tuple[Collector, ...]:
    """Return where switches send their counters by OTLP, sorted."""
    collectors = sorted(set(services.telemetry.otlp))
    return tuple(Collector(address=address, port=port) for address, port in collectors)
