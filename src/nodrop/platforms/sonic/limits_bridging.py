"""Parts of port channels, VLANs and VRFs that config_db cannot express.

Names and numbers are those of sonic-portchannel.yang, sonic-vlan.yang and sonic-vrf.yang.
"""

import re

from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.fabric import Device
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.expressible import check_distinct, check_row_names_and_order, unsupported_error

_PORT_CHANNEL_NAME_PATTERN = re.compile(r"PortChannel[0-9]{1,4}")
_VRF_NAME_PATTERN = re.compile(r"Vrf[A-Za-z0-9_-]+")
_VLAN_ID_RANGE = (2, 4094)


def check_bridging(device: Device) -> None:
    """Raise UnsupportedByPlatform if no rows can express a port channel or VLAN of the device."""
    channels, vlans = require_fact(device.port_channels), require_fact(device.vlans)
    check_row_names_and_order(channels, "port_channels", order=lambda row: natural_sort_key(row.name))
    check_row_names_and_order(vlans, "vlans", order=lambda row: row.id)
    for channel in channels:
        path = ("port_channels", channel.name)
        if not _PORT_CHANNEL_NAME_PATTERN.fullmatch(channel.name):
            raise unsupported_error(
                (*path, "name"), "a port channel is called PortChannel and a number of four digits at most"
            )
        if list(channel.members) != sorted(set(channel.members), key=natural_sort_key):
            raise unsupported_error((*path, "members"), "are not in the order in which they would be read back")
        _check_common_settings(channel, path)
    for vlan in vlans:
        path = ("vlans", str(vlan.id))
        if not _VLAN_ID_RANGE[0] <= vlan.id <= _VLAN_ID_RANGE[1]:
            raise unsupported_error((*path, "id"), f"is not from {_VLAN_ID_RANGE[0]} to {_VLAN_ID_RANGE[1]}")
        check_row_names_and_order(
            vlan.members, *path, "members", order=lambda member: natural_sort_key(member.interface)
        )
        _check_common_settings(vlan, path)


def _check_common_settings(row: PortChannel | Vlan, path: tuple[str, str]) -> None:
    check_vrf(row.vrf, *path, "vrf")
    check_distinct(row.addresses, *path, "addresses")
    if row.description == "":
        raise unsupported_error((*path, "description"), "is empty, which SONiC takes of ports alone")
    if row.mtu_bytes is None:
        raise unsupported_error((*path, "mtu_bytes"), "there is one: without a field it is the switch's default")


def check_vrf(name: str | None, *path: str) -> None:
    """Raise UnsupportedByPlatform where a VRF has a name that SONiC does not take."""
    if name is not None and not _VRF_NAME_PATTERN.fullmatch(name):
        raise unsupported_error(path, f"{name} does not begin with Vrf, as VRFs of SONiC do")
