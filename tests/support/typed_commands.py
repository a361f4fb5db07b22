"""What the commands that a finding prints make of a switch's files, typed on a copy: for tests alone.

Written apart from what renders the commands. A command that is not known here is an error and changes nothing.
"""

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from support import nvue_replay

Files = Mapping[str, str]
_LOOP = re.compile(r"for port in (.+?); do (.+); done")
_BRACES = re.compile(r"(\w*)\{(\d+)\.\.(\d+)(?:\.\.(\d+))?\}")
_READ_FIELD = re.compile(r'"\$\(sudo sonic-db-cli CONFIG_DB HGET "([^|"]+)\|([^"]+)" (\S+)\)"')
"""Where a shell reads a field, so that its value is not on the screen."""
_WRITTEN_FIELD = re.compile(r'# in golden_config_db\.json below (\w+)\|(\w+): "(\w+)": "([\w-]+)"')
_PORT_COMMANDS = {
    "mtu": "mtu",
    "speed": "speed",
    "fec": "fec",
    "link-training": "link_training",
    "autoneg": "autoneg",
}
_WORDS = {"enabled": "on", "disabled": "off"}


class NotKnown(Exception):
    """A command whose effect on files is not known here."""


def type_commands(language: str, lines: Iterable[str], files: Files) -> dict[str, str]:
    """Return the files of a switch after commands were typed on it and its configuration was saved."""
    if language == "nvue":
        return _type_nvue(lines, files)
    if language == "sonic":
        return _type_sonic(lines, files)
    if language == "frr":
        return {**files, "frr.conf": _type_frr([line for line in lines if line != "vtysh"], files["frr.conf"])}
    if language == "hosts":
        return _type_hosts(lines, files)
    if language == "onyx":
        return _type_onyx(lines, files)
    if language == "nclu":
        return _type_nclu(lines, files)
    if language == "cumulus":
        return _type_cumulus(lines, files)
    raise NotKnown(language)


def _type_onyx(lines: Iterable[str], files: Files) -> dict[str, str]:
    """Type commands into a listing of all commands in effect: `no` takes back the lines that begin as it says."""
    (name, text), *_ = files.items()
    listed = text.rstrip().split("\n")
    for line in lines:
        if line in ("enable", "configure terminal", "configuration write"):
            continue
        if match := re.match(r"((?:interface .+? )?)no (.+)", line):
            taken_back = f"{match[1]}{match[2]}"
            kept = [each for each in listed if not f"{each.strip()} ".startswith(f"{taken_back} ")]
            listed = kept if len(kept) < len(listed) else [*listed, f"   {line}"]
        else:
            listed.append(f"   {line}")
    return {**files, name: "\n".join(listed) + "\n"}


def _type_nclu(lines: Iterable[str], files: Files) -> dict[str, str]:
    """Append commands to the list of those that were typed before: each works on what they made."""
    (name, text), *_ = files.items()
    typed = [line for line in lines if line not in ("net pending", "net commit")]
    if unlike := [line for line in typed if not line.startswith(("net add ", "net del "))]:
        raise NotKnown(unlike[0])
    return {**files, name: text.rstrip("\n") + "\n" + "".join(f"{line}\n" for line in typed)}


def _type_cumulus(lines: Iterable[str], files: Files) -> dict[str, str]:
    """Write lines into the files that are named above them, each in place of the line with its key."""
    new, name = dict(files), ""
    for line in lines:
        if match := re.fullmatch(r"# (\S+):", line):
            name = match[1]
        elif line == "# then in a shell:":
            name = "a shell"
        elif name == "a shell" and line in ("sudo systemctl reload switchd", "sudo ifreload -a"):
            continue
        elif " = " not in line or name not in new:
            raise NotKnown(line)
        else:
            text = new[name].rstrip().split("\n")
            key = line.partition(" = ")[0]
            at = next((number for number, each in enumerate(text) if each.partition("=")[0].strip() == key), len(text))
            new[name] = "\n".join([*text[:at], line, *text[at + 1 :]]) + "\n"
    return new


_IN_PLACE = re.compile(r"# in (\S+) in place of line (\d+):")
_AT_START = re.compile(r"# in (\S+?)( before the job starts)?:")
_JOB = re.compile(r"(exec |srun|mpirun|torchrun|python|\./)")
"""How the line of a script begins that starts a job."""
_DELETED = re.compile(r"# delete (\S+(?: and \S+)*) from lines? (\d+(?: and \d+)*)")


