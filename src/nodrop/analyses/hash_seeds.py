"""Two tiers that hash alike: the upper tier cannot sort again by the values that the lower one has sorted by.

A seed that is not stated is the switch's own, a random number on Cumulus Linux (user guide, Equal Cost Multipath,
`ecmp_hash_seed`), and polarizes nothing. Switches of different ASICs hash differently with any seed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._tiers import uplink_cables
from nodrop.hardware import asic_of
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import Unknown

RESTS_ON = frozenset({"cables", "roles"})
GIVES_CHANGES = True
LOOKS_AT = frozenset({"hash_seed", "hash_fields", "role", "model", "platform", "version"})


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the devices whose seed is that of a device in the next tier, where the upper one has paths to choose from.

    Of two such devices the one is named that differs from its own tier, else the upper one.
    """
    cables: Counter[tuple[str, str]] = Counter(
        (uplink.lower.name, uplink.upper.name) for uplink in uplink_cables(index)
    )
    ups: Counter[str] = Counter()
    for (below, _), count in cables.items():
        ups[below] += count
    chooses = {above for (_, above), count in cables.items() if count > 1} | {name for name, n in ups.items() if n > 1}
    usual = _most_common_seed_by_role(index)
    free = 1 + max((node.hash_seed for node in index.fabric.devices if isinstance(node.hash_seed, int)), default=0)
    reported_devices: set[str] = set()
    unsettled: set[str] = set()
    for below, above in cables:
        lower, upper = index.devices[below], index.devices[above]
        if above not in chooses or ups[below] < 2 or _have_different_asics(lower, upper):
            continue
        for device in (lower, upper):
            if isinstance(device.hash_seed, Unknown) and device.name not in unsettled:
                unsettled.add(device.name)
                yield UndecidedSubject(subject=(device.name,), missing="device.hash_seed")
        if isinstance(lower.hash_seed, Unknown) or isinstance(upper.hash_seed, Unknown):
            continue
        if lower.hash_seed is None or lower.hash_seed != upper.hash_seed:
            continue
        odd, other_device = (
            (lower, upper)
            if _has_unusual_hash_seed(lower, usual) and not _has_unusual_hash_seed(upper, usual)
            else (upper, lower)
        )
        if odd.name not in reported_devices:
            reported_devices.add(odd.name)
            yield AnalysisHit(
                subject=(odd.name,),
                at=(odd.name, "@hash_seed"),
                facts={
                    "device": odd.name,
                    "seed": lower.hash_seed,
                    "role": str(odd.role),
                    "other_role": str(other_device.role),
                    "other": other_device.name,
                },
                related=(((other_device.name, "@hash_seed"), "the same seed"),),
                changes=(
                    ((odd.name, "@hash_seed"), usual[str(odd.role)] if _has_unusual_hash_seed(odd, usual) else free),
                ),
            )


def _most_common_seed_by_role(index: Index) -> dict[str, int | None]:
    """Return the seed that most devices of a role have."""
    seeds: defaultdict[str, Counter[int | None]] = defaultdict(Counter)
    for device in index.fabric.devices:
        if not isinstance(device.role, Unknown) and not isinstance(device.hash_seed, Unknown):
            seeds[device.role][device.hash_seed] += 1
    return {role: counted.most_common(1)[0][0] for role, counted in seeds.items()}


def _has_unusual_hash_seed(device: Device, most_common_seed_by_role: dict[str, int | None]) -> bool:
    return device.hash_seed != most_common_seed_by_role.get(str(device.role))


def _have_different_asics(own_device: Device, other_device: Device) -> bool:
    """Whether two devices are known to have different ASICs."""
    asics = [asic_of(device.model) for device in (own_device, other_device)]
    return None not in asics and asics[0] != asics[1]
