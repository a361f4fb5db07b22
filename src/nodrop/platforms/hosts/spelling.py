"""NIC settings for a fabric's hosts: by NIC model a script with its systemd unit, a template, an environment.

The output follows the statements about hosts in the fabric; unknown settings are left out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nodrop import hardware
from nodrop.model.addresses import interface_of
from nodrop.model.fabric import Fabric, Host, Interface
from nodrop.model.index import Index
from nodrop.model.modes import parts_by_host
from nodrop.model.purposes import RDMA_STORAGE
from nodrop.model.states import Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.hosts import HOSTS_FOLDER
from nodrop.platforms.kit.artifact import Artifact
from nodrop.platforms.kit.rendering import load_template
from nodrop.units import show_ids

ALL_ETHERNET_PRIORITIES = range(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class NicModelSettings:
    """How the NICs of one model are set, in the words of the templates; None is left out."""

    name: str
    fabric: str
    nic: str
    device: str | None
    tool: str | None
    operator_type: str | None
    trust: str | None
    pfc_priorities: tuple[int, ...] | None
    tos: int | None
    forced: bool
    """Whether the driver may give all RoCE connections the ToS: not where storage over RoCE has another DSCP."""
    fifo_tos: int | None
    queue_pairs: int | None
    """Of each connection of NCCL."""
    priority: int | None
    """Of RDMA, by the class of its DSCP."""
    share_percent: int | None
    mapped: tuple[tuple[int, int], ...]
    """DSCPs that the driver of NVIDIA's NICs would put into another priority than their class has."""
    by_priority: tuple[tuple[str, int], ...]
    """All DSCPs, as ranges, by the priority of their class."""
    cnp_dscp: int | None
    cnp_priority: int | None
    dcqcn: bool | None
    dcqcn_priorities: tuple[int, ...]
    cable_length_m: int | None
    mtu_bytes: int | None
    family: str
    adaptive: bool
    """Whether switches spray packets over equal paths."""
    marks: bool
    """Whether it is known how the NIC marks the packets that may be sprayed."""
    isolated_rails: bool
    """Whether no switch joins the leaves of all ports of a host."""

    @property
    def pfc_on_off_list(self) -> str | None:
        """The priorities with PFC as eight switches."""
        if self.pfc_priorities is None:
            return None
        return ",".join("1" if priority in self.pfc_priorities else "0" for priority in ALL_ETHERNET_PRIORITIES)

    @property
    def could_pause_fabric(self) -> bool:
        """Whether a receiver that has stalled could pause the fabric."""
        return bool(self.pfc_priorities)

    @property
    def marks_packets_for_spraying(self) -> bool:
        """Whether the NIC is set to mark packets that switches may spray."""
        return self.adaptive and self.marks

    @property
    def bnxt_mode(self) -> int | None:
        """The mode of bnxt_setupcc.sh: 1 is PFC, 2 congestion control, 3 both; None if unknown, or neither."""
        if self.tos is None or self.priority is None or self.pfc_priorities is None or self.dcqcn is None:
            return None
        return (self.priority in self.pfc_priorities) + 2 * self.dcqcn or None

    @property
    def settings_not_written(self) -> tuple[str, ...]:
        """Return the expected NIC settings that the script does not make, because no source describes them."""
        return tuple(unwritten_settings_with_reasons(self))

    @property
    def kubernetes_name(self) -> str:
        """A name that Kubernetes takes."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.fabric}-{self.name}".lower()).strip("-")[:63].strip("-")

    @property
    def dcqcn_mask(self) -> int:
        """The bits of the priorities with DCQCN, as the firmware keeps them."""
        return sum(1 << priority for priority in self.dcqcn_priorities)

    @property
    def systemd_unit_name(self) -> str:
        """The name of the script on a host, and of its unit."""
        return f"roce-{self.name}"


WRITES = tuple(f"{HOSTS_FOLDER}/*.{kind}" for kind in ("sh", "service", "yaml", "nccl.env"))
"""The names of the files, as patterns."""


def write_host_files(fabric: Fabric) -> Iterator[Artifact]:
    """Yield the files in hosts/, by name of the NIC model; they are of no device."""
    for setting in nic_settings_by_model(fabric):
        if setting.tool is not None and setting.device is not None:
            yield _render_artifact(setting, "sh")
            yield _render_artifact(setting, "service")
        if setting.operator_type is not None and setting.trust is not None and setting.pfc_on_off_list is not None:
            yield _render_artifact(setting, "yaml")
        if setting.tos is not None:
            yield _render_artifact(setting, "nccl.env")


@lru_cache(maxsize=64)  # examples of rules, and states of one fabric, mostly have the same hosts
def _render_artifact(setting: NicModelSettings, object_kind: str) -> Artifact:
    text = load_template(f"{HOSTS_FOLDER}/nic.{object_kind}.j2").render(nic=setting)
    return Artifact(device="", path=f"{HOSTS_FOLDER}/{setting.name}.{object_kind}", text=text)


def unwritten_settings_with_reasons(nic: NicModelSettings) -> Iterator[str]:
    """Yield the settings that a script of another maker than NVIDIA leaves to the site, with the reason."""
    if nic.adaptive and not nic.marks:
        yield f"adaptive routing, for no source says how {nic.nic} marks the packets that switches may spray"
    if nic.tool == "bnxt_setupcc":
        yield from _bnxt_unsupported_settings(nic)
    elif nic.tool == "nicctl":
        yield "shares of the classes (nicctl update qos scheduling), for no source says the unit of --rate-limit"
        if nic.pfc_priorities == ():
            yield "nicctl update port --pause-type without PFC, for no source says the word for it"
        if nic.dcqcn is False:
            yield "DCQCN turned off, for no source says how"


def _bnxt_unsupported_settings(nic: NicModelSettings) -> Iterator[str]:
    """Yield what bnxt_setupcc.sh has no option for: it sets one priority and one DSCP of RoCE."""
    if nic.bnxt_mode is None:
        yield "PFC, DSCPs and DCQCN, for bnxt_setupcc.sh needs a priority with PFC, DCQCN or both"
        return
    further_numbers = [pfc_priority for pfc_priority in nic.pfc_priorities or () if pfc_priority != nic.priority]
    if further_numbers:
        yield f"PFC on priority {show_ids(further_numbers)}, for bnxt_setupcc.sh sets one priority of RoCE"
    if nic.fifo_tos is not None and nic.tos is not None and nic.fifo_tos >> 2 != nic.tos >> 2:
        yield f"the priority of DSCP {nic.fifo_tos >> 2}, for bnxt_setupcc.sh sets one DSCP of RoCE"


def nic_settings_by_model(fabric: Fabric) -> list[NicModelSettings]:
    """Return the settings of each NIC model; different settings for hosts of one model are separated by group."""
    index, by_model = Index(fabric), dict[str, dict[tuple[Any, ...], list[Host]]]()
    for host in fabric.hosts:
        if isinstance(host.nic, str):
            key = (*_settings_key(host), _has_isolated_ports(fabric, index, host))
            by_model.setdefault(host.nic, {}).setdefault(key, []).append(host)
    new_settings = []
    for model in sorted(by_model, key=natural_sort_key):
        taken: set[str] = set()
        for hosts in by_model[model].values():
            name = model if len(by_model[model]) == 1 else f"{model}.{hosts[0].group or hosts[0].name}"
            name = next(candidate for candidate in (name, f"{model}.{hosts[0].name}") if candidate not in taken)
            taken.add(name)
            new_settings.append(_build_nic_model_settings(fabric, index, name, hosts))
    return new_settings


def _settings_key(host: Host) -> tuple[Any, ...]:
    sent = (host.tos, host.fifo_tos, host.cnp_dscp, host.rdma_mtu_bytes, host.queue_pairs)
    return tuple(_none_if_unknown(fact) for fact in (*sent, host.trust, host.pfc_priorities, host.dcqcn))


def _build_nic_model_settings(fabric: Fabric, index: Index, name: str, hosts: list[Host]) -> NicModelSettings:
    host = hosts[0]
    assert isinstance(host.nic, str)
    is_known_model = host.nic in hardware.nics()
    facts = hardware.nic(host.nic) if is_known_model else None
    tos, pfc = _none_if_unknown(host.tos), _none_if_unknown(host.pfc_priorities)
    cnp_dscp, fifo_tos = _none_if_unknown(host.cnp_dscp), _none_if_unknown(host.fifo_tos)
    owners = {
        dscp: traffic_class
        for traffic_class in fabric.classes
        for dscp in traffic_class.dscp
        if _none_if_unknown(traffic_class.tc) in ALL_ETHERNET_PRIORITIES
    }
    rdma = owners.get(tos >> 2) if tos is not None else None
    cnp = owners.get(cnp_dscp) if cnp_dscp is not None else None
    cnp = cnp if cnp is not None and cnp.purpose == "cnp" else None
    roce = {"rdma", *RDMA_STORAGE}
    guarded = {dscp for dscp, owner in owners.items() if owner.lossless is True or owner.purpose in roce}
    sent = {byte >> 2 for byte in (tos, fifo_tos) if byte is not None} | ({cnp_dscp} if cnp else set())
    priority_of = {dscp: _none_if_unknown(owner.tc) for dscp, owner in owners.items()}
    lengths, mtus = (
        zip(*_cable_lengths_and_mtus(index, hosts), strict=True)
        if any(_cable_lengths_and_mtus(index, hosts))
        else ((), ())
    )
    return NicModelSettings(
        name=name,
        fabric=fabric.name,
        nic=host.nic,
        device=facts.pci_device if facts else None,
        tool=facts.tool if facts else None,
        operator_type=facts.operator_type if facts else None,
        trust=_none_if_unknown(host.trust),
        pfc_priorities=pfc,
        tos=tos,
        forced=tos is not None
        and all(
            tos >> 2 in traffic_class.dscp for traffic_class in fabric.classes if traffic_class.purpose in RDMA_STORAGE
        ),
        fifo_tos=fifo_tos,
        queue_pairs=_none_if_unknown(host.queue_pairs),
        priority=_none_if_unknown(rdma.tc) if rdma else None,
        share_percent=_none_if_unknown(rdma.share_percent) if rdma else None,
        mapped=tuple(
            (dscp, priority_of[dscp])
            for dscp in sorted((guarded | sent) & owners.keys())
            if dscp >> 3 != priority_of[dscp]
        ),
        by_priority=tuple(
            (show_ids([dscp for dscp, target in priority_of.items() if target == priority]).replace(" ", ""), priority)
            for priority in sorted(set(priority_of.values()))
        ),
        cnp_dscp=cnp_dscp,
        cnp_priority=_none_if_unknown(cnp.tc) if cnp else None,
        dcqcn=_none_if_unknown(host.dcqcn),
        dcqcn_priorities=_find_dcqcn_priorities(fabric, pfc or ()),
        cable_length_m=max((length for length in lengths if length is not None), default=None),
        mtu_bytes=_least_mtu([mtu for mtu in mtus if mtu is not None], facts.max_mtu_bytes if facts else None),
        family=_address_family(hosts),
        adaptive=any(port.adaptive_routing is True for device in fabric.devices for port in device.interfaces),
        marks=facts.adaptive_routing if facts else False,
        isolated_rails=_has_isolated_ports(fabric, index, host),
    )


def _has_isolated_ports(fabric: Fabric, index: Index, host: Host) -> bool:
    """Whether no switch joins the leaves of all ports of a host, as the owner states of rails or as cables show."""
    if _none_if_unknown(fabric.policy.rails) == "isolated" and _none_if_unknown(host.spread) == "rails":
        return True
    parts_of = index.compute_once("parts by host", lambda: _known_parts_by_host(fabric, index))
    return len(parts_of.get(host.name, ())) > 1


def _known_parts_by_host(fabric: Fabric, index: Index) -> Mapping[str, frozenset[str]]:
    """Return the parts that hosts are in; none where a port in use may lead to a switch that no known cable names."""
    open_ports = (
        port
        for device in fabric.devices
        for port in device.interfaces
        if port.enabled is True
        and _none_if_unknown(port.side) != "host"
        and index.far_end(device.name, port.name) is None
    )
    return {} if next(open_ports, None) is not None else parts_by_host(fabric.links, index.hosts.keys())


def _cable_lengths_and_mtus(index: Index, hosts: list[Host]) -> list[tuple[int | None, int | None]]:
    """Return the length of every cable of the hosts, and the MTU of the switch port at its other end."""
    cables: list[tuple[int | None, int | None]] = []
    for host in hosts:
        for own_port in host.ports:
            link, far = index.link(host.name, own_port.name), index.far_port(host.name, own_port.name)
            if link is not None:
                mtu = _none_if_unknown(far.mtu_bytes) if isinstance(far, Interface) else None
                cables.append((_none_if_unknown(link.length_m), mtu))
    return cables


def _least_mtu(mtus: list[int], most: int | None) -> int | None:
    """Return the least MTU of switch ports, or the largest that the NIC's driver takes; None if no port's is known."""
    return min([*mtus, *([most] if most is not None else [])]) if mtus else None


def _address_family(hosts: list[Host]) -> str:
    """Return the address family of the hosts' ports, as NCCL calls it; IPv4 where they have both, or none is stated."""
    texts = [text for host in hosts for port in host.ports for text in port.addresses]
    versions = {interface.version for text in texts if (interface := interface_of(text)) is not None}
    return "AF_INET6" if versions == {6} else "AF_INET"


def _find_dcqcn_priorities(fabric: Fabric, pfc: tuple[int, ...]) -> tuple[int, ...]:
    """Return the priorities on which the NICs react to marks, sorted: those of RDMA, and those with PFC."""
    rdma = {_none_if_unknown(traffic_class.tc) for traffic_class in fabric.classes if traffic_class.purpose == "rdma"}
    return tuple(priority for priority in ALL_ETHERNET_PRIORITIES if priority in rdma or priority in pfc)


def _none_if_unknown(value: object) -> Any:
    return None if isinstance(value, Unknown) else value
