"""Places in host files that set NIC fields."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from nodrop.errors import InputProblems
from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject
from nodrop.platforms.hosts import parse_host_file
from nodrop.platforms.hosts.facts import NicFact


def place_finder_for_files(config_files: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds the fact of a subject such as `gpu1/mlnx_qos_eth4.txt/trust` in a host's files."""

    @lru_cache(maxsize=len(config_files) or 1)
    def of(file: str) -> Mapping[str, Mapping[str, NicFact]]:
        try:
            return {
                nic: facts
                for document in parse_host_file(config_files[file], file)
                for nic, facts in document.parts.items()
            }
        except InputProblems:
            return {}

    def place(subject: Subject) -> FilePlace | None:
        if len(subject) < 2 or subject[1] not in config_files:
            return None
        parts = of(subject[1])
        nic_part, field = subject[2:] if len(subject) == 4 else ("", subject[-1])
        if (fact := parts.get(nic_part, {}).get(field)) is not None:
            return FilePlace(subject[1], fact.span)
        own = [parts.get(subject[2], {})] if len(subject) == 3 else list(parts.values()) if len(subject) == 2 else []
        spans = sorted(fact.span for facts in own for fact in facts.values())
        return FilePlace(subject[1], spans[0]) if spans else None

    return place
