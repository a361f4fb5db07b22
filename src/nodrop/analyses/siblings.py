"""Ports whose QoS differs from that of their siblings, aspect by aspect, where no other rule checks the port alone.

The behavior of the ports is compared, not their room: headroom follows from each cable, and dynamic thresholds
have a separate analysis (`alphas`). PFC and the presence of a watchdog have separate rules.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import takewhile
from typing import NamedTuple

from nodrop import units
from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._kinship import UNKNOWN_SIDE_NAME, PortsByFamilyAndProfile, PortWithQosProfile
from nodrop.model.buffers import BufferProfile
from nodrop.model.edit import get_part
from nodrop.model.fields import FIELD_TABLE, label_of, names_of_fields_with_columns, number_map_words_by_field, unit_of
from nodrop.model.index import Index
from nodrop.model.qos import PfcWatchdog, QosProfile, Queue, Scheduler, WredProfile
from nodrop.model.states import UnknownFact, require_fact
from nodrop.model.subject import Subject

RESTS_ON = frozenset({"cables", "roles", "models"})
GIVES_CHANGES = True

MAX_SHOWN_DIFFERENCES = 3
"""How many differences a message spells out."""

NOTHING_STATED = "nothing stated"
BYTES_PER_MBIT = 125_000


class StatedPortTrait(NamedTuple):
    """A behavior of a port: its label, its text in words, and its place below the port."""

    label: str
    text: str
    place: Subject
    optional: bool = False
    """Whether a port that has no such thing at all is not to be compared in it."""


StatedPortTraits = tuple[StatedPortTrait, ...]


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the ports unlike most of their siblings, once for each aspect with a difference."""
    kinship = PortsByFamilyAndProfile(index, sides=True)
    for aspect in PORT_TRAITS_BY_ASPECT:
        yield from _outlier_hits(kinship, aspect)


def _outlier_hits(kinship: PortsByFamilyAndProfile, aspect: str) -> Iterator[AnalysisHit | UndecidedSubject]:
    read_traits = cache(partial(_read_profile_traits, aspect))

    def value(member: PortWithQosProfile) -> StatedPortTraits | None:
        member_traits = read_traits(member.qos)
        return None if isinstance(member_traits, str) or not member_traits else member_traits

    for family, (expected, sibling, count) in kinship.most_common_value_by_family(value).items():
        for first_member, members in kinship.ports_by_profile(family) if family[-1] is not None else ():
            own_traits = read_traits(first_member.qos)
            if (
                own_traits
                and own_traits != expected
                and (isinstance(own_traits, str) or any(_differing_traits(own_traits, expected)))
            ):
                for member in members:
                    yield _build_difference_hit(
                        aspect, member, own_traits, expected, sibling, count, sided=family[-1] != UNKNOWN_SIDE_NAME
                    )


def _read_profile_traits(aspect: str, qos: QosProfile) -> StatedPortTraits | str:
    """Return the traits of a profile; if one is not known, the path of the missing fact."""
    try:
        return tuple(PORT_TRAITS_BY_ASPECT[aspect](qos))
    except UnknownFact as unknown:
        return str(unknown)


def _build_difference_hit(
    aspect: str,
    member: PortWithQosProfile,
    traits: StatedPortTraits | str,
    expected: StatedPortTraits,
    sibling: PortWithQosProfile,
    count: int,
    *,
    sided: bool,
) -> AnalysisHit | UndecidedSubject:
    device, port = member.device.name, member.port.name
    if isinstance(traits, str) or not sided:
        return UndecidedSubject(subject=(device, port), missing=traits if isinstance(traits, str) else "interface.side")
    differences = list(_differing_traits(traits, expected))
    count_suffix = (
        f" and {len(differences) - MAX_SHOWN_DIFFERENCES} more" if len(differences) > MAX_SHOWN_DIFFERENCES else ""
    )
    _, place = differences[0]
    return AnalysisHit(
        subject=(device, port),
        at=(device, port, *place),
        facts={
            "device": device,
            "port": port,
            "aspect": aspect,
            "differences": "; ".join(text for text, _ in differences[:MAX_SHOWN_DIFFERENCES]) + count_suffix,
            "sibling_device": sibling.device.name,
            "sibling_port": sibling.port.name,
            "siblings": count,
        },
        related=(((sibling.device.name, sibling.port.name, *place), "as most of its siblings have it"),),
        discriminator=aspect,
        changes=tuple(_change_to_sibling_value((device, port), sibling, place) for _, place in differences),
    )


