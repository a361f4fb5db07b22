"""The commands of all rules, over their bad examples on all platforms: filled in, of that platform, and valid."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from nodrop import platforms
from nodrop.advising import add_fix_commands
from nodrop.engine.example_setup import TIER_CHANGES_BY_PLATFORM
from nodrop.engine.examples import FabricOnPlatform, run_rule
from nodrop.engine.finding import FixCommands
from nodrop.engine.rule import ANY_PLATFORM
from nodrop.engine.rules import shipped_rules
from nodrop.locate import load_unchanged_source
from nodrop.model.fabric import Device
from nodrop.model.reading import Source
from nodrop.platforms.nvue import reader as nvue
from nodrop.platforms.onyx import reader as onyx
from nodrop.platforms.sonic.schema import schema_of_release
from support.bad_examples import views
from support.places import TESTS
from support.typed_commands import NotKnown, type_commands

TABLE = TESTS / "rules" / "commands.txt"
PLATFORM_WORDS = re.compile(
    r"`?nv (?:un)?set|NVUE|SONiC|Onyx|Cumulus|FRR\b|config_db|pfcwd|counterpoll|vtysh"
    r"|DEVICE_METADATA|BUFFER_|PFC_WD|_map\b|address-family|multipath-relax|maximum-paths|router bgp|\bTSA\b|sudo "
    r"|\b(?:qos_\w+|traffic|datapath|switchd)\.conf"
)
"""What belongs into the commands of a rule, and not into its sentence."""
FRR_WORDS = re.compile(r"maximum-paths|multipath-relax|address-family|router bgp")
"""What no message has: it is printed for other platforms too."""
ABOUT_PLATFORMS = {
    "interface-shut-by-frr": "it is about FRR",
    "forwarding-off-in-frr": "it is about FRR, whose files differ in name",
    "secret-in-configuration": "how a secret is encrypted differs by platform, and a site may have several",
    "lossless-half-configured": "the macro of Onyx is one of its two subjects",
    "watchdog-has-stock-times": "the times are those of SONiC's own start_default",
    "dual-tor-without-remap": "only SONiC has such pairs of switches",
    "pcie-slower-than-port": "it is about hosts, which run Linux",
}
"""Rules whose sentences name a platform, and why."""
TOOLS = {
    "config interface": {
        "mtu",
        "speed",
        "fec",
        "autoneg",
        "link-training",
        "startup",
        "shutdown",
        "advertised-speeds",
        "ipv6",
    },
    "config save": {"-y"},
    "config reload": {"-y"},
    "config vrf": {"add"},
    "pfcwd": {"start", "stop", "interval", "counter_poll"},
    "counterpoll watermark": {"enable"},
    "counterpoll port-buffer-drop": {"enable"},
    "counterpoll wredqueue": {"enable"},
    "counterpoll port": {"enable", "interval"},
    "counterpoll queue": {"enable", "interval"},
    "counterpoll pg-drop": {"enable", "interval"},
    "sonic-db-cli CONFIG_DB": {"HSET", "HDEL", "DEL"},
    "systemctl restart": {"bgp"},
    "ecnconfig": {"-p"},
    "mmuconfig": {"-p"},
    "vtysh": {"-c"},
    "show queue": {"wredcounters"},
}
"""The commands of sonic-utilities that are used, as its click groups have them."""

_COMMANDS_WITHOUT_ARGUMENTS = {"sudo TSB"}
"""Commands of the image of SONiC (sonic-buildimage dockers/docker-fpm-frr/base_image_files)."""
_WRITTEN_LINE = re.compile(r'# in golden_config_db\.json below \w+\|\w+: "\w+": "[\w-]+"')
"""What is written into a file."""
REFERENCES = ("dangling-reference", "bracket-reference", "malformed-value", "unknown-field", "unknown-setting")


@dataclass
class Advice:
    """What the findings of all bad examples print to type."""

    wrong: set[str] = field(default_factory=set)
    """What is wrong with commands."""
    languages: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The languages of the commands of each rule."""
    untyped: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The platforms on which findings of a rule have no commands."""


@pytest.fixture(scope="module")
def advice() -> Advice:
    """What is printed for every bad example on every platform, each judged once."""
    found = Advice()
    for rule in shipped_rules():
        for example, view in views(rule):
            verdict = run_rule(rule, view.reading, view.observed, view.beside)
            for finding in add_fix_commands(verdict.findings, view.reading):
                if rule.area not in ("sonic", "nvue") and FRR_WORDS.search(finding.message):
                    found.wrong.add(f"{rule.name}: {finding.message}")
                printed = finding.fix.commands if finding.fix else ()
                if finding.rule == rule.name and not printed:
                    found.untyped[rule.name].add(view.platform)
                for commands in printed if rule.commands or rule.changes_switch_configurations else ():
                    found.languages[rule.name].add(commands.language)
                    found.wrong |= {f"{rule.name}: {example}: {one}" for one in faults(view, commands)}
    return found


def faults(view: FabricOnPlatform, commands: FixCommands) -> Iterator[str]:
    """Yield what is wrong with commands."""
    device = next((each for each in view.reading.fabric.devices if each.name == commands.device), None)
    spoken = platforms.command_languages_of_device(device) if device else (platforms.HOSTS_PLATFORM,)
    if commands.language not in spoken:
        yield f"{commands.language} on {commands.device}"
    for line in commands.lines:
        filled = line.lstrip().replace(", ", ",") if commands.language == platforms.HOSTS_PLATFORM else line
        if re.search(r"\{\{|\}\}|\{ports?\}|\bunknown\b|\bNone\b|\x1f|  |, | more\b", filled):
            yield f"not filled in: {line}"
    if device is not None:
        yield from names_of_nothing(view, device, commands)
    check = {"nvue": nvue_faults, "sonic": sonic_faults, "onyx": onyx_faults}.get(commands.language)
    yield from check(commands.lines) if check else ()


def names_of_nothing(view: FabricOnPlatform, device: Device, commands: FixCommands) -> Iterator[str]:
    """Yield the references to nothing and the refused keys that a device has once commands are typed on it."""
    sources = view.reading.sources.get(device.name, ())
    files = {source.name: load_unchanged_source(source).decode() for source in sources}
    try:
        typed = type_commands(commands.language, commands.lines, files)
    except (NotKnown, KeyError):
        return

    def read(texts: Mapping[str, str]) -> Counter[str]:
        contents = [(source, texts[source.name].encode()) for source in sources]
        remarks = platforms.reader(device.platform).read_device(device.name, contents).remarks
        return Counter(f"{remark.kind}: {remark.facts}" for remark in remarks if remark.kind in REFERENCES)

    yield from read(typed) - read(files)


def nvue_faults(lines: tuple[str, ...]) -> Iterator[str]:
    """Yield the commands that NVUE's schema of paths does not know."""
    changed = [line for line in lines if line != "nv config apply" and not line.startswith("# delete ")]
    typed = [line.replace("nv unset", "nv set", 1) for line in changed or ["nv set system hostname x"]]
    text = "# model: SN5600, release 5.16\n" + "".join(f"{line}\n" for line in typed)
    reading = nvue.read_device("x", [(Source(name="x.nv", display="x.nv"), text.encode())])
    yield from (problem.found for problem in reading.problems)
    for remark in reading.remarks:
        if remark.kind in ("unknown-setting", "setting-of-another-release", "malformed-value", "mixed-dialect"):
            yield f"{remark.kind}: {remark.facts}"


