"""Effects of a fabric's mode on the rest of its intent: PFC, marking, trimming, and keys without a place then."""

from collections.abc import Iterator, Mapping

from nodrop.design.faults import KeyFault
from nodrop.design.topology import Topology, topology_of
from nodrop.hardware import buildable_models, switch, switches
from nodrop.intent.schema import Intent, TrafficClass, TrimmedPackets
from nodrop.model.fabric import Mode, Trimming
from nodrop.model.modes import PFC_MODES
from nodrop.platforms.kit.traits import first_release, traits_of_platform
from nodrop.units import show_bytes

_LOSSLESS_POOL_KEYS = ("lossless_pool", "alpha", "shared_headroom", "pattern_mtu")


def has_pfc(mode: Mode) -> bool:
    """Whether RDMA is protected by PFC in the intent's mode."""
    return mode in PFC_MODES


def trimming_of(intent: Intent) -> TrimmedPackets | None:
    """Return how switches trim packets: in mode trim, and in mode uec if stated; None where they do not."""
    trims = intent.mode == "trim" or (intent.mode == "uec" and "trimming" in intent.model_fields_set)
    return intent.trimming if trims else None


def build_trimming(classes: Mapping[str, TrafficClass], trimming: TrimmedPackets | None) -> Trimming | None:
    """Return how a switch trims packets: cut packets travel in a separate class, and in its queue."""
    if trimming is None:
        return None
    into = classes[trimming.into]
    assert into.dscp != "rest"
    return Trimming(size_bytes=trimming.size, dscp=into.dscp[0], tc=None, queue=into.priority)


def mode_faults(intent: Intent) -> Iterator[KeyFault]:
    """Yield keys that have no meaning in the intent's mode, and missing parts that a mode needs."""
    if not has_pfc(intent.mode):
        for path, lacking in _stated_lossless_only_keys(intent):
            yield KeyFault(path, f"stated in mode {intent.mode}, which has {lacking}", "", "remove it")
    if trimming := trimming_of(intent):
        yield from _trimming_class_faults(intent.classes, trimming)
        yield from _trimming_support_faults(topology_of(intent), intent.mode, trimming)
    elif "trimming" in intent.model_fields_set:
        yield KeyFault(("trimming",), f"stated in mode {intent.mode}", "mode: trim or uec", "or remove it")


def _stated_lossless_only_keys(intent: Intent) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield keys that mean nothing if nothing is lossless, and the part that such a fabric does not have."""
    if "pfc" in intent.model_fields_set:
        yield ("pfc",), "no PFC"
    for key in _LOSSLESS_POOL_KEYS:
        if key in intent.buffers.model_fields_set:
            yield ("buffers", key), "no lossless pool"


def _trimming_class_faults(classes: Mapping[str, TrafficClass], trimming: TrimmedPackets) -> Iterator[KeyFault]:
    name = trimming.into
    into = classes.get(name)
    keys = ("trimming", "into")
    if into is None:
        hint = "cut packets use a separate class, ahead of the others"
        yield KeyFault(keys, f"no class {name}", "a class of the intent", hint)
    elif into.dscp == "rest":
        fault = f"{name} takes the rest"
        yield KeyFault(keys, fault, "a class with separate DSCPs", "cut packets are marked with its first")
    elif into.ecn or into.lossless or name == "rdma" or into.purpose == "rdma":
        yield KeyFault(keys, f"{name} is not for cut packets alone", "a lossy class without ecn")


def _trimming_support_faults(topology: Topology, mode: Mode, trimming: TrimmedPackets) -> Iterator[KeyFault]:
    """Yield tiers whose model or platform does not trim, and a size that a platform does not take."""
    size = trimming.size
    is_size_reported = False
    for group in topology.groups:
        tier = group.wanted
        held = traits_of_platform(tier.platform)
        asic = switch(tier.model).asic if tier.model in switches() else None
        if asic and asic not in held.trimming.asics:
            able = sorted({switch(name).asic for name in buildable_models(tier.platform)} & held.trimming.asics)
            fault = f"{asic} of {tier.model} does not trim packets under {held.title}"
            hint = _hint_disable_trimming(mode)
            expected = f"a model with {' or '.join(able)}"
            yield KeyFault((*group.keys, "model"), fault, expected, hint)
        elif (
            asic
            and tier.version in held.releases
            and asic not in traits_of_platform(tier.platform, tier.version).trimming.asics
        ):
            fault = f"{held.title} {tier.version} does not trim packets"
            expected = f"{_first_trimming_release(tier.platform, asic)} or later"
            yield KeyFault((*group.keys, "version"), fault, expected, _hint_disable_trimming(mode))
        (low, high), step = held.trimming.size_bytes, held.trimming.size_step_bytes
        if not is_size_reported and (not low <= size <= high or size % step):
            is_size_reported = True
            expected = f"{low}B to {high}B, a multiple of {step}"
            yield KeyFault(("trimming", "size"), show_bytes(size), expected)


def _hint_disable_trimming(mode: Mode) -> str:
    """Return how an intent has no trimming."""
    return "or no trimming" if mode == "uec" else "or mode: lossy"


def _first_trimming_release(platform: str, asic: str) -> str | None:
    return first_release(platform, lambda release_traits: asic in release_traits.trimming.asics)
