"""tools/openapi2schema.py: NVUE's settings by release, here of documents and modules made up, one per construct."""

import json
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from nodrop.platforms.nvue import schema as nvue_schema
from nodrop.syntax.yaml import parse_yaml
from nvue_compare import differences
from nvue_merge import merged
from nvue_models import read_module
from nvue_openapi import read_openapi
from nvue_tree import ANY, NO_LIMIT, Place, Source, Tree, Value, paths
from openapi2schema import main

DIGEST = "0123456789abcdef" * 4
HEAD = f'# NVUE 5.16; source SHA256: {DIGEST}\n"""Generated from NVUE OpenAPI spec version 1.12.0.76\n"""\n'


def document(properties: dict[str, Any], api_paths: tuple[str, ...] = (), **definitions: Any) -> bytes:
    """Return an OpenAPI document whose configuration has these properties."""
    return json.dumps({
        "info": {"version": "1.2"},
        "paths": {path: {} for path in api_paths},
        "x-defs": {"cue-patch-schema-root-root": {"type": "object", "properties": properties}, **definitions},
    }).encode()  # fmt: skip


def of_document(node: dict[str, Any], *api_paths: str, **definitions: Any) -> Tree:
    """Return what a schema at the path `f` is read as."""
    raw = document({"f": node}, api_paths, **definitions)
    return read_openapi(raw, "spec.json", (5, 16)).root.words["f"]


def of_module(fields: str, *classes: str) -> Tree:
    """Return what a field `f` of the root class is read as."""
    text = HEAD + "\n".join([*classes, "class NvueConfig(BaseModel):", f"    f: {fields}"])
    return read_module(text, (5, 16)).root.words["f"]


def words(*each: str) -> Value:
    return Value(words=frozenset(each))


def numbers(*each: tuple[int, int]) -> Value:
    return Value(ranges=frozenset(each))


OPENAPI = {
    "words": ({"type": "string", "enum": ["l2", "l3", None]}, words("l2", "l3")),
    "words that are numbers": ({"type": "integer", "enum": [1, 2]}, words("1", "2")),
    "true and false": ({"type": "boolean"}, words("true", "false")),
    "a range": ({"type": "integer", "minimum": 3, "maximum": 9}, numbers((3, 9))),
    "a range without an end": ({"type": "integer", "minimum": 1}, numbers((1, NO_LIMIT))),
    "negative numbers": ({"type": "integer", "minimum": -7, "maximum": 7}, ANY),
    "an address": ({"type": "string", "format": "ipv4"}, Value(ip4=True)),
    "an address or a word": ({"anyOf": [{"format": "ipv4"}, {"enum": ["none"]}]}, words("none") | Value(ip4=True)),
    "a range or a word": (
        {"oneOf": [{"type": "integer", "minimum": 1, "maximum": 5}, {"enum": ["auto"]}]},
        words("auto") | numbers((1, 5)),
    ),
    "a range within another": (
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 64}, {"type": "integer", "maximum": 256}]},
        numbers((0, 256)),
    ),
    "a pattern": ({"type": "string", "pattern": "^a"}, ANY),
    "a definition": ({"$ref": "#/x-defs/mode"}, words("on", "off")),
    "words that follow": ({"properties": {"g": {"type": "boolean"}}}, Place({"g": words("true", "false")})),
    "words of several definitions": (
        {"allOf": [{"properties": {"g": {"enum": ["a"]}}}, {"properties": {"h": {"enum": ["b"]}}}]},
        Place({"g": words("a"), "h": words("b")}),
    ),
    "a word alone": ({"type": "object"}, Place()),
    "actions are left out": ({"properties": {"@clear": {"type": "object"}}}, Place()),
    "a chosen word": (
        {"additionalProperties": {"properties": {"g": {"enum": ["a"]}}}},
        Place(name="profile", below=Place({"g": words("a")})),
    ),
    "any words": ({"additionalProperties": True}, Place(name="profile", below=Place(open=True))),
}


@pytest.mark.parametrize("case", OPENAPI)
def test_a_schema_of_an_openapi_document(case: str) -> None:
    node, expected = OPENAPI[case]
    assert of_document(node, "/f/{profile-id}", mode={"type": "string", "enum": ["on", "off"]}) == expected


