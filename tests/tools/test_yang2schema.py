"""tools/yang2schema.py: the schema of SONiC's configuration database, here of models made up, one per construct."""

import re
import subprocess
from pathlib import Path
from textwrap import dedent, indent

import pytest

from nodrop.platforms.sonic.schema import SCHEMA_FILE, schema_releases
from nodrop.syntax.yaml import parse_yaml
from yang2schema import main
from yang_keys import with_newest_keys
from yang_models import Model, Row

COMMITS = {"202401": "1" * 40, "202407": "2" * 40}
LOADER = """\
Type_1_list_maps_model = ["MAP_LIST"]
LEAF_LIST_WITH_STRING_VALUE_DICT = {("PORT", "speeds"): ",", ("PORT", "sources"): ";"}
"""
MODULE = """\
module sonic-{name} {{
    yang-version 1.1;
    namespace "http://example.com/sonic-{name}";
    prefix {name};
    import ietf-inet-types {{ prefix inet; }}
    import ietf-yang-types {{ prefix yang; }}
{before}
    container sonic-{name} {{
{body}
    }}
}}
"""
PORT = "container PORT { list PORT_LIST { key name; leaf name { type string; } } }"


def module(body: str, name: str = "test", before: str = "") -> str:
    """Return a model whose tables are those of the body."""
    return MODULE.format(name=name, before=before, body=indent(dedent(body), " " * 8))


def put(root: Path, files: dict[str, str]) -> None:
    """Write the models of one release, as sonic-buildimage has them."""
    for name, text in ({"sonic_yang_ext.py": LOADER} | files).items():
        folder = "sonic-yang-mgmt" if name.endswith(".py") else "sonic-yang-models/yang-models"
        folder = "sonic-yang-models/yang-templates" if name.endswith(".j2") else folder
        path = root / "src" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def made(tmp_path: Path, *models: str, before: str = "") -> str:
    """Return the tables that the tool writes for one model per release."""
    for name, body in zip(COMMITS, models, strict=False):
        put(tmp_path / name, {"sonic-test.yang": module(body, before=before)})
    output = tmp_path / "schema.yaml"
    given = [f"{name}={commit}" for name, commit in COMMITS.items()][: len(models)]
    assert main(["--folder", str(tmp_path), "-o", str(output), "--report", str(tmp_path / "report"), *given]) == 0
    return dedent(output.read_text().partition("\ntables:\n")[2])


def unsaid(tmp_path: Path) -> list[str]:
    """Return the lines of the report, without those that count."""
    return [line for line in (tmp_path / "report").read_text().splitlines() if line.startswith("/")]


def row(fields: str) -> str:
    """Return a table T of one row whose fields are stated."""
    return "container T { container only {\n" + dedent(fields) + "\n} }"


def leaf(stated: str) -> str:
    return row(f"leaf f {{ {stated} }}")


FIELDS = {
    "text": ("type string;", "text"),
    "length": ('type string { length "1..32"; }', "text 1..32"),
    "length-to-the-end": ('type string { length "2..max"; }', "text 2..1000000"),
    "lengths": ('type string { length "4 | 8..9"; }', "'text /.{4,4}|.{8,9}/'"),
    "pattern": ("type string { pattern '[0-9]+m'; }", "'text /[0-9]+m/'"),
    "pattern-anchors-are-characters": ("type string { pattern 'a^[^$]$'; }", r"'text /a\^[^$]\$/'"),
    "pattern-of-classes": (r"type string { pattern '\p{L}[\p{N}_]*'; }", r"'text /[a-zA-Z][\d_]*/'"),
    "patterns": ("type string { pattern 'a.*'; pattern '.*b'; }", r"'text /(?=(?:a.*)\Z)(?:.*b)/'"),
    "pattern-inverted": ("type string { pattern 'a' { modifier invert-match; } }", r"'text /(?!(?:a)\Z).*/'"),
    "pattern-of-words": ("type string { pattern 'true|false'; }", "enum true false"),
    "range": ('type uint8 { range "1..7 | 9"; }', "'uint8 1..7|9'"),
    "range-open": ('type int16 { range "min..-1"; }', "int16 -32768..-1"),
    "decimal": ('type decimal64 { fraction-digits 2; range "0..99.5"; }', "decimal2 0..99.5"),
    "boolean": ("type boolean;", "enum true false"),
    "enum": ("type enumeration { enum up; enum down; }", "enum up down"),
    "enum-with-spaces": ('type enumeration { enum "a b"; enum c; }', r"'text /a\ b|c/'"),
    "union": ("type union { type uint8; type enumeration { enum all; } }", "uint8 or enum all"),
    "union-of-enums": ("type union { type boolean; type enumeration { enum all; } }", "enum true false all"),
    "address": ("type inet:ip-address;", "ip"),
    "both-addresses": ("type union { type inet:ipv4-prefix; type inet:ipv6-prefix; }", "prefix"),
    "mac": ("type yang:mac-address;", "mac"),
    "mandatory": ("type string; mandatory true;", "required text"),
    "default": ("type string; default up;", "default up text"),
    "default-with-spaces": ('type string; default "a b";', "'default \"a b\" text'"),
}


