"""Names of switches and hosts: a rename changes names only, and names that cannot be are errors at their key."""

import json
import re
from dataclasses import replace

import pytest

import nodrop
from nodrop import context
from nodrop.design.deciding import find_decision
from nodrop.design.naming import NON_SWITCH_FOLDERS
from nodrop.errors import InputProblems
from nodrop.export import batfish, containerlab
from support.designs import Data, build, load, shipped

NAMES: Data = {
    "template": {"leaf": "r{rack:02}-{site}-p{pod}-tor{id:03}", "spine": "{site}-{plane}-{group}{id}"},
    "hosts": "{site}-{role}-{group}-{id:04}",
    "site": "dc9",
    "racks": {"leaf1": "7", "leaf2": "12", "leaf3": "7", "leaf4": "r"},
    "devices": {"leaf4": "zz-edge", "spine2": "aa-core"},
}
EXPECTED = {
    "leaf1": "r07-dc9-p1-tor001", "leaf2": "r12-dc9-p1-tor002", "leaf3": "r07-dc9-p1-tor003", "leaf4": "zz-edge",
    "spine1": "dc9-1-spine1", "spine2": "aa-core",
}  # fmt: skip
FABRICS = ("two-by-two", "storage-vlan", "unnumbered", "reference-256-nvue-leaves")


def names_of(data: Data) -> dict[str, str]:
    """The names in `data` of all switches and hosts by their identity."""
    plain, renamed = build({**data, "names": {}}), build(data)
    identity = {one.management.addresses: one.name for one in plain.devices}  # type: ignore[union-attr]
    switches = {identity[one.management.addresses]: one.name for one in renamed.devices}  # type: ignore[union-attr]
    hosts = {one.ports[0].addresses: one.name for one in plain.hosts}
    return switches | {hosts[one.ports[0].addresses]: one.name for one in renamed.hosts}


def named(name: str) -> Data:
    """A shipped intent with names of any kind."""
    data = shipped(name)
    switches = {f"leaf{n}" for n in range(1, 100)} & set(names_of({**data, "names": {}}))
    racks = {key: NAMES["racks"].get(key, "33") for key in switches}
    return {**data, "names": {**NAMES, "racks": racks, "devices": {
        key: value for key, value in NAMES["devices"].items() if key in switches or key == "spine2"
    }}}  # fmt: skip


def everything(data: Data, identity: dict[str, str]) -> dict[tuple[str, str], object]:
    """All that is written for an intent, with the identities for names; files of no switch are sorted by name."""
    fabric = build(data)
    files = [*nodrop.write(fabric), *nodrop.rack(fabric), *nodrop.host_files(fabric)]
    reading = nodrop.read_back(files, fabric)
    exports = batfish.build_snapshot(reading).files | containerlab.export_lab(reading).files
    pattern = re.compile("|".join(sorted(map(re.escape, identity), key=len, reverse=True)) or "(?!)")

    def named_back(text: str) -> str:
        return pattern.sub(lambda match: identity[match[0]], text)

    def content(device: str, path: str, text: str) -> object:
        if path == context.FABRIC_FILE:
            declared = context.loads(text.encode(), path)
            cables = frozenset((frozenset((one.a, one.b)), one.length_m, one.media) for one in declared.cables or ())
            hosts = frozenset(declared.hosts or ())
            return replace(declared, cables=None, hosts=None), cables, hosts
        return text if device else sorted(text.splitlines())

    written = {(named_back(one.device), one.path): content(one.device, one.path, named_back(one.text)) for one in files}
    return written | {("", named_back(path)): tokens(named_back(text)) for path, text in exports.items()}


def tokens(text: str) -> list[str]:
    """The words of a text in which the order of cables and of their ends follows from names."""
    return sorted(re.split(r"[\s,:\[\]\"]+", text))


