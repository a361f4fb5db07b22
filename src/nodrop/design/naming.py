"""The name of every switch and host: derived once from its identity, by the intent's templates and exceptions.

An identity (role, group, number, pod and plane) decides addresses, AS numbers, ports and all else; a name decides
nothing.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nodrop.design.faults import KeyFault
from nodrop.intent.names import NameTemplate, SwitchAndHostNames, TemplateField, Templates
from nodrop.intent.schema import EndpointGroup, Intent
from nodrop.intent.types import NAME_PATTERN
from nodrop.units import parse_whole_number

HOST_ROLE = "host"
"""The role of hosts, as templates have it."""
_DEFAULT_NAME_TEMPLATE: NameTemplate = (TemplateField("group", 0), TemplateField("id", 0))
_MAX_NAME_CHARACTERS = 63
NON_SWITCH_FOLDERS = frozenset({"hosts", "plan"})
"""Folders of a build that are no switch's."""


class NodeIdentity(NamedTuple):
    """The permanent identity of a switch or host; as text it is group and number, such as leaf1."""

    role: str
    group: str
    """A group of endpoints or of switches."""
    id: int
    pod: int = 1
    plane: int = 1

    def __str__(self) -> str:
        return f"{self.group}{self.id}"


def switch_identity(role: str, group: str, number: int, pod: int) -> NodeIdentity:
    """Return the identity of a switch of a tier."""
    return NodeIdentity(role, group, number, pod)


def host_identity(group: str, number: int) -> NodeIdentity:
    """Return the identity of a host."""
    return NodeIdentity(HOST_ROLE, group, number)


def host_identities(endpoints: Mapping[str, EndpointGroup]) -> Iterator[NodeIdentity]:
    """Yield the identities of all hosts."""
    return (host_identity(name, number) for name, group in endpoints.items() for number in group.ids)


class NamingScheme(NamedTuple):
    """What an intent states of names: the keys of `names`, and the fabric, which is the site where these state none."""

    names: SwitchAndHostNames
    fabric: str


def naming_of(intent: Intent) -> NamingScheme:
    """Return what an intent states of names."""
    return NamingScheme(intent.names, intent.fabric)


def name_of(naming: NamingScheme, identity: NodeIdentity) -> str:
    """Return the name of a switch or host; where its template cannot be filled in, which `name_faults` reports, its
    identity.
    """
    own_name = naming.names.devices.get(str(identity))
    return (
        own_name
        or fill_name_template(_template_of(naming.names, identity), _field_values_of(naming, identity))
        or str(identity)
    )


def intent_key_words_of_switch(name: str, identity: NodeIdentity, names: frozenset[str]) -> tuple[str, ...]:
    """Return the words for a switch in an intent's keys: its name, then its identity unless that is one of the
    `names` of others.
    """
    return (name,) if str(identity) in names else (name, str(identity))


def name_faults(
    naming: NamingScheme, endpoints: Mapping[str, EndpointGroup], switches: Iterable[NodeIdentity]
) -> Iterator[KeyFault]:
    """Yield the faults of names that an intent states: words for nobody, names that cannot be, and names of several."""
    if naming.names == SwitchAndHostNames():
        return
    identities = [*switches, *host_identities(endpoints)]
    yield from _unknown_name_keys(naming.names, endpoints, identities)
    faulty: set[tuple[str, ...]] = set()
    owners: dict[str, NodeIdentity] = {}
    for identity in identities:
        fault, to_blame = _invalid_name_fault(naming, identity), identity
        if not fault:
            owner = owners.setdefault(name_of(naming, identity).casefold(), identity)
            fault = _collision_fault(naming, owner, identity)
            to_blame = owner if str(owner) in naming.names.devices else identity
        place = _key_path_of_name(naming.names, to_blame)
        if fault and place not in faulty:
            faulty.add(place)
            yield KeyFault(place, *fault)


