"""The two tiers: numbers, models, network OSes and releases of their switches."""

from collections.abc import Iterator

from nodrop import platforms
from nodrop.fabric.states import Unknown
from nodrop.importing.found import Found, Keys, numbers, stated
from nodrop.importing.sight import KEYS, ROLES, Box, Sight, usual
from nodrop.platforms.traits import traits
from nodrop.report.names import listing


def tiers(sight: Sight) -> Found:
    """Return the tiers; switches of a tier that are unlike most of it are left over."""
    keys, guessed, lacking = {}, {}, {}
    left = list(_others(sight))
    for role in ROLES:
        own = sight.tier(role)
        at: Keys = ("topology", KEYS[role])
        if not own:
            lacking[at] = f"no switch is known to be a {role}; such as {{ids: 1-2, model: SN4700, …}}"
            continue
        model = usual(one.device.model for one in own if not isinstance(one.device.model, Unknown))
        platform = usual(platforms.written_as(one.device.platform) for one in own) or ""
        version, how = _version(own, platform)
        keys[KEYS[role]] = stated(ids=numbers(one.id for one in own), model=model, platform=platform, version=version)
        if model is None:
            lacking[(*at, "model")] = (
                "no file says which model it is: one of `nodrop hardware`, here or as `models` in nodrop.yaml"
            )
        foreign = sorted({one.device.platform for one in own} - {platform})
        if foreign:
            guessed[(*at, "platform")] = f"read from {', '.join(foreign)}, which nodrop does not write"
        if how:
            guessed[(*at, "version")] = how
        if role in sight.guessed:
            guessed[(*at, "ids")] = f"which switches these are follows from {sight.guessed[role]}"
        left += _unlike(own, model, platform)
    return Found(keys={"topology": {"kind": "leaf-spine", **keys}}, guessed=guessed, lacking=lacking, left=tuple(left))


def _version(own: tuple[Box, ...], platform: str) -> tuple[str, str]:
    """Return the release of a tier, and why it is a guess; empty where it is none."""
    held = traits(platform)
    found = usual(one.device.version for one in own if isinstance(one.device.version, str))
    if found in held.releases:
        return str(found), ""
    if found is None or any(one.device.platform != platform for one in own):
        return held.usual, "no file says a release that nodrop writes; this one is usual"
    return held.usual, f"{held.title} {found} is none that nodrop writes"


def _others(sight: Sight) -> Iterator[str]:
    if sight.others:
        yield f"{listing(sight.others)}: of neither tier; an intent has leaves and spines"


def _unlike(own: tuple[Box, ...], model: object, platform: str) -> Iterator[str]:
    """Yield switches of another model or network OS than their tier's."""
    for what, wanted, found in (
        ("model", model, {one.was: one.device.model for one in own if not isinstance(one.device.model, Unknown)}),
        ("platform", platform, {one.was: platforms.written_as(one.device.platform) for one in own}),
    ):
        for value in sorted({str(one) for one in found.values() if one != wanted}):
            names = listing(name for name, one in found.items() if str(one) == value)
            yield f"{names}: {what} {value}; a tier has one, {wanted} here"