@pytest.mark.parametrize("name", FABRICS)
def test_a_rename_changes_names_only(name: str) -> None:
    data = named(name)
    names = names_of(data)
    assert {key: names[key] for key in EXPECTED if key in names} == {
        key: value for key, value in EXPECTED.items() if key in names
    }
    assert all(new != old for old, new in names.items())
    plain = everything({**data, "names": {}}, {})
    renamed = everything(data, {new: old for old, new in names.items()})
    assert renamed.keys() == plain.keys()
    assert [key for key in plain if plain[key] != renamed[key]] == []


def test_names_are_in_descriptions_and_neighbor_tables() -> None:
    texts = {(one.device, one.path): one.text for one in nodrop.write(build(named("two-by-two")))}
    config = json.loads(texts[EXPECTED["leaf1"], "config_db.json"])
    assert config["DEVICE_METADATA"]["localhost"]["hostname"] == EXPECTED["leaf1"]
    assert {row["name"] for row in config["DEVICE_NEIGHBOR"].values()} == {
        EXPECTED["spine1"], EXPECTED["spine2"], "dc9-host-gpu-0001", "dc9-host-gpu-0002", "dc9-host-storage-0001",
    }  # fmt: skip
    assert config["PORT"]["Ethernet224"]["description"] == f"{EXPECTED['spine1']}:Ethernet0"


@pytest.mark.parametrize("key", ["leaf2", "r12-tor2"])
def test_keys_mean_a_switch_by_name_or_identity(key: str) -> None:
    changes = {
        "names.devices.leaf2": "r12-tor2",
        f"devices.{key}.drained": True,
        f"extra.{key}.tables.FEATURE.snmp.state": "disabled",
    }
    fabric = build(shipped("two-by-two", changes))
    assert fabric.policy.drained == ("r12-tor2",)
    assert [one.name for one in fabric.devices if one.extra] == ["r12-tor2"]


def test_a_name_counts_before_the_identity_of_another_switch() -> None:
    swapped = {"leaf1": "leaf2", "leaf2": "leaf1"}
    fabric = build(shipped("two-by-two", {"names.devices": swapped, "devices.leaf1.drained": True}))
    (drained,) = (one for one in fabric.devices if one.name in fabric.policy.drained)
    plain = build(shipped("two-by-two"))
    assert drained.name == "leaf1"
    assert drained.management == plain.device("leaf2").management


def test_a_place_in_the_intent_is_the_key_as_it_is_written() -> None:
    for key in ("leaf2", "tor2"):
        data = shipped("two-by-two", {"names.devices.leaf2": "tor2", f"devices.{key}.drained": True})
        found = find_decision(load(data), ("tor2", "@bgp", "graceful_shutdown"))
        assert found is not None
        assert found.keys == ("devices", key, "drained")


