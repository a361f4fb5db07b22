"""The files of a build as its switches run them."""

from dataclasses import replace
from random import Random

from nodrop import platforms
from nodrop.model.assemble import assemble_fabric
from nodrop.model.fabric import Fabric
from nodrop.model.reading import DeviceReading, Reading, Source
from nodrop.plan.drifting import declared_facts_of
from nodrop.plan.effects import switch_files_if_unchanged
from support.as_it_runs import as_it_runs


def running(of: Reading, seed: int, stated: Fabric | None = None, without: tuple[str, ...] = ()) -> Reading:
    """A fabric as its switches show it, with what is wanted stated of it, and without some switches."""
    chance = Random(seed)
    read = [_as_read(of, device.name, chance) for device in of.fabric.devices if device.name not in without]
    return assemble_fabric(read, declared_facts_of(stated or of.fabric))


def _as_read(of: Reading, name: str, chance: Random) -> DeviceReading:
    platform = of.fabric.device(name).platform
    files = as_it_runs(platform, switch_files_if_unchanged(of, name) or {}, chance)
    sources = [(Source(name=file, display=f"{name}/{file}", held=raw), raw) for file, raw in files.items()]
    found = platforms.reader(platform).read_device(name, sources)
    return replace(found, sources=tuple(source for source, _ in sources))