def _type_hosts(lines: Iterable[str], files: Files) -> dict[str, str]:
    """Return the files of hosts after lines took the places of others, or came to them, by the last part of names."""
    new, name, place = dict(files), "", None
    for line in lines:
        if line.startswith(("# then ", "# a job that runs ")):
            continue
        if match := _IN_PLACE.fullmatch(line) or _AT_START.fullmatch(line):
            name = next(each for each in files if each.rpartition("/")[2] == match[1])
            place = int(match[2]) - 1 if match.re is _IN_PLACE else None
            continue
        if not name:
            raise NotKnown(line)
        text = new[name].split("\n")
        if match := _DELETED.fullmatch(line):
            for number in match[2].split(" and "):
                text[int(number) - 1] = _without(text[int(number) - 1], match[1].split(" and "))
        elif place is None:
            _set_variable(text, line)
        else:
            text[place] = line
            place = None
        new[name] = "\n".join(text)
    return new


def _without(line: str, names: Iterable[str]) -> str:
    """Return a line of a shell without assignments to variables; nothing is left of one that only exports them."""
    words = line.split(" ")
    set_here = {at for at, word in enumerate(words) if word.partition("=")[0] in {*names}}
    set_here |= {at - 1 for at in set_here if words[at - 1] == "-x"}
    left = [word for at, word in enumerate(words) if at not in set_here]
    return "" if left in ([], ["export"]) else " ".join(left)


def _set_variable(text: list[str], line: str) -> None:
    """Set a variable: in the line of a file that sets it alone, else in a new line, after that of the shell."""
    variable = line.removeprefix("export ").partition("=")[0]
    at = next((n for n, old in enumerate(text) if old.removeprefix("export ").startswith(f"{variable}=")), None)
    if at is not None:
        text[at] = line
    else:
        start = next((n for n, old in enumerate(text) if _JOB.match(old)), len(text))
        text.insert(start, line)


_DELETED_LINE = re.compile(r"# delete line (\d+) of (?:\S*/)?startup\.yaml")
_DELETED_KEY = re.compile(r"# delete (.+) from line \d+ of (?:\S*/)?startup\.yaml")


def _type_nvue(lines: Iterable[str], files: Files) -> dict[str, str]:
    commands = [line for line in lines if line != "nv config apply"]
    deleted = {int(match[1]) for line in commands if (match := _DELETED_LINE.fullmatch(line))}
    rows = files["startup.yaml"].split("\n")
    text = "\n".join(row for number, row in enumerate(rows, 1) if number not in deleted)
    settings = nvue_replay.settings(text)
    for path in [match[1].split(" ") for line in commands if (match := _DELETED_KEY.fullmatch(line))]:
        holder = settings
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
    script = "".join(f"{line}\n" for line in commands if not line.startswith("# delete "))
    try:
        tree = nvue_replay.played(script, settings, nvue_replay.leaves(text))
    except AssertionError as error:
        raise NotKnown(str(error)) from None
    head = [part for part in nvue_replay.loaded(text) if "header" in part]
    return {**files, "startup.yaml": json.dumps([*head, {"set": tree}], indent=1) + "\n"}


def _type_sonic(lines: Iterable[str], files: Files) -> dict[str, str]:
    tables = json.loads(files.get("config_db.json", "{}"))
    routing = files.get("frr.conf", "")
    golden = json.loads(files.get("golden_config_db.json", "{}"))
    for line in lines:
        if match := _WRITTEN_FIELD.fullmatch(line):
            table, key, name, value = match.groups()
            golden[table][key][name] = value
            continue
        for command in _expanded(line):
            command = _READ_FIELD.sub(lambda match: shlex.quote(_field(tables, *match.groups())), command)
            words = [each for word in shlex.split(command.removeprefix("sudo ")) for each in _ports(word)]
            if words[:1] == ["vtysh"]:
                routing = _type_frr([words[at + 1] for at, word in enumerate(words) if word == "-c"], routing)
            else:
                _type_config(tables, words)
    new = dict(files)
    if "config_db.json" in files:
        new["config_db.json"] = json.dumps(tables, indent=4) + "\n"
    if "golden_config_db.json" in files:
        new["golden_config_db.json"] = json.dumps(golden) + "\n"
    return new | ({"frr.conf": routing} if "frr.conf" in files else {})


def _field(tables: Mapping[str, Any], table: str, key: str, name: str) -> str:
    return str(tables[table][key][name])


def _expanded(line: str) -> Iterator[str]:
    loop = _LOOP.fullmatch(line)
    if loop is None:
        yield line
        return
    for word in loop[1].split():
        for port in _ports(word):
            yield loop[2].replace("$port", port)


def _ports(word: str) -> list[str]:
    braces = _BRACES.fullmatch(word)
    if braces is None:
        return [word]
    return [f"{braces[1]}{n}" for n in range(int(braces[2]), int(braces[3]) + 1, int(braces[4] or 1))]


