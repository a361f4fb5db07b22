"""Templates of the NIC configuration operator that select the same NICs: it then applies none of them."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.model.index import Index
from nodrop.model.nics import Nic

RESTS_ON: frozenset[str] = frozenset()


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield templates that an earlier one overlaps; facts: models, and first, the earlier one."""
    templates: dict[tuple[str, str, str], Nic] = {}
    for nic in index.fabric.nics:
        if nic.template is not None:
            templates.setdefault((nic.host, nic.file, nic.template), nic)
    seen: list[Nic] = []
    for nic in templates.values():
        first_nic = next((earlier_nic for earlier_nic in seen if _can_select_same_nic(earlier_nic, nic)), None)
        if first_nic is not None:
            common_models = ", ".join(sorted(set(first_nic.models) & set(nic.models)))
            facts = {"models": common_models, "first": "/".join(first_nic.subject)}
            related = ((first_nic.subject, "the other template"),)
            yield AnalysisHit(subject=nic.subject, facts=facts, related=related)
        seen.append(nic)


def _can_select_same_nic(nic: Nic, other_nic: Nic) -> bool:
    """Whether a NIC can match both: nodes that a selector, or addresses, keep apart are not compared."""
    if nic.node_selector != other_nic.node_selector or not set(nic.models) & set(other_nic.models):
        return False
    addresses = set(nic.pci_addresses) & set(other_nic.pci_addresses)
    return bool(addresses) or not nic.pci_addresses or not other_nic.pci_addresses
