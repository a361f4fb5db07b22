"""Out-of-band addresses that switches of two fabrics share: all management ports are in one out-of-band network.

A management address that no file states is compared with none.
"""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._beside import earlier_overlapping_fabrics
from nodrop.model.identifiers import management_addresses
from nodrop.model.index import Index

NEEDS_OTHER_FABRICS = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield a hit for each pair of switches that have a management address in common."""
    for other_overlapping_fabric in earlier_overlapping_fabrics(index):
        holders: dict[str, str] = {}
        for device in other_overlapping_fabric.fabric.devices:
            for address in management_addresses(device):
                holders.setdefault(address, device.name)
        for device in index.fabric.devices:
            shared: dict[str, list[str]] = {}
            for address in management_addresses(device):
                if address in holders:
                    shared.setdefault(holders[address], []).append(address)
            for holder, addresses in shared.items():
                yield AnalysisHit(
                    subject=(device.name,),
                    at=(device.name, "@management", "addresses"),
                    facts={
                        "device": device.name,
                        "addresses": ", ".join(addresses),
                        "holder": holder,
                        "other": other_overlapping_fabric.name,
                    },
                    related=(
                        (
                            other_overlapping_fabric.subject_of_part(holder, "@management", "addresses"),
                            "the same address",
                        ),
                    ),
                    discriminator=f"{other_overlapping_fabric.name} {holder}",
                )
