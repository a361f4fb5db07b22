"""BGP sessions between two switches whose AS numbers differ from the expected ones; they never come up.

The address of the far end shows where a session leads, or the cable if it goes over an interface. A session that leads
to no switch that was read, or to an address that several have, is not checked: the AS number of the far end is unknown.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping

from nodrop.analyses import AnalysisHit
from nodrop.analyses._plane import control_plane_of
from nodrop.model.fabric import Device, Interface, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject

RESTS_ON = frozenset({"cables"})
GIVES_CHANGES = True
NEEDS_ROUTING = True
LOOKS_AT = frozenset({"bgp", "addresses", "loopbacks", "vrf_bgp", "vrf", "enabled"})

SpeakerKey = tuple[str, int]
"""A switch that speaks BGP, and its AS number."""


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the first session with such a fault of each pair of switches; two external ends with one AS yield one."""
    speakers = dict(_bgp_speakers(index))
    owners = _speaker_by_address(index, speakers)
    showing = {device.name for device in index.fabric.devices if _has_local_asn(device)}
    wrong = _WrongAsnSessions(index, speakers, owners, showing)
    reported_pairs: set[tuple[str, str, str]] = set()
    for device in index.fabric.devices:
        if isinstance(device.bgp, Unknown) or device.bgp is None:
            continue
        own_asn = device.bgp.asn
        for session, far in wrong.of.get(device.name, ()):
            expected = _describe_expected_asn(session, own_asn, far[1])
            device_a, device_b = (
                sorted((device.name, far[0])) if session.remote_asn == "external" else (device.name, far[0])
            )
            if expected and (device_a, device_b, expected) not in reported_pairs:
                reported_pairs.add((device_a, device_b, expected))
                subject: Subject = (device.name, "@neighbors", session.key)
                far_asn: Subject = (far[0], "@bgp", "asn")
                changes = tuple(wrong.changes_fixing_asn(device.name, far))
                is_far_wrong = [changed for changed, _ in changes] == [far_asn]
                yield AnalysisHit(
                    subject=subject,
                    at=far_asn if is_far_wrong else (*subject, "remote_asn"),
                    facts={
                        "session": session.key,
                        "device": device.name,
                        "far": far[0],
                        "found": far[1],
                        "expected": expected,
                    },
                    changes=changes,
                    related=((((*subject, "remote_asn"), expected) if is_far_wrong else (far_asn, f"AS {far[1]}")),),
                )
    if showing:
        yield from _rejected_session_hits(index, showing)


def _has_local_asn(device: Device) -> bool:
    bgp = None if isinstance(device.bgp, Unknown) else device.bgp
    return bgp is not None and any(neighbor.local_asn is not None for neighbor in known_rows(bgp.neighbors))


def _rejected_session_hits(index: Index, showing: set[str]) -> Iterator[AnalysisHit]:
    """Yield the first session of a switch to each one of `showing` that expects another number than is shown to it."""
    reported_pairs = set()
    for down in control_plane_of(index).down:
        router, far = str(down.facts.get("where", "")), str(down.facts.get("peer", ""))
        if down.reason != "asn" or down.router.name != router or far not in showing or (router, far) in reported_pairs:
            continue
        reported_pairs.add((router, far))
        bgp, shown_asn = down.router.bgp, int(down.facts["found"])
        own_asn = 0 if bgp is None else bgp.asn
        subject = down.router.subject_of_neighbor(down.neighbor)
        yield AnalysisHit(
            subject=subject,
            at=(*subject, "remote_asn"),
            facts={
                "session": down.neighbor.key,
                "device": router,
                "far": far,
                "found": shown_asn,
                "expected": _describe_expected_asn(down.neighbor, own_asn, shown_asn),
            },
            related=(((far, "@bgp", "asn"), f"shows AS {shown_asn} there"),),
        )


class _WrongAsnSessions:
    """All sessions that are up for another AS number than their far end has, by switch, and what that end has."""

    def __init__(
        self,
        index: Index,
        speakers: Mapping[str, SpeakerKey],
        owners: Mapping[str, SpeakerKey | None],
        showing: Container[str],
    ) -> None:
        """Collect them, those to switches of `showing` aside, which show some neighbors another number."""
        self.of: dict[str, list[tuple[BgpNeighbor, SpeakerKey]]] = {}
        self._wanted: defaultdict[str, dict[tuple[str, str], int | str | None]] = defaultdict(dict)
        for device in index.fabric.devices:
            bgp = None if isinstance(device.bgp, Unknown) else device.bgp
            for session in () if bgp is None else known_rows(bgp.neighbors):
                address = session.address
                far = (
                    owners.get(address)
                    if address is not None
                    else _far_speaker_of_cable(index, speakers, device, session)
                )
                if far is not None and far[0] not in showing and session.enabled:
                    self._wanted[far[0]][device.name, session.key] = session.remote_asn
                    if far[1] != session.remote_asn:
                        self.of.setdefault(device.name, []).append((session, far))

    def changes_fixing_asn(self, device: str, far: SpeakerKey) -> Iterator[tuple[Subject, object]]:
        """Yield what would end the fault: the number that all sessions of several switches want of the far end."""
        name, asn = far
        asns = self._wanted[name]
        numbers = set(asns.values())
        if len({speaker for speaker, _ in asns}) > 1 and len(numbers) == 1 and numbers != {asn}:
            yield from (((name, "@bgp", "asn"), number) for number in numbers if isinstance(number, int))
            return
        for session, far_speaker in self.of[device]:
            if far_speaker == far and (session.remote_asn is None or isinstance(session.remote_asn, int)):
                yield (device, "@neighbors", session.key, "remote_asn"), asn


def _bgp_speakers(index: Index) -> Iterator[tuple[str, SpeakerKey]]:
    for device in index.fabric.devices:
        if not isinstance(device.bgp, Unknown) and device.bgp is not None:
            yield device.name, (device.name, device.bgp.asn)


def _speaker_by_address(index: Index, speakers: Mapping[str, SpeakerKey]) -> dict[str, SpeakerKey | None]:
    """Return who has an address, of those of ports and loopbacks; None where several switches have it."""
    owners: dict[str, SpeakerKey | None] = {}
    for device in index.fabric.devices:
        speaker = speakers.get(device.name)
        holders: tuple[Interface | Loopback, ...] = (*device.interfaces, *known_rows(device.loopbacks))
        for holder in holders:
            for text in known_rows(holder.addresses) if holder.vrf is None else ():
                address = text.partition("/")[0]
                owners[address] = speaker if owners.get(address, speaker) is speaker else None
    return owners


def _far_speaker_of_cable(
    index: Index, speakers: Mapping[str, SpeakerKey], device: Device, session: BgpNeighbor
) -> SpeakerKey | None:
    """Return who is at the other end of the cable that a session goes over."""
    end = index.far_end(device.name, session.interface or "")
    return None if end is None else speakers.get(end.node)


def _describe_expected_asn(session: BgpNeighbor, own_asn: int, far_router: int) -> str:
    """Return which AS number a session wants at the far end, in words; nothing where it finds that."""
    wanted_remote_asn = session.remote_asn
    if wanted_remote_asn == "external":
        return f"another AS than its own {own_asn}" if own_asn == far_router else ""
    if wanted_remote_asn == "internal":
        return f"its own AS {own_asn}" if own_asn != far_router else ""
    return "no AS (`remote-as` is missing)" if wanted_remote_asn is None else f"AS {wanted_remote_asn}"