def _unknown_name_keys(
    names: SwitchAndHostNames, endpoints: Mapping[str, EndpointGroup], identities: Iterable[NodeIdentity]
) -> Iterator[KeyFault]:
    """Yield keys of names that mean no switch, host, role or group."""
    known = {str(identity): None for identity in identities}
    roles = {identity.group: None for identity in identities if identity.role != HOST_ROLE}
    example = next(iter(known))
    for key, words, thing, expected in (
        ("devices", known, "switch or host", f"an identity, such as {example}"),
        ("racks", known, "switch or host", f"an identity, such as {example}"),
        ("template", roles, "role", " or ".join(roles)),
        ("hosts", endpoints, "group of endpoints", " or ".join(endpoints)),
    ):
        value = getattr(names, key)
        for word in value if isinstance(value, dict) else ():
            if word not in words:
                close = difflib.get_close_matches(word, words, n=1)
                hint = f"did you mean {close[0]}?" if close else ""
                yield KeyFault(("names", key, word), f"no {thing} {word}", expected, hint)


def _invalid_name_fault(naming: NamingScheme, identity: NodeIdentity) -> tuple[str, ...]:
    """Return why a switch or host has no name that can be, as found, expected and hint; nothing where it has one."""
    values = _field_values_of(naming, identity)
    for slot in _template_fields_of_name(naming.names, identity):
        if slot.field not in values:
            return f"{identity} has no rack", f"a rack for each, as names.racks: {{{identity}: r12}}"
        if slot.width and parse_whole_number(values[slot.field]) is None:
            fault = f"rack {values[slot.field]} of {identity} is no number"
            return fault, "{rack}", f"{{rack:0{slot.width}}} takes numbers only"
    name = name_of(naming, identity)
    if len(name) > _MAX_NAME_CHARACTERS:
        return f"{identity} would be {name}, of {len(name)} characters", f"at most {_MAX_NAME_CHARACTERS}"
    if not re.fullmatch(NAME_PATTERN, name):
        return f"{identity} would be {name}", "a name that begins with a letter or digit"
    if name.casefold() in NON_SWITCH_FOLDERS:
        return f"{identity} would be {name}, a folder of the build beside those of switches", "another name"
    return ()


def _collision_fault(naming: NamingScheme, owner: NodeIdentity, identity: NodeIdentity) -> tuple[str, ...]:
    """Return that two have one name, which in DNS and on some disks case does not alter; nothing where they are one,
    or have one identity, which is no matter of names.
    """
    if str(owner) == str(identity):
        return ()
    lacks_id = not any(
        str(each) in naming.names.devices
        or "id" in {slot.field for slot in _template_fields_of_name(naming.names, each)}
        for each in (owner, identity)
    )
    fault = f"{owner} and {identity} would both be {name_of(naming, identity)}"
    return fault, "a name for each", "add {id}" if lacks_id else ""


def _key_path_of_name(names: SwitchAndHostNames, identity: NodeIdentity) -> tuple[str, ...]:
    """Return the keys that decide a name."""
    if str(identity) in names.devices:
        return ("names", "devices", str(identity))
    key = "hosts" if identity.role == HOST_ROLE else "template"
    templates: Templates | None = getattr(names, key)
    if isinstance(templates, dict) and identity.group in templates:
        return ("names", key, identity.group)
    return ("names", key) if templates is not None else ("names",)


def _template_fields_of_name(names: SwitchAndHostNames, identity: NodeIdentity) -> list[TemplateField]:
    """Return the fields of the template that a name is made by; none of an exception."""
    if str(identity) in names.devices:
        return []
    return [piece for piece in _template_of(names, identity) if isinstance(piece, TemplateField)]


def _template_of(names: SwitchAndHostNames, identity: NodeIdentity) -> NameTemplate:
    templates = names.hosts if identity.role == HOST_ROLE else names.template
    if isinstance(templates, dict):
        return templates.get(identity.group, _DEFAULT_NAME_TEMPLATE)
    return templates or _DEFAULT_NAME_TEMPLATE


def _field_values_of(naming: NamingScheme, identity: NodeIdentity) -> dict[str, str]:
    """Return the fields of an identity that have a value."""
    rack = naming.names.racks.get(str(identity))
    return {
        "site": naming.names.site or naming.fabric,
        "pod": str(identity.pod),
        "plane": str(identity.plane),
        "role": identity.role,
        "group": identity.group,
        "id": str(identity.id),
    } | ({"rack": rack} if rack is not None else {})


def fill_name_template(template: NameTemplate, values: Mapping[str, str]) -> str:
    """Return a template with its fields filled in; empty where a field has no value."""
    pieces = [piece if isinstance(piece, str) else values.get(piece.field, "").zfill(piece.width) for piece in template]
    return "".join(pieces) if all(isinstance(piece, str) or piece.field in values for piece in template) else ""
