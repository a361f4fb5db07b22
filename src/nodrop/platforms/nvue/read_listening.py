"""Services of a switch that run outside the management VRF.

Sources: Cumulus Linux 5.14, SSH for Remote Access (`system ssh-server vrf`; without it, SSH listens in all VRFs), and
Configure SNMP (`listening-address … vrf`, by default the default VRF; localhost answers the switch alone); NTP of 5.14
(`service ntp <vrf> server`) and 5.15 (`system ntp vrf`, by default that for management).
"""

from nodrop.model.fabric import Device
from nodrop.model.states import Unknown
from nodrop.platforms.nvue.read_services import MANAGEMENT_VRF, SNMP_PATHS
from nodrop.platforms.nvue.read_values import NvueConfigFile

SERVICE_VRF_REMARK_KIND = "service-outside-management-vrf"
_SSH_VRF_PATH = ("system", "ssh-server", "vrf")
_LOOPBACK_ADDRESS_PREFIXES = ("localhost", "127.", "::1")


def remark_services_outside_management(config: NvueConfigFile, device: Device) -> None:
    """Remark what runs in another VRF than that for management; nothing where the management port is in none."""
    management = device.management
    if isinstance(management, Unknown) or management is None or not management.own_vrf:
        return
    top = config.top
    for vrf in top.below(*_SSH_VRF_PATH[:-1]).texts(_SSH_VRF_PATH[-1]):
        if vrf != MANAGEMENT_VRF:
            config.remark(SERVICE_VRF_REMARK_KIND, (), (*_SSH_VRF_PATH, vrf), service="SSH", vrf=vrf)
    ntp = top.below("system", "ntp")
    if (stated := ntp.text("vrf")) not in (None, MANAGEMENT_VRF) and ntp.texts("server"):
        config.remark(SERVICE_VRF_REMARK_KIND, (), ("system", "ntp", "vrf"), service="NTP", vrf=str(stated))
    for vrf, view in top.below("service", "ntp").items() if top.below("service").has("ntp") else ():
        if vrf != MANAGEMENT_VRF and view.texts("server"):
            config.remark(SERVICE_VRF_REMARK_KIND, (), ("service", "ntp", vrf), service="NTP", vrf=vrf)
    for path in SNMP_PATHS:
        server = top.below(*path)
        for address, view in server.below("listening-address").items() if server.has("listening-address") else ():
            vrf = view.text("vrf") or "default"
            if vrf != MANAGEMENT_VRF and not address.startswith(_LOOPBACK_ADDRESS_PREFIXES):
                config.remark(
                    SERVICE_VRF_REMARK_KIND, (), (*path, "listening-address", address), service="SNMP", vrf=vrf
                )
