"""`nodrop fix`: applies the fixes of rules to the given files, without causing new findings."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import CheckChoices
from nodrop.cli.options import SectionedHelpCommand, add_judging_options, folder_option, grouped_option
from nodrop.cli.reading import ReadingOptions, add_reading_options

if TYPE_CHECKING:
    from nodrop.errors import Problem
    from nodrop.inputs import FabricInputs, FileText
    from nodrop.judging import CheckSettings
    from nodrop.results.fixed import FixedFabric, FixOutput
    from nodrop.results.outcome import FabricOutcome

_FIXING_HELP_SECTION = "Fixing"


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@grouped_option(
    _FIXING_HELP_SECTION, "--unsafe", is_flag=True, help="Also make fixes that change how traffic is treated."
)
@grouped_option(
    _FIXING_HELP_SECTION,
    "--diff",
    is_flag=True,
    help="Write nothing; print the changes as a diff, and exit 1 if there are any.",
)
@folder_option(
    "--patch",
    group=_FIXING_HELP_SECTION,
    help="Change no file; write the changes to DIR, as files that the switch itself applies (`config apply-patch`,"
    " `nv config patch`).",
)
@grouped_option(
    _FIXING_HELP_SECTION, "--edit-generated", is_flag=True, help="Also change files that `nodrop build` wrote."
)
@add_reading_options
@add_judging_options
def command(
    paths: tuple[str, ...],
    unsafe: bool,
    diff: bool,
    patch: str | None,
    edit_generated: bool,
    stated: ReadingOptions,
    choices: CheckChoices,
) -> int:
    """Fix findings in configuration files.

    PATH is as for `nodrop lint`; for `-`, the fixed text goes to standard output.

    Fixes are made in place; all other text of a file stays as it is. All rules then check the result: a fix that
    would cause a new finding is skipped and reported. A file is replaced in one step, unless it changed in the
    meantime. What nodrop cannot change is printed as commands to type.

    Files that `nodrop build` wrote are not changed, because the next build would revert it: change the intent.

    \b
    Examples:
      nodrop fix config_db.json --diff
      nodrop fix config_db.json
    """
    from nodrop.cli.output import emit_outcome, wants_color, write_output
    from nodrop.report.difference import color_diff
    from nodrop.report.difference import format_diff as difference
    from nodrop.results.fixed import FixRunResult
    from nodrop.results.merged import merge_outcomes

    if diff and patch is not None:
        raise click.UsageError("--diff and --patch contradict each other")
    settings = stated.with_stated_facts(choices.settings)
    inputs = stated.inputs(paths, settings)
    fixed = _fix_each_fabric(inputs, settings, choices, unsafe=unsafe, edit_generated=edit_generated)
    alone = ("text", None) in choices.formats
    stdin_texts = [] if diff or patch is not None else list(_fixed_stdin_texts(inputs, fixed))
    if diff and alone:
        text = "".join(difference(file) for fixed_fabric in fixed for file in fixed_fabric.rewritten)
        write_output(color_diff(text) if wants_color(choices.color) else text.encode("utf-8", "surrogateescape"))
    elif patch is not None:
        _write_patches(patch, fixed)
    elif not diff:
        fixed = [_write_fixed_files(fixed_fabric) for fixed_fabric in fixed]
    if stdin_texts and alone:
        write_output(b"".join(stdin_texts))
    output_kind: FixOutput = "diff" if diff else "files" if patch is None else "patches"
    outcome = merge_outcomes([fixed_fabric.outcome for fixed_fabric in fixed])
    aside = ("text",) if diff or stdin_texts else ()
    emit_outcome(
        outcome,
        choices,
        kind="fixes",
        result=FixRunResult(fixed=fixed, what=output_kind),
        own=("text", "json"),
        aside=aside,
    )
    changes = diff and any(fixed_fabric.rewritten for fixed_fabric in fixed)
    return _exit_code_of_fix(outcome, choices, changes=changes)


def _fixed_stdin_texts(inputs: "FabricInputs", fixed: Sequence["FixedFabric"]) -> Iterator[bytes]:
    """Yield the resulting text of standard input, if it was read."""
    new = {name: text for fixed_fabric in fixed for name, text in fixed_fabric.files.items()}
    bundles = (text for fabric in inputs.fabrics() for bundle in fabric.bundles for _, text in bundle.files)
    for text in (*bundles, *inputs.all_intents()):
        if text.path is None:
            yield new.get(text.display, text.held)


def _fix_each_fabric(
    inputs: "FabricInputs", settings: "CheckSettings", choices: CheckChoices, *, unsafe: bool, edit_generated: bool
) -> list["FixedFabric"]:
    """Fix every fabric that the inputs are, each by itself."""
    from nodrop.cli.working import open_executor
    from nodrop.errors import InputProblems
    from nodrop.fixing import fix
    from nodrop.results.fixed import FixedFabric
    from nodrop.results.outcome import FabricOutcome

    quick = replace(settings, whole=choices.verbose or settings.whole)
    fixed = []
    with open_executor(sum(len(fabric.bundles) for fabric in inputs.fabrics()), choices.jobs) as executor:
        every: list[FabricInputs | FileText] = [*inputs.fabrics(), *inputs.all_intents()]
        for source in every:
            try:
                guard = _no_reason_not_to_edit if edit_generated else _reason_not_to_edit
                fixed.append(fix(source, quick, unsafe=unsafe, executor=executor, guard=guard))
            except InputProblems as error:
                fixed.append(FixedFabric(outcome=FabricOutcome(problems=error.problems)))
    return [*fixed, *_unused_suppression_results(fixed, settings)]


def _unused_suppression_results(fixed: Sequence["FixedFabric"], settings: "CheckSettings") -> Iterator["FixedFabric"]:
    """Yield the findings on all fabrics together: suppressions that none of them needs."""
    from nodrop.identity import IdentitySet
    from nodrop.judging import add_faults_of_configured_suppressions
    from nodrop.results.fixed import FixedFabric, RemainingFinding
    from nodrop.results.merged import merge_outcomes
    from nodrop.results.outcome import FabricOutcome

    whole_outcome = merge_outcomes([fixed_fabric.outcome for fixed_fabric in fixed])
    known = IdentitySet(whole_outcome.findings)
    further_findings = [
        finding
        for finding in add_faults_of_configured_suppressions(whole_outcome, settings).findings
        if finding not in known
    ]
    if further_findings:
        unfixed_findings = (
            RemainingFinding(finding=finding, reason="no fix", text=finding.fix.text if finding.fix else "")
            for finding in further_findings
        )
        yield FixedFabric(outcome=FabricOutcome(findings=tuple(further_findings)), remaining=tuple(unfixed_findings))


def _no_reason_not_to_edit(_text: "FileText") -> str:
    return ""


def _reason_not_to_edit(text: "FileText") -> str:
    """Say why a file may not be changed that a build has written."""
    from nodrop.publish import build_folder_of_file

    built = None if text.path is None else build_folder_of_file(text.path)
    if built is None:
        return ""
    sources = ", ".join(built.inputs) or "an intent"
    remedy = "Change the intent, or use --edit-generated"
    return f"written by nodrop build from {sources}; the next build would undo a change here. {remedy}"


def _write_patches(directory: str, fixed: Sequence["FixedFabric"]) -> None:
    """Write patches, in a folder for each switch; replace the output of an earlier run there as a whole."""
    from nodrop.cli.patching import write_switch_folders

    patches = ((fixed_fabric, patch) for fixed_fabric in fixed for patch in fixed_fabric.patches)
    write_switch_folders(
        directory,
        (
            (
                (),
                patch.device,
                {name: text.encode() for name, text in patch.files.items()},
                {file.name: file.old for file in fixed_fabric.rewritten if file.device == patch.device},
            )
            for fixed_fabric, patch in patches
        ),
    )


def _write_fixed_files(fixed_file: "FixedFabric") -> "FixedFabric":
    """Write the fixed files, device by device; an unwritable file is a problem, and its findings are left."""
    from nodrop.errors import InputProblems
    from nodrop.publish import FileReplacement, replace_files
    from nodrop.results.fixed import RemainingFinding

    problems: list[Problem] = []
    failed: set[str] = set()
    for device in dict.fromkeys(file.device for file in fixed_file.rewritten):
        files = [
            FileReplacement(path=file.path, display=file.display, old=file.old, new=file.new)
            for file in fixed_file.rewritten
            if file.device == device and file.path is not None
        ]
        try:
            replace_files(files)
        except InputProblems as error:
            problems += error.problems
            failed.add(device)
    if not failed:
        return fixed_file
    lost = [finding for finding in fixed_file.made if (finding.device or "") in failed]
    return replace(
        fixed_file,
        outcome=replace(fixed_file.outcome, problems=(*fixed_file.outcome.problems, *problems)),
        made=tuple(finding for finding in fixed_file.made if (finding.device or "") not in failed),
        remaining=(
            *fixed_file.remaining,
            *(RemainingFinding(finding=finding, reason="refused", text="its file was not written") for finding in lost),
        ),
        rewritten=tuple(file for file in fixed_file.rewritten if file.device not in failed),
        patches=tuple(patch for patch in fixed_file.patches if patch.device not in failed),
    )


def _exit_code_of_fix(outcome: "FabricOutcome", choices: CheckChoices, *, changes: bool) -> int:
    """Return the exit code: where nothing is written, 1 also for what would change."""
    from nodrop.cli.main import FAILED, FOUND, WRONG
    from nodrop.cli.output import exit_code

    code = exit_code(outcome, choices.fail_on)
    return FOUND if changes and code not in (FAILED, WRONG) else code
