"""What a device's own release has not got, though later ones do: refused with the first that has."""

from collections.abc import Iterator

from nodrop.hardware.schema import Switch
from nodrop.model.fabric import Device
from nodrop.model.states import known
from nodrop.platforms.nvue.releases import SINCE, knows, precedes
from nodrop.platforms.nvue.traits import TRAITS
from nodrop.platforms.sayable import refuse

_Need = tuple[str, tuple[str, ...]]
"""What is needed of a release, one of `NEEDED`, and the part of the device that needs it."""


def check_release(device: Device) -> None:
    """Raise Unsupported where a device, whose release is written, has what that release cannot say."""
    for what, path in _needs(device):
        if not knows(device.version, what):
            raise refuse(path, f"{TRAITS.title} has {what} since {SINCE[what]}, and this is {device.version}")


def check_model(device: Device, facts: Switch) -> None:
    """Raise Unsupported where a device's release is older than its model."""
    since = facts.since.get("nvue")
    if since is not None and not precedes(since, device.version):
        raise refuse(["version"], f"{TRAITS.title} knows {facts.name} since {since}, and this is {device.version}")


def _needs(device: Device) -> Iterator[_Need]:
    if known(device.otlp_collectors):
        yield "export by OTLP", ("otlp_collectors",)
    if known(device.gnmi_port) is not None:
        yield "a gNMI server", ("gnmi_port",)
    if known(device.trimming) is not None:
        yield "packet trimming", ("trimming",)
