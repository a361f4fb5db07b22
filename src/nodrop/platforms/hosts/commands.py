"""Shell scripts that set NICs, and files of environment variables of NCCL and UCX: line by line, loops not followed."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nodrop.limits import MAX_EXPANDED_LINE_CHARACTERS
from nodrop.model.types import did_you_mean_hint
from nodrop.platforms.hosts import environment, firmware, nvme
from nodrop.platforms.hosts.arithmetic import expand_arithmetic
from nodrop.platforms.hosts.boot import BOOT_PERSISTENCE_PATTERN
from nodrop.platforms.hosts.environment import RdmaEnvironmentVariables
from nodrop.platforms.hosts.facts import (
    HostFileContent,
    HostFileKind,
    HostFileNote,
    HostFileRemark,
    line_span,
    parse_byte,
    parse_number,
    parse_priority_on_off_list,
    word_after,
)
from nodrop.platforms.hosts.other_makers import NicCommandReader
from nodrop.syntax.places import Span, quote_text

_NIC_COMMAND_PATTERN = re.compile(
    r"(?m)^[^#\n]*\b(mlnx_qos\s++(?:[^\s-]*+-|\S++\s*+-)|cma_roce_(mode|tos)\s++-|/ecn/roce_[nr]p/|/tc/1/traffic_class|/default_roce_(?:tos|mode)\b"
    r"|nvme\s++connect(-all)?\s++-"
    r"|mlxreg\s[^\n]*ROCE_ACCL[^\n]*--set|mlxconfig\s[^\n]*\sset\s|bnxt_setupcc\.sh\s++-|nicctl\s++update\s"
    r"|(?:niccli|bnxtqos)\s[^\n]*(?:set_pfc|set_apptlv|qos\s)|dcb\s++(?:pfc|app)\s++(?:set|add|replace)\s)"
)
_NIC_FILE_WORDS = (
    "mlnx_qos", "cma_roce_", "/ecn/roce_", "/tc/1/traffic_class", "/default_roce_", "ROCE_ACCL", "mlxconfig", "bnxt",
    "nicctl", "niccli", "dcb ", "nvme", *environment.RDMA_VARIABLE_PREFIXES,
)  # fmt: skip
"""Of which a file that either finds something in has one; most files have none, and are not searched line by line."""
_VARIABLE_USE_PATTERN = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_ECHO_TO_FILE_PATTERN = re.compile(
    r"\becho\s+(?:-n\s+)?(?P<value>(?:IB/)?RoCE v[12]|\S+)\s*(?:>|\|\s*(?:sudo\s+)?tee)\s*(?P<path>[^\s;]+)"
)
SYSFS_LISTING_LINE = re.compile(r"(/\S*/(?:ecn/roce_[nr]p/\S+|tc/1/traffic_class))\s*[:=]\s*(\w+)$")
"""What `grep . /sys/class/net/eth4/ecn/roce_rp/*` prints."""
_UDEV_RUN_PATTERN = re.compile(r"""\bRUN(?:\{program\})?\+?=\s*"([^"]+)\"""")
_ECN_ENABLE_PATH_PATTERN = re.compile(r"(.*)/roce_([nr]p)/enable/([0-7])$")
_REACTION_POINT_PATH_PATTERN = re.compile(r"(.*)/roce_rp/([a-z][a-z0-9_]*)$")
_CONNECTION_MANAGER_PATH_PATTERN = re.compile(r"(?:.*/)?rdma_cm/([^/]+)/ports/\d+/default_roce_(tos|mode)$")
"""Linux, Documentation/ABI/testing/configfs-rdma_cm."""
_COMMAND_SEPARATOR_PATTERN = re.compile(r";|&&|\|\||\||\bdo\b|\bthen\b")
_MLNX_QOS_LONG_OPTIONS = (
    "pfc", "specific_pfc", "get_pfc", "prio_tc", "tsa", "tcbw", "ratelimit", "dcbx", "trust", "dscp2prio", "cable_len",
    "prio2buffer", "buffer_size", "interface", "help", "version",
)  # fmt: skip
_MLNX_QOS_DASHED_OPTIONS = tuple(f"--{option}" for option in _MLNX_QOS_LONG_OPTIONS)
_MIN_OPTION_SIMILARITY = 0.75
"""How much a word has to be like an option for a hint: the dashes alone make all of them alike."""
_MLNX_QOS_SHORT_OPTIONS = {
    "f": "pfc", "F": "specific_pfc", "P": "get_pfc", "p": "prio_tc", "s": "tsa", "t": "tcbw", "r": "ratelimit",
    "d": "dcbx", "i": "interface", "a": "all", "h": "help", "v": "version", "q": "quiet",
}  # fmt: skip
_MLNX_QOS_FLAG_OPTIONS = ("all", "help", "version", "quiet")
_PRINTING_COMMANDS = ("echo", "printf", "log")
"""Words after which a line only says something."""
_ORDERED_RATE_PAIRS = (("rpg_min_rate", "rpg_max_rate"), ("rpg_ai_rate", "rpg_hai_rate"))
"""Pairs of rates of the reaction point, the lower one first; 0 is no limit.

