"""Start configuration of each device of a fabric in a twin: its frr.conf, and the daemons that it would start."""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from nodrop.export.frr_conf import FrrConf, frr_conf
from nodrop.model.addresses import other_address_of_pair
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.states import known_rows
from nodrop.platforms.kit.running import daemons_of_platform
from nodrop.report.names import format_count
from nodrop.routing.stand_ins import is_stand_in
from nodrop.validating.twin.daemons import BootConfiguration
from nodrop.validating.twin.outward import comment_out_outward_lines

_PLACES, _TEXT = 8, 100
"""How many lines of one text a note names, and how many characters of it it shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinStartConfigurations:
    """The configurations that start, and their sources."""

    boots: Mapping[str, BootConfiguration]
    confs: Mapping[str, FrrConf]
    without: Mapping[str, str]
    """Devices that start nothing, and why."""
    notes: tuple[str, ...]
    """Where what starts is not what the device itself would start."""
    left_out: tuple[str, ...]
    """Notes on lines that daemons are not given."""


def prepare_start_configurations(reading: Reading) -> TwinStartConfigurations:
    """Return the start configurations of a fabric's devices; InputProblems if a file has changed since it was read."""
    boots: dict[str, BootConfiguration] = {}
    confs: dict[str, FrrConf] = {}
    without: dict[str, str] = {}
    trimmed_lines: dict[str, tuple[int, ...]] = {}
    stand_ins = {device.name for device in reading.fabric.devices if is_stand_in(device)}
    protected = _outside_sessions_with_passwords(reading.fabric)
    for device in reading.fabric.devices:
        conf = frr_conf(reading, device)
        if conf is None:
            without[device.name] = "its routing is not known"
            continue
        own_runs = daemons_of_platform(device.platform)
        confs[device.name] = conf
        trimmed = comment_out_outward_lines(_without_passwords(conf.text, protected.get(device.name, frozenset())))
        trimmed_lines[device.name] = trimmed.lines
        boots[device.name] = BootConfiguration(
            text=trimmed.text, daemons=daemons_of_device(reading, device), profile=own_runs.profile
        )
    return TwinStartConfigurations(
        boots=boots,
        confs=confs,
        without=without,
        notes=(
            *_notes_on_start_configuration(reading, {name: confs[name] for name in confs if name not in stand_ins}),
            *(f"{name}: sessions with neighbors outside run without their passwords" for name in sorted(protected)),
        ),
        left_out=tuple(
            _omitted_line_notes(confs, {name: trimmed_lines[name] for name in trimmed_lines if name not in stand_ins})
        ),
    )


def daemons_of_device(reading: Reading, device: Device) -> tuple[str, ...]:
    """Return the daemons that a device starts of itself, in their order."""
    own_runs = daemons_of_platform(device.platform)
    watched = any(neighbor.bfd for process in device.known_bgp_processes for neighbor in known_rows(process.neighbors))
    off = any(remark.kind == own_runs.unless and remark.subject[0] == device.name for remark in reading.remarks)
    return (*own_runs.daemons, *(own_runs.with_bfd if watched and not off else ()))


def _outside_sessions_with_passwords(fabric: Fabric) -> Mapping[str, frozenset[str]]:
    """Return by switch the neighbors outside whose sessions have a password: nodrop has none for a stand-in."""
    index = Index(fabric)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for device in filter(is_stand_in, fabric.devices):
        protected = {
            neighbor.address
            for process in device.known_bgp_processes
            for neighbor in known_rows(process.neighbors)
            if neighbor.password is not None
        }
        for port in device.interfaces:
            end = index.far_end(device.name, port.name)
            for text in known_rows(port.addresses) if end is not None else ():
                if end is not None and other_address_of_pair(text) in protected:
                    found[end.node].add(text.partition("/")[0])
    return {name: frozenset(addresses) for name, addresses in found.items()}


def _without_passwords(frr_text: str, neighbors: Container[str]) -> str:
    """Return a text without the passwords of some neighbors; no other line gets another number."""
    lines = frr_text.split("\n")
    return "\n".join(
        "!" if len(words) > 3 and words[0] == "neighbor" and words[1] in neighbors and words[2] == "password" else line
        for line, words in ((line, line.split(maxsplit=3)) for line in lines)
    )


def _notes_on_start_configuration(reading: Reading, confs: Mapping[str, FrrConf]) -> Iterator[str]:
    replaced_daemons = sorted(
        {
            daemons_of_platform(device.platform).stands_for
            for device in reading.fabric.devices
            if not is_stand_in(device)
        }
        - {""}
    )
    yield from (f"FRR replaces {daemon}" for daemon in replaced_daemons)
    stand_ins = [device.name for device in reading.fabric.devices if is_stand_in(device)]
    if stand_ins:
        yield f"FRR replaces the neighbors outside: {', '.join(stand_ins)}"
    generated_names = [name for name, conf in confs.items() if conf.own]
    if generated_names:
        devices = format_count(len(generated_names), "device")
        yield f"frr.conf is made from the files of {devices}, which state the same in other words"
    yield from (f"{name}: {missing_text}" for name, conf in confs.items() for missing_text in conf.missing)


def _omitted_line_notes(confs: Mapping[str, FrrConf], trimmed_lines: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """Yield a note for each text that daemons do not get, with the lines that contain it."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for name, numbers in trimmed_lines.items():
        rows = confs[name].text.split("\n") if numbers else []
        for number in numbers:
            place = confs[name].place(number)
            at = f"{name} {place.file}:{place.span.line}" if place else name
            places[_shorten_text(rows[number - 1].strip())].append(at)
    for text, all_at in places.items():
        suffix = f" and {len(all_at) - _PLACES} more lines" if len(all_at) > _PLACES else ""
        yield f"left out for the daemons, no effect on routing: `{text}` ({', '.join(all_at[:_PLACES])}{suffix})"


def _shorten_text(frr_text: str) -> str:
    return frr_text if len(frr_text) <= _TEXT else f"{frr_text[:_TEXT]}..."
