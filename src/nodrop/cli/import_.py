"""`nodrop import`: configurations that are there become an intent."""

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli import completing
from nodrop.cli.options import (
    INPUT,
    OUTPUT,
    SectionedHelpCommand,
    add_site_options,
    grouped_option,
    unknown_word_message,
)
from nodrop.cli.reading import ReadingOptions, add_reading_options
from nodrop.report.names import format_name_list

if TYPE_CHECKING:
    from nodrop.importing import ImportResult
    from nodrop.judging import CheckSettings
    from nodrop.model.fabric import Fabric
    from nodrop.model.reading import Reading


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@grouped_option(
    OUTPUT,
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="File to write; must not exist.  [default: standard output]",
)
@grouped_option(
    INPUT,
    "--against",
    metavar="INTENT",
    type=click.Path(),
    help="Write no intent; compare the fabric of INTENT with PATH.",
)
@grouped_option(
    INPUT,
    "--model",
    "models",
    multiple=True,
    metavar="[SWITCH=]MODEL",
    shell_complete=completing.complete_models,
    help="Model of the switches whose files do not state it: of all, or of those whose names match, such as "
    "'leaf*=SN4700'; the last match counts (repeatable).",
)
@add_reading_options
@add_site_options
def command(
    paths: tuple[str, ...],
    output: str | None,
    against: str | None,
    models: tuple[str, ...],
    stated: ReadingOptions,
    settings: "CheckSettings",
) -> int:
    """Derive an intent from configurations.

    PATH is as for `nodrop lint`: the configurations of one fabric, of any supported platform.

    The intent contains what cannot be derived; values equal to the default are omitted. A guess has its reason
    beside it. A missing value is a TODO comment with an example. Settings that an intent has no key for go to `extra`;
    secrets are left out. When the intent is complete, check it: nodrop import configs --against imported.yaml

    Exit 0 if the intent reproduces the input, 1 if a difference or a TODO remains.

    \b
    Examples:
      nodrop import configs -o imported.yaml
      nodrop import configs --against imported.yaml
    """
    from nodrop.cli.main import FOUND, WRONG
    from nodrop.cli.output import write_error_line, write_output
    from nodrop.cli.writing import write_new_file
    from nodrop.importing import derive_intent, load_switch_files

    if output == "":
        raise click.UsageError("--output is empty; expected a file")
    if against is not None and (output is not None or models):
        raise click.UsageError("--against writes no intent, and takes models from its own; expected no -o and --model")
    reading = stated.read_fabric_or_report(paths, settings)
    if reading is None:
        return WRONG
    if against is not None:
        return _report_differences(reading, against)
    source = " ".join(Path(path).name or path for path in paths)
    fabric = _apply_stated_models(_name_fabric_by_path(reading.fabric, paths[0]), models)
    imported_intent = derive_intent(fabric, source=source, files=load_switch_files(reading))
    if output is None:
        write_output(imported_intent.text)
    else:
        write_new_file(Path(output), imported_intent.text)
    write_error_line(_render_summary(imported_intent, output))
    return 0 if imported_intent.rebuilds_same_fabric else FOUND


def _report_differences(reading: "Reading", against: str) -> int:
    """Report the differences between the fabric of an intent and the fabric that was read."""
    from nodrop.cli.main import FOUND
    from nodrop.cli.output import write_error_line, write_output
    from nodrop.importing import load_switch_files, measure_intent_coverage
    from nodrop.intent.load import load
    from nodrop.model.assemble import DEFAULT_FABRIC_NAME

    intent = load(Path(against), against)
    fabric = (
        reading.fabric if reading.fabric.name != DEFAULT_FABRIC_NAME else replace(reading.fabric, name=intent.fabric)
    )
    if any(assumption.fact == "mode" for assumption in reading.assumed):
        fabric = replace(fabric, mode=intent.mode)  # no file says it, so none says otherwise
    comparison = measure_intent_coverage(fabric, intent, files=load_switch_files(reading))
    names = [*comparison.names, *comparison.left]
    if comparison.extra:
        names += ["", "Beside the model, to be carried in the intent:", comparison.extra.rstrip()]
    if names:
        write_output("\n".join(names) + "\n")
    kinds = len(comparison.left)
    text = f"{kinds} kind{' of fact differs' if kinds == 1 else 's of facts differ'}" if kinds else "equal to the files"
    write_error_line(f"{against}: {text}{', and there are settings beside the model' if comparison.extra else ''}")
    return 0 if comparison.rebuilds_same_fabric else FOUND


def _name_fabric_by_path(fabric: "Fabric", path: str) -> "Fabric":
    """Return a fabric under the name of the folder or file that it is read from, where nobody states one."""
    from nodrop.intent.types import NAME_PATTERN
    from nodrop.model.assemble import DEFAULT_FABRIC_NAME

    name = Path(path).resolve().stem
    return (
        replace(fabric, name=name)
        if fabric.name == DEFAULT_FABRIC_NAME and re.fullmatch(NAME_PATTERN, name)
        else fabric
    )


def _apply_stated_models(fabric: "Fabric", models: tuple[str, ...]) -> "Fabric":
    """Return a fabric with the stated models, if no file states one; raise a UsageError if that is impossible."""
    from nodrop.hardware import switches
    from nodrop.model.states import Unknown

    devices = {device.name: device for device in fabric.devices}
    for text in models:
        pattern, equals, model = text.rpartition("=")
        if model not in switches():
            raise click.UsageError(unknown_word_message("switch model", model, switches()))
        fitting = [device for device in fabric.devices if fnmatchcase(device.name, pattern if equals else "*")]
        if not fitting:
            raise click.UsageError(f"--model {text}: no switch is called so; there are {format_name_list(devices)}")
        unsaid = [device for device in fitting if isinstance(device.model, Unknown)]
        if not unsaid:
            raise click.UsageError(
                f"--model {text}: the files of {format_name_list(device.name for device in fitting)} say the model"
            )
        devices |= {device.name: replace(device, model=model) for device in unsaid}
    return replace(fabric, devices=tuple(devices.values()))


def _render_summary(imported_intent: "ImportResult", output: str | None) -> str:
    """Return a line on how well the intent matches the files."""
    where = f"{output}: written; " if output else ""
    if imported_intent.rebuilds_same_fabric:
        how = "round trip: identical"
    elif imported_intent.intent is None or imported_intent.problems:
        count = len(imported_intent.lacking) + len(imported_intent.problems)
        how = f"does not build: {count} {'TODOs' if count > 1 else 'TODO'} in it"
    else:
        count = len(imported_intent.left)
        how = f"{count} kind{'s' if count > 1 else ''} of facts not imported, listed at its end"
    guessed = f"; {len(imported_intent.guessed)} guessed" if imported_intent.guessed else ""
    declared = (
        "; nodrop.yaml has to declare settings of `extra`, listed at its end" if imported_intent.declarations else ""
    )
    return f"{where}{how}{guessed}{declared}"
