"""The meaning of the QoS files: classification, PFC, pause, marking, scheduling, rates, watchdogs, pools.

Sources: Cumulus Linux 5.9 to 5.19, Quality of Service (qos_features.conf, qos_infra.conf); Cumulus Linux 3.7 and 4.4,
Buffer and Queue Management, RDMA over Converged Ethernet (traffic.conf, datapath.conf).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from nodrop.limits import MAX_SIMILAR_NAMES_COMPARED
from nodrop.model.change import CommandsForCase
from nodrop.model.reading import FilePlace, Remedy
from nodrop.model.types import known_word_hint, only_near_name
from nodrop.platforms.cumulus.command_lines import SHELL_HEADING
from nodrop.platforms.cumulus.keys import QosFileSetting, parse_lines
from nodrop.platforms.kit.command_lines import is_typable
from nodrop.platforms.kit.near_words import find_near_word
from nodrop.platforms.kit.translating import FileRemark, TranslatedFiles, format_command_word
from nodrop.syntax.lines import CommandNotUnderstood, read_or_keep_line
from nodrop.syntax.places import quote_text
from nodrop.units import parse_whole_number

GLOBAL_PROFILE = "default-global"
QOS_FEATURES_FILES = ("qos_features.conf", "traffic.conf")
QOS_INFRA_FILES = ("qos_infra.conf", "datapath.conf")
SWITCHD_RELOAD_COMMAND = "sudo systemctl reload switchd"
SWITCHD_FILE = "switchd.conf"
TRUST_BY_PRIORITY_SOURCES = {
    frozenset({"802.1p"}): "l2",
    frozenset({"cos"}): "l2",
    frozenset({"dscp"}): "l3",
    frozenset({"port"}): "port",
    frozenset({"802.1p", "dscp"}): "both",
    frozenset({"cos", "dscp"}): "both",
}
ALPHA_BY_QUOTA = (
    "0",
    "1_128",
    "1_64",
    "1_32",
    "1_16",
    "1_8",
    "1_4",
    "1_2",
    "1",
    "2",
    "4",
    "8",
    "16",
    "32",
    "64",
    "infinity",
)
"""What a quota means that is a number: its place here."""

_PROFILE_BY_GROUP_KIND = {"source": "mapping", "remark": "remark", "pfc": "pfc", "link_pause": "link-pause"} | {
    "ecn_red": "congestion-control",
    "ecn": "congestion-control",
    "egress_sched": "egress-scheduler",
    "shaping": "egress-shaper",
    "pfc_watchdog": "pfc-watchdog",
}
"""Kinds of port groups, and what profiles of theirs are called."""
_NVUE_PFC_WORDS = {
    "port_buffer_bytes": "port-buffer",
    "xoff_size": "xoff-threshold",
    "xon_delta": "xon-threshold",
    "cable_length": "cable-length",
    "small_packet_probability": "small-packet-probability",
}
_NVUE_ECN_WORDS = {
    "min_threshold_bytes": "min-threshold",
    "max_threshold_bytes": "max-threshold",
    "min_threshold_percent": "min-threshold-percent",
    "max_threshold_percent": "max-threshold-percent",
    "probability": "probability",
    "ecn_enable": "ecn",
    "red_enable": "red",
    "mode": "mode",
}
_EXTRA_ECN_KEY_PARTS = ("egress_queue_list", "cos_list", "port_set", "min_threshold_percent", "max_threshold_percent")
_FIELDS_BY_KIND: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("pfc", "link_pause"), (*_NVUE_PFC_WORDS, "cos_list", "tx_enable", "rx_enable", "port_set")),
    **dict.fromkeys(("ecn_red", "ecn", "default_ecn_red_conf"), (*_NVUE_ECN_WORDS, *_EXTRA_ECN_KEY_PARTS)),
}
"""The fields of settings of a kind, where all of them are known."""
KNOWN_KEY_PARTS = frozenset({
    *_PROFILE_BY_GROUP_KIND, *(field for fields in _FIELDS_BY_KIND.values() for field in fields), "port_group_list",
    "traffic", "bw_percent", "packet_priority_source_set", "packet_priority_remark_set", "port_default_priority",
    "priority_source", "priority_remark", "default_ecn_red_conf", "default_egress_sched", "cos_egr_queue", "shaper",
    "priority_group", "priority_group_list",
})  # fmt: skip
"""The parts of keys that are known, but for names and those that are numbered."""
_NVUE_WATCHDOG_TIMER_WORDS = {"poll_interval": "polling-interval", "robustness": "robustness"}
_NVUE_BUFFER_BY_QUOTA = {"ingress_buffer": "ingress-lossless-buffer", "egress_buffer": "egress-lossless-buffer"}
_COS_KEY_PATTERN = re.compile(r"cos_([0-7])")
_QUEUE_KEY_PATTERN = re.compile(r"egr_queue_([0-9]{1,2})")
_PORT_RANGE_PATTERN = re.compile(r"(swp[0-9]+(?:s[0-9]+)?)(?:-(?:swp[0-9]+s|swp)?([0-9]+))?")
_UNMODELED_KEY_PARTS = frozenset({
    "scheduling", "cos_egr_queue", "resilient_hash_active_timer", "resilient_hash_max_unbalanced_timer",
    "hash_config", "ecmp_max_paths", "symmetric_hash", "vxlan", "acl", "forwarding_table", "cut_through_enable",
    "dos_enable",
    "src_mac_check", "arp",
})  # fmt: skip
"""Settings of these files that are not of QoS, or say nothing of the model."""


class QosFeatureReader:
    """Takes the settings of a device's files over, group by group."""

    def __init__(self, translation: TranslatedFiles) -> None:
        self._found = translation
        self._groups: dict[str, dict[str, list[QosFileSetting]]] = {}
        self._lists: dict[str, QosFileSetting] = {}
        self._percents: dict[tuple[str, str], QosFileSetting] = {}
        self._lossless_pool: dict[str, str] = {}
        self._weights: dict[str, QosFileSetting] = {}
        self._classes: dict[str, QosFileSetting] = {}
        self._listed: dict[tuple[str, str], tuple[QosFileSetting, dict[int, QosFileSetting]]] = {}
        """Of each profile and field, the first setting and the last list that has each value."""
        self._marking: list[QosFileSetting] = []
        self._before_5: QosFileSetting | None = None
        """The first setting of a release that marks nothing unless it is told to."""

    def translate_file(self, file: str, text: str) -> None:
        """Take a file over."""
        translate_line = partial(self._translate_line, file)
        unread: list[QosFileSetting] = []
        for setting in parse_lines(file, text):
            if isinstance(setting, FilePlace):
                self._found.add_not_understood(setting, "the line")
                continue
            if file == QOS_FEATURES_FILES[1]:
                self._before_5 = self._before_5 or setting
            read_or_keep_line(setting, translate_line, unread)
            if unread:
                self._remark_unknown_key(unread.pop())

    def _translate_line(self, file: str, setting: QosFileSetting) -> None:
        if not (self._translates_watchdog_timer if file == SWITCHD_FILE else self._translates_setting)(
            setting
        ) and file not in (
            *QOS_INFRA_FILES,
            SWITCHD_FILE,
        ):
            raise CommandNotUnderstood

    def translate_groups(self) -> None:
        """Add what groups of settings mean together."""
        for kind, groups in self._groups.items():
            listed = self._lists.get(kind)
            names = listed.items if listed else ()
            for name in names:
                if name not in groups and listed is not None:
                    facts = {"kind": "port group", "name": name, "field": listed.key}
                    remedy = Remedy(
                        choices=tuple(_choices_for_missing_port_group(listed, name, groups))
                        if len(names) <= MAX_SIMILAR_NAMES_COMPARED
                        else ()
                    )
                    self._found.remarks.append(FileRemark("dangling-reference", (), listed.place, facts, remedy))
            misspelt = any(name not in groups for name in names)
            for name, own_groups in groups.items():
                if name in names:
                    self._translate_port_group(kind, name, own_groups)
                else:
                    self._remark_unused_group(kind, name, own_groups[0].place, is_misspelt=misspelt)
                    for setting in own_groups:
                        if (fields := _FIELDS_BY_KIND.get(kind)) and setting.parts[-1] not in fields:
                            self._remark_unknown_key(setting)
        self._add_ecn_marking_group(GLOBAL_PROFILE, self._marking)
        if self._before_5 is not None:
            self._add_command(f"qos congestion-control {GLOBAL_PROFILE} traffic-class 0 ecn disable", self._before_5)
        self._add_default_priorities()
        self._translate_ingress_pool_shares()
        self._add_priority_group_scheduling()

    def _remark_unused_group(self, kind: str, name: str, place: FilePlace, *, is_misspelt: bool) -> None:
        """Remark a port group that is not listed; with `told`, report instead that the list names a missing group."""
        reason = f"it is not in {kind}.port_group_list"
        if is_misspelt:
            self._found.others.append((place, f"port group {quote_text(name)} does nothing: {reason}"))
        else:
            facts = {"kind": "port group", "name": name, "reason": reason}
            self._found.remarks.append(FileRemark("unused-profile", (), place, facts))

    def _add_command(self, command: str, setting: QosFileSetting) -> None:
        self._found.add_nvue_command(command, setting.place, setting.key)

    def _add_toggle(self, command: str, setting: QosFileSetting) -> None:
        """Add a setting that is turned on or off; a value that is neither true nor false is remarked."""
        if setting.flag is None:
            facts = {"path": setting.key, "found": quote_text(setting.value), "expected": "true or false"}
            self._found.remarks.append(FileRemark("malformed-value", (), setting.place, facts))
        else:
            self._add_command(f"{command} {'enable' if setting.flag else 'disable'}", setting)

    def _remark_unknown_key(self, setting: QosFileSetting) -> None:
        """Remark a key that switchd does not have: a slip, or a field that port groups of its kind do not have."""
        fields = _FIELDS_BY_KIND.get(setting.parts[0], ())
        for word in setting.parts:
            if word not in KNOWN_KEY_PARTS and (meant := find_near_word(word, KNOWN_KEY_PARTS)):
                hint = f"`{word}`: did you mean `{meant}`?"
                self._found.remark_unknown_command(setting.place, setting.key, "switchd", hint)
                return
        if fields:
            self._found.remark_unknown_command(
                setting.place, setting.key, "switchd", known_word_hint(setting.parts[-1], fields)
            )
        else:
            self._found.add_not_understood(setting.place, f"setting {quote_text(setting.key)}")

    def _translates_watchdog_timer(self, setting: QosFileSetting) -> bool:
        if setting.parts[0] == "pfc_wd" and setting.parts[-1] in _NVUE_WATCHDOG_TIMER_WORDS:
            self._add_command(
                (
                    f"qos pfc-watchdog {_NVUE_WATCHDOG_TIMER_WORDS[setting.parts[-1]]} "
                    f"{format_command_word(setting.value)}"
                ),
                setting,
            )
        return True

    def _translates_setting(self, setting: QosFileSetting) -> bool:
        """Take a setting over; False where it is none that is known."""
        key_parts = setting.parts
        match key_parts:
            case (kind, "port_group_list") if kind in _PROFILE_BY_GROUP_KIND:
                self._lists[kind] = setting
                self._groups.setdefault(kind, {})
            case ("traffic", "priority_group_list"):
                pass
            case (kind, name, *_) if kind in _PROFILE_BY_GROUP_KIND and len(key_parts) > 2:
                self._groups.setdefault(kind, {}).setdefault(name, []).append(setting)
            case ("traffic", *rest):
                return self._translates_classification(GLOBAL_PROFILE, rest, setting)
            case ("default_ecn_red_conf", _):
                self._marking.append(setting)
            case ("default_egress_sched", queue, "bw_percent"):
                return self._translates_queue_share(GLOBAL_PROFILE, queue, setting)
            case ("cos_egr_queue", cos, "uc") if match := _COS_KEY_PATTERN.fullmatch(cos):
                command = (
                    f"egress-queue-mapping {GLOBAL_PROFILE} switch-priority {match[1]} "
                    f"traffic-class {format_command_word(setting.value)}"
                )
                self._add_command(f"qos {command}", setting)
            case (("ingress_service_pool" | "egress_service_pool") as way, pool, "percent"):
                self._percents[way.partition("_")[0], pool] = setting
            case ("flow_control", "service_pool"):
                self._lossless_pool |= {"ingress": setting.value, "egress": setting.value}
            case ("flow_control", ("ingress_service_pool" | "egress_service_pool") as way):
                self._lossless_pool[way.partition("_")[0]] = setting.value
            case ("flow_control", ("ingress_buffer" | "egress_buffer") as way, "dynamic_quota"):
                self._add_command(
                    (
                        f"qos advance-buffer-config {GLOBAL_PROFILE} {_NVUE_BUFFER_BY_QUOTA[way]} "
                        f"shared-alpha {_alpha_word(setting)}"
                    ),
                    setting,
                )
            case ("priority_group", name, "cos_list"):
                self._classes[name] = setting
            case ("priority_group", name, "weight"):
                self._weights[name] = setting
            case _:
                return key_parts[0] in _UNMODELED_KEY_PARTS or key_parts[0].startswith("priority_group")
        return True

    def _translates_classification(self, profile: str, key_parts: Sequence[str], setting: QosFileSetting) -> bool:
        match key_parts:
            case ["packet_priority_source_set"]:
                trust = TRUST_BY_PRIORITY_SOURCES.get(frozenset(setting.items))
                self._add_command(f"qos mapping {profile} trust {trust or format_command_word(setting.value)}", setting)
            case ["packet_priority_remark_set"]:
                if trust := TRUST_BY_PRIORITY_SOURCES.get(frozenset(setting.items)):
                    self._add_command(f"qos remark {profile} rewrite {trust}", setting)
            case ["port_default_priority"]:
                self._add_command(
                    f"qos mapping {profile} port-default-sp {format_command_word(setting.value)}", setting
                )
            case [cos, "priority_source", ("dscp" | "8021p" | "cos") as field] if match := _COS_KEY_PATTERN.fullmatch(
                cos
            ):
                key = "dscp" if field == "dscp" else "pcp"
                known_settings = self._listed.setdefault((profile, key), (setting, {}))[1]
                values = {number: setting for item in setting.items if (number := parse_whole_number(item)) is not None}
                self._remark_overlap(
                    setting, {value: known_settings[value] for value in values if value in known_settings}
                )
                known_settings |= values
                if setting.items:
                    listed = format_command_word(",".join(setting.items))
                    self._add_command(f"qos mapping {profile} {key} {listed} switch-priority {match[1]}", setting)
            case [cos, "priority_remark", ("dscp" | "8021p" | "cos") as field] if match := _COS_KEY_PATTERN.fullmatch(
                cos
            ):
                key = "dscp" if field == "dscp" else "pcp"
                for item in setting.items[:1]:
                    self._add_command(
                        f"qos remark {profile} switch-priority {match[1]} {key} {format_command_word(item)}", setting
                    )
            case _:
                return False
        return True

    def _remark_overlap(self, setting: QosFileSetting, before: Mapping[int, QosFileSetting]) -> None:
        """Remark values of a list that another list has too: a packet gets one internal priority."""
        for other_setting in {old_setting.key: old_setting for old_setting in before.values()}.values():
            values = ", ".join(str(value) for value, old_setting in before.items() if old_setting is other_setting)
            facts = {"values": values, "key": setting.key, "other": other_setting.key}
            self._found.remarks.append(FileRemark("value-in-two-lists", (), setting.place, facts))

    def _translates_queue_share(self, profile: str, queue: str, setting: QosFileSetting) -> bool:
        match = _QUEUE_KEY_PATTERN.fullmatch(queue)
        if not match:
            return False
        head = f"qos egress-scheduler {profile} traffic-class {match[1]}"
        if setting.value == "0":
            self._add_command(f"{head} mode strict", setting)
        else:
            self._add_command(f"{head} mode dwrr", setting)
            self._add_command(f"{head} bw-percent {format_command_word(setting.value)}", setting)
        return True

    def _translate_port_group(self, kind: str, name: str, own_settings: Sequence[QosFileSetting]) -> None:
        """Add a port group as a profile, and bind its ports to it; that of all ports is the global profile."""
        ports = next((setting for setting in own_settings if setting.parts[2] == "port_set"), None)
        everywhere = ports is not None and "allports" in ports.items
        profile = GLOBAL_PROFILE if everywhere else name
        if kind in ("ecn_red", "ecn"):
            self._add_ecn_marking_group(profile, own_settings)
        taken: Mapping[str, Callable[[QosFileSetting], bool]] = {
            "source": lambda setting: self._translates_classification(profile, setting.parts[2:], setting),
            "remark": lambda setting: self._translates_classification(profile, setting.parts[2:], setting),
            "egress_sched": lambda setting: self._translates_queue_share(profile, setting.parts[2], setting),
            "shaping": lambda setting: self._read_shaper_rates(profile, setting),
            "pfc": lambda setting: self._read_pause_setting("pfc", profile, setting),
            "link_pause": lambda setting: self._read_pause_setting("link-pause", profile, setting),
        }
        for setting in own_settings:
            if setting.parts[2] == "port_set":
                self._bind_ports(kind, profile, setting)
            elif kind in taken and not taken[kind](setting):
                self._remark_unknown_key(setting)

    def _bind_ports(self, kind: str, profile: str, setting: QosFileSetting) -> None:
        ports = port_ranges_of_set(setting.value)
        if kind == "pfc_watchdog":
            for port in ports:
                self._add_command(f"interface {port} qos pfc-watchdog state enable", setting)
        elif profile != GLOBAL_PROFILE:
            for port in ports:
                self._add_command(f"interface {port} qos {_PROFILE_BY_GROUP_KIND[kind]} profile {profile}", setting)

    def _read_pause_setting(self, kind: str, profile: str, setting: QosFileSetting) -> bool:
        field = setting.parts[2]
        head = f"qos {kind} {profile}"
        if field == "cos_list":
            for item in setting.items:
                self._add_command(f"{head} switch-priority {format_command_word(item)}", setting)
        elif field in ("tx_enable", "rx_enable"):
            self._add_toggle(f"{head} {field[:2]}", setting)
        elif field in _NVUE_PFC_WORDS:
            self._add_command(f"{head} {_NVUE_PFC_WORDS[field]} {format_command_word(setting.value)}", setting)
        else:
            return False
        return True

    def _add_ecn_marking_group(self, profile: str, own_settings: Sequence[QosFileSetting]) -> None:
        """Add a group of marking; its queues are in a separate setting."""
        queues = next((one for one in own_settings if one.parts[-1] in ("egress_queue_list", "cos_list")), None)
        listed = ",".join(queues.items) if queues else "0" if profile == GLOBAL_PROFILE else ""
        for setting in own_settings if listed else ():
            field = _NVUE_ECN_WORDS.get(setting.parts[-1])
            if field is None:
                if setting.parts[-1] not in _EXTRA_ECN_KEY_PARTS:
                    self._remark_unknown_key(setting)
                continue
            head = f"qos congestion-control {profile} traffic-class {format_command_word(listed)} {field}"
            if field in ("ecn", "red"):
                self._add_toggle(head, setting)
            else:
                self._add_command(f"{head} {format_command_word(setting.value)}", setting)

    def _read_shaper_rates(self, profile: str, setting: QosFileSetting) -> bool:
        match = _QUEUE_KEY_PATTERN.fullmatch(setting.parts[2])
        if setting.parts[-1] != "shaper" or (not match and setting.parts[2] != "port"):
            return False
        head = f"qos egress-shaper {profile}"
        if not match:
            self._add_command(
                f"{head} port-max-rate {format_command_word(setting.items[-1] if setting.items else '')}", setting
            )
            return True
        for field, item in zip(("min-rate", "max-rate"), setting.items, strict=False):
            self._add_command(f"{head} traffic-class {match[1]} {field} {format_command_word(item)}", setting)
        return True

    def _translate_ingress_pool_shares(self) -> None:
        """Add the shares of the memory on the way in: one pool is lossless, all others are not."""
        lossless = self._lossless_pool.get("ingress")
        for (direction, pool), setting in self._percents.items():
            percent = setting.value.partition(".")[0]
            if direction == "ingress" and pool in ("0", lossless) and parse_whole_number(percent):
                name = "default-lossless" if pool == lossless else "default-lossy"
                self._add_command(f"qos traffic-pool {name} memory-percent {percent}", setting)

    def _add_default_priorities(self) -> None:
        """Add the values of a field that no list has: they get the default internal priority, 0."""
        for (profile, key), (setting, known_settings) in self._listed.items():
            if missing := [str(value) for value in range(64 if key == "dscp" else 8) if value not in known_settings]:
                self._add_command(f"qos mapping {profile} {key} {','.join(missing)} switch-priority 0", setting)

    def _add_priority_group_scheduling(self) -> None:
        """Add the scheduling of priority groups: weight 0 is strict."""
        self._found.weighs = bool(self._weights)
        for name, setting in self._weights.items():
            classes = self._classes.get(name)
            for item in classes.items if classes else ():
                self._translates_queue_share(GLOBAL_PROFILE, f"egr_queue_{item}", setting)