_FIELD_BY_COMMAND = {
    ("TSB",): ("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled", "false"),
    ("config", "vrf", "add", "mgmt"): ("MGMT_VRF_CONFIG", "vrf_global", "mgmtVrfEnabled", "true"),
}
"""Commands that write one field of a row, and its value."""


def _type_config(tables: dict[str, Any], words: list[str]) -> None:
    match words:
        case ["sonic-db-cli", "CONFIG_DB", "HSET", key, *pairs]:
            table, _, row = key.partition("|")
            fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
            fields.pop("NULL", None)
            own = tables.setdefault(table, {}).setdefault(row, {})
            own.update({name.removesuffix("@"): _value(name, value) for name, value in fields.items()})
        case ["sonic-db-cli", "CONFIG_DB", "HDEL", key, *names]:
            table, _, row = key.partition("|")
            for name in names:
                tables[table][row].pop(name.removesuffix("@"), None)
        case ["sonic-db-cli", "CONFIG_DB", "DEL", *keys]:
            for key in keys:
                table, _, row = key.partition("|")
                tables.get(table, {}).pop(row, None)
                if not tables.get(table):
                    tables.pop(table, None)
        case ["config", "interface", *rest]:
            _type_interface(tables, rest)
        case ["pfcwd", "start", *rest]:
            _start_watchdogs(tables, rest)
        case ["pfcwd", "stop", *ports]:
            for port in ports:
                del tables["PFC_WD"][port]
        case ["mmuconfig", "-p", profile, ("-a" | "-s") as option, value]:
            tables["BUFFER_PROFILE"][profile]["dynamic_th" if option == "-a" else "static_th"] = value
        case ["pfcwd", "interval", value]:
            tables.setdefault("PFC_WD", {}).setdefault("GLOBAL", {})["POLL_INTERVAL"] = value
        case ["config", "save", *_] | ["config", "reload", *_] | ["systemctl", "restart", _]:
            pass
        case ["config", "ntp" | "syslog" as table, "add", server]:
            tables.setdefault({"ntp": "NTP_SERVER", "syslog": "SYSLOG_SERVER"}[table], {})[server] = {}
        case [*_] if (field := _FIELD_BY_COMMAND.get(tuple(words))) is not None:
            table, row, name, value = field
            tables.setdefault(table, {}).setdefault(row, {})[name] = value
        case ["ecnconfig", "-p", profile, *options]:
            fields = {
                "-gmin": "green_min_threshold",
                "-gmax": "green_max_threshold",
                "-gdrop": "green_drop_probability",
            }
            fields |= {f"-{c[0]}{k}": f"{c}_{n}" for c in ("yellow", "red") for k, n in _PROFILE_OPTIONS}
            row = tables["WRED_PROFILE"][profile]
            row.update({fields[option]: value for option, value in zip(options[::2], options[1::2], strict=True)})
        case ["pfcwd", "counter_poll", "enable" | "disable" as state]:
            tables["FLEX_COUNTER_TABLE"].setdefault("PFCWD", {})["FLEX_COUNTER_STATUS"] = state
        case ["counterpoll", group, *setting] if group in _COUNTERS:
            field = "POLL_INTERVAL" if setting[0] == "interval" else "FLEX_COUNTER_STATUS"
            for name in _COUNTERS[group]:
                tables["FLEX_COUNTER_TABLE"].setdefault(name, {})[field] = setting[-1]
        case _:
            raise NotKnown(shlex.join(words))


def _type_interface(tables: dict[str, Any], words: list[str]) -> None:
    match words:
        case ["startup" | "shutdown" as verb, ports]:
            for port in ports.split(","):
                tables["PORT"][port]["admin_status"] = "up" if verb == "startup" else "down"
        case [name, port, value] if name in _PORT_COMMANDS:
            tables["PORT"][port][_PORT_COMMANDS[name]] = _WORDS.get(value, value)
        case ["advertised-speeds", port, speeds]:
            tables["PORT"][port]["adv_speeds"] = speeds.split(",")
        case ["ipv6", "enable", "use-link-local-only", port]:
            tables.setdefault("INTERFACE", {}).setdefault(port, {})["ipv6_use_link_local_only"] = "enable"
        case ["pfc", "priority", port, priority, state]:
            row = tables["PORT_QOS_MAP"].setdefault(port, {})
            held = {each for each in row.get("pfc_enable", "").split(",") if each}
            held = held | {priority} if state == "on" else held - {priority}
            row["pfc_enable"] = ",".join(sorted(held))
        case _:
            raise NotKnown(shlex.join(words))