def onyx_faults(lines: tuple[str, ...]) -> Iterator[str]:
    """Yield the commands that Onyx's command reference does not have."""
    text = "## Running database\n" + "".join(
        f"   {line}\n" for line in lines if line not in ("enable", "configure terminal")
    )
    reading = onyx.read_device("x", [(Source(name="x.txt", display="x.txt"), text.encode())])
    yield from (str(remark.facts) for remark in reading.remarks if remark.kind == "unknown-command")


def sonic_faults(lines: tuple[str, ...]) -> Iterator[str]:
    """Yield the commands that no tool of SONiC has, and the fields that no YANG model has."""
    for line in lines:
        if _WRITTEN_LINE.fullmatch(line) or line in _COMMANDS_WITHOUT_ARGUMENTS:
            continue
        inner = re.sub(r"^for port in .+?; do (.+); done$", r"\1", line).removeprefix("sudo ")
        group = next((tool for tool in TOOLS if inner.startswith(f"{tool} ")), "")
        word, *rest = shlex.split(inner.removeprefix(group)) or [""]
        if not group or word not in TOOLS[group]:
            yield f"no such command: {line}"
        elif group == "sonic-db-cli CONFIG_DB":
            (key, *fields) = rest
            table = schema_of_release("202505").table(key.partition("|")[0])
            if table is None:
                yield f"no such table: {line}"
                continue
            named = {field.removesuffix("@") for field in (fields[::2] if word == "HSET" else ())} - {"NULL"}
            rows = [*table.fixed.values(), *table.keyed.values()]
            known = {name for row in rows for name in row.fields}
            open_named = any(row.each for row in rows)
            yield from (f"no field {name}: {line}" for name in sorted(named - known) if not open_named)


def test_a_sentence_has_no_words_of_a_platform_where_commands_have_them() -> None:
    wrong = set()
    for rule in shipped_rules():
        text = "".join(piece for piece in (*rule.message, *rule.fix) if isinstance(piece, str))
        if rule.area not in ("sonic", "nvue") and PLATFORM_WORDS.search(text):
            wrong.add(rule.name)
    assert wrong == ABOUT_PLATFORMS.keys()


@pytest.mark.slow
def test_findings_have_commands_or_their_rule_says_why_not(advice: Advice) -> None:
    silent, needless = [], []
    for rule in shipped_rules():
        if rule.severity == "note":
            continue
        untyped = advice.untyped[rule.name] & set(TIER_CHANGES_BY_PLATFORM)
        reasons = rule.no_commands.keys()
        silent += [f"{rule.name} on {name}" for name in sorted(untyped) if not {name, ANY_PLATFORM} & reasons]
        needless += [f"{rule.name} on {name}" for name in sorted(reasons - {ANY_PLATFORM} - untyped)]
        needless += [rule.name] if ANY_PLATFORM in reasons and not untyped else []
    assert silent == []
    assert needless == []


@pytest.mark.slow
def test_commands_of_examples_are_filled_in_and_valid(advice: Advice, update_golden: bool) -> None:
    assert sorted(advice.wrong) == []
    found = "".join(f"{name}: {', '.join(sorted(which))}\n" for name, which in sorted(advice.languages.items()))
    if update_golden:
        TABLE.write_text(found)
    assert TABLE.read_text() == found
