"""`nodrop init`: a first intent, or a first rule, to be made one's own."""

from collections.abc import Iterable
from pathlib import Path

import click

from nodrop.cli.writing import written_anew

FIRST_INTENT_FILE = "intent.yaml"
FIRST_RULE_FOLDER = "rules"
"""The folder of a first rule, where none is named."""
_SUFFIXES = (".yaml", ".yml")


class PlatformOption(click.Option):
    """An option whose default is the default platform, found when it is needed."""

    def get_default(self, ctx: click.Context, call: bool = True) -> str:
        """Return the platform."""
        from nodrop import platforms

        return platforms.default()


@click.command()
@click.argument("path", required=False, default=".", metavar="[DIR|FILE]", type=click.Path())
@click.option("--platform", cls=PlatformOption, show_default=True, metavar="NAME", help="Network OS of the switches.")
@click.option("--model", default="SN4700", show_default=True, metavar="NAME", help="Model of the switches.")
@click.option("--rule", metavar="AREA/NAME", help="Write a custom rule instead, to DIR/AREA/NAME.yaml.")
def command(path: str, platform: str, model: str, rule: str | None) -> None:
    """Write a first intent, or a first custom rule.

    The intent has comments and builds as it is: two leaves and two spines, full of GPU servers. In a folder it is
    called intent.yaml; existing files are never overwritten. Its JSON Schema goes to .nodrop/ beside it, for
    editors. To start from configured switches, use `nodrop import`.

    With --rule, DIR is a folder of rules (default: rules), and the new rule passes `nodrop test-rules`.

    \b
    Examples:
      nodrop init site2 --platform nvue --model SN5600
      nodrop init --rule hosts/mtu-of-servers
    """
    if rule is not None:
        _write_rule_and_schema(FIRST_RULE_FOLDER if path == "." else path, rule)
        return
    from nodrop import platforms
    from nodrop.cli.output import tell
    from nodrop.hardware import buildable, obstacle, switch, switches
    from nodrop.intent.first import SCHEMA, first
    from nodrop.schemas import render_schema

    _require_known_word("--platform", platform, platforms.writable_names())
    _require_known_word("--model", model, switches())
    if (reason := obstacle(switch(model), platform)) is not None:
        raise click.BadParameter(f"{reason}; known: {', '.join(buildable(platform))}", param_hint="'--model'")
    if not path:
        raise click.UsageError("the path is empty; expected a folder or a file")
    target = Path(path) if path.endswith(_SUFFIXES) and not Path(path).is_dir() else Path(path) / FIRST_INTENT_FILE
    written_anew(target, first(platform, model, file=target.name))
    written_anew(target.parent / SCHEMA, render_schema("intent"), over=True)
    tell(f"{target}: written; `nodrop show {target}` says what it means")


def _write_rule_and_schema(folder: str, rule: str) -> None:
    from nodrop.cli.output import tell
    from nodrop.engine.first_rule import SCHEMA, write_first_rule
    from nodrop.schemas import render_schema

    area, slash, name = rule.partition("/")
    try:
        text = write_first_rule(area, name)
    except ValueError as error:
        expected = "" if slash else "; expected AREA/NAME"
        raise click.BadParameter(f"{error}{expected}", param_hint="'--rule'") from None
    target = Path(folder) / area / f"{name}.yaml"
    written_anew(target, text)
    written_anew(Path(folder) / SCHEMA, render_schema("rule"), over=True)
    tell(f"{target}: written; `nodrop test-rules {folder}` tries it, `rules: [{folder}]` in nodrop.yaml uses it")


def _require_known_word(option: str, word: str, known_words: Iterable[str]) -> None:
    from nodrop.cli.options import unknown

    if word not in known_words:
        raise click.BadParameter(unknown(option.removeprefix("--"), word, known_words), param_hint=f"'{option}'")