@pytest.mark.parametrize(("stated", "said"), FIELDS.values(), ids=FIELDS)
def test_a_leaf_is_written_in_words(tmp_path: Path, stated: str, said: str) -> None:
    assert made(tmp_path, leaf(stated)) == f"T:\n  only:\n    f: {said}\n"


def test_a_typedef_has_what_all_its_layers_state(tmp_path: Path) -> None:
    typedefs = """
        typedef small { type uint8 { range "1..100"; } default 5; }
        typedef smaller { type small { range "min..9"; } }
    """
    assert made(tmp_path, leaf("type smaller;"), before=typedefs) == "T:\n  only:\n    f: default 5 uint8 1..9\n"


def test_a_reference_names_a_table_or_a_field_of_it(tmp_path: Path) -> None:
    path = "/test:sonic-test/test:PORT/test:PORT_LIST/test:"
    fields = f"""
        leaf port {{ type leafref {{ path "{path}name"; }} }}
        leaf alias {{ type leafref {{ path "{path}alias"; }} }}
        leaf relative {{ type leafref {{ path "../../../PORT/PORT_LIST/name"; }} }}
        leaf loose {{ type leafref {{ path "{path}alias"; require-instance false; }} }}
    """
    ports = PORT.replace("} } }", "} leaf alias { type string { length 1..8; } } } }")
    assert made(tmp_path, ports + row(fields)) == dedent("""\
        PORT:
          "<name>":
            name: text
            alias: text 1..8
        T:
          only:
            port: ref PORT
            alias: ref PORT.alias
            relative: ref PORT
            loose: text 1..8
        """)


def test_rows_are_named_by_their_keys_and_may_be_limited(tmp_path: Path) -> None:
    body = """
        container T {
            list T_LIST {
                key "port queue"; max-elements 4;
                leaf profile { type string; } leaf queue { type uint8; } leaf port { type string; }
            }
            list OTHER_LIST { key name; leaf name { type string; } }
            container GLOBAL { leaf on { type boolean; } }
        }
    """
    assert made(tmp_path, body) == dedent("""\
        T:
          "<port>|<queue>":
            row: at most 4
            port: text
            queue: uint8
            profile: text
          "<name>":
            name: text
          GLOBAL:
            "on": enum true false
        """)


def test_lists_of_values_are_arrays_or_texts_as_the_reader_of_the_models_says(tmp_path: Path) -> None:
    body = """
        container PORT { container only {
            leaf-list speeds { type uint32; }
            leaf-list sources { type string; }
            leaf-list names { type string; min-elements 1; max-elements 3; }
            leaf-list ports { type string; default ""; }
            leaf-list many { type uint8; min-elements 2; }
        } }
        container MAP { list MAP_LIST {
            key name; leaf name { type string; }
            list MAP { key from; leaf from { type uint8; } leaf to { type string; } }
        } }
    """
    assert made(tmp_path, body) == dedent("""\
        MAP:
          "<name>":
            name: text
            each: uint8 to text
        PORT:
          only:
            speeds: commas of uint32
            sources: semicolons of text
            names: required list of text
            ports: filled list of text
            many: required list of uint8
            must:
              - 'names: count(names) <= 3'
              - 'many: count(many) >= 2'
        """)


def test_of_a_choice_a_row_has_one_case(tmp_path: Path) -> None:
    fields = """
        leaf type { type string; }
        choice how { mandatory true;
            case four { when "type = 'v4'"; leaf src-ip { type string; } leaf dst { type string; } }
            case six { leaf src6 { type string; default x; } }
        }
    """
    assert made(tmp_path, row(fields)) == dedent("""\
        T:
          only:
            type: text
            src-ip: text
            dst: text
            src6: text
            must:
              - "src-ip when type == 'v4'"
              - "dst when type == 'v4'"
              - 'row: not ((src_ip or dst) and src6)'
              - 'row: src_ip or dst or src6'
        """)
    assert unsaid(tmp_path) == ['/sonic-test/T/only/how/six/src6 (202401): default "x"']


