"""With what each device of a fabric starts in a twin: the frr.conf that it has, and the daemons that it would start."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodrop.export.frr_conf import FrrConf, frr_conf
from nodrop.fabric.fabric import Device
from nodrop.fabric.reading import Reading
from nodrop.fabric.states import Unknown, those_known
from nodrop.platforms.running import runs
from nodrop.validating.twin.daemons import Boot


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What starts, and what it is made of."""

    boots: Mapping[str, Boot]
    confs: Mapping[str, FrrConf]
    without: Mapping[str, str]
    """Devices that start nothing, and why."""
    told: tuple[str, ...]
    """Where what starts is not what the device itself would start."""


def start(reading: Reading) -> Start:
    """Return what the devices of a fabric start with; InputProblems where a file has changed since it was read."""
    boots: dict[str, Boot] = {}
    confs: dict[str, FrrConf] = {}
    without: dict[str, str] = {}
    for device in reading.fabric.devices:
        conf = frr_conf(reading, device)
        if conf is None:
            without[device.name] = "its routing is not known"
            continue
        own = runs(device.platform)
        confs[device.name] = conf
        boots[device.name] = Boot(text=conf.text, daemons=daemons(reading, device), profile=own.profile)
    return Start(boots=boots, confs=confs, without=without, told=tuple(_told(reading, confs)))


def daemons(reading: Reading, device: Device) -> tuple[str, ...]:
    """Return the daemons that a device starts of itself, in their order."""
    own = runs(device.platform)
    processes = (device.bgp, *those_known(device.vrf_bgp))
    watched = any(
        neighbor.bfd
        for process in processes
        if process is not None and not isinstance(process, Unknown)
        for neighbor in those_known(process.neighbors)
    )
    off = any(remark.kind == own.unless and remark.subject[0] == device.name for remark in reading.remarks)
    return (*own.daemons, *(own.with_bfd if watched and not off else ()))


def _told(reading: Reading, confs: Mapping[str, FrrConf]) -> Iterator[str]:
    stands = sorted({runs(device.platform).stands_for for device in reading.fabric.devices} - {""})
    yield from (f"FRR stands for {one}" for one in stands)
    made = [name for name, conf in confs.items() if conf.own]
    if made:
        yield f"frr.conf is made from what the files of {len(made)} devices say in other words"
    yield from (f"{name}: {what}" for name, conf in confs.items() for what in conf.missing)
