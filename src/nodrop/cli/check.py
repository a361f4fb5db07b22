"""`nodrop check`: the impact of a change of configurations or intents, and the findings that it adds."""

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from nodrop.cli.choices import CheckFlags
from nodrop.cli.options import (
    REPORT_FORMATS,
    RULES,
    SectionedHelpCommand,
    WordChoice,
    add_check_report_options,
    grouped_option,
    no_cache_option,
)
from nodrop.cli.planning import patch_option, rollout_option
from nodrop.cli.reading import ReadingOptions, add_reading_options

if TYPE_CHECKING:
    from nodrop.engine.finding import Finding
    from nodrop.results.checked import CheckedChange

_COMPARING_HELP_SECTION = "Comparing"
_PUSH_REMOTE_VARIABLE = "PRE_COMMIT_REMOTE_NAME"
"""The variable in which pre-commit names the remote to hooks before a push."""
RISK_LEVELS = ("unknown", "traffic-affecting", "service restart", "port bounce", "reboot", "refused")
"""What a change may do to a running switch, the least first: `nodrop.plan.model` has them, and takes long to load."""
_FULL_REPORT_FORMATS = ("text", "markdown", "json")
"""Formats that tell of all; the others tell of new findings, and of what else ends with 1."""


def _require_base(ctx: click.Context, _param: click.Parameter, value: str | None) -> str:
    """Return the value of --base; raise UsageError with examples if it is missing."""
    if value is None:
        raise click.UsageError("Missing option '--base', such as --base origin/main or --base ./before", ctx)
    return value


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path())
@grouped_option(
    _COMPARING_HELP_SECTION,
    "--base",
    callback=_require_base,
    metavar="REV|DIR",
    help="Compare with the merge base of HEAD and this revision, such as origin/main. Or compare with a folder of the"
    " earlier files under the same names, written with a slash: ./before.  [required]",
)
@grouped_option(
    _COMPARING_HELP_SECTION, "--exact", is_flag=True, help="Compare with the revision itself, not with the merge base."
)
@grouped_option(
    _COMPARING_HELP_SECTION,
    "--routing/--no-routing",
    default=None,
    help="Compare sessions, routes and failures.  [default: if the change may affect them, up to 500 switches]",
)
@grouped_option(
    _COMPARING_HELP_SECTION,
    "--batfish",
    metavar="HOST[:PORT]",
    help="Also ask Batfish which packets are forwarded differently.",
)
@rollout_option(group=_COMPARING_HELP_SECTION, gate=True)
@grouped_option(
    _COMPARING_HELP_SECTION,
    "--fail-on-risk",
    type=WordChoice(RISK_LEVELS),
    metavar="RISK",
    help="Exit 1 if a change does this to a running switch, or worse: unknown, traffic-affecting,"
    " 'service restart', 'port bounce', reboot or refused (the switch rejects the change).",
)
@patch_option("make the change, as `nodrop plan --patch` does")
@add_reading_options
@grouped_option(
    RULES,
    "--config-from",
    type=WordChoice(["base", "work"]),
    default="base",
    show_default=True,
    help="Take the policy (nodrop.yaml and the files that it names, comments that allow findings, fabric.yaml) from"
    " --base, or from the working tree.",
)
@add_check_report_options(
    (
        *_FULL_REPORT_FORMATS,
        *(report_format for report_format in REPORT_FORMATS if report_format not in _FULL_REPORT_FORMATS),
    ),
    late=True,
)
@no_cache_option
def command(
    paths: tuple[str, ...],
    base: str,
    exact: bool,
    routing: bool | None,
    batfish: str | None,
    rollout: str,
    fail_on_risk: str | None,
    patch: str | None,
    stated: ReadingOptions,
    no_cache: bool,
    config_from: str,
    flags: CheckFlags,
) -> int:
    """Review a change before it is merged: impact, new findings, rollout order.

    PATH is as for `nodrop lint`; without PATH, the working directory is checked. Its files, committed or not, are
    compared with --base. The policy (rules, baseline, suppressions) comes from --base, so that a change cannot hide
    its own findings.

    Exit 1 if a new finding reaches --fail-on, the risk reaches --fail-on-risk, every rollout order has a temporary
    error that reaches --fail-on, or a build is out of date. A change by itself does not fail the check.

    \b
    Examples:
      nodrop check --base origin/main
      nodrop check build --base ./before      with the earlier files in before/build
    """
    from nodrop.checking.check import check
    from nodrop.checking.policy import CheckPolicy, resolve_policies
    from nodrop.checking.run import CheckRequest
    from nodrop.cli.main import FOUND, NOTHING
    from nodrop.cli.output import ProgressLine, emit_outcome, exit_code, write_error_line
    from nodrop.cli.patching import write_patches
    from nodrop.cli.working import handle_sigterm, open_executor, open_result_cache
    from nodrop.config import Config
    from nodrop.plan.model import CHANGE_RISKS as MODEL_RISKS
    from nodrop.report.check_document import build_document
    from nodrop.revisions import is_base_on_empty_remote, open_base_state

    paths = paths or (".",)
    if "-" in paths:
        raise click.UsageError("standard input has no former state; name files or folders")
    if is_base_on_empty_remote(paths, base, os.environ.get(_PUSH_REMOTE_VARIABLE, "")):
        write_error_line(
            f"nothing checked: {base.partition('/')[0]} has no branch yet, so this push has no former state"
        )
        return 0
    choices = flags.choices(Config())
    with (
        handle_sigterm(),
        open_result_cache((*paths, base), nothing=no_cache, verbose=choices.verbose) as store,
        open_base_state(paths, base, exact=exact) as (former, name),
    ):

        def make_policy(config: Config) -> CheckPolicy:
            chosen = flags.choices(config)
            settings = stated.with_stated_facts(replace(chosen.settings, store=store, both=True))
            return CheckPolicy(settings=settings, fail_on=chosen.fail_on)

        named_config = flags.config() if flags.names_or_refuses_config else None
        found_policies = resolve_policies(paths, former, make_policy, named=named_config, work=config_from == "work")
        settings = found_policies.held.settings
        choices = replace(choices, settings=settings, fail_on=found_policies.held.fail_on)
        ask = CheckRequest(
            routing=True if batfish else routing,
            batfish=batfish,
            rollout=rollout != "off",
            gate=rollout == "gate",
            risk=next((model_risk for model_risk in MODEL_RISKS if model_risk == fail_on_risk), None),
            platform=stated.platform,
        )
        with ProgressLine(quiet=choices.quiet) as progress:
            checked, planned = check(
                paths,
                settings,
                former,
                name,
                ask,
                policies=found_policies,
                workers=lambda n: open_executor(n, choices.jobs),
                progress=progress,
            )
        if patch is not None and not checked.outcome.problems:
            write_patches(patch, planned, choices.jobs)
        code = exit_code(checked.outcome, choices.fail_on)
        stops = [stop for stop in checked.blockers if _is_blocking_finding(stop, choices.fail_on, rollout)]
        if code in (0, NOTHING) and stops:
            code = FOUND
        checked = replace(checked, blocked_by=_describe_failure_cause(checked, stops, choices.fail_on, code))
        every = replace(checked.outcome, findings=(*checked.outcome.findings, *checked.blockers))
        emit_outcome(
            every,
            choices,
            kind="check",
            result=checked,
            own=_FULL_REPORT_FORMATS,
            build_document=partial(build_document, checked),
        )
    if code == NOTHING and (checked.unchanged_fabrics or checked.fabrics):
        return 0
    if code == NOTHING:
        write_error_line("nothing to check")
    return code