CONDITIONS = {
    "number": ('must ". >= ../low"', "f: f >= low"),
    "current": ('must "current() != current()/../low and (. < 3 or . > 5)"', "f: f != low and (f < 3 or f > 5)"),
    "when": ("when \"../mode = 'on'\"", "f when mode == 'on'"),
    "present": ('must "not(../low) or boolean(../mode)"', "f: not low or mode"),
    "one-of": ("must \"../mode = 'a' or ../mode = 'b' or ../mode = 'c'\"", "f: mode in ('a', 'b', 'c')"),
    "none-of": ("must \"../mode != 'a' and ../mode != 'b'\"", "f: mode not in ('a', 'b')"),
    "filtered": ("must \"boolean(../mode[. = 'a' or . = 'b'])\"", "f: mode in ('a', 'b')"),
    "sum": ('must "../low * 3 + 1 <= ."', "f: low * 3 + 1 <= f"),
    "hyphens": ('must "../with-hyphen"', "f: with_hyphen"),
    "length": ('must "string-length(.) > 2"', "f: length(f) > 2"),
    "texts": (
        "must \"starts-with(., 'E') and concat('a', substring-before(., '.')) = substring-after(../mode, 'M')\"",
        "f: starts(f, 'E') and concat('a', before(f, '.')) == after(mode, 'M')",
    ),
    "part": ("must \"substring(., 1, 3) = '00:'\"", "f: part(f, 1, 3) == '00:'"),
    "fixed-row": (
        "must \"/test:sonic-test/test:META/test:localhost/test:kind = 'x'\"",
        "f: META.localhost.kind == 'x'",
    ),
    "row-of-a-name": ("must \"../../../PORT/PORT_LIST[name = 'GLOBAL']/speed\"", "f: PORT.GLOBAL.speed"),
    "row-that-a-field-names": (
        "must \"/test:sonic-test/test:PORT/test:PORT_LIST[test:name = current()/../mode]/test:speed = 'x'\"",
        "f: PORT[mode].speed == 'x'",
    ),
    "is-a-row": ('must ". = /test:sonic-test/test:PORT/test:PORT_LIST/test:name"', "f: PORT[f]"),
    "is-a-row-by-search": ('must "not(../../../PORT/PORT_LIST[name = current()])"', "f: not PORT[f]"),
    "rows": ('must "count(../../../PORT/PORT_LIST/name) != 0"', "f: rows(PORT) != 0"),
    "count": ('must "count(../many) <= 2"', "f: count(many) <= 2"),
    "count-of-a-text": ("must \"count(../many[text() = 'x']) = 0\"", "f: count(many, 'x') == 0"),
    "count-of-texts": ("must \"count(../many[. = 'x' or . = 'y']) = 0\"", "f: count(many, 'x', 'y') == 0"),
    "rows-with-values": (
        "must \"count(../../../PORT/PORT_LIST[name = current() and with-hyphen = 'x']) <= 1\"",
        "f: rows(PORT, name=f, with_hyphen='x') <= 1",
    ),
    "no-row-with-a-value": (
        'must "not(../../../PORT/PORT_LIST[speed = current()])"',
        "f: not rows(PORT, speed=f) > 0",
    ),
}
AROUND = (
    PORT.replace("} } }", "} leaf speed { type string; } leaf with-hyphen { type string; } } }")
    + "container META { container localhost { leaf kind { type string; } } }"
)
BESIDE = """
    leaf low { type uint8; } leaf mode { type string; } leaf with-hyphen { type string; }
    leaf-list many { type string; }
"""


