"""The files of a build as switches show them when they run: what their software adds, in another order and form.

What is added is what `adds.yaml` of a platform and the sources that it names tell of.
"""

import ipaddress
import json
import re
from random import Random
from typing import Any

from ruamel.yaml import YAML

from nodrop.syntax.yaml import parse_yaml

Files = dict[str, bytes]

FEATURES = {
    **dict.fromkeys(("bgp", "lldp", "pmon", "radv", "snmp", "swss", "syncd", "teamd", "gnmi", "telemetry"), "enabled"),
    **dict.fromkeys(("dhcp_server", "iccpd", "nat", "otel", "p4rt", "sflow", "macsec"), "disabled"),
    "database": "always_enabled",
    "mux": "always_disabled",
    "dhcp_relay": "enabled",
}
"""Containers of an image for Spectrum, and whether they run."""
RESOURCES = ("ipv4_route", "ipv6_route", "nexthop_group", "nexthop_group_member", "acl_table", "acl_entry", "fdb_entry")

INIT: dict[str, Any] = {
    "DEVICE_METADATA": {
        "localhost": {
            "mac": "02:00:5e:10:00:01",
            "timezone": "UTC",
            "default_bgp_status": "up",
            "default_pfcwd_status": "disable",
            "synchronous_mode": "enable",
            "create_only_config_db_buffers": "true",
            "supporting_bulk_counter_groups": ["QUEUE", "PG_WATERMARK"],
        }
    },
    "CRM": {
        "Config": {
            "polling_interval": "300",
            **{f"{one}_threshold_type": "percentage" for one in RESOURCES},
            **{f"{one}_low_threshold": "70" for one in RESOURCES},
            **{f"{one}_high_threshold": "85" for one in RESOURCES},
        }
    },
    "FLEX_COUNTER_TABLE": {
        "ACL": {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "10000"},
        "PORT": {"FLEX_COUNTER_STATUS": "enable"},
        "PORT_PHY_ATTR": {"FLEX_COUNTER_STATUS": "enable"},
        "QUEUE": {"FLEX_COUNTER_STATUS": "enable"},
        "PFCWD": {"FLEX_COUNTER_STATUS": "enable"},
    },
    "BGP_DEVICE_GLOBAL": {
        "STATE": {"tsa_enabled": "false", "wcmp_enabled": "false", "idf_isolation_state": "unisolated"}
    },
    "FEATURE": {
        name: {
            "state": state,
            "auto_restart": "always_enabled" if state == "always_enabled" else "enabled",
            "delayed": str(name in ("lldp", "snmp", "gnmi", "telemetry")),
            "has_global_scope": "True",
            "has_per_asic_scope": "False",
            "support_syslog_rate_limit": "true",
            "set_owner": "local",
            "high_mem_alert": "disabled",
        }
        for name, state in FEATURES.items()
    },
    "AUTO_TECHSUPPORT": {
        "GLOBAL": {
            "state": "enabled",
            "rate_limit_interval": "180",
            "max_techsupport_limit": "10.0",
            "max_core_limit": "5.0",
            "available_mem_threshold": "10.0",
            "min_available_mem": "200",
            "since": "2 days ago",
        }
    },
    "AUTO_TECHSUPPORT_FEATURE": {
        name: {"state": "enabled", "rate_limit_interval": "600", "available_mem_threshold": "10.0"} for name in FEATURES
    },
    "SYSLOG_CONFIG": {"GLOBAL": {"rate_limit_interval": "0", "rate_limit_burst": "0"}},
    "SYSLOG_CONFIG_FEATURE": {name: {"rate_limit_interval": "300", "rate_limit_burst": "20000"} for name in FEATURES},
    "PASSW_HARDENING": {
        "POLICIES": {
            "state": "disabled",
            "expiration": "180",
            "history_cnt": "10",
            "len_min": "8",
            "lower_class": "true",
        }
    },
    "BANNER_MESSAGE": {"global": {"state": "disabled", "login": "Debian GNU/Linux 12", "motd": "", "logout": ""}},
    "SYSTEM_DEFAULTS": {"mux_tunnel_egress_acl": {"status": "disabled"}},
    "KDUMP": {"config": {"enabled": "false", "memory": "0M-2G:256M,2G-4G:320M", "num_dumps": "3", "remote": "false"}},
    "NTP": {
        "global": {
            "authentication": "disabled",
            "dhcp": "enabled",
            "server_role": "disabled",
            "src_intf": "eth0",
            "admin_state": "enabled",
            "vrf": "default",
        }
    },
    "LOGGER": {
        "orchagent": {"LOGLEVEL": "NOTICE", "LOGOUTPUT": "SYSLOG"},
        "SAI_API_BUFFER": {"LOGLEVEL": "SAI_LOG_LEVEL_NOTICE", "LOGOUTPUT": "SYSLOG"},
        "xcvrd": {"LOGLEVEL": "NOTICE", "require_manual_refresh": "true"},
    },
    "ASIC_SENSORS": {
        "ASIC_SENSORS_POLLER_INTERVAL": {"interval": "10"},
        "ASIC_SENSORS_POLLER_STATUS": {"admin_status": "disable"},
    },
}
"""What init_cfg.json puts below a configuration, `config reload` fills in and daemons write down (sonic-buildimage)."""

