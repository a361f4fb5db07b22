"""From each command of a running-config to the setting that it makes; unknown commands are reported."""

from collections.abc import Callable, Mapping

from nodrop.limits import MAX_VLAN
from nodrop.model.addresses import is_address_or_prefix
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.states import UNKNOWN
from nodrop.platforms.onyx.commands import NAME_PREFIX_BY_INTERFACE_KIND, OnyxCommand, expand_numbers
from nodrop.platforms.onyx.gathered import (
    ROCE_MODES,
    StatedLinkSettings,
    StatedNonRoutingSettings,
    StatedPortQos,
    TrafficPool,
)
from nodrop.platforms.onyx.read_values import CommandWordReader
from nodrop.syntax.lines import CommandNotUnderstood, read_or_keep_line
from nodrop.units import MalformedText, parse_speed_mbps, parse_whole_number

UNLIMITED_DYNAMIC_TH = 7
ZERO_DYNAMIC_TH = -8
_DYNAMIC_ADDRESS_WORDS = ("dhcp", "autoconfig", "enable")
"""What stands in the place of an address that another gives."""

_TRUST_BY_ONYX_WORD = {"L2": "pcp", "L3": "dscp", "both": "both", "port": "port", "l2": "pcp", "l3": "dscp"}
_FEC_BY_ONYX_WORD = {"rs-fec": "rs", "fc-fec": "fc", "no-fec": "none"}
_ROUTING_COMMANDS = (("router", "bgp"), ("route-map",), ("ip", "prefix-list"), ("ipv6", "prefix-list"), ("ip", "route"))
_UNMODELED_FIRST_WORDS = frozenset({
    "aaa", "access-list", "banner", "boot", "cli", "clock", "crypto", "email", "file", "health", "image", "ipv4",
    "ipl", "job", "json-gw", "lacp", "ldap", "license", "lldp", "load-balancing", "logging", "mac", "mac-address-table",
    "magp", "mlag", "mlag-vip", "monitor", "nve", "openflow", "password", "port-channel", "protocol", "ptp",
    "radius-server", "sflow", "snmp-server", "spanning-tree", "ssh", "sshd", "stats", "storm-control", "system",
    "tacacs-server", "telemetry", "telnet-server", "username", "usb", "vrf", "web", "what-just-happened", "router",
    "xml-gw", "docker", "fae", "ntp", "hll-sorting", "scheduled", "configure", "reload", "terminal", "arp",
})  # fmt: skip
"""First words of commands about what is not in the model: logins, servers, spanning tree, MLAG, tunnels, clocks."""
_IGNORED_PORT_WORDS = frozenset({
    "access-group", "bfd", "counters", "display", "dot1x", "duplex", "evpn", "ipl", "ipv4", "lacp", "lacp-individual",
    "lldp", "load-interval", "mac-address", "magp", "monitor", "nve", "openflow", "ptp", "sflow", "spanning-tree",
    "storm-control", "telemetry", "transceiver", "zeroconf", "dhcp", "cable-length", "port", "recirculation", "mlag",
})  # fmt: skip


def parse_settings(
    commands: tuple[OnyxCommand, ...], attribute_values: CommandWordReader
) -> tuple[StatedNonRoutingSettings, list[OnyxCommand]]:
    """Return the settings that the commands make, and the commands that were not understood."""
    settings = StatedNonRoutingSettings()
    other_commands: list[OnyxCommand] = []
    reader = _NonRoutingCommandReader(settings, attribute_values)
    for command in commands:
        read_or_keep_line(command, reader.read_command, other_commands)
    return settings, other_commands


