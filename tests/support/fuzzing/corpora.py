"""Where the inputs of each target begin: builds of intents, examples of rules, and texts of tests, cut to a few ports.

Ports are cut because an input of 64 ports says no more than one of four, and takes ten times as long.
"""

import ast
import contextlib
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import nodrop
from nodrop import platforms
from nodrop.engine.example_setup import PlatformExamples
from nodrop.engine.rules import shipped_rules
from nodrop.inputs import is_intent
from nodrop.platforms import hosts
from nodrop.platforms.kit.artifact import Artifact
from nodrop.publish.tree import MANIFEST_FILE
from nodrop.resources import resource_folder
from support.fuzzing.mutation import Files
from support.fuzzing.texts import Pairs, Tree, Unreadable, dump, load
from support.golden_outputs import INTENTS, configurations
from support.places import GOLDEN, ROOT, TESTS
from support.single_faults import read_faults

LEAF = "leaf1"
_ALL = "**/*.py"
_PORT = re.compile(r"Ethernet\d+|swp\d+(?:s\d)?|1/\d+(?:/\d+)?")
_KEPT = 2
"""How many ports of a device a seed keeps at each end of its panel."""
_LARGEST = {"nvue-set": 5_000}
"""How many bytes a seed may have, where commands take long for many lines."""


def seeds(target: str) -> list[Files]:
    """Return the seeds of a target, each once, the same in every run."""
    found: dict[tuple[tuple[str, bytes], ...], Files] = {}
    for files in _MAKERS[target]():
        if sum(map(len, files.values())) < _LARGEST.get(target, 60_000):
            found.setdefault(tuple(sorted(files.items())), files)
    if not found:
        raise RuntimeError(f"no seed of {target}")
    return list(found.values())


# ---------------------------------------------------------------------------------------------- fewer ports


def thinned(files: Files) -> Files:
    """Return files without most of their ports: a key or line that names one of the others goes."""
    names = {match[0] for raw in files.values() for match in _PORT.finditer(raw.decode("utf-8", "replace"))}
    order = sorted(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])
    gone = set(order[_KEPT:-_KEPT])
    return {path: _thin(path, raw, gone) for path, raw in files.items()} if gone else files


def _thin(path: str, raw: bytes, gone: set[str]) -> bytes:
    syntax = {".json": "json", ".yaml": "yaml"}.get(Path(path).suffix)
    try:
        if syntax:
            return dump(_without(load(raw, syntax), gone), syntax)
    except Unreadable:
        pass
    lines = raw.decode("utf-8", "surrogateescape").split("\n")
    return "\n".join(line for line in lines if not _names(line, gone)).encode("utf-8", "surrogateescape")


def _without(tree: Tree, gone: set[str]) -> Tree:
    if isinstance(tree, Pairs):
        return Pairs([[key, _without(value, gone)] for key, value in tree if not _names(key, gone)])
    if isinstance(tree, list):
        return [_without(value, gone) for value in tree if not _names(value, gone)]
    return tree


def _names(text: Any, gone: set[str]) -> bool:
    return isinstance(text, str) and any(match[0] in gone for match in _PORT.finditer(text))


# -------------------------------------------------------------------------------------------- intents, tests


def _of_intents(keep: Callable[[str], bool]) -> Iterator[Files]:
    """Yield of each shipped intent its devices one by one, and four of them with what is stated beside them."""
    for intent in INTENTS:
        devices: dict[str, Files] = {}
        for name, text in configurations(intent).items():
            device, _, rest = name.rpartition("/")
            if device and "/" not in device and keep(rest):
                devices.setdefault(device, {})[name] = text.encode()
        for files in devices.values():
            yield thinned(files)
        names = [*list(devices)[:2], *list(devices)[-2:]]
        together = {path: raw for name in names for path, raw in devices[name].items()}
        yield thinned({"fabric.yaml": configurations(intent)["fabric.yaml"].encode(), **together})


def _of_tests(folder: str, pattern: str) -> Iterator[bytes]:
    """Yield the files below a folder of tests that a pattern names."""
    yield from (path.read_bytes() for path in sorted((TESTS / folder).rglob(pattern)) if path.is_file())