Source: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3 (additive and hyper
increase).
"""
_ALL_NVIDIA_NICS = "NVIDIA"
"""What stands for all NICs that NVIDIA's tools set."""
_PFC_PREVENTION_OFF_WORDS = ("0", "off", "disable")


def _has_host_commands(head: str) -> bool:
    return any(word in head for word in _NIC_FILE_WORDS) and bool(
        _NIC_COMMAND_PATTERN.search(head) or environment.RDMA_VARIABLE_PATTERN.search(head)
    )


def _parse_script_commands(file_text: str) -> tuple[HostFileContent, ...]:
    return (_NicScript().parse_script(file_text),)


class _NicScript:
    """A script while it is read: variables that were given a value, and the priorities of DCQCN by NIC and end."""

    def __init__(self) -> None:
        self._found = HostFileContent()
        self._variables: dict[str, str] = {}
        self._ends: dict[str, dict[str, set[int]]] = {}
        self._lost: dict[str, Span] = {}
        self._environment = RdmaEnvironmentVariables(self._found)
        self._others = NicCommandReader(self._found, self._note_volatile_fact)

    def parse_script(self, file_text: str) -> HostFileContent:
        for line, span in _join_continued_lines(file_text):
            line = expand_arithmetic(line, self._variables)
            assigned = self._environment.read_line(line, span)
            # What is computed when the script runs stays a variable.
            self._variables |= {name: value for name, value in assigned.items() if not set(value) & set("$`(")}
            line = self._expand_variables(line)
            if (echoed := _ECHO_TO_FILE_PATTERN.search(line.replace('"', "").replace("'", ""))) is not None:
                self._read_echo(echoed["value"], echoed["path"], span)
            elif (listed := SYSFS_LISTING_LINE.match(line)) is not None:
                self._read_sys_file(listed[2], listed[1], span, self._found.record_fact)
            if (run := _UDEV_RUN_PATTERN.search(line)) is not None:
                line = run[1]
            for piece in _COMMAND_SEPARATOR_PATTERN.split(line):
                self._read_command(piece.strip(), span)
        self._environment.record_libraries_without_traffic_class()
        self._note_rate_contradictions()
        has_restore = BOOT_PERSISTENCE_PATTERN.search(file_text) is not None
        for nic_part, span in self._lost.items():
            self._found.record_fact(nic_part, "kept", has_restore, span)
        makers = self._found.by_command
        return replace(self._found, models=() if _ALL_NVIDIA_NICS in makers else tuple(sorted(makers)))

    def _note_rate_contradictions(self) -> None:
        """Note rates of the reaction point that contradict each other."""
        for facts in self._found.parts.values():
            rates = dict(facts["reaction_point"].value) if "reaction_point" in facts else {}
            for lower, upper in _ORDERED_RATE_PAIRS:
                if lower in rates and rates.get(upper) and rates[lower] > rates[upper]:
                    message = f"{lower} {rates[lower]} is above {upper} {rates[upper]}"
                    self._found.notes.append(HostFileNote("contradiction", message, facts["reaction_point"].span))

    def _note_volatile_fact(self, nic_part: str, name: str, value: object, span: Span) -> None:
        """Note a fact that a restart ends."""
        self._lost.setdefault(nic_part, span)
        self._found.record_fact(nic_part, name, value, span)

    def _expand_variables(self, line: str) -> str:
        """Return a line with the values of its variables; as it is written if that is longer than MAX_LINE."""
        values = [self._variables.get(used[1] or used[2], used[0]) for used in _VARIABLE_USE_PATTERN.finditer(line)]
        if sum(map(len, values)) > MAX_EXPANDED_LINE_CHARACTERS:
            return line
        following = iter(values)
        return _VARIABLE_USE_PATTERN.sub(lambda _: next(following), line)

    def _read_echo(self, value: str, path: str, span: Span) -> None:
        self._read_sys_file(value, path, span, self._note_volatile_fact)

    def _read_sys_file(self, value: str, path: str, span: Span, say: Callable[[str, str, object, Span], None]) -> None:
        """Read the value of a file below /sys."""
        if (match := _ECN_ENABLE_PATH_PATTERN.match(path)) is not None:
            self._set_dcqcn_priority(
                _literal_nic_name_of_path(match[1]), match[2], int(match[3]), span, say, on=value == "1"
            )
        elif (match := _REACTION_POINT_PATH_PATTERN.match(path)) is not None:
            self._set_reaction_rate(_literal_nic_name_of_path(match[1]), match[2], value, span, say)
        elif (match := _CONNECTION_MANAGER_PATH_PATTERN.match(path)) is not None:
            self._set_connection_manager_default(_literal_nic_name_of_path(match[1]), match[2], value, span, say)
        for ending, name in _FIELD_BY_SYSFS_SUFFIX.items():
            if path.endswith(ending) and (stated := parse_byte(value)) is not None:
                say(_literal_nic_name_of_path(path[: -len(ending)]), name, stated, span)

    def _set_dcqcn_priority(
        self, part: str, end: str, priority: int, span: Span, say: Callable[[str, str, object, Span], None], *, on: bool
    ) -> None:
        ends = self._ends.setdefault(part, {})
        (ends.setdefault(end, set()).add if on else ends.setdefault(end, set()).discard)(priority)
        say(part, "dcqcn_priorities", tuple(sorted(set.intersection(*ends.values()))), span)

    def _set_reaction_rate(
        self, nic_part: str, name: str, value: str, span: Span, say: Callable[[str, str, object, Span], None]
    ) -> None:
        if (stated := parse_number(value)) is not None:
            fact = self._found.parts.get(nic_part, {}).get("reaction_point")
            values = dict(fact.value) if fact else {}
            say(nic_part, "reaction_point", tuple(sorted({**values, name: stated}.items())), span)

    def _set_connection_manager_default(
        self, nic_part: str, name: str, value: str, span: Span, say: Callable[[str, str, object, Span], None]
    ) -> None:
        """Read the ToS or the version of RoCE that connections get by default (`RoCE v2`)."""
        if name == "mode" and value[-1:] in ("1", "2"):
            say(nic_part, "roce_version", int(value[-1]), span)
        elif name == "tos":
            self._read_default_tos(nic_part, value, span, say)

    def _read_default_tos(
        self, nic_part: str, value: str, span: Span, say: Callable[[str, str, object, Span], None]
    ) -> None:
        if (tos := parse_byte(value)) is not None:
            say(nic_part, "tos", tos, span)
        elif value:
            message = f"the ToS {quote_text(value)} is computed when the script runs"
            self._found.notes.append(HostFileNote("not-understood", message, span))

    def _read_command(self, piece: str, span: Span) -> None:
        try:
            words = shlex.split(
                piece[:MAX_EXPANDED_LINE_CHARACTERS], comments=True
            )  # takes time with the square of a word
        except ValueError:
            words = piece[:MAX_EXPANDED_LINE_CHARACTERS].split()
        if words and words[0] in _PRINTING_COMMANDS:
            return
        for at, word in enumerate(words):
            name = word.rpartition("/")[2].rpartition("=")[2]
            if name in _READER_BY_COMMAND:
                if name not in ("ip", "ethtool"):
                    self._found.by_command.add(_ALL_NVIDIA_NICS)
                _READER_BY_COMMAND[name](self, words[at + 1 :], span)
                return
            if self._others.read_command(name, words[at + 1 :], span):
                return

    def _read_mlnx_qos(self, words: Sequence[str], span: Span) -> None:
        options: list[tuple[str, str]] = []
        remaining_words = list(words)
        while remaining_words:
            word = remaining_words.pop(0)
            if not word.startswith("-") or word == "-":
                continue
            name, equals, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
            known_option = _resolve_mlnx_qos_option(name)
            if known_option is None:
                close = (
                    did_you_mean_hint(name, _MLNX_QOS_DASHED_OPTIONS, _MIN_OPTION_SIMILARITY) or "see `mlnx_qos --help`"
                )
                self._found.noticed.append(HostFileRemark("nic-option", {"found": name, "expected": close}, span))
                continue
            if known_option not in _MLNX_QOS_FLAG_OPTIONS and not equals and not value and remaining_words:
                value = remaining_words.pop(0)
            options.append((known_option, value))
        path = next((value for name, value in options if name == "interface"), "")
        for name, value in options:
            self._read_mlnx_qos_setting(_literal_nic_name_of_path(path), name, value, span)

    def _read_mlnx_qos_setting(self, nic_part: str, name: str, value: str, span: Span) -> None:
        match name:
            case "trust" if value in ("dscp", "pcp"):
                self._note_volatile_fact(nic_part, "trust", value, span)
            case "pfc" if (priorities := parse_priority_on_off_list(value)) is not None:
                self._note_volatile_fact(nic_part, "pfc_priorities", priorities, span)
            case "cable_len" if (length_m := parse_number(value)) is not None:
                self._note_volatile_fact(nic_part, "cable_length_m", length_m, span)
            case "prio2buffer" if re.fullmatch(r"[0-7](,[0-7]){7}", value):
                self._note_volatile_fact(nic_part, "priority_to_buffer", tuple(map(int, value.split(","))), span)
            case "dscp2prio":
                self._map_dscp(nic_part, value.split(","), span)

    def _map_dscp(self, nic_part: str, words: Sequence[str], span: Span) -> None:
        if len(words) != 3 or words[0] != "set":
            return
        dscp, priority = parse_number(words[1]), parse_number(words[2])
        if dscp is not None and dscp < 64 and priority is not None and priority < 8:
            fact = self._found.parts.get(nic_part, {}).get("dscp_to_priority")
            table = list(fact.value) if fact else [None] * 64
            table[dscp] = priority
            self._note_volatile_fact(nic_part, "dscp_to_priority", tuple(table), span)

    def _read_cma_tos(self, words: Sequence[str], span: Span) -> None:
        nic_part = _literal_nic_name_of_path(word_after(words, "-d"))
        self._read_default_tos(nic_part, word_after(words, "-t"), span, self._note_volatile_fact)

    def _read_cma_roce_mode(self, words: Sequence[str], span: Span) -> None:
        if (mode := word_after(words, "-m")) in ("1", "2"):
            self._note_volatile_fact(
                _literal_nic_name_of_path(word_after(words, "-d")), "roce_version", int(mode), span
            )

    def _read_nvme_command(self, words: Sequence[str], span: Span) -> None:
        if words and words[0] in ("connect", "connect-all"):
            nvme.record_connection_tos(self._found, nvme.read_connection_arguments(words[1:]), span)

    def _read_ip_link_mtu(self, words: Sequence[str], span: Span) -> None:
        mtu = parse_number(word_after(words, "mtu"))
        if "link" in words and mtu is not None:
            self._found.record_fact(
                _literal_nic_name_of_path(word_after(words, "dev") or word_after(words, "set")), "mtu_bytes", mtu, span
            )

    def _read_ethtool_command(self, words: Sequence[str], span: Span) -> None:
        if words and words[0] in ("-A", "--pause") and len(words) > 1:
            on = "on" in (word_after(words, "rx"), word_after(words, "tx"))
            self._note_volatile_fact(_literal_nic_name_of_path(words[1]), "link_pause", on, span)
        elif words and words[0] == "--set-tunable" and len(words) > 1 and "pfc-prevention-tout" in words:
            guarded = word_after(words, "pfc-prevention-tout") not in _PFC_PREVENTION_OFF_WORDS
            self._note_volatile_fact(_literal_nic_name_of_path(words[1]), "storm_guard", guarded, span)

    def _read_mlxreg_command(self, words: Sequence[str], span: Span) -> None:
        if word_after(words, "--reg_name") != "ROCE_ACCL":
            return
        for setting in word_after(words, "--set", "-s").split(","):
            name, _, value = setting.partition("=")
            if name.strip() == "adaptive_routing_forced_en" and (stated := parse_byte(value)) is not None:
                self._note_volatile_fact(
                    _literal_nic_name_of_path(word_after(words, "-d", "--device")),
                    "adaptive_routing",
                    bool(stated),
                    span,
                )

    def _read_mlxconfig_command(self, words: Sequence[str], span: Span) -> None:
        """Read the settings that the firmware keeps from its next start on."""
        device = _literal_nic_name_of_path(word_after(words, "-d", "--dev"))
        for word in words[words.index("set") + 1 :] if "set" in words else ():
            name, _, value = word.partition("=")
            setting = firmware.PORT_SETTING_PATTERN.fullmatch(name)
            stated = {"True": 1, "False": 0}.get(value, parse_byte(value))
            if setting is not None and stated is not None:
                port = f"P{setting[2]}" if setting[2] else ""
                firmware.record_firmware_setting(
                    self._found, ".".join(filter(None, (device, port))), setting[1], stated, span
                )