_PROFILE_OPTIONS = (("min", "min_threshold"), ("max", "max_threshold"), ("drop", "drop_probability"))
_COUNTERS = {
    "port": ("PORT",),
    "queue": ("QUEUE",),
    "wredqueue": ("WRED_ECN_QUEUE",),
    "pg-drop": ("PG_DROP",),
    "port-buffer-drop": ("PORT_BUFFER_DROP",),
    "watermark": ("QUEUE_WATERMARK", "PG_WATERMARK", "BUFFER_POOL_WATERMARK"),
}
"""What `counterpoll` calls groups, and their rows in FLEX_COUNTER_TABLE."""


def _value(name: str, value: str) -> object:
    return value.split(",") if name.endswith("@") else value


def _start_watchdogs(tables: dict[str, Any], words: list[str]) -> None:
    options = {words[at]: words[at + 1] for at, word in enumerate(words) if word.startswith("--")}
    plain, skip = [], False
    for word in words:
        if skip or word.startswith("--"):
            skip = not skip
            continue
        plain.append(word)
    *ports, detection = plain
    row = {"action": options.get("--action", "drop"), "detection_time": detection}
    row["restoration_time"] = options.get("--restoration-time", str(2 * int(detection)))
    names = list(tables["PORT"]) if ports == ["all"] else ports
    for port in names:
        tables.setdefault("PFC_WD", {})[port] = dict(row)
        if enabled := tables.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable"):
            tables["PORT_QOS_MAP"][port]["pfcwd_sw_enable"] = enabled


def _type_frr(commands: list[str], text: str) -> str:
    """Return a configuration of FRR with lines added or removed below the lines that they are typed below."""
    lines = text.splitlines()
    way: list[str] = []
    for command in commands:
        word = command.strip()
        if word in ("configure terminal", "end", "write memory", "!"):
            continue
        if word in ("exit", "exit-address-family"):
            way = way[:-1]
            continue
        if re.match(r"router bgp$|(router bgp|address-family|route-map|interface|vrf) ", word):
            word = next((line for line in lines if word == "router bgp" and line.startswith("router bgp ")), word)
            way = [word] if not word.startswith("address-family") else [*way[:1], word]
            if _start_of(lines, way) is None:
                _, end = _block(lines, way[:-1])
                lines.insert(end, " " * (len(way) - 1) + word)
            continue
        if word.startswith("no router bgp "):
            _, end = _block(lines, [word[3:]])
            del lines[lines.index(word[3:]) : end]
            way = []
            continue
        start, end = _block(lines, way)
        if word.startswith("no "):
            kept = [line for line in lines[start:end] if not _same(line, word[3:])]
            if len(kept) == end - start and _ON_BY_DEFAULT.fullmatch(word[3:]):
                kept.append(" " * len(way) + word)
            lines[start:end] = kept
        else:
            if f"no {word}" in (lines[at].strip() for at in range(start, end)):
                lines[start:end] = [line for line in lines[start:end] if line.strip() != f"no {word}"]
                start, end = _block(lines, way)
            head = _prefix(word)
            last = word.rpartition(" ")[2] if " route-map " in head else ""
            at = next(
                (
                    n
                    for n in range(start, end)
                    if head and lines[n].strip().startswith(head) and lines[n].endswith(last)
                ),
                None,
            )
            line = " " * len(way) + word
            if at is None:
                lines.insert(end, line)
            else:
                lines[at] = line
    return "\n".join(lines) + "\n"


_ON_BY_DEFAULT = re.compile(
    r"bgp (default ipv4-unicast|ebgp-requires-policy|network import-check)|neighbor \S+ activate"
)
"""Settings of FRR whose absence is no setting: `no` of them stays in the configuration."""


def _same(line: str, command: str) -> bool:
    return line.strip() == command or line.strip().startswith(f"{command} ")


def _prefix(command: str) -> str:
    single = re.match(
        r"(maximum-paths|bgp router-id|neighbor \S+ (?:remote-as|route-map)|bgp session-dscp"
        r"|match ip address prefix-list)(?= )",
        command,
    )
    return f"{single[1]} " if single else ""


def _start_of(lines: list[str], way: list[str]) -> int | None:
    at = 0
    for depth, word in enumerate(way):
        found = next((n for n in range(at, len(lines)) if lines[n].strip() == word), None)
        if found is None or (depth and lines[found][0] != " "):
            return None
        at = found + 1
    return at


def _block(lines: list[str], way: list[str]) -> tuple[int, int]:
    start = _start_of(lines, way)
    assert start is not None
    if not way:
        return 0, len(lines)
    indents = [len(line) - len(line.lstrip()) for line in lines]
    ends = (at for at in range(start, len(lines)) if indents[at] < len(way) or lines[at].strip() == "exit")
    return start, next(ends, len(lines))
