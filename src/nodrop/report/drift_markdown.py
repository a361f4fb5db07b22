"""Drift as a comment or a page of a pipeline: the verdict and one table at first sight, all else in folds."""

from nodrop.report.check_markdown import findings_of, fitting
from nodrop.report.drift_page import KEYS, ORDER, OWN, SIDES, UNSAID, VERBS, WAY, own, sides, summary
from nodrop.report.escape import markdown
from nodrop.report.plan_markdown import MARKS, order, outer, places, render_fold
from nodrop.report.plan_page import blocks, devices, unsaid
from nodrop.report.plan_words import DIFFERING
from nodrop.report.rollout_page import explain_order, hazards
from nodrop.results.drifted import Drifted


def render(drifted: Drifted) -> str:
    """Write drift as GitHub's and GitLab's Markdown; no name in it is markup or HTML.

    Parts that would not fit into a comment are left out, the last first, and the text states that.
    """
    plan = drifted.drift.plan
    sections = [
        [f"### nodrop: {markdown(summary(drifted))}"],
        [f"- {MARKS['-']} {markdown(line)}" for line in sides(drifted)],
        [f"- {MARKS[mark]} {markdown(line)}" for mark, line in devices(plan, VERBS)],
        list(findings_of(drifted.outcome, "")),
        [f"- {MARKS['-']} {markdown(str(problem))}" for problem in drifted.outcome.problems],
        *places(plan, blocks(plan.told), "what differs", DIFFERING),
        outer(plan, KEYS),
        [f"- {MARKS['!']} {WAY}, {markdown(line)}" for line in hazards(plan)],
        [f"- {markdown(line)}" for line in explain_order(plan)],
        order(plan, ORDER.capitalize()),
        list(render_fold(UNSAID.capitalize(), [f"- {markdown(line)}" for line in unsaid(plan, SIDES)])),
        list(render_fold(OWN.capitalize(), [f"- {markdown(line)}" for line in own(drifted)])),
    ]
    return "\n\n".join(fitting(["\n".join(lines) for lines in sections if lines])) + "\n"