@cache
def _texts(pattern: str) -> tuple[str, ...]:
    """Return the texts of several lines in the modules of tests that a pattern names."""
    found: list[str] = []
    for path in sorted(TESTS.glob(pattern)):
        constants = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        found += [textwrap.dedent(text) for text in constants if isinstance(text, str) and text.count("\n") > 1]
    return tuple(dict.fromkeys(found))


def _lines_of_tests(platform: str, path: str) -> Iterator[Files]:
    yield from (
        {path: text.encode("utf-8", "surrogatepass")}
        for text in _texts(f"platforms/{platform}/*.py")
        if len(text) < 20_000
    )


# ------------------------------------------------------------------------------------------------- examples


@cache
def _examples(platform: str) -> tuple[Files, ...]:
    """Return the files of every example of a rule that edits files of a platform, as the platform has them."""
    made: list[Files] = []

    def kept(artifacts: Iterable[Artifact], *_: object) -> Any:
        own = [one for one in artifacts if one.device or one.path.startswith("hosts/") or one.path == "fabric.yaml"]
        made.append({f"{one.device}/{one.path}".lstrip("/"): one.text.encode() for one in own})
        raise _Enough

    with mock.patch.object(nodrop, "read_back", kept):
        for rule in shipped_rules():
            for example in rule.examples:
                edits = example.artifact or {}
                if (
                    platform in edits
                    and platform not in platforms.writable_platforms()
                    and platform != platforms.HOSTS_PLATFORM
                ):
                    made.append({path: text.encode() for path, text in edits[platform].items()})
                elif platform in edits:
                    speaks = next((one for one in edits if one in platforms.writable_platforms()), "sonic")
                    with contextlib.suppress(_Enough):
                        list(PlatformExamples(speaks).views_of_edited_artifacts(edits, example.intent or {}))
    return tuple(made)


class _Enough(Exception):
    """What an example is made of is known; it is not to be read."""


def _of_examples(platform: str, keep: Callable[[str], bool]) -> Iterator[Files]:
    for files in _examples(platform):
        devices = sorted({path.partition("/")[0] for path in files if "/" in path})
        for device in devices[:1]:
            own = {path: raw for path, raw in files.items() if path.startswith(f"{device}/") and keep(path)}
            if own:
                yield thinned(own)


# -------------------------------------------------------------------------------------------------- targets


def _sonic(*, frr: bool) -> Iterator[Files]:
    names = ("config_db.json", "frr.conf") if frr else ("config_db.json",)

    def keep(name: str) -> bool:
        return name.endswith(names)

    yield from _of_intents(keep)
    yield from _of_examples("sonic", keep)
    if not frr:
        return
    base = next(_of_intents(keep))
    for text in (*_texts("platforms/sonic/*.py"), *_texts("support/sonic_*.py"), *_texts("routing/*.py")):
        if "router bgp" in text or "route-map" in text:
            yield {**base, f"{LEAF}/frr.conf": text.encode()}


def _nvue() -> Iterator[Files]:
    yield from _of_intents(lambda name: name == "startup.yaml")
    yield from _of_examples("nvue", lambda name: name.endswith("startup.yaml"))
    for raw in _of_tests("platforms/nvue", "*.yaml"):
        yield thinned({f"{LEAF}/startup.yaml": raw})
    for text in (*_texts("platforms/nvue/*.py"), *_texts("support/nvue_*.py")):
        if ":" in text and "nv set" not in text:
            yield {f"{LEAF}/startup.yaml": text.encode()}


def _nvue_set() -> Iterator[Files]:
    for files in _nvue():
        for raw in files.values():
            text = _as_commands(raw)
            if text:
                yield {f"{LEAF}.nv": text.encode()}
    for intent in INTENTS:
        for name, text in configurations(intent).items():
            if name.endswith(".nv"):
                yield thinned({f"{LEAF}.nv": text.encode()})


def _as_commands(raw: bytes) -> str:
    """Return a startup.yaml as `nv set` lines; empty where it is none."""
    try:
        tree = load(raw, "yaml")
    except Unreadable:
        return ""
    if not isinstance(tree, list) or isinstance(tree, Pairs):
        return ""
    top = [value for one in tree if isinstance(one, Pairs) for key, value in one if key == "set"]
    return "\n".join(line for one in top for line in _commands(one, "nv set"))


