"""`nodrop init`: a first intent, or a first rule, to be made one's own."""

import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import SectionedHelpCommand
from nodrop.cli.size_options import add_size_options, compute_for_request
from nodrop.cli.writing import write_new_file

if TYPE_CHECKING:
    from nodrop.sizing.request import SizeRequest

FIRST_INTENT_FILE = "intent.yaml"
FIRST_RULE_FOLDER = "rules"
"""The folder of a first rule, where none is named."""
_YAML_SUFFIXES = (".yaml", ".yml")


@click.command(cls=SectionedHelpCommand)
@click.argument("path", required=False, default=".", metavar="[DIR|FILE]", type=click.Path())
@add_size_options(needs_gpus=False)
@click.option("--from", "start", metavar="INTENT", help="Copy a shipped intent, such as rail-256, instead.")
@click.option("--list", "lists", is_flag=True, help="List the shipped intents.")
@click.option("--rule", metavar="AREA/NAME", help="Write a custom rule instead, to DIR/AREA/NAME.yaml.")
def command(
    path: str,
    platform: str,
    leaf: str,
    request: "SizeRequest | None",
    start: str | None,
    lists: bool,
    rule: str | None,
) -> None:
    """Write a first intent, sized for your GPUs, or a first custom rule.

    The intent has comments and builds as it is. With --gpus it has the fewest switches that carry them, as `nodrop
    size` computes; without, two leaves and two spines, full of servers. In a folder it is called intent.yaml; existing
    files are never overwritten. Its JSON Schema, for editors, goes to .nodrop/. To start from configured switches, use
    `nodrop import`. With --rule, DIR is a folder of rules (default: rules).

    \b
    Examples:
      nodrop init pod1 --gpus 512 --nics 8 --rails --leaf SN5600 --storage 16x2x400G
      nodrop init site2 --platform nvue --leaf SN5600
      nodrop init --from rail-256
      nodrop init --rule hosts/mtu-of-servers
    """
    _require_single_purpose(request=request, start=start, lists=lists or None, rule=rule)
    if lists:
        _list_shipped_intents()
        return
    if rule is not None:
        _write_rule_and_schema(FIRST_RULE_FOLDER if path == "." else path, rule)
        return
    from nodrop.sizing.first_intent import INTENT_SCHEMA_PATH, render_full_leaf_spine_intent, render_sized_intent

    if not path:
        raise click.UsageError("the path is empty; expected a folder or a file")
    target = Path(path) if path.endswith(_YAML_SUFFIXES) and not Path(path).is_dir() else Path(path) / FIRST_INTENT_FILE
    if start is not None:
        text, summary = _shipped_intent_text(start, INTENT_SCHEMA_PATH), ""
    elif request is not None:
        text, summary = compute_for_request(render_sized_intent, request, file=target.name)
    else:
        text, summary = render_full_leaf_spine_intent(platform, leaf, file=target.name)
    _write_intent_and_schema(target, text, INTENT_SCHEMA_PATH, summary)


def _require_single_purpose(**purposes: object) -> None:
    """Refuse options that each ask for another file."""
    words = {"request": "--gpus", "start": "--from", "lists": "--list", "rule": "--rule"}
    stated = [words[key] for key, value in purposes.items() if value is not None]
    if len(stated) > 1:
        raise click.UsageError(f"{' and '.join(stated)} exclude each other")


def _shipped_intents() -> dict[str, Path]:
    """Return the shipped intents by name, without those that are refused."""
    from nodrop.resources import resource_folder

    folder = resource_folder("intents")
    paths = sorted(folder.glob("*.yaml")) + sorted(folder.glob("large/*.yaml"))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in paths}


def _list_shipped_intents() -> None:
    """Print the shipped intents, each with the first sentence of its comment."""
    from nodrop.cli.output import write_output

    intents = _shipped_intents()
    width = max(map(len, intents))
    write_output(
        "".join(
            f"{name:{width}}  {_first_comment_sentence(path.read_text('utf-8'))}\n" for name, path in intents.items()
        )
    )


def _first_comment_sentence(text: str) -> str:
    """Return the first sentence of the comment at the head of an intent, without that of its schema."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines()[1:])
    words = " ".join(line.removeprefix("#").strip() for line in lines)
    return re.split(r"(?<=[.])\s", words, maxsplit=1)[0].removesuffix(".")


def _shipped_intent_text(name: str, schema: str) -> str:
    """Return the text of a shipped intent, its first line naming the schema beside it."""
    intents = _shipped_intents()
    _require_known_word("--from", name, intents)
    return re.sub(r"(?<=\$schema=)\S+", schema, intents[name].read_text("utf-8"), count=1)


def _write_intent_and_schema(target: Path, text: str, schema: str, summary: str) -> None:
    from nodrop.cli.output import write_error_line
    from nodrop.schemas import render_schema

    write_new_file(target, text)
    write_new_file(target.parent / schema, render_schema("intent"), over=True)
    write_error_line(f"{target}: written; `nodrop show {target}` says what it means")
    if summary:
        write_error_line(summary)


def _write_rule_and_schema(folder: str, rule: str) -> None:
    from nodrop.cli.output import write_error_line
    from nodrop.engine.first_rule import RULE_SCHEMA_PATH, render_starter_rule_file
    from nodrop.schemas import render_schema

    area, slash, name = rule.partition("/")
    try:
        text = render_starter_rule_file(area, name)
    except ValueError as error:
        expected = "" if slash else "; expected AREA/NAME"
        raise click.BadParameter(f"{error}{expected}", param_hint="'--rule'") from None
    target = Path(folder) / area / f"{name}.yaml"
    write_new_file(target, text)
    write_new_file(Path(folder) / RULE_SCHEMA_PATH, render_schema("rule"), over=True)
    write_error_line(
        f"{target}: written; `nodrop test-rules {folder}` tries it, `rules: [{folder}]` in nodrop.yaml uses it"
    )


def _require_known_word(option: str, word: str, known_words: Iterable[str]) -> None:
    from nodrop.cli.options import unknown_word_message

    if word not in known_words:
        raise click.BadParameter(
            unknown_word_message("shipped intent", word, known_words, listed_by="nodrop init --list"),
            param_hint=f"'{option}'",
        )
