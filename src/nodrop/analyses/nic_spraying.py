"""NICs that do not send and take packets over several paths, although switches choose the path packet by packet."""

from collections.abc import Iterator

from nodrop import hardware
from nodrop.analyses import AnalysisHit
from nodrop.analyses._facing import HostFileTargets, host_file_targets_of
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.nics import Nic, value_or_none
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject

RESTS_ON = frozenset({"hosts"})


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the files that turn adaptive routing off, or set NICs that have it without turning it on.

    The latter not of hosts that are stated to take packets out of order. Facts: what (the NIC or NCCL), found and
    device, the first switch with adaptive routing.
    """
    device = next((switch for switch in index.fabric.devices if switch.adaptive_routing is True), None)
    if device is None:
        return
    hosts = host_file_targets_of(index)
    nics = [nic for nic in index.fabric.nics if value_or_none(nic, "link_layer") != "infiniband"]
    seen: set[tuple[str, str]] = set()
    on = [nic for nic in nics if value_or_none(nic, "adaptive_routing")]
    for nic in nics:
        if value_or_none(nic, "adaptive_routing") is False:
            yield _build_hit(nic, device, "NIC", "off", (*nic.subject, "adaptive_routing"))
        elif value_or_none(nic, "nccl_adaptive_routing") is False:
            yield _build_hit(nic, device, "NCCL", "off", (*nic.subject, "nccl_adaptive_routing"))
        elif (nic.host, nic.file) not in seen and _lacks_adaptive_routing(nic, on, hosts):
            seen.add((nic.host, nic.file))
            yield _build_hit(nic, device, "NIC", "not set", nic.subject)


def _lacks_adaptive_routing(nic: Nic, on: list[Nic], hosts: HostFileTargets) -> bool:
    """Whether a file sets RoCE of NICs with adaptive routing, and neither it nor another for them turns that on."""
    if isinstance(nic.adaptive_routing, bool) or not _sets_roce(nic):
        return False
    own_names = {host.name for host in hosts.hosts_of_file(nic) if _supports_adaptive_routing(host.nic)}
    return bool(own_names) and not any(
        own_names & {host.name for host in hosts.hosts_of_file(other_nic)} for other_nic in on
    )


def _sets_roce(nic: Nic) -> bool:
    """Whether a file sets how NICs classify, pause or mark."""
    roce_settings = (value_or_none(nic, "trust"), value_or_none(nic, "pfc_priorities"), value_or_none(nic, "tos"))
    return any(value is not None for value in roce_settings)


def _supports_adaptive_routing(model: str | Unknown) -> bool:
    return not isinstance(model, Unknown) and model in hardware.nics() and hardware.nic(model).adaptive_routing


def _build_hit(nic: Nic, device: Device, discriminator: str, nic_state: str, at: Subject) -> AnalysisHit:
    facts = {"what": discriminator, "found": nic_state, "device": device.name}
    return AnalysisHit(
        subject=nic.subject,
        at=at,
        facts=facts,
        related=(((device.name,), "a switch that sprays"),),
        discriminator=discriminator,
    )
