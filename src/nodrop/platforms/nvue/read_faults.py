"""Settings that NVUE accepts without an error and the switch cannot apply.

These are watchdogs of interfaces that are not ports, and a macro whose settings are reverted.

Sources: Cumulus Linux, Quality of Service of 5.16 (traffic pools: one of the lossless ones), RDMA over Converged
Ethernet of 5.16 (the modes).
"""

from collections.abc import Iterator

from nodrop.platforms.nvue.adaptive_routing import ADAPTIVE_ROUTING_PATH as BALANCED
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_breakouts import abbreviate_names
from nodrop.platforms.nvue.read_ports import FileInterfaces
from nodrop.platforms.nvue.read_qos import GLOBAL_PROFILE
from nodrop.platforms.nvue.read_shared import interfaces_with_key
from nodrop.platforms.nvue.read_values import Config, View


def check_watchdogs(config: Config) -> None:
    """Report watchdogs of interfaces that are not ports of the switch."""
    for qos in interfaces_with_key(config.top.below("interface"), "pfc-watchdog"):
        if qos.below("pfc-watchdog").text("state") not in ("disable", "disabled"):
            other_names = [name for name in expand_names(qos.path[1]) if nvue_port(name) is None]
            if other_names:
                config.remark(
                    "watchdog-not-on-port", (), (*qos.path, "pfc-watchdog"), interface=abbreviate_names(other_names)
                )


def check_roce_macro(config: Config) -> None:
    """Report settings next to the RoCE macro that defeat its purpose, and a part that leaves its mode open."""
    qos = config.top.below("qos")
    roce = qos.below("roce")
    if qos.has("roce") and roce.text("state") != "disabled" and roce.text("enable") not in ("off", "false"):
        if not roce.has("mode") and not (config.tree and config.tree.header):
            config.remark("macro-mode-not-stated", (), ("qos", "roce"))
        for setting, reason in _mode_contradictions(qos, roce.text("mode") or "lossless"):
            config.remark("macro-contradicted", (), ("qos", *setting), setting=" ".join(setting), reason=reason)


def _mode_contradictions(qos: View, mode: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (setting, what speaks against it) for a mode."""
    pfc = qos.below("pfc", GLOBAL_PROFILE)
    directions = [direction for direction in ("tx", "rx") if pfc.text(direction) not in ("disable", "disabled")]
    if mode.startswith("lossy") and pfc.texts("switch-priority") and directions:
        yield ("pfc", GLOBAL_PROFILE, "switch-priority"), f"mode {mode} is one without PFC"
    elif mode == "lossy" and pfc:
        yield ("pfc", GLOBAL_PROFILE), "mode lossy is refused as long as there is the profile"
    if mode.startswith("lossless") and not directions:
        yield ("pfc", GLOBAL_PROFILE, "tx"), f"mode {mode} is one with PFC, and neither direction is left"
    if qos.below("traffic-pool", "default-lossless").has("memory-percent"):
        pool = "roce-lossless" if mode == "lossless" else "none"
        yield ("traffic-pool", "default-lossless"), f"in mode {mode} the lossless pool is {pool}"


def check_adaptive_interfaces(config: Config, ports: FileInterfaces) -> None:
    """Remark interfaces that have adaptive routing and are no switch ports: it is for those alone."""
    if not ports.say("router"):
        return
    for name in ports.names():
        if nvue_port(name) is None and ports.adaptive_routing_of(view := ports.view(name))[0]:
            kind = view.text("type") or ("sub" if "." in name else "bond" if "bond" in name else "interface")
            config.remark("adaptive-routing-not-on-port", (name,), (*view.path, *BALANCED), interface=name, kind=kind)