class _NonRoutingCommandReader:
    def __init__(self, settings: StatedNonRoutingSettings, values: CommandWordReader) -> None:
        self._settings, self._values = settings, values
        self._of_port: Mapping[str, Callable[[OnyxCommand, str], None]] = {
            "traffic-class": self._read_traffic_class,
            "qos": self._read_qos,
            "dcb": self._read_port_pfc,
            "ingress-buffer": self._read_ingress_buffer,
            "egress-buffer": self._read_egress_buffer,
            "ip": self._read_address,
            "ipv6": self._read_address,
            "vrf": self._read_vrf_of_port,
            "switchport": self._read_switchport,
        }
        self._of_switch: Mapping[tuple[str, ...], Callable[[OnyxCommand], None]] = {
            ("roce",): self._read_roce,
            ("dcb", "priority-flow-control", "enable"): self._read_pfc,
            ("dcb", "priority-flow-control", "priority"): self._read_pfc_priority,
            ("traffic", "pool"): self._read_traffic_pool,
            ("advanced", "buffer", "management"): self._read_buffer_management,
            ("pool",): self._read_advanced_pool,
            ("vlan",): self._read_vlan,
            ("hostname",): self._read_hostname,
        }

    def read_command(self, command: OnyxCommand) -> None:
        """Take a command over into the settings."""
        if command.kind:
            if not command.names:
                raise CommandNotUnderstood
            for name in command.names:
                self._read_interface_command(command, name)
        else:
            self._read_global_command(command)

    def _read_global_command(self, command: OnyxCommand) -> None:
        if not command.words:
            raise CommandNotUnderstood
        if any(command.starts(*start) for start in _ROUTING_COMMANDS):
            self._settings.routing.append(command)
            return
        read = next((read for start, read in self._of_switch.items() if command.starts(*start)), self._read_service)
        read(command)

    def _read_roce(self, command: OnyxCommand) -> None:
        settings = self._settings
        settings.roce = (command.words[1:2] or ("lossless",))[0] if not command.negated else None
        if settings.roce is not None and settings.roce not in ROCE_MODES:
            self._values.remark_malformed_value(command, settings.roce, " or ".join(ROCE_MODES))
            settings.roce = None

    def _read_pfc(self, command: OnyxCommand) -> None:
        self._settings.pfc = not command.negated

    def _read_pfc_priority(self, command: OnyxCommand) -> None:
        if len(command.words) < 4:
            raise CommandNotUnderstood
        enabled = not command.negated and command.words[4:5] != ("disable",)
        for priority in self._values.indexes(command, command.words[3:4], 7):
            self._settings.pfc_priorities[priority] = enabled

    def _read_buffer_management(self, command: OnyxCommand) -> None:
        self._settings.advanced = not command.negated

    def _read_vlan(self, command: OnyxCommand) -> None:
        if len(command.words) < 2:
            raise CommandNotUnderstood
        if not command.negated and len(command.words) == 2:
            self._settings.vlans |= self._vlan_numbers(command, command.words[1])

    def _read_hostname(self, command: OnyxCommand) -> None:
        if len(command.words) != 2:
            raise CommandNotUnderstood
        self._settings.hostname = command.words[1]

    def _read_service(self, command: OnyxCommand) -> None:
        words, settings, on = command.words, self._settings, not command.negated
        if words[:2] in (("ntp", "server"), ("ntp", "peer")) and len(words) > 2:
            server = words[4] if words[2] == "vrf" and len(words) > 4 else words[2]
            if on and words[1] == "server" and server not in settings.ntp and words[-1] != "disable":
                settings.ntp.append(server)
        elif words[:2] == ("ip", "name-server") and len(words) > 2:
            settings.dns += [words[-1]] if on else []
        elif words[0] == "logging" and len(words) == 2 and words[1][0].isdigit():
            settings.syslog += [words[1]] if on else []
        elif words[:3] == ("vrf", "definition", "mgmt"):
            settings.management_vrf = on
        elif words[0] not in _UNMODELED_FIRST_WORDS and words[0] not in ("ip", "ipv6"):
            raise CommandNotUnderstood

    def _read_traffic_pool(self, command: OnyxCommand) -> None:
        words, pools = command.words[3:], self._settings.traffic_pools
        if len(command.words) < 3 or not (words or command.negated):
            raise CommandNotUnderstood
        name = command.words[2]
        if command.negated and words in ((), ("force",)):
            pools.pop(name, None)
            return
        pool = pools.setdefault(name, TrafficPool())
        match words:
            case ["type", *_] if command.negated:
                pool.lossless = False
            case ["memory", "percent", *_] if command.negated:
                pool.percent = None
            case ["map", "switch-priority", *priorities] if command.negated:
                pool.priorities -= set(self._values.indexes(command, tuple(priorities), 7))
            case ["type", kind]:
                known_word = self._values.meaning_of_word(command, kind, {"lossless": "lossless", "lossy": "lossy"})
                pool.lossless = known_word == "lossless"
            case ["memory", "percent", percent]:
                if percent.replace(".", "", 1).isdecimal() and percent.isascii() and 0 < float(percent) <= 100:
                    pool.percent = float(percent)
                else:
                    self._values.remark_malformed_value(command, percent, "a share of the memory up to 100 percent")
            case ["map", "switch-priority", *priorities]:
                pool.priorities |= set(self._values.indexes(command, tuple(priorities), 7))
            case _:
                raise CommandNotUnderstood

    def _read_advanced_pool(self, command: OnyxCommand) -> None:
        if len(command.words) < 4 or command.negated:
            raise CommandNotUnderstood
        name, *arguments = command.words[1:]
        options = dict(zip(arguments[::2], arguments[1::2], strict=False))
        size = self._values.size_bytes(command, options["size"]) if options.get("size", "inf") != "inf" else None
        self._settings.pools[name] = BufferPool(
            name=name,
            direction="egress" if name.startswith("e") else "ingress",
            mode="static" if options.get("type") == "static" else "dynamic",
            size_bytes=size,
        )

    def _read_interface_command(self, command: OnyxCommand, name: str) -> None:
        words = command.words
        link = self._settings.ensure_link(name)
        if not words:
            return
        if words[0] in self._of_port:
            self._of_port[words[0]](command, name)
        elif words[0] == "pfc-wd":
            self._settings.ensure_port_qos(name).watchdog = not command.negated
        elif words[0] == "flowcontrol" and len(words) > 2:
            direction, word = words[1:3]
            self._settings.ensure_port_qos(name).pause[direction] = word == "on" and not command.negated
        elif not self._read_link_setting(command, link) and words[0] not in _IGNORED_PORT_WORDS:
            raise CommandNotUnderstood

    def _read_link_setting(self, command: OnyxCommand, link: StatedLinkSettings) -> bool:
        """Take a setting of the link itself; False where the command is none."""
        words, on = command.words, not command.negated
        argument = words[1] if len(words) > 1 else ""
        match words[0]:
            case "shutdown":
                link.enabled = not on
            case "mtu" if argument:
                link.mtu_bytes = self._values.integer(command, argument, 68, 9216, "bytes") if on else None
            case "speed" if argument:
                self._read_speed(command, link, argument)
                if "no-autoneg" in words:
                    link.autoneg = False
            case "description":
                link.description = " ".join(words[1:]) if on else None
            case "fec-override" if argument:
                link.fec = self._values.meaning_of_word(command, argument, _FEC_BY_ONYX_WORD) if on else None
            case "module-type" if argument:
                split = argument.rpartition("-split-")[2]
                link.splits = int(split) if split in ("2", "4", "8") and on else None
            case "channel-group" | "mlag-channel-group" if argument:
                prefix = NAME_PREFIX_BY_INTERFACE_KIND[
                    "port-channel" if words[0] == "channel-group" else "mlag-port-channel"
                ]
                link.channel = prefix + argument if on else None
                link.lacp = words[-1] != "on"
            case _:
                return False
        return True

    def _read_speed(self, command: OnyxCommand, link: StatedLinkSettings, word: str) -> None:
        text = word.split("x")[0]
        if text.lower() in ("auto", ""):
            link.speed_mbps = None
            return
        try:
            link.speed_mbps = parse_speed_mbps(text if text[-1] in "GMT" else f"{text}M")
        except MalformedText as error:
            self._values.remark_malformed_value(command, word, error.expected)

    def _read_address(self, command: OnyxCommand, name: str) -> None:
        words = command.words
        if words[1:2] != ("address",) or len(words) < 3:
            return
        remaining_words = list(words[2:])
        address = (
            remaining_words[0] + remaining_words[1]
            if len(remaining_words) > 1 and remaining_words[1].startswith("/")
            else remaining_words[0]
        )
        link = self._settings.ensure_link(name)
        if command.negated:
            link.addresses = [link_address for link_address in link.addresses if link_address != address]
        elif "/" in address and is_address_or_prefix(address):
            link.addresses.append(address)
            link.routed = True
        elif address not in _DYNAMIC_ADDRESS_WORDS:
            self._values.remark_malformed_value(
                command, address, "an address and the length of its prefix, such as 10.0.0.1/31"
            )

    def _read_vrf_of_port(self, command: OnyxCommand, name: str) -> None:
        if command.words[1:2] == ("forwarding",) and len(command.words) > 2:
            vrf = command.words[2]
            self._settings.ensure_link(name).vrf = None if command.negated or vrf == "default" else vrf

    def _read_switchport(self, command: OnyxCommand, name: str) -> None:
        words, link, on = command.words, self._settings.ensure_link(name), not command.negated
        match words[1:]:
            case () | ("force",):
                link.routed = not on
            case ("mode", mode, *_):
                link.mode = mode
                self._read_switchport_vlan(command, link, ())
            case ("access", "vlan", *_) | ("trunk" | "hybrid" | "dot1q-tunnel", *_):
                self._read_switchport_vlan(command, link, words[1:])
            case _:
                raise CommandNotUnderstood

    def _vlan_numbers(self, command: OnyxCommand, config_text: str) -> set[int]:
        """Return the VLANs that a list such as 10,20-29 names, with a remark for each entry that is not a VLAN."""
        vlan_numbers = {
            number for word in expand_numbers(config_text) if (number := parse_whole_number(word, MAX_VLAN))
        }
        if len(vlan_numbers) < max(len(expand_numbers(config_text)), 1):
            self._values.remark_malformed_value(command, config_text, f"VLANs from 1 to {MAX_VLAN}")
        return vlan_numbers

    def _read_switchport_vlan(self, command: OnyxCommand, link: StatedLinkSettings, words: tuple[str, ...]) -> None:
        words = words or command.words[2:]
        if ("access" in words and "vlan" in words and words[-1] != "vlan") or ("native" in words[:-1]):
            if not command.negated:
                link.access_vlan = self._values.integer(command, words[-1], 1, MAX_VLAN, "a VLAN")
            else:
                link.access_vlan = None
        elif "allowed-vlan" in words:
            if words[-1] in ("none", "all") or command.negated:
                link.tagged_vlans = set(self._settings.vlans) if words[-1] == "all" else set()
                return
            vlan_numbers = self._vlan_numbers(command, words[-1])
            link.tagged_vlans = (
                link.tagged_vlans - vlan_numbers if "remove" in words else link.tagged_vlans | vlan_numbers
            )

    def _read_port_pfc(self, command: OnyxCommand, name: str) -> None:
        match command.words:
            case ("dcb", "priority-flow-control", "mode", mode, *_) if mode in ("on", "auto", "off"):
                on = mode == "on" and not command.negated
                self._settings.ensure_port_qos(name).pfc = UNKNOWN if mode == "auto" and not command.negated else on
            case ("dcb", "priority-flow-control", "mode", *_) if command.negated:
                self._settings.ensure_port_qos(name).pfc = False
            case _:
                raise CommandNotUnderstood

    def _read_traffic_class(self, command: OnyxCommand, name: str) -> None:
        qos, values = self._settings.ensure_port_qos(name), self._values
        for tc in values.indexes(command, command.words[1:2], 7):
            match command.words[2:]:
                case ("congestion-control", *_) if command.negated:
                    qos.ecn[tc] = None
                case ("congestion-control", ("ecn" | "red" | "both") as kind, *limits):
                    self._read_marking(command, qos, tc, kind, limits)
                case ("dcb", "ets", "strict", *_):
                    qos.ets[tc] = ("strict", None)
                case ("dcb", "ets", "wrr", weight, *_):
                    qos.ets[tc] = ("wrr", values.integer(command, weight, 0, 100))
                case ("bind", "switch-priority", *priorities):
                    for priority in values.indexes(command, tuple(priorities), 7):
                        qos.traffic_class[priority] = tc
                case _:
                    raise CommandNotUnderstood

    def _read_marking(self, command: OnyxCommand, qos: StatedPortQos, tc: int, kind: str, words: list[str]) -> None:
        options = dict(zip(words[::2], words[1::2], strict=False))
        if {"minimum-absolute", "maximum-absolute"} <= options.keys():
            unit = "bytes"
            low = self._values.threshold_bytes(command, options["minimum-absolute"])
            high = self._values.threshold_bytes(command, options["maximum-absolute"])
        elif {"minimum-relative", "maximum-relative"} <= options.keys():
            unit = "percent"
            low = self._values.integer(command, options["minimum-relative"], 0, 100)
            high = self._values.integer(command, options["maximum-relative"], 0, 100)
        else:
            raise CommandNotUnderstood
        qos.ecn[tc] = UNKNOWN if low is None or high is None else (kind, {f"min_{unit}": low, f"max_{unit}": high})

    def _read_qos(self, command: OnyxCommand, name: str) -> None:
        qos, values = self._settings.ensure_port_qos(name), self._values
        match command.words:
            case ("qos", "trust", *word):
                qos.trust = (
                    None
                    if command.negated or not word
                    else values.meaning_of_word(command, word[0], _TRUST_BY_ONYX_WORD)
                )
            case ("qos", "map", "dscp", *rest) if "switch-priority" in rest:
                at = rest.index("switch-priority")
                listed = tuple(dscp_text for dscp_text in rest[:at] if dscp_text != "to")
                target = values.integer(command, rest[at + 1] if len(rest) > at + 1 else "", 0, 7)
                for dscp in values.indexes(command, listed, 63) if target is not None else ():
                    qos.dscp[dscp] = target or 0
            case ("qos", "map", "pcp", pcp, *rest) if "switch-priority" in rest:
                index = values.integer(command, pcp, 0, 7)
                target = values.integer(command, rest[-1], 0, 7)
                if index is not None and target is not None:
                    qos.pcp[index] = target
            case ("qos", "rewrite", "dscp", *_):
                qos.rewrite = not command.negated
            case ("qos", "rewrite" | "default", *_):
                pass
            case _:
                raise CommandNotUnderstood

    def _read_ingress_buffer(self, command: OnyxCommand, name: str) -> None:
        buffer, *arguments = command.words[1:] or ("",)
        qos, values = self._settings.ensure_port_qos(name), self._values
        if not buffer.startswith("iPort.pg"):
            if buffer.startswith(("iPort", "iSHP")):
                return
            raise CommandNotUnderstood
        for index in values.indexes(command, (buffer.removeprefix("iPort.pg"),), 15):
            if arguments[:2] == ["bind", "switch-priority"]:
                for priority in values.indexes(command, tuple(arguments[2:]), 7):
                    qos.group_of[priority] = index
            elif arguments[:2] == ["map", "pool"] and len(arguments) > 2:
                qos.groups[index] = self._build_buffer_profile(command, arguments[2], arguments[3:])
            else:
                raise CommandNotUnderstood

    def _read_egress_buffer(self, command: OnyxCommand, name: str) -> None:
        buffer, *arguments = command.words[1:] or ("",)
        if not buffer.startswith("ePort.tc"):
            if buffer.startswith("ePort"):
                return
            raise CommandNotUnderstood
        if arguments[:2] != ["map", "pool"] or len(arguments) < 3:
            raise CommandNotUnderstood
        for index in self._values.indexes(command, (buffer.removeprefix("ePort.tc"),), 15):
            self._settings.ensure_port_qos(name).queues[index] = self._build_buffer_profile(
                command, arguments[2], arguments[3:]
            )

    def _build_buffer_profile(self, command: OnyxCommand, pool: str, words: list[str]) -> BufferProfile:
        """Return the share of a pool that a group or queue may use."""
        words = [word for word in words if word != "shared"]
        args = dict(zip(words[::2], words[1::2], strict=False))
        sizes = {key: self._values.size_bytes(command, args[key]) for key in ("reserved", "xoff", "xon") if key in args}
        headroom = None
        if args.get("type") == "lossless":
            xoff, xon, size = sizes.get("xoff"), sizes.get("xon"), sizes.get("reserved")
            after = UNKNOWN if xoff is None or size is None else max(size - xoff, 0)
            headroom = Headroom(xoff_bytes=after, xon_bytes=UNKNOWN if xon is None else xon)
        return BufferProfile(
            pool=pool,
            size_bytes=sizes.get("reserved") or 0,
            dynamic_th=self._alpha_exponent(command, args["alpha"]) if "alpha" in args else None,
            headroom=headroom,
        )

    def _alpha_exponent(self, command: OnyxCommand, word: str) -> int | None:
        """Return alpha as an exponent of two."""
        if word in ("inf", "infinity"):
            return UNLIMITED_DYNAMIC_TH
        over, _, under = word.partition("/")
        if over == "0":
            return ZERO_DYNAMIC_TH
        powers = {str(2**power): power for power in range(8)}
        if over in powers and (not under or under in powers):
            return powers[over] - (powers[under] if under else 0)
        self._values.remark_malformed_value(command, word, "alpha as 1/8, 1, 2, 8 or inf")
        return None
