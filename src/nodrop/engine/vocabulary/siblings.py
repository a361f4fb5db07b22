"""Words about what other rules have found, and alpha as one writes it."""

from nodrop.engine.areas import areas_checking_aspect
from nodrop.engine.vocabulary import REPORTED_RULES_KEY, declare_word
from nodrop.limits import MAX_POWER_OF_TWO_EXPONENT
from nodrop.model.index import Index
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key


@declare_word("function", last=True)
def reported_by_other_rules(
    aspect: str, device: str, port: str, sibling_device: str, sibling_port: str, *, index: Index
) -> bool:
    """Whether other rules find in this aspect what sets a port apart from its sibling: one fault is one finding."""
    reported_rules = index.get_channel_value(REPORTED_RULES_KEY, {})
    own_rules, sibling_rules = (
        {rule for area, rule, _ in reported_rules.get(end, ()) if area in areas_checking_aspect(aspect)}
        for end in ((device, port), (sibling_device, sibling_port))
    )
    return own_rules != sibling_rules


@declare_word("function", last=True)
def has_error_at_devices(devices: str, causes: str = "", *, index: Index) -> bool:
    """Whether another rule finds an error, or one of these rules anything, at one of these devices.

    Devices and rules have a comma between them. A finding at a cable is at both of its ends.
    """
    device_names, explain = set(devices.split(", ")), set(causes.split(", "))
    reported_rules = index.get_channel_value(REPORTED_RULES_KEY, {})
    return any(
        any(severity == "error" or rule in explain for _, rule, severity in reported_rules[subject])
        for subject in reported_rules
        if not device_names.isdisjoint(_devices_of_subject(subject))
    )


def _devices_of_subject(subject: Subject) -> tuple[str, ...]:
    return (subject[0],) if subject[0] != FABRIC_HEAD else tuple(end.node for end in ends_of_cable_key(subject[-1]))


@declare_word("filter")
def alpha(exponent: int) -> str:
    """Write a dynamic threshold as the factor that it stands for: 0 is `1`, 3 is `8`, -2 is `1/4`, 100 is `2^100`."""
    if abs(exponent) > MAX_POWER_OF_TWO_EXPONENT:
        return f"2^{exponent}"
    return str(2**exponent) if exponent >= 0 else f"1/{2**-exponent}"
