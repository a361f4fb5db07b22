"""Settings of NICs that the next restart of a host loses, for nothing that was read sets them again."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._facing import HostFileTargets, host_file_targets_of
from nodrop.model.index import Index
from nodrop.model.nics import Nic, value_or_none

RESTS_ON = frozenset({"hosts"})


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the files that set NICs for as long as the host runs, once each.

    A unit that starts the file, by its name, or a template of an operator for the same hosts sets them again.
    """
    hosts = host_file_targets_of(index)
    seen: set[tuple[str, str]] = set()
    for nic in index.fabric.nics:
        if value_or_none(nic, "kept") is not False or (nic.host, nic.file) in seen:
            continue
        if value_or_none(nic, "link_layer") == "infiniband":
            continue
        seen.add((nic.host, nic.file))
        if is_lost_at_reboot(index, nic, hosts):
            yield AnalysisHit(subject=nic.subject, at=(*nic.subject, "kept"), facts={"file": nic.file})


def is_lost_at_reboot(index: Index, nic: Nic, hosts: HostFileTargets) -> bool:
    """Whether a file sets NICs for as long as the host runs, and no other file that was read starts it again."""
    if value_or_none(nic, "kept") is not False:
        return False
    lost: dict[tuple[str, ...], bool] = index.compute_once("nic_persistence.lost", dict)
    key = (nic.host, nic.file, *nic.models)
    if key not in lost:
        restoring = index.compute_once("nic_persistence.restoring", lambda: _BootRestoreFiles(index, hosts))
        lost[key] = not restoring.restores_script_at_boot(nic)
    return lost[key]


class _BootRestoreFiles:
    """The files that set NICs again at each boot: templates, and units, by the names of the files that they restore."""

    def __init__(self, index: Index, hosts: HostFileTargets) -> None:
        self._hosts = hosts if index.fabric.hosts else None
        self._templates: list[Nic] = []
        self._units_by_stem: dict[str, list[Nic]] = {}
        for nic in index.fabric.nics:
            if nic.template is not None:
                if value_or_none(nic, "starts") or value_or_none(nic, "trust") is not None:
                    self._templates.append(nic)
            elif value_or_none(nic, "starts"):
                for stem in _script_stems_started_by_unit(nic):
                    self._units_by_stem.setdefault(stem, []).append(nic)

    def restores_script_at_boot(self, script: Nic) -> bool:
        """Whether one of the files, of the same host, sets the values of a script again."""
        units = self._units_by_stem.get(_strip_extension(script.file), [])
        if self._hosts is None:
            return bool(self._templates or units)
        own_names = self._hosts.host_names_of_file(script)
        return any(not own_names.isdisjoint(self._hosts.host_names_of_file(nic)) for nic in (*self._templates, *units))


def _script_stems_started_by_unit(unit: Nic) -> set[str]:
    """Return the names without endings of scripts that a unit starts, also with a prefix, or that have its name."""
    programs = {word.rpartition("/")[2] for line in value_or_none(unit, "starts") or () for word in line.split()}
    stems = {_strip_extension(unit.file), *(_strip_extension(program) for program in programs)}
    for program in programs:
        parts = program.split("-")
        stems |= {"-".join(parts[start:]) for start in range(1, len(parts))}
    return stems


def _strip_extension(file: str) -> str:
    """Return a name without its ending, which is none where a NIC model is called so."""
    stem, dot, ending = file.rpartition(".")
    return stem if dot and ending in ("sh", "bash", "service", "py", "rules", "conf") else file
