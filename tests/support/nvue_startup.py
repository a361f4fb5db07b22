"""NVUE files as others write them, made by hand and small, and the way to read them."""

from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import QosProfile
from nodrop.model.reading import DeviceReading, Source
from nodrop.platforms.nvue.reader import CANONICAL_FILES
from nodrop.platforms.nvue.reader import read_device as read_files

NAME = "sw1"
(FILE,) = CANONICAL_FILES


def read(text: str) -> DeviceReading:
    """Read a startup.yaml, or lines of `nv set`."""
    return read_files(NAME, [(Source(name=FILE, display=FILE), text.encode())])


def state(body: str, version: str = "5.14.0", model: str = "SN4700") -> str:
    """A startup.yaml that sets `body`, which is YAML without indentation."""
    indented = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return (
        f"- header:\n    model: {model}\n    nvue-api-version: nvue_v1\n    rev-id: 1.0\n"
        f"    version: Cumulus Linux {version}\n- set:\n{indented}"
    )


def device(body: str, version: str = "5.14.0", model: str = "SN4700") -> Device:
    """The device of a startup.yaml about which there is nothing to remark."""
    reading = read(state(body, version, model))
    assert (reading.remarks, reading.problems) == ((), ())
    return reading.device


def port(device: Device, name: str) -> Interface:
    """A port by name."""
    (found,) = (one for one in device.interfaces if one.name == name)
    return found


def qos(device: Device, name: str = "swp1") -> QosProfile:
    """What a port does with traffic."""
    found = port(device, name).qos
    assert isinstance(found, QosProfile)
    return found
