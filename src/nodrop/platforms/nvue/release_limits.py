"""Features that a device's release does not have but later ones do: refused with the first release that has them."""

from nodrop.hardware.schema import Switch
from nodrop.model.fabric import Device
from nodrop.platforms.kit import bindings
from nodrop.platforms.kit.expressible import refuse
from nodrop.platforms.nvue.bindings_switch import SWITCH
from nodrop.platforms.nvue.releases import SINCE, knows, precedes
from nodrop.platforms.nvue.traits import TRAITS


def check_release(device: Device) -> None:
    """Raise Unsupported if a device, whose release is written, has a feature that the release cannot express."""
    version = device.version

    def lacks(what: str) -> str | None:
        return None if knows(version, what) else f"{TRAITS.title} has {what} since {SINCE[what]}, and this is {version}"

    bindings.check_release(SWITCH, device, lacks)


def check_model(device: Device, facts: Switch) -> None:
    """Raise Unsupported where a device's release is older than its model."""
    since = facts.since.get("nvue")
    if since is not None and not precedes(since, device.version):
        raise refuse(["version"], f"{TRAITS.title} knows {facts.name} since {since}, and this is {device.version}")
