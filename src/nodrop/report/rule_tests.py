"""What came of rules' examples: as text, JSON, or JUnit XML with a case for each rule."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from nodrop.report.document_text import render_lines
from nodrop.report.escape import escape_lone_surrogates, escape_terminal
from nodrop.report.json import encode_json_document
from nodrop.report.junit import format_xml_attributes
from nodrop.rule_tests import RuleExampleFault, RuleTestResult

TEST_REPORT_FORMATS = ("text", "json", "junit")


def render(results: Sequence[RuleTestResult], form: str) -> bytes:
    """Write the results in one of FORMATS, in UTF-8."""
    if form == "json":
        return encode_json_document(_results_document(results))
    page = (
        "".join(f"{line}\n" for line in _junit_lines(results))
        if form == "junit"
        else render_lines(_result_lines(results))
    )
    return escape_lone_surrogates(page).encode()


def _result_lines(results: Sequence[RuleTestResult]) -> Iterator[str]:
    width = max((len(_area_and_rule_name(rule_test)) for rule_test in results), default=0)
    for test in results:
        tried = f"{test.bad} bad, {test.good} good" + (f", {test.mutants} changes" if test.mutants else "")
        on = f" on {_join_names(test.tried_on)}" if test.tried_on else ""
        yield f"{'FAIL' if test.faults else 'ok  '}  {_area_and_rule_name(test):{width}}  {tried}{on}"
        yield from (f"  {_format_fault_line(test, fault)}" for fault in test.faults)
        yield from (f"  {name}: {platform} cannot express it: {why}" for name, platform, why in test.unsupported)
    failed = sum(bool(rule_test.faults) for rule_test in results)
    yield f"{len(results)} {'rule' if len(results) == 1 else 'rules'}: {len(results) - failed} ok, {failed} failed"


def _area_and_rule_name(result: RuleTestResult) -> str:
    return f"{result.rule.area}/{result.rule.name}"


def _format_fault_line(result: RuleTestResult, fault: RuleExampleFault) -> str:
    on = f" on {_join_names(fault.platforms)}" if fault.platforms else ""
    return f"{result.rule.path}:{fault.line}:{fault.column}: {fault.where}{on}: {fault.message}"


def _join_names(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _results_document(results: Sequence[RuleTestResult]) -> dict[str, object]:
    failed = sum(bool(test.faults) for test in results)
    return {
        "version": 2,
        "rules": [
            {
                "name": test.rule.name,
                "area": test.rule.area,
                "file": escape_lone_surrogates(test.rule.path),
                "passed": not test.faults,
                "bad": test.bad,
                "good": test.good,
                "platforms": list(test.tried_on),
                "mutants": test.mutants,
                "faults": [
                    {
                        "at": escape_lone_surrogates(fault.where),
                        "line": fault.line,
                        "column": fault.column,
                        "platforms": list(fault.platforms),
                        "message": escape_lone_surrogates(fault.message),
                    }
                    for fault in test.faults
                ],
                "unsupported": [
                    {"example": example, "platform": platform, "reason": escape_lone_surrogates(reason)}
                    for example, platform, reason in test.unsupported
                ],
            }
            for test in results
        ],
        "summary": {"rules": len(results), "passed": len(results) - failed, "failed": failed},
    }


def _junit_lines(results: Sequence[RuleTestResult]) -> Iterator[str]:
    counts = {"tests": len(results), "failures": sum(bool(rule_test.faults) for rule_test in results), "errors": 0}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {format_xml_attributes(name='nodrop test-rules', **counts)}>"
    yield f"  <testsuite {format_xml_attributes(name='rules', **counts)}>"
    for test in results:
        case = (
            f"    <testcase {format_xml_attributes(classname=test.rule.area, name=test.rule.name, file=test.rule.path)}"
        )
        if not test.faults:
            yield f"{case}/>"
            continue
        body = escape(escape_terminal("\n".join(_format_fault_line(test, fault) for fault in test.faults), lines=True))
        yield f"{case}>"
        yield f"      <failure {format_xml_attributes(type='rule', message=test.faults[0].message)}>{body}</failure>"
        yield "    </testcase>"
    yield "  </testsuite>"
    yield "</testsuites>"