def _commands(tree: Tree, before: str) -> Iterator[str]:
    if isinstance(tree, Pairs) and tree:
        for key, value in tree:
            yield from _commands(value, f"{before} {key}")
    else:
        yield before if isinstance(tree, list) else f"{before} {tree}"


def _frr() -> Iterator[Files]:
    for files in _of_intents(lambda name: name == "frr.conf"):
        yield {path: raw for path, raw in files.items() if path.endswith("frr.conf")}
    for text in _texts(_ALL):
        if "router bgp" in text or "route-map" in text or "access-list" in text:
            yield {f"{LEAF}/frr.conf": text.encode("utf-8", "surrogatepass")}


def _lines(platform: str) -> Callable[[], Iterator[Files]]:
    def made() -> Iterator[Files]:
        for raw in _of_tests(f"platforms/{platform}", "*.txt"):
            yield {f"{LEAF}.txt": raw}
        for files in _examples(platform):
            yield {f"{LEAF}.txt": next(iter(files.values()))}
        yield from _lines_of_tests(platform, f"{LEAF}.txt")

    return made


def _cumulus() -> Iterator[Files]:
    for folder in ("good", "bad", "old"):
        below = TESTS / "platforms" / "cumulus" / folder
        yield {f"{LEAF}/{path.name}": path.read_bytes() for path in sorted(below.iterdir())}
    yield from _examples("cumulus")
    base = {
        f"{LEAF}/{path.name}": path.read_bytes()
        for path in sorted((TESTS / "platforms" / "cumulus" / "good").iterdir())
    }
    for text in _texts("platforms/cumulus/*.py"):
        for name, word in {"frr.conf": "router bgp", "interfaces": "iface", "qos_features.conf": "."}.items():
            if word in text:
                yield {**base, f"{LEAF}/{name}": text.encode()}
                break
    for number, text in enumerate(_acltool_rules()):
        yield {**base, f"{LEAF}/policy.d/{number:02}_fabric.rules": text.encode()}


def _acltool_rules() -> Iterator[str]:
    """Yield files of rules for cl-acltool: those of the acceptance list, with all their kinds of rules."""
    for row in read_faults("data/acceptance/access_lists.yaml"):
        for name, text in row.get("cumulus", {}).get("set", {}).items():
            if name.endswith(".rules"):
                yield text


def _hosts() -> Iterator[Files]:
    for path in sorted(GOLDEN.glob("*/hosts/*")):
        yield {f"hosts/{path.name}": path.read_bytes()}
    for files in _examples(platforms.HOSTS_PLATFORM):
        own = {path: raw for path, raw in files.items() if path.startswith("hosts/")}
        if own:
            yield own
    for text in _texts(_ALL):
        raw = text.encode("utf-8", "surrogatepass")
        if hosts.has_nic_settings(raw):
            yield {"hosts/gpu1.yaml" if b"apiVersion" in raw else "hosts/gpu1.txt": raw}


def _intents() -> Iterator[Files]:
    """Yield the shipped intents and those that are refused; one of `intents/large` takes seconds to build."""
    shipped = (path for path in (ROOT / "intents").rglob("*.yaml") if path.parent.name != "large")
    paths = [*sorted(shipped), *sorted((TESTS / "design" / "errors").glob("*.yaml"))]
    for path in paths:
        raw = path.read_bytes()
        if is_intent(raw) and len(raw) < 8_000:
            yield {"intent.yaml": raw}


@cache
def _leaf() -> Files:
    """Return a leaf with a fault, below which a configuration, a rule or a profile is tried."""
    files = thinned({f"{LEAF}/config_db.json": configurations("two-by-two")[f"{LEAF}/config_db.json"].encode()})
    tree = load(files[f"{LEAF}/config_db.json"], "json")
    return {f"{LEAF}/config_db.json": dump(Pairs([one for one in tree if one[0] != "PFC_WD"]), "json")}


def _rules() -> Iterator[Files]:
    for path in sorted((ROOT / "rules").rglob("*.yaml")):
        raw = re.sub(rb"(?m)^aliases:.*\n", b"", path.read_bytes())
        if len(raw) < 6_000:
            yield {**_leaf(), f"rules/{path.parent.name}/own-rule.yaml": raw}


