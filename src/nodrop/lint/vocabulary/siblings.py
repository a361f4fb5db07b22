"""Words about what other rules have found, and alpha as one writes it."""

from nodrop.limits import MAX_POWER
from nodrop.lint.areas import areas_of
from nodrop.lint.vocabulary import TOLD, Told, word
from nodrop.model.index import Index


@word("function", last=True)
def told_otherwise(
    aspect: str, device: str, port: str, sibling_device: str, sibling_port: str, *, index: Index
) -> bool:
    """Whether other rules find in this aspect what sets a port apart from its sibling: one fault is told once."""
    told: Told = index.kept.get(TOLD, {})
    one, other = (
        {rule for area, rule, _ in told.get(end, ()) if area in areas_of(aspect)}
        for end in ((device, port), (sibling_device, sibling_port))
    )
    return one != other


@word("function", last=True)
def error_near(devices: str, *, index: Index) -> bool:
    """Whether another rule finds an error at one of these devices, whose names have a comma between them."""
    named = set(devices.split(", "))
    told: Told = index.kept.get(TOLD, {})
    return any(subject[0] in named and any(severity == "error" for *_, severity in told[subject]) for subject in told)


@word("filter")
def alpha(exponent: int) -> str:
    """Write a dynamic threshold as the factor that it stands for: 0 is `1`, 3 is `8`, -2 is `1/4`, 100 is `2^100`."""
    if abs(exponent) > MAX_POWER:
        return f"2^{exponent}"
    return str(2**exponent) if exponent >= 0 else f"1/{2**-exponent}"
