"""Services of a SONiC switch that run outside the management VRF, if the tables state where they run.

Sources: sonic-buildimage dockers/docker-snmp/snmpd.conf.j2 (agentAddress … @vrf) and src/sonic-yang-models/yang-models
(sonic-gnmi.yang, sonic-telemetry.yang, sonic-ntp.yang: vrf).
"""

from nodrop.platforms.sonic.config import DeviceTables

SERVICE_VRF_REMARK_KIND = "service-outside-management-vrf"
_MANAGEMENT_VRF = "mgmt"
_LOOPBACK_ADDRESS_PREFIXES = ("127.", "::1")
_GNMI_ROWS = (("GNMI", "gnmi"), ("TELEMETRY", "gnmi"))


def remark_services_outside_management_vrf(config: DeviceTables) -> None:
    """Remark what runs in another VRF than that for management; nothing where the switch has no such VRF."""
    if config.rows("MGMT_VRF_CONFIG").get("vrf_global", {}).get("mgmtVrfEnabled") != "true":
        return
    for key in config.rows("SNMP_AGENT_ADDRESS_CONFIG"):
        address, _, remainder = key.partition("|")
        vrf = remainder.partition("|")[2]
        if vrf != _MANAGEMENT_VRF and not address.startswith(_LOOPBACK_ADDRESS_PREFIXES):
            _remark_service_vrf(config, ("SNMP_AGENT_ADDRESS_CONFIG", key), "SNMP", vrf)
    for table, row in _GNMI_ROWS:
        vrf = config.rows(table).get(row, {}).get("vrf", _MANAGEMENT_VRF)
        if vrf != _MANAGEMENT_VRF:
            _remark_service_vrf(config, (table, row, "vrf"), "gNMI", vrf)
    vrf = config.rows("NTP").get("global", {}).get("vrf", _MANAGEMENT_VRF)
    if vrf != _MANAGEMENT_VRF and config.rows("NTP_SERVER"):
        _remark_service_vrf(config, ("NTP", "global", "vrf"), "NTP", vrf)


def _remark_service_vrf(config: DeviceTables, keys: tuple[str, ...], service: str, vrf: str) -> None:
    config.remark(SERVICE_VRF_REMARK_KIND, (), keys, service=service, vrf=vrf or "default")
