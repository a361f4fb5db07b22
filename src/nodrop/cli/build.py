"""`nodrop build`: intents become configurations, which are read back and linted before anything is replaced."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import CheckChoices
from nodrop.cli.options import OUTPUT, SectionedHelpCommand, add_judging_options, grouped_option, output_folder_option

if TYPE_CHECKING:
    from nodrop.intent.schema import Intent
    from nodrop.model.reading import Reading
    from nodrop.platforms.kit.artifact import Artifact
    from nodrop.publish import (
        ComparedFolder,
        FileDigestsAndDifferences,
        OutputTreeDraft,
        OutputTreeDraftPart,
        PutFilesResult,
    )
    from nodrop.results.outcome import FabricOutcome


@click.command(cls=SectionedHelpCommand)
@click.argument("intents", nargs=-1, required=True, metavar="INTENT...", type=click.Path())
@output_folder_option
@grouped_option(OUTPUT, "--check", "check_only", is_flag=True, help="Write nothing; exit 1 if DIR is out of date.")
@grouped_option(OUTPUT, "--write-anyway", is_flag=True, help="Write even if findings reach --fail-on.")
@add_judging_options
def command(intents: tuple[str, ...], output: str, check_only: bool, write_anyway: bool, choices: CheckChoices) -> int:
    """Write the configurations of intents, and lint them.

    DIR gets a folder for each device (in a folder for each fabric, if there are several intents), fabric.yaml,
    plan/ with cabling, addresses and hosts as CSV, and hosts/ with the settings of the NICs.

    The written files themselves are read and linted. DIR is replaced in one step. A file in DIR that no earlier
    build wrote is an error; it is never deleted.

    \b
    Examples:
      nodrop build intent.yaml -o build
      nodrop build intent.yaml -o build --check
    """
    from nodrop.judging import chosen_rules
    from nodrop.publish import begin_comparison, file_name_matcher, open_draft

    chosen_rules(choices.settings)
    if check_only:
        against = begin_comparison(Path(output), display=output)
        return _compare_with_output(
            against, output, _build_intents(intents, output, choices, lambda _: against), choices
        )
    with open_draft(Path(output), file_name_matcher(_output_file_patterns()), display=output) as draft:
        build = _build_intents(intents, output, choices, draft.part_for_prefix)
        return _publish_build(draft, output, build, choices, write_anyway=write_anyway)


def _output_file_patterns() -> list[str]:
    """Return the names that builds give to files; of several intents, they are in a folder each."""
    from nodrop import context, platforms
    from nodrop.platforms.hosts.spelling import WRITES as HOSTS
    from nodrop.report.rack import RACK_FILE_PATHS as RACK

    own_hosts = [context.FABRIC_FILE, *RACK, *HOSTS, *(f"*/{name}" for name in platforms.written_file_patterns())]
    return [*own_hosts, *(f"*/{name}" for name in own_hosts)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _IntentBuildTask:
    """An intent to build; `top` is the folder of its devices below DIR, and `room` takes its files."""

    raw: bytes
    sheet: tuple[str, bytes]
    """The displayed path and the content of the cabling sheet that the intent names; empty for none."""
    display: str
    output: str
    top: str
    room: "OutputTreeDraftPart | ComparedFolder"
    choices: CheckChoices


@dataclass(frozen=True, slots=True, kw_only=True)
class _BuildResult:
    """The result of an intent: its files, which are in their final place, and the faults of them or of it."""

    outcome: "FabricOutcome"
    files: "PutFilesResult | FileDigestsAndDifferences | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _BuildSummary:
    """What all intents came to; `inputs` are their digests."""

    inputs: dict[str, str]
    files: "tuple[PutFilesResult | FileDigestsAndDifferences, ...]"
    outcome: "FabricOutcome"

    def report_outcome(self, output: str, choices: CheckChoices) -> int:
        """Report the faults, and return the exit code."""
        from nodrop.cli.main import FAILED, WRONG
        from nodrop.cli.output import emit_outcome, exit_code, write_error_line

        emit_outcome(self.outcome, choices)
        code = exit_code(self.outcome, choices.fail_on)
        if code in (FAILED, WRONG):
            write_error_line(f"nothing was written to {output}")
        return code

    def report_undeclared_lines(self, choices: CheckChoices, heading: str) -> bool:
        """Report how to accept settings of unknown effect that intents add; return whether there are any.

        All lines of the built files with an unknown effect come from `extra`.
        """
        from nodrop.cli.output import write_error_line
        from nodrop.config.reading import CONFIG_FILE
        from nodrop.engine.declared_lines import suggest_declarations
        from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND

        notes = [note for note in self.outcome.notes if note.kind == UNKNOWN_LINE_NOTE_KIND]
        if not notes:
            return False
        write_error_line(f"{heading}nodrop does not know what `extra` changes with the lines above")
        config = choices.settings.config.path or CONFIG_FILE
        write_error_line(f"if they change nothing that you check, declare them in {config}:")
        for line in suggest_declarations(notes):
            write_error_line(line)
        return True


def _build_intents(
    intents: tuple[str, ...],
    output: str,
    choices: CheckChoices,
    room: "Callable[[str], OutputTreeDraftPart | ComparedFolder]",
) -> _BuildSummary:
    """Build, write and lint every intent, each by itself; `room` takes the files below a folder."""
    from nodrop.cli.working import open_executor
    from nodrop.design.topology import topology_of
    from nodrop.judging import add_faults_of_configured_suppressions, chosen_rules, turn_input_problems_into_outcome
    from nodrop.parallel import map_chunks
    from nodrop.paths import stable_path_names
    from nodrop.publish import content_digest
    from nodrop.results.merged import merge_outcomes
    from nodrop.shared_identifiers import add_shared_identifier_findings

    tasks, inputs, names, devices = list[_IntentBuildTask](), dict[str, str](), dict[str, str](), 0
    outcomes: list[FabricOutcome] = []
    for path, called in zip(intents, stable_path_names(intents), strict=True):
        with turn_input_problems_into_outcome(outcomes):
            raw, intent = _read_intent_and_check_name(path, names)
            top = f"{intent.fabric}/" if len(intents) > 1 else ""
            sheet = ("", b"") if intent.sheet_file is None else (intent.sheet_file.path, intent.sheet_file.content)
            made = _IntentBuildTask(
                raw=raw, sheet=sheet, display=path, output=output, top=top, room=room(top), choices=choices
            )
            tasks.append(made)
            inputs[called] = content_digest(raw)
            if sheet[0]:
                inputs[stable_path_names(sheet[:1])[0]] = content_digest(sheet[1])
            devices += sum(len(group.wanted.ids) for group in topology_of(intent).groups)
    with open_executor(devices, choices.jobs) as executor:
        done = tuple(map_chunks(_run_build_task, tasks, executor=executor if len(tasks) > 1 else None, chunk=1))
    settings, new_outcomes = choices.settings, [built_intent.outcome for built_intent in done]
    if len(tasks) > 1:
        reads = [partial(_read_built_files, task) for task in tasks]
        new_outcomes = add_shared_identifier_findings(
            new_outcomes, reads, partial(chosen_rules, settings), settings, one_site=True
        )
    outcomes += new_outcomes
    files = tuple(built_intent.files for built_intent in done if built_intent.files is not None)
    outcome = add_faults_of_configured_suppressions(merge_outcomes(outcomes), settings)
    return _BuildSummary(inputs=inputs, files=files, outcome=outcome)


def _run_build_task(task: _IntentBuildTask) -> _BuildResult:
    """Do all that one intent needs; nothing of it but its files outlives this.

    The files are in their draft before the rules run, so that their texts are not in memory beside the routes.
    """
    from nodrop.inputs import DiskWithHeldTexts, FileText, note_on_fabric_file_of_intent
    from nodrop.judging import chosen_rules, run_rules, turn_input_problems_into_outcome
    from nodrop.model.identifiers import identifiers_of

    outcomes: list[FabricOutcome] = []
    files: PutFilesResult | FileDigestsAndDifferences | None = None
    artifacts: list[Artifact] = []
    with turn_input_problems_into_outcome(outcomes):
        artifacts[:], reading = _build_and_read_back(task)
    if artifacts:
        files = task.room.put(_encode_files(artifacts, task.top))
        with turn_input_problems_into_outcome(outcomes):
            settings = task.choices.settings
            rule = run_rules(reading, chosen_rules(settings), settings)
            outcomes.append(replace(rule, identifiers=identifiers_of(reading.fabric), an_intent=True))
    (outcome,) = outcomes
    intent_file = FileText(display=task.display, path=Path(task.display))
    if (unread := note_on_fabric_file_of_intent(intent_file, DiskWithHeldTexts())) is not None:
        outcome = replace(outcome, notes=(*outcome.notes, unread))
    outcome = replace(outcome, name=f"{task.output}/{task.top}".rstrip("/"))
    return _BuildResult(outcome=outcome, files=files)


def _encode_files(artifacts: "list[Artifact]", top: str) -> dict[str, bytes]:
    """Return the content of files by path; the list is emptied, so that no file is in memory twice."""
    files: dict[str, bytes] = {}
    artifacts.reverse()
    while artifacts:
        artifact = artifacts.pop()
        name = f"{artifact.device}/{artifact.path}" if artifact.device else artifact.path
        files[top + name] = artifact.text.encode()
    return files


def _build_and_read_back(task: _IntentBuildTask) -> "tuple[tuple[Artifact, ...], Reading]":
    """Return the files of an intent, and their reading."""
    from nodrop.fabric_readings import attach_profile_to_reading, build_and_read_back
    from nodrop.intent.load import loads

    below = f"{task.output}/{task.top}".rstrip("/")
    artifacts, reading = build_and_read_back(loads(task.raw, task.display, lambda _: task.sheet), task.display, below)
    return artifacts, attach_profile_to_reading(reading, task.choices.settings)


def _read_built_files(task: _IntentBuildTask) -> "Reading":
    """Return the reading of the files of an intent."""
    return _build_and_read_back(task)[1]


def _read_intent_and_check_name(path: str, names: dict[str, str]) -> "tuple[bytes, Intent]":
    """Read an intent; its fabric must not have the name of an earlier one's, because folders have these names."""
    from nodrop.errors import InputProblems
    from nodrop.fabric_readings import read_intent
    from nodrop.inputs import find_named_intent

    raw, intent = read_intent(find_named_intent(path))
    if intent.fabric in names:
        fault = f"{intent.fabric}, which is the name of the fabric of {names[intent.fabric]} too"
        raise InputProblems([intent.problem(("fabric",), fault, "a name for each fabric")])
    names[intent.fabric] = path
    return raw, intent