def port_ranges_of_set(config_text: str) -> tuple[str, ...]:
    """Return the ports of a set such as `swp1-swp4,swp6,swp50s0-swp50s3`; `allports` is none by itself."""
    matches = (_PORT_RANGE_PATTERN.fullmatch(port_text.strip()) for port_text in config_text.strip("[] \t").split(","))
    return tuple(f"{match[1]}-{match[2]}" if match[2] else match[1] for match in matches if match)


def _alpha_word(setting: QosFileSetting) -> str:
    value = setting.value.lower()
    number = parse_whole_number(value, len(ALPHA_BY_QUOTA) - 1)
    return format_command_word(value) if number is None else f"alpha_{ALPHA_BY_QUOTA[number]}"


def _choices_for_missing_port_group(
    listed: QosFileSetting, name: str, groups: Iterable[str]
) -> Iterator[CommandsForCase]:
    """Yield the line that lists the group of ports that is near a missing name, and the one without the name."""
    near = only_near_name(name, groups)
    others = [item for item in listed.items if item not in (name, near)]
    if not all(map(is_typable, (*listed.items, near or name))):
        return
    cases = {f"if {near} is meant": [*others, near]} if near is not None else {}
    if others:
        cases[f"if no group is meant (`grep port_set {listed.place.file}` lists those there are)"] = others
    for condition, items in cases.items():
        written = f"{listed.key} = [{','.join(items)}]"
        lines = (f"# {listed.place.file}:", written, SHELL_HEADING, SWITCHD_RELOAD_COMMAND)
        yield CommandsForCase(condition=condition, language="cumulus", lines=lines)
