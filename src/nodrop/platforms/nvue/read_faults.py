"""Settings that NVUE accepts without an error and the switch cannot apply.

These are watchdogs of interfaces that are not ports, and a macro whose settings are reverted.
"""

from functools import partial

from nodrop.model.fabric import Device
from nodrop.platforms.nvue.adaptive_routing import ADAPTIVE_ROUTING_PATH as BALANCED
from nodrop.platforms.nvue.macro_contradictions import mode_contradictions
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_breakouts import abbreviate_names
from nodrop.platforms.nvue.read_ports import FileInterfaces
from nodrop.platforms.nvue.read_shared import interface_qos_with_key
from nodrop.platforms.nvue.read_values import NvueConfigFile


def remark_watchdogs_not_on_ports(config: NvueConfigFile) -> None:
    """Report watchdogs of interfaces that are not ports of the switch."""
    for qos in interface_qos_with_key(config.top.below("interface"), "pfc-watchdog"):
        if qos.below("pfc-watchdog").text("state") not in ("disable", "disabled"):
            other_names = [name for name in expand_names(qos.path[1]) if nvue_port(name) is None]
            if other_names:
                config.remark(
                    "watchdog-not-on-port", (), (*qos.path, "pfc-watchdog"), interface=abbreviate_names(other_names)
                )


def remark_settings_contradicting_roce_macro(config: NvueConfigFile, device: Device) -> None:
    """Report settings next to the RoCE macro that defeat its purpose, and a part that leaves its mode open."""
    qos = config.top.below("qos")
    roce = qos.below("roce")
    if device.qos_style == "macro":
        if not roce.has("mode") and not (config.tree and config.tree.header):
            config.remark("macro-mode-not-stated", (), ("qos", "roce"))
        for fault in mode_contradictions(qos, roce.text("mode") or "lossless"):
            facts = {"setting": " ".join(fault.path), "reason": fault.reason}
            config.remark("macro-contradicted", (), ("qos", *fault.path), partial(getattr, fault, "remedy"), **facts)


def remark_adaptive_routing_not_on_ports(config: NvueConfigFile, ports: FileInterfaces) -> None:
    """Remark interfaces that have adaptive routing and are no switch ports: it is for those alone."""
    if not ports.has_setting_anywhere("router"):
        return
    for name in ports.names():
        if nvue_port(name) is None and ports.adaptive_routing_of(view := ports.view(name))[0]:
            kind = view.text("type") or ("sub" if "." in name else "bond" if "bond" in name else "interface")
            config.remark("adaptive-routing-not-on-port", (name,), (*view.path, *BALANCED), interface=name, kind=kind)
