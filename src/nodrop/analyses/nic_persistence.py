"""Settings of NICs that the next restart of a host loses, for nothing that was read sets them again."""

from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._facing import Hosts, hosts_of
from nodrop.model.index import Index
from nodrop.model.nics import Nic, value_or_none

RESTS_ON = frozenset({"hosts"})


def find(index: Index) -> Iterator[Hit]:
    """Yield the files that set NICs for as long as the host runs, once each.

    A unit that starts the file, by its name, or a template of an operator for the same hosts sets them again.
    """
    hosts = hosts_of(index)
    seen: set[tuple[str, str]] = set()
    for nic in index.fabric.nics:
        if (nic.host, nic.file) in seen or value_or_none(nic, "link_layer") == "infiniband":
            continue
        if value_or_none(nic, "kept") is False:
            seen.add((nic.host, nic.file))
        if is_lost(index, nic, hosts):
            yield Hit(subject=nic.subject, at=(*nic.subject, "kept"), facts={"file": nic.file})


def is_lost(index: Index, nic: Nic, hosts: Hosts) -> bool:
    """Whether a file sets NICs for as long as the host runs, and no other file that was read starts it again."""
    if value_or_none(nic, "kept") is not False:
        return False
    restoring = (one for one in index.fabric.nics if value_or_none(one, "starts") or _applies_roce_at_boot(one))
    return not any(_restores_settings(one, nic) and _have_common_host(index, one, nic, hosts) for one in restoring)


def _applies_roce_at_boot(nic: Nic) -> bool:
    """Whether an operator applies it at each boot, with RoCE in it."""
    return nic.template is not None and value_or_none(nic, "trust") is not None


def _restores_settings(nic: Nic, script: Nic) -> bool:
    """Whether a file sets again the settings of a script: a template, or a unit that has its name or starts it."""
    if nic.template is not None:
        return True
    stem = _strip_extension(script.file)
    programs = {word.rpartition("/")[2] for line in value_or_none(nic, "starts") or () for word in line.split()}
    named = any(
        program == script.file or _strip_extension(program) == stem or program.endswith(f"-{stem}")
        for program in programs
    )
    return named or _strip_extension(nic.file) == stem


def _have_common_host(index: Index, nic: Nic, other_nic: Nic, hosts: Hosts) -> bool:
    if not index.fabric.hosts:
        return True
    return bool({host.name for host in hosts.of(nic)} & {host.name for host in hosts.of(other_nic)})


def _strip_extension(file: str) -> str:
    """Return a name without its ending, which is none where a NIC model is called so."""
    stem, dot, ending = file.rpartition(".")
    return stem if dot and ending in ("sh", "bash", "service", "py", "rules", "conf") else file
