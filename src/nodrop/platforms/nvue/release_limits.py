"""Features that a device's release does not have but later ones do: refused with the first release that has them."""

from nodrop.hardware.schema import SwitchModel
from nodrop.model.fabric import Device
from nodrop.platforms.kit import bindings
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.releases import FIRST_RELEASE_BY_FEATURE, has_feature, is_same_or_earlier
from nodrop.platforms.nvue.traits import TRAITS


def check_features_in_release(device: Device) -> None:
    """Raise UnsupportedByPlatform if a device has a feature that its release, which is written, cannot express."""
    version = device.version

    def lacks(what: str) -> str | None:
        return (
            None
            if has_feature(version, what)
            else f"{TRAITS.title} has {what} since {FIRST_RELEASE_BY_FEATURE[what]}, and this is {version}"
        )

    bindings.check_release_has_fields(SWITCH_BINDINGS, device, lacks)


def check_release_knows_model(device: Device, facts: SwitchModel) -> None:
    """Raise UnsupportedByPlatform where a device's release is older than its model."""
    since = facts.since.get("nvue")
    if since is not None and not is_same_or_earlier(since, device.version):
        raise unsupported_error(
            ["version"], f"{TRAITS.title} knows {facts.name} since {since}, and this is {device.version}"
        )