def _join_continued_lines(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the lines with content, those that continue after a backslash as one, with the span of the first."""
    joined_line, span = "", None
    for at, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not joined_line and (not line or line.startswith("#")):
            continue
        span = span if joined_line and span else line_span(at, raw)
        joined_line += line.removesuffix("\\")
        if not line.endswith("\\"):
            yield joined_line, span
            joined_line = ""
    if joined_line and span:
        yield joined_line, span


def _resolve_mlnx_qos_option(name: str) -> str | None:
    """Return the option that a word means; a beginning that only one option has is enough, as optparse has it."""
    if not name.startswith("--"):
        return _MLNX_QOS_SHORT_OPTIONS.get(name[1:])
    wanted_name = name[2:]
    fitting = (
        [word for word in _MLNX_QOS_LONG_OPTIONS if word.startswith(wanted_name)]
        if wanted_name not in _MLNX_QOS_LONG_OPTIONS
        else [wanted_name]
    )
    return fitting[0] if len(fitting) == 1 else None


def _literal_nic_name_of_path(path: str) -> str:
    """Return a NIC as a path or an argument names it; nothing where that is a variable of the script."""
    name = path.rstrip("/").removesuffix("/ecn").rpartition("/")[2]
    return "" if set("$*%") & set(path) else name


_FIELD_BY_SYSFS_SUFFIX = {
    "/tc/1/traffic_class": "driver_traffic_class",
    "/roce_np/cnp_dscp": "cnp_dscp",
    "/roce_np/cnp_802p_prio": "cnp_priority",
}
"""How a file below /sys ends, and what is set by it."""

_READER_BY_COMMAND: dict[str, Callable[[_NicScript, Sequence[str], Span], None]] = {
    "mlnx_qos": _NicScript._read_mlnx_qos,
    "cma_roce_tos": _NicScript._read_cma_tos,
    "cma_roce_mode": _NicScript._read_cma_roce_mode,
    "nvme": _NicScript._read_nvme_command,
    "ip": _NicScript._read_ip_link_mtu,
    "ethtool": _NicScript._read_ethtool_command,
    "mlxreg": _NicScript._read_mlxreg_command,
    "mstreg": _NicScript._read_mlxreg_command,
    "mlxconfig": _NicScript._read_mlxconfig_command,
    "mstconfig": _NicScript._read_mlxconfig_command,
}

FILE_KIND = HostFileKind(_has_host_commands, _parse_script_commands)