def _configs() -> Iterator[Files]:
    for raw in (*_raw_configs(), _EVERY_KEY):
        yield {**_leaf(), "nodrop.yaml": raw}


def _raw_configs() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(ROOT.rglob("nodrop.yaml")) if ".venv" not in path.parts)
    for text in _texts(_ALL):
        if re.search(r"(?m)^(severity|suppress|options|profile|strictness|exclude|fabric):", text):
            yield text.encode("utf-8", "surrogatepass")


_EVERY_KEY = b"""\
strictness: pedantic
fail_on: warning
profile: nvidia
exclude: [old, 'spine*', 'a/**/b']
severity: {pfc-one-sided: error, path-mtu-below-hosts: off}
suppress:
  - {rule: no-watchdog, at: 'leaf1/*', reason: known, until: 2027-01-01}
  - rule: ecn-outside-profile
    at: '*/Ethernet*/qos/queues/3'
    reason: measured
fabric:
  mode: lossless
  classes: [{name: rdma, dscp: 26}]
"""


def _pyprojects() -> Iterator[Files]:
    for files in _configs():
        try:
            tree = load(files["nodrop.yaml"], "yaml")
        except Unreadable:
            continue
        if isinstance(tree, Pairs):
            yield {**_leaf(), "pyproject.toml": dump(Pairs([["tool", Pairs([["nodrop", tree]])]]), "toml")}


def _profiles() -> Iterator[Files]:
    for path in sorted((ROOT / "profiles").glob("*.yaml")):
        yield {**_leaf(), "profile.yaml": path.read_bytes()}


def _stated() -> Iterator[Files]:
    for files in _of_intents(lambda name: name in ("config_db.json", "frr.conf", "startup.yaml")):
        if "fabric.yaml" in files:
            yield files
    for text in _texts(_ALL):
        if re.search(r"(?m)^(links|cables|classes|mode|hosts|roles|devices|policy):", text):
            yield {**_leaf(), "fabric.yaml": text.encode("utf-8", "surrogatepass")}


def _baselines() -> Iterator[Files]:
    from support.fuzzing.prepared import baseline_of

    yield {**_leaf(), "base.yaml": baseline_of(_leaf())}


def _manifests() -> Iterator[Files]:
    from support.fuzzing.prepared import build_of

    intent = (resource_folder("intents") / "two-by-two.yaml").read_bytes()
    built = build_of(intent)
    assert f"build/{MANIFEST_FILE}" in built
    few = {path: raw for path, raw in built.items() if path.startswith(("build/.", f"build/{LEAF}/", "build/fabric"))}
    yield {"intent.yaml": intent, **few}


def _entries() -> Iterator[Files]:
    from support.fuzzing.prepared import entries_of

    for files in (_leaf(), next(_nvue()), *(next(_lines(name)()) for name in ("onyx", "nclu"))):
        for entry in entries_of({path if "/" in path else f"{LEAF}/{path}": raw for path, raw in files.items()}):
            yield {**_leaf(), "entry.bin": entry}


def _revisions() -> Iterator[Files]:
    for text in (
        "HEAD",
        "main",
        "HEAD~1",
        "refs/heads/main",
        "@{-1}",
        "HEAD^{tree}",
        "../old",
        ":/x",
        "HEAD..main",
        "a" * 40,
    ):
        yield {**_leaf(), "revision.txt": text.encode()}


_MAKERS: dict[str, Callable[[], Iterator[Files]]] = {
    "sonic": lambda: _sonic(frr=False),
    "sonic-frr": lambda: _sonic(frr=True),
    "nvue": _nvue,
    "nvue-set": _nvue_set,
    "frr": _frr,
    "onyx": _lines("onyx"),
    "cumulus": _cumulus,
    "nclu": _lines("nclu"),
    "hosts": _hosts,
    "intent": _intents,
    "rule": _rules,
    "config": _configs,
    "pyproject": _pyprojects,
    "profile": _profiles,
    "stated": _stated,
    "baseline": _baselines,
    "manifest": _manifests,
    "cache": _entries,
    "revision": _revisions,
}