ENTRY = '''\
class Entry(BaseModel):
    """
    A profile
    Path: /f/{profile-id}
    """
    g: Optional[int] = Field(None)
'''
MODULES = {
    "words": ('Optional[Optional[Optional[Literal["l2", "l3"]]]] = Field(None)', words("l2", "l3")),
    "a range": ("Optional[Optional[Annotated[int, Field(ge=3, le=9)]]] = Field(None)", numbers((3, 9))),
    "a range without an end": ("Optional[Annotated[int, Field(ge=1)]] = Field(None)", numbers((1, NO_LIMIT))),
    "negative numbers": ("Optional[Annotated[int, Field(ge=-7, le=7)]] = Field(None)", ANY),
    "any number": ("Optional[int] = Field(None)", numbers((0, NO_LIMIT))),
    "an address or a word": (
        'Union[Optional[IPv4Address], Literal["none"]] = Field(None)',
        words("none") | Value(ip4=True),
    ),
    "a range or a word": (
        'Optional[Union[Literal["auto"], Optional[Annotated[int, Field(ge=1, le=5)]]]] = Field(None)',
        words("auto") | numbers((1, 5)),
    ),
    "a type": ("Optional[MacAddress] = Field(None)", ANY),
    "numbers that the package drops": ("Optional[Optional[None]] = Field(None)", ANY),
    "words that follow": ("Optional[Entry] = Field(None)", Place({"g": numbers((0, NO_LIMIT))})),
    "a chosen word": (
        "Optional[Dict[str, Entry]] = Field(None)",
        Place(name="profile", below=Place({"g": numbers((0, NO_LIMIT))})),
    ),
    "words that the package drops": ("Optional[Dict[str, Any]] = Field(None)", Place(open=True)),
}  # fmt: skip


@pytest.mark.parametrize("case", MODULES)
def test_a_field_of_a_module(case: str) -> None:
    field, expected = MODULES[case]
    assert of_module(field, ENTRY) == expected


def test_an_alias_is_the_word_of_a_field() -> None:
    text = HEAD + 'class NvueConfig(BaseModel):\n    type_: Optional[int] = Field(None, alias="type")'
    assert list(read_module(text, (5, 16)).root.words) == ["type"]


def test_a_module_says_what_it_is_made_from() -> None:
    source = read_module(HEAD + "class NvueConfig(BaseModel):\n    f: Optional[int] = Field(None)", (5, 16))
    assert (source.version, source.digest) == ("1.12.0.76", DIGEST)


OPEN = "platform"
"""A word below which schema.yaml leaves everything open."""


def run(tmp_path: Path, *documents: dict[str, Any], first: int = 14) -> list[str]:
    """Return the lines written for one document per release from 5.`first` on."""
    given = []
    for at, properties in enumerate(documents, first):
        (tmp_path / f"{at}.json").write_bytes(document(properties))
        given.append(f"5.{at}={tmp_path / f'{at}.json'}")
    assert main([*given, "--write", str(tmp_path / "out.yaml")]) == 0
    return (tmp_path / "out.yaml").read_text().splitlines(True)


def written(tmp_path: Path, *documents: dict[str, Any]) -> str:
    """Return what is written for documents with these properties below an open place."""
    lines = run(tmp_path, *({OPEN: {"properties": properties}} for properties in documents))
    start = lines.index(f"  {OPEN}:\n")
    return "".join(line.removeprefix("    ") for line in lines[start + 1 :])


def enum(*each: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(each)}