def _change_to_sibling_value(port: Subject, sibling: PortWithQosProfile, place: Subject) -> tuple[Subject, object]:
    """Return a part of a port, and the value of its sibling there; None without one."""
    try:
        return (*port, *place), get_part(sibling.port, place)
    except ValueError:
        return (*port, *place), None


def _differing_traits(own_traits: StatedPortTraits, sibling_traits: StatedPortTraits) -> Iterator[tuple[str, Subject]]:
    """Yield what differs in words, and where."""
    own_trait, other_trait = (
        {traits.label: traits for traits in own_traits},
        {trait.label: trait for trait in sibling_traits},
    )
    for label in dict.fromkeys((*own_trait, *other_trait)):
        pair = [traits[label] for traits in (own_trait, other_trait) if label in traits]
        texts = [traits[label].text if label in traits else NOTHING_STATED for traits in (own_trait, other_trait)]
        if texts[0] != texts[1] and (len(pair) == 2 or not pair[0].optional):
            yield f"{label} {texts[0]} (siblings: {_sibling_text_without_common_start(*texts)})", pair[0].place


def _sibling_text_without_common_start(own_text: str, sibling_text: str) -> str:
    """Return the sibling's text without the words that both texts begin with: `150 kB` of `marks at 150 kB`."""
    words = sibling_text.split(" ")
    common = [
        word for word, _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, own_text.split(" "), strict=False))
    ]
    return " ".join(words[len(common) :]) or sibling_text


def _classification_traits(qos: QosProfile) -> Iterator[StatedPortTrait]:
    trust = require_fact(qos.trust, "interface.qos.trust")
    yield StatedPortTrait("trust:", trust or "nothing", ("qos", "trust"))
    yield from _map_traits(qos, "classification")


def _map_traits(qos: QosProfile, aspect: str) -> Iterator[StatedPortTrait]:
    """Yield the entries of the maps of an aspect, in the words of their fields."""
    for name in names_of_fields_with_columns(QosProfile, aspect=aspect):
        if (words := number_map_words_by_field().get(name)) is not None:
            yield from _map_entry_traits(qos, name, f"{words.source} {{}} {words.verb}", f"{words.target} {{}}")


def _map_entry_traits(qos: QosProfile, name: str, label: str, target: str) -> Iterator[StatedPortTrait]:
    for index, value in enumerate(require_fact(getattr(qos, name), f"interface.qos.{name}") or ()):
        if value is not None:
            yield StatedPortTrait(label.format(index), target.format(value), ("qos", name, str(index)))


def _scheduling_traits(qos: QosProfile) -> Iterator[StatedPortTrait]:
    yield from _map_traits(qos, "scheduling")
    for queue in require_fact(qos.queues, "interface.qos.queues"):
        scheduler = require_fact(queue.scheduler, "queue.scheduler")
        if scheduler is not None:
            place = ("qos", "queues", str(queue.index), "scheduler")
            yield StatedPortTrait(f"queue {queue.index} is", _format_scheduler(scheduler), place)


def _format_scheduler(scheduler: Scheduler) -> str:
    """Return a scheduler in words; what is not set is as its default: weight 1, no rates (SAI inc/saischeduler.h)."""
    share = "" if scheduler.type == "strict" else f" {1 if scheduler.weight is None else scheduler.weight}"
    rates = (("at least", scheduler.guaranteed_bytes_per_s), ("at most", scheduler.peak_bytes_per_s))
    limits = (f", {word} {_format_rate(rate)}" for word, rate in rates if rate)
    return f"{scheduler.type}{share}{''.join(limits)}"


