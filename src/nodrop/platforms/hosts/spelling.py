"""What sets the NICs of a fabric's hosts: by NIC model a script with its systemd unit, a template, an environment.

What is written follows the statements about hosts in the fabric; what is not known is left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodrop import hardware
from nodrop.model.addresses import interface_of
from nodrop.model.fabric import Fabric, Host, Interface
from nodrop.model.index import Index
from nodrop.model.purposes import RDMA_STORAGE
from nodrop.model.states import Unknown
from nodrop.model.subject import natural
from nodrop.platforms.artifact import Artifact
from nodrop.platforms.hosts import FOLDER
from nodrop.platforms.rendering import template

PRIORITIES = range(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How the NICs of one model are set, in the words of the templates; None is left out."""

    name: str
    fabric: str
    nic: str
    device: str | None
    operator_type: str | None
    trust: str | None
    pfc: str | None
    tos: int | None
    forced: bool
    """Whether the driver may give all RoCE connections the ToS: not where storage over RoCE has another DSCP."""
    mapped: tuple[tuple[int, int], ...]
    cnp_dscp: int | None
    cnp_priority: int | None
    dcqcn: bool | None
    dcqcn_priorities: tuple[int, ...]
    cable_length_m: int | None
    mtu_bytes: int | None
    family: str
    guarded: bool

    @property
    def slug(self) -> str:
        """A name that Kubernetes takes."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.fabric}-{self.name}".lower()).strip("-")[:63].strip("-")

    @property
    def dcqcn_mask(self) -> int:
        """The bits of the priorities with DCQCN, as the firmware keeps them."""
        return sum(1 << priority for priority in self.dcqcn_priorities)

    @property
    def unit(self) -> str:
        """The name of the script on a host, and of its unit."""
        return f"roce-{self.name}"


WRITES = tuple(f"{FOLDER}/*.{kind}" for kind in ("sh", "service", "yaml", "nccl.env"))
"""The names of the files, as patterns."""


def files(fabric: Fabric) -> Iterator[Artifact]:
    """Yield the files in hosts/, by name of the NIC model; they are of no device."""
    for setting in settings(fabric):
        if setting.device is not None:
            yield _made(setting, "sh")
            yield _made(setting, "service")
        if setting.operator_type is not None and setting.trust is not None and setting.pfc is not None:
            yield _made(setting, "yaml")
        if setting.tos is not None:
            yield _made(setting, "nccl.env")


def _made(setting: Setting, kind: str) -> Artifact:
    text = template(f"{FOLDER}/nic.{kind}.j2").render(nic=setting)
    return Artifact(device="", path=f"{FOLDER}/{setting.name}.{kind}", text=text)


def settings(fabric: Fabric) -> list[Setting]:
    """Return how each NIC model is set; hosts of one model that are set differently are told apart by their group."""
    index, by_model = Index(fabric), dict[str, dict[tuple[Any, ...], list[Host]]]()
    for host in fabric.hosts:
        if isinstance(host.nic, str):
            by_model.setdefault(host.nic, {}).setdefault(_stated(host), []).append(host)
    made = []
    for model in sorted(by_model, key=natural):
        taken: set[str] = set()
        for hosts in by_model[model].values():
            name = model if len(by_model[model]) == 1 else f"{model}.{hosts[0].group or hosts[0].name}"
            name = next(one for one in (name, f"{model}.{hosts[0].name}") if one not in taken)
            taken.add(name)
            made.append(_setting(fabric, index, name, hosts))
    return made


def _stated(host: Host) -> tuple[Any, ...]:
    facts = (host.tos, host.cnp_dscp, host.trust, host.pfc_priorities, host.dcqcn, host.rdma_mtu_bytes)
    return tuple(_or_none(fact) for fact in facts)


def _setting(fabric: Fabric, index: Index, name: str, hosts: list[Host]) -> Setting:
    host = hosts[0]
    assert isinstance(host.nic, str)
    known = host.nic in hardware.nics()
    facts = hardware.nic(host.nic) if known else None
    tos, pfc = _or_none(host.tos), _or_none(host.pfc_priorities)
    cnp_dscp = _or_none(host.cnp_dscp)
    rdma, cnp = _priority(fabric, "rdma"), _priority(fabric, "cnp")
    pairs = [(tos >> 2, rdma) if tos is not None else None, (cnp_dscp, cnp)]
    storage = [one for one in fabric.classes if one.purpose in RDMA_STORAGE]
    pairs += [(dscp, _or_none(one.tc)) for one in storage for dscp in one.dscp]
    lengths, mtus = zip(*_cables(index, hosts), strict=True) if any(_cables(index, hosts)) else ((), ())
    return Setting(
        name=name,
        fabric=fabric.name,
        nic=host.nic,
        device=facts.pci_device if facts else None,
        operator_type=facts.operator_type if facts else None,
        trust=_or_none(host.trust),
        pfc=None if pfc is None else ",".join("1" if one in pfc else "0" for one in PRIORITIES),
        tos=tos,
        forced=tos is not None and all(tos >> 2 in one.dscp for one in storage),
        mapped=tuple(
            (dscp, priority)
            for dscp, priority in filter(None, pairs)
            if dscp is not None and priority is not None and priority in PRIORITIES and dscp >> 3 != priority
        ),
        cnp_dscp=cnp_dscp,
        cnp_priority=cnp if cnp in PRIORITIES else None,
        dcqcn=_or_none(host.dcqcn),
        dcqcn_priorities=_marked(fabric, pfc or ()),
        cable_length_m=max((one for one in lengths if one is not None), default=None),
        mtu_bytes=min((one for one in mtus if one is not None), default=None),
        family=_family(hosts),
        guarded=bool(pfc),
    )


def _cables(index: Index, hosts: list[Host]) -> list[tuple[int | None, int | None]]:
    """Return the length of every cable of the hosts, and the MTU of the switch port at its other end."""
    found: list[tuple[int | None, int | None]] = []
    for host in hosts:
        for own in host.ports:
            link, far = index.link(host.name, own.name), index.far(host.name, own.name)
            if link is not None:
                mtu = _or_none(far.mtu_bytes) if isinstance(far, Interface) else None
                found.append((_or_none(link.length_m), mtu))
    return found


def _family(hosts: list[Host]) -> str:
    """Return the address family of the hosts' ports, as NCCL calls it; IPv4 where they have both, or none is stated."""
    texts = [text for host in hosts for port in host.ports for text in port.addresses]
    versions = {one.version for text in texts if (one := interface_of(text)) is not None}
    return "AF_INET6" if versions == {6} else "AF_INET"


def _priority(fabric: Fabric, purpose: str) -> int | None:
    """Return the priority of a class by what it is for; None where it is not one, or not known."""
    found = {_or_none(one.tc) for one in fabric.classes if one.purpose == purpose}
    return found.pop() if len(found) == 1 else None


def _marked(fabric: Fabric, pfc: tuple[int, ...]) -> tuple[int, ...]:
    """Return the priorities on which the NICs react to marks, sorted: those of RDMA, and those with PFC."""
    rdma = {_or_none(one.tc) for one in fabric.classes if one.purpose == "rdma"}
    return tuple(priority for priority in PRIORITIES if priority in rdma or priority in pfc)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, Unknown) else value