SYSTEM: dict[str, Any] = {
    "aaa": {
        "class": {
            "nvapply": {"action": "allow", "command-path": {"/": {"permission": "all"}}},
            "nvshow": {"action": "allow", "command-path": {"/": {"permission": "ro"}}},
            "sudo": {"action": "allow", "command-path": {"/": {"permission": "all"}}},
        },
        "role": {
            "nvue-admin": {"class": {"nvapply": {}}},
            "nvue-monitor": {"class": {"nvshow": {}}},
            "system-admin": {"class": {"nvapply": {}, "sudo": {}}},
        },
        "user": {"cumulus": {"full-name": "cumulus,,,", "hashed-password": "*", "role": "system-admin"}},
    },
    "api": {"state": "enabled"},
    "config": {"auto-save": {"state": "enabled"}},
    "control-plane": {"acl": {"acl-default-dos": {"inbound": {}}, "acl-default-whitelist": {"inbound": {}}}},
    "reboot": {"mode": "cold"},
    "ssh-server": {"state": "enabled"},
    "timezone": "Etc/UTC",
    "wjh": {"channel": {"forwarding": {"trigger": {"l2": {}, "l3": {}, "tunnel": {}}}}},
}
"""What an image of Cumulus Linux with NVUE has below `system` before anybody sets anything."""


def as_it_runs(platform: str, files: Files, chance: Random) -> Files:
    """The files of one switch as they are collected from it, in one of the forms that its platform has."""
    forms = {"sonic": _of_sonic, "nvue": _of_nvue, "onyx": _of_onyx, "nclu": _of_nclu, "cumulus": _of_cumulus}
    return forms[platform](files, chance)


def _of_sonic(files: Files, chance: Random) -> Files:
    """`config_db.json` and `frr.conf`, or all in one as `show runningconfiguration all` has it."""
    tables = _over(INIT, json.loads(files["config_db.json"]))
    _of_ports(tables)
    running = {"config_db.json": tables}
    frr = files.get("frr.conf")
    if frr is None:
        return {"config_db.json": _json(tables, chance)}
    shown = _of_frr(frr.decode(), chance)
    if chance.random() < 0.5:
        tables["bgpraw"] = f"Building configuration...\n\nCurrent configuration:\n{shown}"
        return {"config_db.json": _json(tables, chance)}
    return {"config_db.json": _json(running["config_db.json"], chance), "frr.conf": shown.encode()}


def _of_ports(tables: dict[str, Any]) -> None:
    """Write down of ports what their files say, of port channels the key of LACP, and the version of the database."""
    for table in ("PORT", "PORTCHANNEL"):
        for row in tables.get(table, {}).values():
            row["tpid"] = "0x8100"
            row |= {"role": "Ext"} if table == "PORT" else {"lacp_key": "auto"}
    for row in tables.get("VERSIONS", {}).values():
        row["VERSION"] = row["VERSION"].replace("_01", "_02")