def _format_rate(bytes_per_s: int) -> str:
    """Return a rate as a speed if it is a whole number of Mb/s, else exactly."""
    exact = bytes_per_s % BYTES_PER_MBIT == 0
    return units.show_speed(bytes_per_s // BYTES_PER_MBIT) if exact else f"{bytes_per_s} B/s"


def _marking_traits(qos: QosProfile) -> Iterator[StatedPortTrait]:
    for queue in require_fact(qos.queues, "interface.qos.queues"):
        wred = require_fact(queue.wred, "queue.wred")
        if wred is not None and wred.green.probability_percent != 0:
            yield _build_marking_trait(queue, wred)


def _build_marking_trait(queue: Queue, wred: WredProfile) -> StatedPortTrait:
    """Return the curve of green, the color of all traffic without a policer, and the action on it.

    A probability that is not set is 100 % (SAI inc/saiwred.h).
    """
    green = wred.green
    probability = 100 if green.probability_percent is None else green.probability_percent
    does = "marks" if "green" in wred.ecn_colors else "drops" if green.enabled else "ignores"
    low, high = ("none" if count is None else units.show_bytes(count) for count in (green.min_bytes, green.max_bytes))
    if green.min_percent is not None:
        low, high = f"{green.min_percent} %", f"{green.max_percent} % of its limit"
    curve = f"{low} to {high}, {probability} %"
    return StatedPortTrait(f"queue {queue.index}", f"{does} at {curve}", ("qos", "queues", str(queue.index), "wred"))


def _buffer_traits(qos: QosProfile) -> Iterator[StatedPortTrait]:
    groups = [
        (priority_group.index, priority_group.buffer)
        for priority_group in require_fact(qos.priority_groups, "interface.qos.priority_groups")
    ]
    queues = [(queue.index, queue.buffer) for queue in require_fact(qos.queues, "interface.qos.queues")]
    for kind, rows, name in (("priority group", groups, "priority_groups"), ("queue", queues, "queues")):
        for index, buffer in rows:
            buffer_profile = require_fact(buffer, f"{kind.replace(' ', '_')}.buffer")
            room = "has no buffer" if buffer_profile is None else _format_buffer_pool(buffer_profile)
            has_headroom = buffer_profile is not None and bool(buffer_profile.headroom)
            yield StatedPortTrait(
                f"{kind} {index}", room, ("qos", name, str(index), "buffer"), optional=name == "queues" or has_headroom
            )


def _format_buffer_pool(buffer: BufferProfile) -> str:
    pool = f"uses pool {buffer.pool}"
    return (
        pool
        if buffer.static_th_bytes is None or buffer.headroom
        else f"{pool}, at most {units.show_bytes(buffer.static_th_bytes)}"
    )


def _watchdog_traits(qos: QosProfile) -> Iterator[StatedPortTrait]:
    watchdog = require_fact(qos.pfc_watchdog, "interface.qos.pfc_watchdog")
    if watchdog is not None:
        for name in names_of_fields_with_columns(PfcWatchdog, aspect="watchdog"):
            value = require_fact(getattr(watchdog, name), "interface.qos.pfc_watchdog")
            value = FIELD_TABLE[PfcWatchdog][name].if_absent if value is None else value
            text = "not stated" if value is None else f"{value} {unit_of(name)}".rstrip()
            yield StatedPortTrait(f"the watchdog's {label_of(name)} is", text, ("qos", "pfc_watchdog", name))


PORT_TRAITS_BY_ASPECT: dict[str, Callable[[QosProfile], Iterator[StatedPortTrait]]] = {
    "classification": _classification_traits,
    "scheduling": _scheduling_traits,
    "marking": _marking_traits,
    "buffers": _buffer_traits,
    "watchdog": _watchdog_traits,
}
"""What is compared, one aspect after the other; a port that differs in two has two faults."""
