"""What came of rules' examples: as text, JSON, or JUnit XML with a case for each rule."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from nodrop.report.escape import terminal, utf8
from nodrop.report.json import dumped
from nodrop.report.junit import attributes
from nodrop.rule_tests import Fault, Tested

FORMATS = ("text", "json", "junit")


def render(results: Sequence[Tested], form: str) -> bytes:
    """Write the results in one of FORMATS, in UTF-8."""
    if form == "json":
        return dumped(_document(results))
    lines = _junit(results) if form == "junit" else _text(results)
    return utf8("".join(f"{line}\n" for line in lines)).encode()


def _text(results: Sequence[Tested]) -> Iterator[str]:
    width = max((len(_name(each)) for each in results), default=0)
    for each in results:
        tried = f"{each.bad} bad, {each.good} good" + (f", {each.mutants} changes" if each.mutants else "")
        on = f" on {_join_names(each.tried_on)}" if each.tried_on else ""
        yield f"{'FAIL' if each.faults else 'ok  '}  {_name(each):{width}}  {tried}{on}"
        yield from (f"  {terminal(_line(each, fault))}" for fault in each.faults)
        yield from (f"  {terminal(f'{one}: {platform} cannot say it: {why}')}" for one, platform, why in each.unsaid)
    failed = sum(bool(each.faults) for each in results)
    yield f"{len(results)} {'rule' if len(results) == 1 else 'rules'}: {len(results) - failed} ok, {failed} failed"


def _name(result: Tested) -> str:
    return f"{result.rule.area}/{result.rule.name}"


def _line(result: Tested, fault: Fault) -> str:
    on = f" on {_join_names(fault.platforms)}" if fault.platforms else ""
    return f"{result.rule.path}:{fault.line}:{fault.column}: {fault.where}{on}: {fault.message}"


def _join_names(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _document(results: Sequence[Tested]) -> dict[str, object]:
    failed = sum(bool(each.faults) for each in results)
    return {
        "version": 1,
        "rules": [
            {
                "name": each.rule.name,
                "area": each.rule.area,
                "file": utf8(each.rule.path),
                "passed": not each.faults,
                "bad": each.bad,
                "good": each.good,
                "platforms": list(each.tried_on),
                "mutants": each.mutants,
                "faults": [
                    {
                        "at": utf8(fault.where),
                        "line": fault.line,
                        "column": fault.column,
                        "platforms": list(fault.platforms),
                        "message": utf8(fault.message),
                    }
                    for fault in each.faults
                ],
                "unsaid": [
                    {"example": one, "platform": platform, "reason": utf8(reason)}
                    for one, platform, reason in each.unsaid
                ],
            }
            for each in results
        ],
        "summary": {"rules": len(results), "passed": len(results) - failed, "failed": failed},
    }


def _junit(results: Sequence[Tested]) -> Iterator[str]:
    counts = {"tests": len(results), "failures": sum(bool(each.faults) for each in results), "errors": 0}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f"<testsuites {attributes(name='nodrop test-rules', **counts)}>"
    yield f"  <testsuite {attributes(name='rules', **counts)}>"
    for each in results:
        case = f"    <testcase {attributes(classname=each.rule.area, name=each.rule.name, file=each.rule.path)}"
        if not each.faults:
            yield f"{case}/>"
            continue
        body = escape(terminal("\n".join(_line(each, fault) for fault in each.faults), lines=True))
        yield f"{case}>"
        yield f"      <failure {attributes(type='rule', message=each.faults[0].message)}>{body}</failure>"
        yield "    </testcase>"
    yield "  </testsuite>"
    yield "</testsuites>"