def _over(below: Any, above: Any) -> Any:
    """Two trees as one, what is `above` being the stronger."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return below | {key: _over(below[key], value) if key in below else value for key, value in above.items()}


def _json(data: Any, chance: Random) -> bytes:
    return json.dumps(_shuffled(data, chance), indent=4).encode()


def _shuffled(data: Any, chance: Random) -> Any:
    if not isinstance(data, dict):
        return data
    keys = list(data)
    chance.shuffle(keys)
    return {key: _shuffled(data[key], chance) for key in keys}


def _of_frr(text: str, chance: Random) -> str:
    """A frr.conf as `vtysh -c 'show running-config'` has it: lists by number, neighbors and networks in their order."""
    head, blocks = _blocks(text)
    chance.shuffle(blocks)
    version = "frr version 10.3"
    first = next(line for line in head if line.startswith("frr defaults"))
    rest = [line for line in head if line != first]
    lines = ["!", version, first, *rest, *(line for block in blocks for line in ("!", *block)), "!", "end"]
    return "\n".join(lines) + "\n"


def _blocks(text: str) -> tuple[list[str], list[list[str]]]:
    """Lines that stand alone, and blocks of such as belong together."""
    head: list[str] = []
    blocks: list[list[str]] = []
    for line in text.split("\n"):
        plain = line.strip()
        if plain in ("", "!", "exit", "end", "line vty"):
            continue
        if line.startswith(" "):
            blocks[-1].append(line)
        elif plain.startswith(("router ", "route-map ", "interface ", "vrf ")):
            blocks.append([line])
        elif found := re.match(r"(bgp community-list standard \S+) (permit .*)", plain):
            blocks.append([f"{found[1]} seq 5 {found[2]}"])
        elif plain.startswith(("ip ", "ipv6 ")):
            blocks.append([line])
        else:
            head.append(line)
    return head, [[*_in_order(block), "exit"] if len(block) > 1 else block for block in blocks]


def _in_order(block: list[str]) -> list[str]:
    """A block with its runs of neighbors and of networks sorted by number."""
    result: list[str] = []
    run: list[str] = []
    for line in [*block, ""]:
        word = line.split()[:1]
        if run and run[0].split()[0] in word:
            run.append(line)
            continue
        result += sorted(run, key=_number) if run else []
        run = []
        if word and word[0] in ("neighbor", "network"):
            run = [line]
        elif line:
            result.append(line)
    return result


def _number(line: str) -> tuple[int, int, str]:
    of = line.split()[1].partition("/")[0]
    try:
        address = ipaddress.ip_address(of)
    except ValueError:
        return 0, 0, ""
    return address.version, int(address), ""


def _of_nvue(files: Files, chance: Random) -> Files:
    """`nv config show -o yaml`, or `-o commands`."""
    given: Any = parse_yaml(files["startup.yaml"], "startup.yaml").data
    header = next(one["header"] for one in given if "header" in one)
    tree = _over({"system": SYSTEM}, next(one["set"] for one in given if "set" in one))
    for name, row in tree.get("interface", {}).items():
        if name.startswith("swp") and not {",", "-"} & set(name):
            row.setdefault("type", "swp")
    if chance.random() < 0.5 and header.get("version"):
        from io import BytesIO

        out = BytesIO()
        yaml = YAML(typ="safe", pure=True)
        yaml.default_flow_style = False
        yaml.dump([{"header": {**header, "rev-id": 7}}, {"set": _shuffled(tree, chance)}], out)
        return {"startup.yaml": out.getvalue()}
    lines = [f"nv set {' '.join(words)}" for words in _commands(tree)]
    chance.shuffle(lines)
    return {"startup.yaml": "".join(f"{line}\n" for line in lines).encode()}


def _commands(tree: Any) -> Any:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from ([_quoted(key), *words] for words in _commands(value))
        elif isinstance(value, list):
            yield from ([_quoted(key), _quoted(str(one))] for one in value)
        else:
            yield [_quoted(key), *([] if value in ({}, None) else [_quoted(str(value))])]


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[A-Za-z0-9_./:,*+-]+", word) else f"'{word}'"


ONYX = b"""
##
## Network management configuration
##
# web proxy auth basic password ********
   clock timezone Etc UTC
##
## X.509 certificates configuration
##
#
# Certificate name system-self-signed, ID 1
   crypto certificate system-self-signed regenerate days-valid 365
##
## Persistent prefix mode setting
##
cli default prefix-modes enable
"""
"""What a running-config of Onyx ends with, whatever was set."""


def _of_onyx(files: Files, _chance: Random) -> Files:
    return {name: raw + ONYX for name, raw in files.items()}


def _of_nclu(files: Files, chance: Random) -> Files:
    """`net show configuration commands`: begins with `net del all`, and has commands in an order of its own."""
    result = {}
    for name, raw in files.items():
        first, *rest = [line for line in raw.decode().splitlines() if line.startswith("net ")]
        chance.shuffle(rest)
        result[name] = "".join(f"{line}\n" for line in (first, *rest)).encode()
    return result


def _of_cumulus(files: Files, chance: Random) -> Files:
    """Files as tools write them: without the comments of whoever wrote them, and with their own."""
    result = {}
    for name, raw in files.items():
        text = raw.decode()
        if name == "frr.conf":
            text = _of_frr(text, chance)
        elif name != "hostname":
            kept = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
            text = "".join(f"{line}\n" for line in ("# Auto-generated, edit with care", *kept))
        result[name] = text.encode()
    return result
