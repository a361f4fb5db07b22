"""The reference of commands, exit codes and JSON outputs, generated from the command line itself."""

import inspect
import re
from collections.abc import Iterator
from html import escape
from typing import Any

import click

from nodrop.cli.main import nodrop
from nodrop.report.escape import format_nodrop_text_as_markdown
from nodrop.schemas import REPORT_SCHEMA_KINDS, json_schema

Schema = dict[str, Any]
_TYPES = {"array": "list", "string": "text", "integer": "number", "boolean": "true or false"}


def commands() -> Iterator[tuple[click.Context, click.Command]]:
    """Yield each command that does something, and groups before their members, in the order of `nodrop --help`."""
    yield from _commands_of(click.Context(nodrop, info_name="nodrop", **nodrop.context_settings))


def _commands_of(context: click.Context) -> Iterator[tuple[click.Context, click.Command]]:
    group = context.command
    if isinstance(group, click.Group):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None and not command.hidden:
                inner = click.Context(command, info_name=name, parent=context)
                yield inner, command
                yield from _commands_of(inner)


def render_commands() -> str:
    """Return a section for each command: usage, description, and a table of its options."""
    lines: list[str] = []
    for context, command in commands():
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        lines += [f"## {context.command_path}", "", "```text", usage, "```", "", *_description(command), ""]
        if options := [param for param in command.get_params(context) if isinstance(param, click.Option)]:
            lines += ["| option | meaning | default |", "|---|---|---|"]
            lines += [_option_row(context, option) for option in options if not option.hidden]
            lines.append("")
    return "\n".join(lines)


def _description(command: click.Command) -> Iterator[str]:
    """Yield the help of a command as Markdown; a paragraph after `\\b` keeps its lines."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))):
        if number:
            yield ""
        if paragraph.startswith("\b"):
            yield from ("```text", *paragraph.splitlines()[1:], "```")
        else:
            yield format_nodrop_text_as_markdown(" ".join(paragraph.split()))


_STATED = re.compile(r"\s*\[(default: |env var: |required\]|\d+<=)")
_DEFAULT = re.compile(r"default: ((?:[^\[\];]|\[[^\]]*\])*)")


def _option_row(context: click.Context, option: click.Option) -> str:
    record = option.get_help_record(context)
    names, text = record if record is not None else (", ".join(option.opts), option.help or "")
    meaning = _STATED.split(text)[0]
    stated = _DEFAULT.search(text.removeprefix(meaning))
    default = "required" if option.required else format_nodrop_text_as_markdown(stated[1], cell=True) if stated else ""
    # a code span of the site shows the backslash of an escaped `|`
    shown = escape(names).replace("|", "&#124;")
    return f"| <code>{shown}</code> | {format_nodrop_text_as_markdown(meaning, cell=True)} | {default} |"


def render_json() -> str:
    """Return a section for each JSON output: its top-level keys, and the command that prints its schema."""
    lines: list[str] = []
    for kind in REPORT_SCHEMA_KINDS:
        document = json_schema(kind)
        version = document["properties"]["version"]["const"]
        lines += [f"## {kind}", "", f"Version {version}. `nodrop schema {kind}` prints the whole schema.", ""]
        lines += ["| key | value | meaning |", "|---|---|---|"]
        for name, spec in document["properties"].items():
            meaning = format_nodrop_text_as_markdown(spec.get("description", ""), cell=True)
            lines.append(f"| `{name}` | {_json_type(spec)} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def _json_type(spec: Schema) -> str:
    if "anyOf" in spec:
        return " or ".join(_json_type(option) for option in spec["anyOf"])
    if "const" in spec:
        return f"`{spec['const']}`"
    kinds = spec.get("type", "value")
    names = [_TYPES.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    keys = spec.get("items", spec).get("properties")
    return " or ".join(names) + (f" with {', '.join(f'`{key}`' for key in keys)}" if keys else "")
