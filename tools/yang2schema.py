"""Write the schema of SONiC's configuration database from its YANG models, for several releases at once.

The models are those of sonic-buildimage, read from a git repository (--git) or from folders (--folder ROOT, with a
checkout of each release in ROOT/NAME). RELEASE is NAME=REVISION; the output file says which revisions it was made
from, and these are read again unless RELEASE names others. See CONTRIBUTING.md.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from nodrop.syntax.yaml import parse_yaml
from yang_compare import differences
from yang_keys import with_newest_keys
from yang_merge import lines
from yang_models import Model, model_of
from yang_sources import LOADER, MODELS, TEMPLATES, Sources, Unusable, from_folder, from_git, in_order

_FACTS = Path(__file__).with_name("yang_facts.yaml")
_SCHEMA = Path(__file__).parents[1] / "src" / "nodrop" / "platforms" / "sonic" / "schema.yaml"
_SOURCE = "github.com/sonic-net/sonic-buildimage"
_MADE_FROM = re.compile(r"#   (\w+): ([0-9a-f]{40}) sha256:[0-9a-f]{64}")
_NOTATION = """\
# A row is named by its key: `<port>|<queue>` has two parts, `localhost` is one row of that name.
# A field says what its value is; one that differs by release is a list, and each entry says since or until when.
#   required, default X      the field has to be there; is X where it is not (in quotes if it has spaces)
#   list of, commas, ...     an array, or one text with separators; a `filled list` is left out rather than empty
#   ref T, ref T.f           the key of a row of table T; the field f (or part f of the key) of one of its rows
#   text 1..32 /x/           so many characters that match x; numbers have ranges likewise
#   decimal2                 a number with at most two digits after its point
#   ip4, prefix, mac, ...    addresses of IPv4, IPv6 or both; a `-rule` may end in `le 32`, a `-list` has commas
#   each: A to B             fields of any name that is an A, whose values are each a B
# Condition `f: c` applies where field f is present, `row: c` always; in `f when c`, f is also required only where c is
# true. T.r.f is the field f of row r of table T, T[f] the row of T that field f names, rows(T) the number of its rows,
# rows(T, f=g) that of the rows whose field f is field g of this row, count(f, 'a') how many values of list f are `a`.
"""


def schema_of(models: Mapping[str, Model], sources: Mapping[str, Sources]) -> str:
    """Return the text of the schema file, for releases with the oldest first."""
    head = [
        "# Tables, rows, fields and conditions of SONiC's configuration database, for the releases named below.",
        f"# Written by tools/yang2schema.py; not to be edited. Source: {_SOURCE},",
        f"# {MODELS}, {TEMPLATES}, {LOADER};",
        "# the commit of each release, and a digest of the files read:",
        *(f"#   {name}: {one.commit} sha256:{one.digest}" for name, one in sources.items()),
        "#",
    ]
    return "\n".join(head) + "\n" + _NOTATION + "\n".join(lines(models)) + "\n"


def report_of(models: Mapping[str, Model]) -> str:
    """Return what the schema does not say of the models, with the path and the releases of each."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, model in models.items():
        for one in model.unsaid:
            found.setdefault(one, []).append(name)
    spans = {key: names[0] if len(names) == 1 else f"{names[0]}..{names[-1]}" for key, names in found.items()}
    counts = [
        f"{name}: {len(model.tables)} tables, {sum(map(len, model.tables.values()))} rows, "
        f"{sum(len(row.fields) for rows in model.tables.values() for row in rows.values())} fields, "
        f"{model.conditions} conditions, {sum(_is_condition(what) for _, what in model.unsaid)} not expressed"
        for name, model in models.items()
    ]
    return "\n".join([*counts, *(f"{path} ({spans[path, what]}): {what}" for path, what in sorted(found))]) + "\n"


def _data(raw: bytes, name: str) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", parse_yaml(raw, name).data)


def _is_condition(what: str) -> bool:
    return what.startswith(("when ", "must "))


def _revisions(given: Sequence[str], output: Path) -> dict[str, str]:
    """Return the revision of each release: those that the output was made from, and those that are given."""
    known = dict(_MADE_FROM.findall(output.read_text())) if output.is_file() else {}
    for one in given:
        name, _, revision = one.partition("=")
        if not re.fullmatch(r"\w+", name) or not revision:
            raise Unusable(f"{one}: expected NAME=REVISION")
        known[name] = revision
    if not known:
        raise Unusable(f"no RELEASE, and {output} names none")
    return {name: known[name] for name in in_order(known)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; return 2 if the input cannot be used, and 1 if --compare finds differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--git", type=Path, metavar="DIR", help="a clone of sonic-buildimage, bare or not")
    where.add_argument("--folder", type=Path, metavar="ROOT", help="a folder with a checkout of each release")
    parser.add_argument("release", nargs="*", metavar="RELEASE", help="NAME=REVISION; a branch, or a commit")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="leave this release out")
    parser.add_argument("--compare", action="store_true", help="print the differences from the output; write nothing")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write what the schema does not say to this file")
    parser.add_argument("-o", "--output", type=Path, default=_SCHEMA, metavar="FILE", help=f"default: {_SCHEMA.name}")
    given = parser.parse_args(arguments)
    try:
        revisions = _revisions(given.release, given.output)
        sources = {
            name: from_git(given.git, name, revision) if given.git else from_folder(given.folder / name, name, revision)
            for name, revision in revisions.items()
            if name not in given.without
        }
        words = _data(_FACTS.read_bytes(), _FACTS.name)["words"]
        models = {name: model_of(one, words) for name, one in sources.items()}
        with_newest_keys(list(models.values()))
        text = schema_of(models, sources)
        report = report_of(models)
        if given.report:
            given.report.write_text(report)
        if given.compare:
            old = _data(given.output.read_bytes(), given.output.name)
            found = list(differences(old, _data(text.encode(), given.output.name)))
            print("\n".join(found))
            return 1 if found else 0
        given.output.write_text(text)
        if not given.report:
            sys.stdout.write(report)
    except (Unusable, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