def _publish_build(
    draft: "OutputTreeDraft", output: str, build: _BuildSummary, choices: CheckChoices, *, write_anyway: bool
) -> int:
    """Report, write the build to DIR unless it has faults, and return the exit code."""
    from nodrop.cli.main import FAILED, FOUND, WRONG
    from nodrop.cli.output import has_finding_at_threshold, write_error_line
    from nodrop.publish import PutFilesResult

    code = build.report_outcome(output, choices)
    if code in (FAILED, WRONG):
        return code
    if has_finding_at_threshold(build.outcome, choices.fail_on) and not write_anyway:
        write_error_line(
            f"nothing was written to {output}: findings reach --fail-on {choices.fail_on} (--write-anyway writes it)"
        )
        return code
    if not write_anyway and build.report_undeclared_lines(choices, f"nothing was written to {output}: "):
        return FOUND
    puts = [file for file in build.files if isinstance(file, PutFilesResult)]
    done = draft.publish(puts, build.inputs)
    counts = [f"{len(done.written)} written", f"{len(done.unchanged)} unchanged"]
    counts += [f"{len(done.removed)} removed"] if done.removed else []
    files = sum(len(put.digests) for put in puts)
    write_error_line(f"{output}: {build.outcome.devices} devices, {files} files ({', '.join(counts)})")
    return code


def _compare_with_output(against: "ComparedFolder", output: str, build: _BuildSummary, choices: CheckChoices) -> int:
    """Report, list the differences of DIR from the build, and return the exit code."""
    from nodrop.cli.main import FAILED, FOUND, WRONG
    from nodrop.cli.output import write_error_line
    from nodrop.publish import FileDigestsAndDifferences

    code = build.report_outcome(output, choices)
    if code in (FAILED, WRONG):
        return code
    compared = [file for file in build.files if isinstance(file, FileDigestsAndDifferences)]
    words = {"missing": "is missing", "differs": "differs from the build", "unexpected": "is not of the build"}
    drifts = against.drifts(compared)
    for drift in drifts:
        line = "" if drift.line is None else f":{drift.line}"
        write_error_line(f"drift: {output}/{drift.path}{line}: {words[drift.kind]}")
    if not drifts:
        write_error_line(
            f"{output}: {sum(len(intent_files.digests) for intent_files in compared)} files are what the intents say"
        )
    undeclared = build.report_undeclared_lines(choices, "")
    return FOUND if drifts or undeclared else code
