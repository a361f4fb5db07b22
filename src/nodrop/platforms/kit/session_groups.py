"""Peer groups: the sessions of a BGP process with the same settings, to switches of one tier or to hosts.

The model holds sessions, each with all its settings; writers render those with the same settings as one group.
Sessions of a group differ in their far end, their AS number, their description and whether they are shut. A session
never takes back a setting of its group, because FRR has no command for it: with other settings it is in another group.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from nodrop.model.addresses import address_of
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown, known_rows, require_fact
from nodrop.model.types import fields_of
from nodrop.model.values import replace_fields

SESSION_ONLY_FIELDS = frozenset({"address", "interface", "remote_asn", "description", "enabled"})
"""The fields that a session states itself. SONiC's templates have the AS number there too (dockers/docker-fpm-frr/frr/
bgpd/templates/general/instance.conf.j2): one more switch of a tier, with a different number, changes no other session.
"""
_GROUP_SETTINGS_GETTER = attrgetter(*(name for name in fields_of(BgpNeighbor) if name not in SESSION_ONLY_FIELDS))
_GROUP_NAME_BY_ROLE = {"leaf": "LEAVES", "spine": "SPINES", "superspine": "SUPERSPINES", "host": "HOSTS"} | {
    role: role.upper() for role in ("tier4", "tier5")
}
_UNKNOWN_FAR_END_GROUP_NAME = "PEERS"
"""The name for sessions whose far end is unknown."""
_IPV6_GROUP_SUFFIX = "-IPV6"
GroupNameByFarEnd = Mapping[str, str]
"""The group's name, without a number, of the sessions over a port, or to an address at the far end of a cable."""

NO_FAR_ENDS: GroupNameByFarEnd = {}
"""No far end is known."""


class GroupedSessions(NamedTuple):
    """The peer groups of a process by name, and the name of the group of each session that is in one, by its key.

    A group is a session without an end and an AS number.
    """

    groups: Mapping[str, BgpNeighbor]
    group_of: Mapping[str, str]

    def groups_and_sessions(self, neighbors: Sequence[BgpNeighbor]) -> list[tuple[str, BgpNeighbor]]:
        """Return (name, settings) of the groups, then of the sessions in none."""
        return [
            *self.groups.items(),
            *((neighbor.key, neighbor) for neighbor in neighbors if neighbor.key not in self.group_of),
        ]


NO_GROUPS = GroupedSessions({}, {})
"""No groups: each session states its settings."""


def group_sessions_into_peer_groups(bgp: Bgp, far_ends: GroupNameByFarEnd) -> GroupedSessions:
    """Return the peer groups of a process.

    Of the sessions with one name, those with the most common settings are a group, even one of them. Of the others,
    several with the same settings are a group with a number, and one alone is in none. So is one whose local AS
    number bgpd refuses: it may take it from a group.
    """
    sessions = require_fact(bgp.neighbors)
    kinds: dict[str, dict[object, list[BgpNeighbor]]] = {}
    for session in sessions:
        if session.has_refused_local_asn(bgp.asn):
            continue  # which bgpd would take from a peer group
        is_internal = session.remote_asn in ("internal", bgp.asn)  # FRR takes both kinds in one group for a mistake
        alike = kinds.setdefault(_group_name_of_session(session, far_ends), {})
        alike.setdefault((is_internal, session.interface is None, *_GROUP_SETTINGS_GETTER(session)), []).append(session)
    taken = {neighbor.key for neighbor in sessions}
    groups: dict[str, BgpNeighbor] = {}
    group_of: dict[str, str] = {}
    for name, alike in sorted(kinds.items()):
        first_neighbors, *smaller_groups = sorted(alike.values(), key=len, reverse=True)
        for number, members in enumerate(
            [first_neighbors, *(neighbors for neighbors in smaller_groups if len(neighbors) > 1)], 1
        ):
            spelt = name if number == 1 else f"{name}-{number}"
            if spelt not in taken:
                groups[spelt] = replace_fields(members[0], **_SESSION_FIELDS_CLEARED_IN_GROUP)
                group_of |= dict.fromkeys((member.key for member in members), spelt)
    return GroupedSessions(groups, group_of)


def _group_name_of_session(neighbor: BgpNeighbor, far_ends: GroupNameByFarEnd) -> str:
    return far_ends.get(neighbor.key, _UNKNOWN_FAR_END_GROUP_NAME) + (_IPV6_GROUP_SUFFIX if ":" in neighbor.key else "")


_SESSION_FIELDS_CLEARED_IN_GROUP = {**dict.fromkeys(SESSION_ONLY_FIELDS), "enabled": True}


def without_group_fields(neighbor: BgpNeighbor) -> BgpNeighbor:
    """Return a session in a group with only the fields that it states itself."""
    return BgpNeighbor(**{name: getattr(neighbor, name) for name in SESSION_ONLY_FIELDS})


def mark_local_asn_of_group(neighbor: BgpNeighbor, own_asn: int) -> BgpNeighbor:
    """Return a session with the local AS number of its peer group, marked where bgpd refuses it at the session."""
    is_refused = neighbor.has_refused_local_asn(own_asn)
    return replace_fields(neighbor, local_asn_of_group=True) if is_refused else neighbor


def group_name_by_far_end(device: Device, index: Index) -> GroupNameByFarEnd:
    """Return how the groups of a device's sessions are called."""
    group_names: dict[str, str] = {}
    for port, end in index.far_ends.get(device.name, {}).items():
        name = _session_group_name(end.node, index)
        if name is not None:
            group_names[port] = name
            group_names.update((address, name) for address in _port_addresses(index.interface(*end)))
    return group_names


def _session_group_name(node: str, index: Index) -> str | None:
    """Return the name of a group of sessions to a switch or host; None where nothing states which."""
    if node in index.hosts:
        return _GROUP_NAME_BY_ROLE["host"]
    device = index.devices.get(node)
    return (
        None
        if device is None or isinstance(device.role, Unknown)
        else _GROUP_NAME_BY_ROLE.get(str(device.role), _UNKNOWN_FAR_END_GROUP_NAME)
    )


def _port_addresses(port: Interface | None) -> Iterator[str]:
    """Yield the addresses of a switch's port, as sessions name them."""
    for text in known_rows(port.addresses) if port is not None else ():
        if (address := address_of(text.partition("/")[0])) is not None:
            yield str(address)