def whole(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


MERGED = {
    "the same in all": ([{"f": whole(1, 4)}] * 2, "f: number 1..4\n"),
    "since": ([{}, {"f": whole(1, 4)}], "f: since 5.15 number 1..4\n"),
    "until": ([{"f": whole(1, 4)}, {}], "f: until 5.14 number 1..4\n"),
    "of one release": ([{}, {"f": {}, "g": enum("a")}, {}], "g: since 5.15 until 5.15 one of a\n"),
    "a place": (
        [{}, {"f": {"properties": {"g": enum("a")}}}],
        'f:\n  "": since 5.15\n  g: one of a\n',
    ),
    "another range": (
        [{"f": whole(1, 4)}, {"f": whole(1, 9)}],
        "f:\n  - until 5.14 number 1..4\n  - since 5.15 number 1..9\n",
    ),
    "another word": (
        [{"f": enum("a")}, {"f": enum("a", "b")}],
        "f:\n  - until 5.14 one of a\n  - since 5.15 one of a b\n",
    ),
    "a flag": ([{"f": enum("on", "off")}, {"f": enum("enabled", "disabled")}], "f: flag\n"),
    "a flag or a word": (
        [{"f": enum("on", "off", "auto")}, {"f": enum("enabled", "disabled", "auto")}], "f: flag or auto\n",
    ),
    "no flag, being of the new dialect alone": (
        [{}, {"f": enum("enabled", "disabled")}],
        "f: since 5.15 one of disabled enabled\n",
    ),
    "a switch": (
        [{"enable": enum("on", "off")}, {"state": enum("enabled", "disabled")}],
        "enable: switch\nstate: switch\n",
    ),
    "enable and disable": ([{"f": enum("disable", "enable")}], "f: able\n"),
    "two ranges": (
        [{"f": {"anyOf": [whole(1, 4), whole(7, 9), enum("none")]}}], "f:\n  - number 1..4\n  - number 7..9 or none\n",
    ),
    "a key that is no word in YAML": ([{"on": enum("a")}], '"on": one of a\n'),
    "a word alone": ([{"f": {"type": "object"}}], "f: {}\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", MERGED)
def test_several_releases_are_written_as_one(case: str, tmp_path: Path) -> None:
    documents, expected = MERGED[case]
    assert written(tmp_path, *documents) == expected


@pytest.mark.parametrize("case", MERGED)
def test_the_product_reads_the_notation(case: str, tmp_path: Path) -> None:
    data: Any = parse_yaml(written(tmp_path, *MERGED[case][0]), "out.yaml").data
    assert nvue_schema._build_words((), data, frozenset()).words


def test_what_the_notation_cannot_say_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = {"f": {"properties": {"g": enum("a")}}, "h": enum("a")}
    assert written(tmp_path, place, {"f": enum("a")}, place) == "f: open\nh: one of a\n"
    assert capsys.readouterr().out.splitlines() == [
        "5.14: 1.2",
        "5.15: 1.2",
        "5.16: 1.2",
        "platform f: a value in 5.15, and words in 5.14 5.16",
        "platform h: missing from 5.15 only",
    ]


def test_the_head_names_version_digest_and_file_of_each_release(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "models.whl", "w") as wheel:
        field = "class NvueConfig(BaseModel):\n    f: Optional[int] = Field(None)"
        for name in ("v5_8.py", "v5_9.py", "v5_10.py"):
            wheel.writestr(f"nvueschema/models/{name}", HEAD + field)
    (tmp_path / "spec.json").write_bytes(document({"f": whole(1, 4)}))
    given = [f"5.10={tmp_path / 'spec.json'}", str(tmp_path / "models.whl"), "--write", str(tmp_path / "out.yaml")]
    assert main(given) == 0
    data: Any = parse_yaml((tmp_path / "out.yaml").read_bytes(), "out.yaml").data
    assert data["sources"] == {
        "5.9": {"version": "1.12.0.76", "sha256": DIGEST, "file": "models.whl"},
        "5.10": {
            "version": "1.2",
            "sha256": sha256((tmp_path / "spec.json").read_bytes()).hexdigest(),
            "file": "spec.json",
        },
    }
    first = (tmp_path / "out.yaml").read_bytes()
    assert main(given) == 0
    assert (tmp_path / "out.yaml").read_bytes() == first


LEFT_OPEN = {
    "below a place that is closed": ({"nve": {"properties": {"vxlan": {"properties": {"f": enum("a")}}}}}, []),
    "a value of schema.yaml": ({"mlag": {"properties": {"priority": enum("a")}}}, ["mlag: {}"]),
    "an open word": ({"cluster": {"properties": {"f": enum("a")}}}, ["cluster:", "  f: one of a"]),
    "an open word that is a value": ({"cluster": enum("a")}, ["cluster: one of a"]),
    "another word at a place with some": (
        {"mlag": {"properties": {"debug": enum("a"), "f": enum("b")}}}, ["mlag:", "  f: one of b"],
    ),
    "a place that has no other word": ({"mlag": {"properties": {"debug": enum("a")}}}, ["mlag: {}"]),
    "a chosen word, by its name in schema.yaml": (
        {"acl": {"additionalProperties": {"properties": {"f": enum("a")}}}}, ["acl:", "  <acl>:", "    f: one of a"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT_OPEN)
def test_what_schema_yaml_leaves_open_is_written(case: str, tmp_path: Path) -> None:
    document, expected = LEFT_OPEN[case]
    lines = [line.rstrip("\n") for line in run(tmp_path, document)]
    assert lines[lines.index("settings:") + 1 :] == [f"  {line}" for line in expected]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "not an OpenAPI document of NVUE"),
        ("{", "spec.json: "),
        (document({"f": {"$ref": "#/x-defs/none"}}).decode(), "no definition of #/x-defs/none"),
        (document({"f": {"$ref": "#/x-defs/a"}}, a={"allOf": [{"$ref": "#/x-defs/a"}]}).decode(), "a contains itself"),
        (
            document({"f": {"$ref": "#/x-defs/a"}}, a={"properties": {"f": {"$ref": "#/x-defs/a"}}}).decode(),
            "f f f f f contains itself",
        ),
    ],
)
def test_a_document_that_cannot_be_used(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.json").write_text(text)
    assert main([f"5.16={tmp_path / 'spec.json'}", "--compare"]) == 2
    assert said in capsys.readouterr().err


COMPARED = {
    "qos roce mode": (
        words("lossy"),
        ("words", "only schema.yaml takes lossless lossless-single-ipool lossy-multi-tc"),
    ),
    "qos pfc-watchdog robustness": (numbers((1, 2000)), ("range", "1..1000 in schema.yaml, 1..2000 in the source")),
    "qos roce invented": (words("a"), ("missing", "")),
    "system aaa invented": (words("a"), ("open", "invented")),
    "interface <interface> description": (words("a"), ("any text", "a")),
    "qos roce": (words("a"), ("kind", "a value in the source")),
}


def tree_of(path: str, value: Tree) -> Source:
    """Return a source that has one path in 5.16."""
    for word in reversed(path.split()):
        value = Place(name=word[1:-1], below=value) if word.startswith("<") else Place({word: value})
    assert isinstance(value, Place)
    return Source((5, 16), "1.2", DIGEST, value)


@pytest.mark.parametrize("path", COMPARED)
def test_a_difference_from_the_shipped_schema(path: str) -> None:
    value, expected = COMPARED[path]
    found = differences(nvue_schema.schema_without_published_words(), merged([tree_of(path, value)]))
    assert [(one.kind, one.text) for one in found if one.kind not in ("extra", "releases")] == [expected]


def test_what_both_have_is_no_difference() -> None:
    same = {"polling-interval": numbers((100, 5000)), "robustness": numbers((1, 1000))}
    found = differences(
        nvue_schema.schema_without_published_words(), merged([tree_of("qos pfc-watchdog", Place(dict(same)))])
    )
    assert [one for one in found if one.path[:2] == ("qos", "pfc-watchdog")] == []


def test_a_path_of_other_releases_and_one_that_the_source_lacks() -> None:
    here, before = Place({"polling-interval": numbers((100, 5000))}), Place({"router": Place({"bfd": Place()})})
    sources = [Source((5, 14), "1", DIGEST, before), tree_of("qos pfc-watchdog", here)]
    lines = [
        str(one)
        for one in differences(nvue_schema.schema_without_published_words(), merged(sources))
        if one.kind in ("extra", "releases")
    ]
    assert "qos pfc-watchdog robustness (5.16)" in lines
    assert "router bfd (5.14): only the source has it" in lines
    assert "router (5.16): only schema.yaml has it" in lines


def test_paths_are_in_order() -> None:
    tree = Place({"b": ANY, "a": Place(name="x", below=Place({"c": ANY}))})
    assert [" ".join(path) for path, _ in paths(tree)] == ["a", "a <x>", "a <x> c", "b"]


def test_a_chosen_word_of_the_source_says_nothing_of_the_words_that_schema_yaml_lists() -> None:
    mode = Place(name="mode", below=Place({"lanes-per-port": words("1", "2", "4", "8")}))
    found = differences(
        nvue_schema.schema_without_published_words(), merged([tree_of("interface <interface> link breakout", mode)])
    )
    assert [one for one in found if one.path[-2:] == ("disabled", "lanes-per-port")] == []


def test_words_that_nothing_follows_are_the_value_that_a_file_has() -> None:
    state = Place({"up": Place(), "flapping": Place()})
    found = differences(
        nvue_schema.schema_without_published_words(), merged([tree_of("interface <interface> link state", state)])
    )
    assert [one.text for one in found if one.path[-1] == "state"] == [
        "only schema.yaml takes down",
        "only the source takes flapping",
    ]


def test_a_place_has_no_release_that_none_of_its_words_has() -> None:
    source = tree_of("interface <interface> ip", Place({"neighbor": Place()}))
    found = differences(nvue_schema.schema_without_published_words(), merged([source]))
    lines = [str(one) for one in found if one.path[:3] == ("interface", "<interface>", "ip")]
    assert lines == []
    older = Source((5, 14), source.version, source.digest, source.root)
    found = differences(nvue_schema.schema_without_published_words(), merged([older]))
    assert "interface <interface> ip ipv4 (5.14)" in [str(one) for one in found if one.kind == "extra"]