@pytest.mark.parametrize(("stated", "said"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_is_written_as_the_checks_read_it(tmp_path: Path, stated: str, said: str) -> None:
    text = made(tmp_path, AROUND + row(BESIDE + f"leaf f {{ type string; {stated}; }}"))
    assert parse_yaml(text.encode(), "schema").data["T"]["only"]["must"] == [said]  # type: ignore[index]
    assert unsaid(tmp_path) == []


def test_conditions_of_rows_and_tables_are_those_of_a_row(tmp_path: Path) -> None:
    body = """
        container A { container only { must "low <= high"; leaf low { type uint8; } leaf high { type uint8; } } }
        container B { when "../A/only/low = 1"; container only { leaf f { type string; } } }
    """
    assert made(tmp_path, body) == dedent("""\
        A:
          only:
            low: uint8
            high: uint8
            must:
              - 'row: low <= high'
        B:
          only:
            f: text
            must:
              - 'row: A.only.low == 1'
        """)


UNSAID = {
    "function": ("must \"re-match(., 'a')\"", "must \"re-match(., 'a')\": re-match()"),
    "search": ('must "../../../PORT/PORT_LIST[speed > 1]"', "a search of PORT_LIST"),
    "search-by-a-path": ('must "../../../PORT/PORT_LIST[speed = name]"', "a search of PORT_LIST"),
    "field-by-a-search": (
        "must \"../../../PORT/PORT_LIST[speed = 'x']/with-hyphen = 'a'\"",
        "a search of PORT",
    ),
    "predicate": ("must \"../many[. = 'x']\"", "whether many has a value"),
    "list-value": ("must \"../many = 'x'\"", "the value of a row or list"),
    "all-rows": ("must \"contains(../../../PORT/PORT_LIST/name, 'x')\"", "the value of a row or list"),
}


@pytest.mark.parametrize(("stated", "why"), UNSAID.values(), ids=UNSAID)
def test_a_condition_that_has_no_form_is_reported_with_its_path(tmp_path: Path, stated: str, why: str) -> None:
    text = made(tmp_path, AROUND + row(BESIDE + f"leaf f {{ type string; {stated}; }}"))
    assert "must:" not in text
    (line,) = unsaid(tmp_path)
    assert line.startswith('/sonic-test/T/only/f (202401): must "')
    assert line.endswith(why)


def test_what_differs_by_release_says_since_and_until_when(tmp_path: Path) -> None:
    old = """
        container BOTH { list BOTH_LIST { key old; max-elements 1;
            leaf old { type string; } leaf a { type uint8 { range "0..7"; } must ". != ../old"; }
            leaf gone { type string; }
        } }
        container GONE { container only { leaf f { type string; } } }
        container REF { container only {
            leaf f { type leafref { path "/test:sonic-test/test:BOTH/test:BOTH_LIST/test:old"; } }
        } }
    """
    new = """
        container BOTH { list BOTH_LIST { key new; max-elements 2;
            leaf new { type string; } leaf a { type uint8 { range "0..9"; } must ". != ../new"; must ". > 1"; }
            leaf come { type string; }
        } container added { leaf f { type string; } } }
        container COME { container only { leaf f { type string; } } }
        container REF { container only {
            leaf f { type leafref { path "/test:sonic-test/test:BOTH/test:BOTH_LIST/test:new"; } }
        } }
    """
    assert made(tmp_path, old, new) == dedent("""\
        BOTH:
          "<new>":
            row:
              - until 202401 at most 1
              - since 202407 at most 2
            new: text
            a:
              - until 202401 uint8 0..7
              - since 202407 uint8 0..9
            gone: until 202401 text
            come: since 202407 text
            must:
              - 'a: a != new'
              - 'since 202407 a: a > 1'
          added:
            row: since 202407
            f: text
        COME:
          since: 202407
          only:
            f: text
        GONE:
          until: 202401
          only:
            f: text
        REF:
          only:
            f: ref BOTH
        """)


def test_what_sonic_does_not_read_is_no_table_or_row(tmp_path: Path) -> None:
    body = """
        container bgp-state { leaf ip { type string; } }
        container T { list ROWS { key name; leaf name { type string; } } }
    """
    assert made(tmp_path, body) == "T:\n"
    assert unsaid(tmp_path) == [
        "/sonic-test/T/ROWS (202401): not read by SONiC, for its name is not T_LIST",
        "/sonic-test/bgp-state (202401): no rows: an event, not a table",
    ]


def test_a_template_is_rendered_for_the_reader_of_switches(tmp_path: Path) -> None:
    template = "{% if yang_model_type == 'cvl' %}nothing{% else %}" + module(leaf("type string;")) + "{% endif %}"
    put(tmp_path / "202401", {"sonic-test.yang.j2": template})
    output = tmp_path / "schema.yaml"
    assert main(["--folder", str(tmp_path), "-o", str(output), f"202401={COMMITS['202401']}"]) == 0
    assert output.read_text().endswith("tables:\n  T:\n    only:\n      f: text\n")


def test_from_git_the_file_names_its_commits_and_is_the_same_when_made_again(tmp_path: Path) -> None:
    repository, output = tmp_path / "repository", tmp_path / "schema.yaml"

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        return subprocess.run(
            ["git", "-C", str(repository), *who, *words], capture_output=True, text=True, check=True
        ).stdout.strip()

    repository.mkdir()
    git("init", "-q")
    for name, kind in (("202401", "uint8"), ("202407", "uint16")):
        put(repository, {"sonic-test.yang": module(leaf(f"type {kind};"))})
        git("add", "-A")
        git("commit", "-qm", name)
        git("branch", f"branch-{name}")
    arguments = ["--git", str(repository), "-o", str(output), "--report", str(tmp_path / "report")]
    assert main([*arguments, "202401=branch-202401", "main=branch-202407"]) == 0
    text = output.read_text()
    head = re.findall(r"^#   (\w+): (\w+) sha256:[0-9a-f]{64}$", text, re.MULTILINE)
    assert head == [(name, git("rev-parse", f"branch-{of}")) for name, of in (("202401", "202401"), ("main", "202407"))]
    assert "releases: [202401, main]" in text

    put(repository, {"sonic-test.yang": module(leaf("type uint32;"))})
    git("commit", "-qam", "newer")
    assert main(arguments) == 0
    assert output.read_text() == text

    assert main([*arguments, "202407=branch-202407", "main=HEAD"]) == 0
    assert "releases: [202401, 202407, main]" in output.read_text()
    assert main([*arguments, "--without", "202407", "main=branch-202407"]) == 0
    assert output.read_text() == text


def test_compare_says_what_differs_from_the_file_by_place_and_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path, leaf("type uint8;") + PORT, leaf('type uint8; must ". > 1";') + PORT)
    output = tmp_path / "schema.yaml"
    arguments = ["--folder", str(tmp_path), "-o", str(output), "--compare"]
    assert main(arguments) == 0
    other = output.read_text().replace("f: uint8", "f: uint16").replace("  PORT:\n", "  PORTS:\n").replace("> 1", "> 2")
    output.write_text(other)
    assert main(arguments) == 1
    assert capsys.readouterr().out.strip("\n") == dedent("""\
        PORT (202401 202407)
          + is a table
        PORTS (202401 202407)
          - is a table
        T / only / f (202401 202407)
          - uint16
          + uint8
        T / only / must (202407)
          - f: f > 2
          + f: f > 1""")
    assert output.read_text() == other


WRONG = {
    "no commit": ("202401=main", {}, "expected the commit of"),
    "no release": ("202401", {}, "202401: expected NAME=REVISION"),
    "no reader": (f"202402={'3' * 40}", {}, "202402: no src/sonic-yang-mgmt/sonic_yang_ext.py"),
    "no tables in the reader": (f"202401={'3' * 40}", {"sonic_yang_ext.py": "a = 1\n"}, "has no LEAF_LIST_WITH_STRING"),
    "no YANG": (f"202401={'3' * 40}", {"sonic-test.yang": "module sonic-test {"}, "sonic-test.yang"),
    "a reserved name": (
        f"202401={'3' * 40}",
        {"sonic-test.yang": module(row("leaf must { type string; }"))},
        "/sonic-test/T/only/must: the notation uses this name",
    ),
    "two keys of one shape": (
        f"202401={'3' * 40}",
        {
            "sonic-test.yang": module("""
                container T {
                    list A_LIST { key a; leaf a { type string; } }
                    list B_LIST { key b; leaf b { type string; } }
                }
            """)
        },
        "T: <a> and <b> are keys of one shape",
    ),
}


@pytest.mark.parametrize(("release", "files", "says"), WRONG.values(), ids=WRONG)
def test_input_that_cannot_be_used_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], release: str, files: dict[str, str], says: str
) -> None:
    put(tmp_path / "202401", {"sonic-test.yang": module(leaf("type string;"))} | files)
    output = tmp_path / "schema.yaml"
    assert main(["--folder", str(tmp_path), "-o", str(output), release]) == 2
    assert says in capsys.readouterr().err
    assert not output.exists()


def test_the_shipped_schema_names_the_commit_and_the_digest_of_each_release() -> None:
    head = SCHEMA_FILE.read_text().partition("\nreleases:")[0]
    assert "Written by tools/yang2schema.py" in head
    found = re.findall(r"^#   (\w+): [0-9a-f]{40} sha256:[0-9a-f]{64}$", head, re.MULTILINE)
    assert tuple(found) == schema_releases()


def test_a_search_by_a_part_of_a_key_has_the_newest_name_of_the_part() -> None:
    def model(part: str) -> Model:
        searching = Row(fields={"name": "text"}, must=[f"name: rows(MEMBER, {part}=name) <= 1"])
        return Model(tables={"MEMBER": {f"<vlan>|<{part}>": Row()}, "T": {"<name>": searching}})

    models = [model("ifname"), model("port")]
    with_newest_keys(models)
    assert [one.tables["T"]["<name>"].must for one in models] == [["name: rows(MEMBER, port=name) <= 1"]] * 2
