"""`nodrop prove`: a proof that no deadlock can form, or the circle of buffers that can; and the reach of a pause."""

import json
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import INPUT, OUTPUT, SectionedHelpCommand, WordChoice, grouped_option

if TYPE_CHECKING:
    from nodrop.model.reading import Reading
    from nodrop.proofs.proving import DeadlockProof

FINDINGS_EXIT_CODE = 1
FAIL_ON_CHOICES = ("error", "warning", "unknown", "never")


@click.command(cls=SectionedHelpCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@grouped_option(
    INPUT,
    "--claim",
    type=WordChoice(("deadlock", "storm")),
    default="deadlock",
    show_default=True,
    help="What to compute: whether a deadlock can form, or what stops if a NIC pauses forever.",
)
@grouped_option(
    INPUT,
    "--failures",
    type=click.IntRange(0, 8),
    default=0,
    show_default=True,
    metavar="K",
    help="Check up to K failed cables and switches, where not all failures are proved harmless.",
)
@grouped_option(
    OUTPUT, "--certificate", metavar="FILE", type=click.Path(), help="Also write the proof for other programs."
)
@grouped_option(
    OUTPUT,
    "--format",
    "form",
    type=WordChoice(("text", "json")),
    default="text",
    show_default=True,
    help="Output format.",
)
@grouped_option(
    OUTPUT,
    "--fail-on",
    type=WordChoice(FAIL_ON_CHOICES),
    default="warning",
    show_default=True,
    help="Exit 1 for a deadlock as cabled (error), also after failures (warning), also for unknown facts (unknown).",
)
def command(
    paths: tuple[str, ...],
    claim: str,
    failures: int,
    certificate: str | None,
    form: str,
    fail_on: str,
) -> int:
    """Prove that no deadlock can form, or how far a pause spreads.

    PATH is as for `nodrop lint`; all of it is one fabric. From routes and QoS maps, nodrop computes which lossless
    buffer waits for which. Without a circle no deadlock can form. If no switch announces upward what it hears from
    above, that is proved for any number of failures.

    A circle is shown with the packets of each hop, and with the least change that breaks it. With --claim storm, a NIC
    of each kind of host port pauses forever: shown are the ports that stop, when they stop, and the watchdog that
    ends it. Exit 1 if none does.

    \b
    Examples:
      nodrop prove intent.yaml
      nodrop prove build --failures 2 --certificate proof.json
      nodrop prove build --claim storm
    """
    from nodrop.cli.output import save_report, write_output
    from nodrop.errors import InputProblems
    from nodrop.fabric_readings import require_one_fabric_reading
    from nodrop.inputs import find_inputs
    from nodrop.judging import CheckSettings
    from nodrop.model.index import Index
    from nodrop.proofs.proving import prove_deadlock
    from nodrop.report.json import encode_json_document
    from nodrop.report.proof import proof_facts, render_proof
    from nodrop.report.storm import has_endless_freeze_beyond_host, pause_storm_facts, render_storms

    if claim == "storm" and (certificate is not None or failures):
        raise click.UsageError("--certificate and --failures are for --claim deadlock")
    reading = require_one_fabric_reading(find_inputs(paths), CheckSettings(), " ".join(paths))
    if reading.problems:
        raise InputProblems(reading.problems)
    index = Index(reading.fabric)
    if claim == "storm":
        storms = pause_storm_facts(index)
        write_output(encode_json_document(storms).decode() if form == "json" else render_storms(storms))
        unknown = fail_on == "unknown" and bool(storms["missing"])
        return (
            FINDINGS_EXIT_CODE
            if unknown or (fail_on in ("warning", "unknown") and has_endless_freeze_beyond_host(storms))
            else 0
        )
    proof = prove_deadlock(index, failures)
    facts = proof_facts(proof)
    if certificate is not None:
        save_report(certificate, _certificate_text(proof, reading))
    write_output(encode_json_document(facts).decode() if form == "json" else render_proof(facts))
    return FINDINGS_EXIT_CODE if _reaches_threshold(proof, fail_on) else 0


def _certificate_text(proof: "DeadlockProof", reading: "Reading") -> bytes:
    from nodrop.opening import content_digest
    from nodrop.proofs.certificate import build_certificate

    files = [
        (source.display, source.digest or content_digest(source.held or b""))
        for sources in reading.sources.values()
        for source in sources
    ]
    failed = () if proof.search is None else proof.search.failed_ports
    invariants = proof.invariants if proof.verdict in ("free", "unknown") else None
    document = build_certificate(proof.decisive_check, invariants, files, failed)
    return (json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n").encode()


def _reaches_threshold(proof: "DeadlockProof", fail_on: str) -> bool:
    """Whether a proof reaches the threshold."""
    if fail_on == "never":
        return False
    if proof.verdict == "possible" or (fail_on == "unknown" and proof.check.missing):
        return True
    return proof.verdict == "possible-after-failures" and fail_on != "error"