def _describe_failure_cause(checked: "CheckedChange", stops: "list[Finding]", fail_on: str, code: int) -> str:
    """Return what fails a check, the worst first; "" where nothing does."""
    from nodrop.cli.main import FOUND, WRONG
    from nodrop.engine.finding import SEVERITIES, reaches_threshold

    if code == WRONG:
        return "what could not be read"
    if code != FOUND:
        return ""
    new = [finding for finding in checked.outcome.findings if reaches_threshold(finding.severity, fail_on)]
    causes = sorted((*new, *stops), key=lambda finding: SEVERITIES.index(finding.severity))
    if not causes:
        return "facts that are unknown"
    first = causes[0]
    return f"{first.severity} {first.rule}{f' on {first.device}' if first.device else ''}"


def _is_blocking_finding(finding: "Finding", fail_on: str, rollout: str) -> bool:
    """Whether a verdict on the change ends with 1: a build or a risk always does."""
    from nodrop.engine.finding import reaches_threshold
    from nodrop.results.rulings import BUILD_OUT_OF_DATE, RISK_OF_CHANGE, ROLLOUT_HAZARD

    if finding.rule == ROLLOUT_HAZARD.name and rollout != "gate":
        return False
    return finding.rule in (RISK_OF_CHANGE.name, BUILD_OUT_OF_DATE.name) or reaches_threshold(finding.severity, fail_on)