BAD: dict[str, tuple[Data, list[str]]] = {
    "unknown field": (
        {"template": "{rol}{id}"},
        [
            "names.template: {rol}; expected a field: site, pod, plane, role, group, id, rack (did you mean {role}?)"
        ],
    ),
    "attribute": (
        {"template": "{role.__class__}{id}"},
        ["names.template: {role.__class__}; expected a field: site, pod, plane, role, group, id, rack"],
    ),
    "index": (
        {"hosts": {"gpu": "{id[0]}"}},
        ["names.hosts.gpu: {id[0]}; expected a field: site, pod, plane, role, group, id, rack"],
    ),
    "conversion": (
        {"template": "{group!r}{id}"},
        [
            "names.template: {group!r}; expected a field: site, pod, plane, role, group, id, rack "
            "(did you mean {group}?)"
        ],
    ),
    "width of a word": (
        {"template": "{role:02}{id}"},
        ["names.template: {role:02}; expected {role} (only numbers have a width: pod, plane, id, rack)"],
    ),
    "blanks as fill": (
        {"template": "{role}{id:2}"},
        ["names.template: {id:2}; expected a zero and the number of digits, 1 to 9, such as {id:02}"],
    ),
    "nested": (
        {"template": "{role}{id:{id}}"},
        [
            "names.template: {role}{id:{id}}, with a single brace; expected letters, digits, dots, dashes, underscores "
            "and fields in braces, such as {role}{id:02}"
        ],
    ),
    "space": (
        {"template": "{role} {id}"},
        [
            "names.template: {role} {id}; expected letters, digits, dots, dashes, underscores and fields in braces, "
            "such as {role}{id:02}"
        ],
    ),
    "list": ({"template": ["a"]}, ["names.template: a list; expected a template, or a mapping of templates"]),
    "unknown words": (
        {"template": {"spin": "s{id}"}, "hosts": {"gpus": "g{id}"}, "devices": {"leav1": "a"}, "racks": {"gpu9": "1"}},
        [
            "names.template.spin: no role spin; expected leaf or spine (did you mean spine?)",
            "names.hosts.gpus: no group of endpoints gpus; expected gpu or storage (did you mean gpu?)",
            "names.devices.leav1: no switch or host leav1; expected an identity, such as leaf1 (did you mean leaf1?)",
            "names.racks.gpu9: no switch or host gpu9; expected an identity, such as leaf1 (did you mean gpu2?)",
        ],
    ),
    "collision": (
        {"template": "{site}-{role}"},
        [
            "names.template: leaf1 and leaf2 would both be two-by-two-leaf; expected a name for each (add {id})",
        ],
    ),
    "collision of an exception": (
        {"devices": {"leaf1": "Leaf2"}},
        ["names.devices.leaf1: leaf1 and leaf2 would both be leaf2; expected a name for each"],
    ),
    "host like a switch": (
        {"devices": {"gpu1": "spine2"}},
        ["names.devices.gpu1: spine2 and gpu1 would both be spine2; expected a name for each"],
    ),
    "no rack": (
        {"template": "r{rack}-{role}{id}", "racks": {"leaf1": "1"}},
        ["names.template: leaf2 has no rack; expected a rack for each, as names.racks: {leaf2: r12}"],
    ),
    "rack of letters": (
        {"template": {"leaf": "{rack:02}-{id}"}, "racks": {"leaf1": "1", "leaf2": "b"}},
        ["names.template.leaf: rack b of leaf2 is no number; expected {rack} ({rack:02} takes numbers only)"],
    ),
    "first character": (
        {"template": "-{role}{id}"},
        ["names.template: leaf1 would be -leaf1; expected a name that begins with a letter or digit"],
    ),
    "too long": (
        {"template": {"spine": "x" * 60 + "{id:04}"}},
        [f"names.template.spine: spine1 would be {'x' * 60}0001, of 64 characters; expected at most 63"],
    ),
    "folder of a build": (
        {"devices": {"leaf1": "plan", "leaf2": "Hosts"}},
        [
            "names.devices.leaf1: leaf1 would be plan, a folder of the build beside those of switches; "
            "expected another name",
            "names.devices.leaf2: leaf2 would be Hosts, a folder of the build beside those of switches; "
            "expected another name",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_names_that_cannot_be_are_errors_at_their_key(case: str) -> None:
    names, expected = BAD[case]
    with pytest.raises(InputProblems) as error:
        build(shipped("two-by-two", {"names": names}))
    assert [str(one).partition(": ")[2] for one in error.value.problems] == expected


def test_a_switch_that_is_stated_twice_is_an_error() -> None:
    changes = {"names.devices.leaf1": "tor", "devices.leaf1.drained": True, "devices.tor.drained": False}
    with pytest.raises(InputProblems, match=r"devices\.leaf1: tor and leaf1 are one switch"):
        build(shipped("two-by-two", changes))


def test_folders_of_a_build_are_no_names() -> None:
    fabric = build(shipped("two-by-two"))
    files = [*nodrop.rack(fabric), *nodrop.host_files(fabric)]
    assert {one.path.partition("/")[0] for one in files} == NON_SWITCH_FOLDERS
