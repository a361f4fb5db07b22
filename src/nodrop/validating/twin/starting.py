"""Start configuration of each device of a fabric in a twin: its frr.conf, and the daemons that it would start."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodrop.export.frr_conf import FrrConf, frr_conf
from nodrop.model.fabric import Device
from nodrop.model.reading import Reading
from nodrop.model.states import known_rows
from nodrop.platforms.kit.running import daemons_of_platform
from nodrop.report.names import format_count
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
    for device in reading.fabric.devices:
        conf = frr_conf(reading, device)
        if conf is None:
            without[device.name] = "its routing is not known"
            continue
        own_runs = daemons_of_platform(device.platform)
        confs[device.name] = conf
        trimmed = comment_out_outward_lines(conf.text)
        trimmed_lines[device.name] = trimmed.lines
        boots[device.name] = BootConfiguration(
            text=trimmed.text, daemons=daemons_of_device(reading, device), profile=own_runs.profile
        )
    return TwinStartConfigurations(
        boots=boots,
        confs=confs,
        without=without,
        notes=tuple(_notes_on_start_configuration(reading, confs)),
        left_out=tuple(_omitted_line_notes(confs, trimmed_lines)),
    )


def daemons_of_device(reading: Reading, device: Device) -> tuple[str, ...]:
    """Return the daemons that a device starts of itself, in their order."""
    own_runs = daemons_of_platform(device.platform)
    watched = any(neighbor.bfd for process in device.known_bgp_processes for neighbor in known_rows(process.neighbors))
    off = any(remark.kind == own_runs.unless and remark.subject[0] == device.name for remark in reading.remarks)
    return (*own_runs.daemons, *(own_runs.with_bfd if watched and not off else ()))


def _notes_on_start_configuration(reading: Reading, confs: Mapping[str, FrrConf]) -> Iterator[str]:
    replaced_daemons = sorted(
        {daemons_of_platform(device.platform).stands_for for device in reading.fabric.devices} - {""}
    )
    yield from (f"FRR replaces {daemon}" for daemon in replaced_daemons)
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
