"""action.yml as GitHub's runner takes it: each event's state before, what is told where, and what no input can do."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from support.actions import Job, action
from support.gitops import committed, environment, git, site
from support.own_repository import offline
from support.places import ROOT
from support.requirements import require

ACTION = action(ROOT / "action.yml")
GIT = {name: value for name, value in environment().items() if name.startswith("GIT_")}
NUMBER = 7
SOURCE = "a-site/fabrics"
RECORDER = """#!/bin/sh
printf '%s\\n' "$@" >"$RECORDED"
"""
GH = """#!/usr/bin/env python3
import json, os, subprocess, sys
words = sys.argv[1:]
fields = [words[at + 1] for at, word in enumerate(words) if word in ("--field", "--raw-field")]
said = dict(field.split("=", 1) for field in fields)
if said.get("body", "").startswith("@"):
    said["body"] = open(said["body"][1:]).read()
told = {"words": words, "fields": said, "mark": os.environ["MARK"], "host": os.environ["GH_HOST"]}
with open(os.environ["GH_ASKED"], "a") as asked:
    print(json.dumps(told), file=asked)
if os.environ.get("GH_REFUSES"):
    print("gh: Resource not accessible by integration (HTTP 403)", file=sys.stderr)
    sys.exit(1)
if "query($owner" in said.get("query", ""):
    for page in json.loads(os.environ.get("GH_PAGES", "[]")):
        subprocess.run(["jq", "-r", words[words.index("--jq") + 1]], input=json.dumps(page), text=True, check=True)
    print(os.environ.get("GH_EARLIER", ""), end="")
"""


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Hub:
    """A repository on a server, and a runner that checks it out and uses the action."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.author = folder / "author"
        self.server = folder / "server.git"
        self.base = ""

    def publish(self) -> None:
        """Put what the author has on the server."""
        if not self.server.exists():
            git(self.folder, "init", "-q", "--bare", "-b", "main", self.server)
            git(self.server, "config", "uploadpack.allowAnySHA1InWant", "true")
            git(self.author, "remote", "add", "origin", self.server)
        git(self.author, "push", "-q", "--force", "origin", "--all")

    def change(self, branch: str, text: str = "changed") -> str:
        """Commit a change on a branch of its own, and return the commit."""
        git(self.author, "checkout", "-q", "-B", branch)
        (self.author / "note.txt").write_text(text)
        return committed(self.author, text)

    def checkout(self, revision: str, *options: str) -> Path:
        """Check out as actions/checkout does: fetch one revision, of one commit unless options say otherwise."""
        workspace = self.folder / "workspace"
        shutil.rmtree(workspace, ignore_errors=True)
        git(self.folder, "init", "-q", "-b", "unborn", workspace)
        git(workspace, "remote", "add", "origin", f"file://{self.server}")
        git(workspace, "fetch", "-q", "--no-tags", *(options or ("--depth=1",)), "origin", revision)
        git(workspace, "checkout", "-q", "--detach", "FETCH_HEAD")
        return workspace

    def merged(self, branch: str) -> str:
        """Make what GitHub makes for a pull request: the merge of its branch into main, as refs/pull/N/merge."""
        git(self.author, "checkout", "-q", "--detach", "main")
        git(self.author, "merge", "-q", "--no-ff", "-m", "merged", branch)
        git(self.author, "push", "-q", "--force", "origin", f"HEAD:refs/pull/{NUMBER}/merge")
        merge = git(self.author, "rev-parse", "HEAD")
        git(self.author, "checkout", "-q", branch)
        return merge

    def job(self, workspace: Path, event: str, **more: Any) -> Job:
        """Return a job of an event, with `gh` on its path, and nodrop as it is here in place of an installation."""
        scratch = self.folder / "runner"
        shutil.rmtree(scratch, ignore_errors=True)
        executable(scratch / "bin" / "gh", GH)
        (scratch / "home").mkdir()
        (scratch / "home" / "venv").symlink_to(sys.prefix)
        extra = more.pop("environment", {})
        variables = {
            **GIT,
            "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}",
            "GH_ASKED": str(scratch / "asked"),
            "PYTHONPATH": str(ROOT / "src"),
            **extra,
        }
        given = {"install": {"home": str(scratch / "home")}}
        return Job(workspace=workspace, scratch=scratch, event=event, environment=variables, given=given, **more)

    def pull_request(self, workspace: Path, sha: str, **more: Any) -> Job:
        """Return the job of a pull request that was opened at `base`."""
        payload = {
            "pull_request": {
                "number": NUMBER,
                "base": {"sha": self.base},
                "head": {"repo": {"full_name": more.pop("source", SOURCE)}},
            }
        }
        ref = more.pop("ref", f"refs/pull/{NUMBER}/merge")
        return self.job(workspace, "pull_request", payload=payload, ref=ref, sha=sha, **more)


@pytest.fixture
def hub(tmp_path: Path) -> Hub:
    """A server with one commit on the branch main, whose files nobody is to run."""
    made = Hub(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main", made.author)
    for module in ("ensurepip", "json", "venv"):
        (made.author / f"{module}.py").write_text("raise SystemExit('Python runs a file of the change')\n")
    made.base = committed(made.author, "first")
    made.publish()
    return made


@pytest.fixture
def fabrics(tmp_path: Path) -> Hub:
    """A server with the example repository on the branch main."""
    made = Hub(tmp_path)
    site(made.author)
    made.base = git(made.author, "rev-parse", "HEAD")
    made.publish()
    return made


def asked(job: Job, **inputs: str) -> list[str]:
    """Return the words that nodrop is run with."""
    venv = job.scratch / "home" / "venv"
    venv.unlink()
    executable(venv / "bin" / "nodrop", RECORDER)
    (venv / "bin" / "python").symlink_to(sys.executable)
    recorded = job.scratch / "recorded"
    job.environment = {**job.environment, "RECORDED": str(recorded)}
    assert job.use(ROOT, comment="false", **inputs) == 0, job.log
    return recorded.read_text().splitlines()


def base_of(words: list[str]) -> list[str]:
    """Return the words that say what is compared with."""
    assert words[:2] == ["check", "--base"]
    return words[2 : words.index("--format")]


def calls(job: Job) -> list[Any]:
    """Return what was asked of GitHub."""
    file = job.scratch / "asked"
    return [json.loads(row) for row in file.read_text().splitlines()] if file.exists() else []


def test_no_script_is_made_of_inputs() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"]]
    assert [run for run in scripts if "${{" in run] == []
    assert all(step.keys() <= {"name", "id", "if", "shell", "env", "run"} for step in ACTION["runs"]["steps"])


def test_a_fork_gets_nothing_of_the_cache(hub: Hub) -> None:
    topic = hub.change("topic")
    hub.publish()
    workspace = hub.checkout("refs/heads/topic", "--depth=2147483647")
    for source, words in ((SOURCE, 0), ("somebody/fabrics", 1), ("", 1)):
        job = hub.pull_request(workspace, topic, ref="refs/heads/topic", source=source)
        assert asked(job).count("--no-cache") == words


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["exclude: [leaf1]\n", "fail_on: never\n"])
def test_a_pull_request_does_not_bring_the_policy_by_which_it_passes(fabrics: Hub, policy: str) -> None:
    git(fabrics.author, "checkout", "-q", "-B", "topic")
    file = fabrics.author / "build" / "pod1" / "leaf1" / "config_db.json"
    file.write_text(re.sub(r'"PFC_WD": \{.*?\n    \}', '"PFC_WD": {}', file.read_text(), flags=re.DOTALL))
    (fabrics.author / "nodrop.yaml").write_text(policy)
    committed(fabrics.author, "without watchdogs, and nothing to see")
    merge = fabrics.merged("topic")
    job = fabrics.pull_request(fabrics.checkout(f"refs/pull/{NUMBER}/merge"), merge)
    assert job.use(ROOT, comment="false") == 1, job.log
    assert "::error title=policy-changed,file=nodrop.yaml" in job.log
    assert "**error** `policy-changed`" in job.summary


def test_the_merge_of_a_pull_request_is_compared_with_the_branch_that_it_goes_to(hub: Hub) -> None:
    """Main has moved on since the pull request was opened, which is no part of it: the event's base is out of date."""
    hub.change("topic")
    git(hub.author, "checkout", "-q", "main")
    (hub.author / "other.txt").write_text("of others\n")
    main = committed(hub.author, "of others")
    merge = hub.merged("topic")
    for options in (("--depth=1",), ("--depth=2147483647",)):
        workspace = hub.checkout(f"refs/pull/{NUMBER}/merge", *options)
        assert base_of(asked(hub.pull_request(workspace, merge))) == [main, "--exact"]
        assert git(workspace, "cat-file", "-t", main) == "commit"
        assert git(workspace, "rev-parse", "--is-shallow-repository") == str(options[0] == "--depth=1").lower()


def test_the_branch_of_a_pull_request_is_compared_with_where_it_left(hub: Hub) -> None:
    topic = hub.change("topic")
    hub.publish()
    workspace = hub.checkout("refs/heads/topic", "--depth=2147483647")
    assert base_of(asked(hub.pull_request(workspace, hub.merged("topic")))) == [hub.base]
    assert git(workspace, "rev-parse", "HEAD") == topic


def test_a_push_is_compared_with_what_was_there(hub: Hub) -> None:
    """However the branch came to what it is: also by force, with a history that has nothing of the former one."""
    main = hub.change("main")
    hub.publish()
    payload = {"before": hub.base, "repository": {"default_branch": "main"}}
    job = hub.job(hub.checkout("refs/heads/main"), "push", payload=payload, sha=main)
    assert base_of(asked(job)) == [hub.base, "--exact"]

    git(hub.author, "checkout", "-q", "--orphan", "anew")
    forced = committed(hub.author, "anew")
    git(hub.author, "branch", "-q", "-f", "main", "anew")
    hub.publish()
    workspace = hub.checkout("refs/heads/main", "--depth=2147483647")
    job = hub.job(workspace, "push", payload=payload | {"before": main}, sha=forced)
    assert base_of(asked(job)) == [main, "--exact"]
    assert git(workspace, "rev-parse", "--is-shallow-repository") == "false"


NOTHING = "0" * 40


def test_a_new_branch_is_compared_with_the_default_branch_and_the_first_push_with_nothing(hub: Hub) -> None:
    topic = hub.change("topic")
    hub.publish()
    payload = {"before": NOTHING, "repository": {"default_branch": "main"}}
    workspace = hub.checkout("refs/heads/topic")
    job = hub.job(workspace, "push", payload=payload, ref="refs/heads/topic", sha=topic)
    assert base_of(asked(job)) == [hub.base]
    git(workspace, "update-ref", "refs/remotes/origin/main", hub.base)
    job = hub.job(workspace, "push", payload=payload, ref="refs/heads/topic", sha=topic)
    assert base_of(asked(job)) == ["refs/remotes/origin/main"]

    job = hub.job(hub.checkout("refs/heads/main"), "push", payload=payload, sha=hub.base)
    (base,) = base_of(asked(job))
    assert list(Path(base).iterdir()) == []


def test_a_merge_group_is_compared_with_what_it_is_to_follow(hub: Hub) -> None:
    queued = hub.change("queued")
    hub.publish()
    payload = {"merge_group": {"base_sha": hub.base}}
    job = hub.job(hub.checkout(queued), "merge_group", payload=payload, ref="refs/heads/gh-readonly-queue/main/x")
    assert base_of(asked(job)) == [hub.base, "--exact"]


def test_what_cannot_be_fetched_is_told_with_what_to_set(hub: Hub) -> None:
    hub.change("topic")
    merge = hub.merged("topic")
    job = hub.pull_request(hub.checkout(f"refs/pull/{NUMBER}/merge"), merge)
    shutil.move(hub.server, hub.folder / "gone")
    assert job.use(ROOT) == 2
    assert f"::error title=nodrop::{hub.base} is to be compared with, and git could not fetch it" in job.log
    assert "`fetch-depth: 0`" in job.log


def test_an_event_with_nothing_before_it_wants_a_base(hub: Hub) -> None:
    workspace = hub.checkout("refs/heads/main")
    job = hub.job(workspace, "schedule", sha=hub.base)
    assert job.use(ROOT) == 2
    assert "::error title=nodrop::the event schedule has no state before it: give this action a `base`" in job.log
    assert base_of(asked(hub.job(workspace, "schedule", sha=hub.base), base="v1.2")) == ["v1.2"]


def test_inputs_are_words_and_nothing_else(hub: Hub) -> None:
    hub.change("topic")
    merge = hub.merged("topic")
    workspace = hub.checkout(f"refs/pull/{NUMBER}/merge")
    evil = "$(touch pwned) `touch pwned`'\"; touch pwned; #"
    words = asked(
        hub.pull_request(workspace, merge),
        base=evil,
        paths=f"pod 1\n\n  --help\n{evil}\n",
        arguments=f"--profile={evil}\n--no-routing\n",
        fail_on="error",
        patch="the patches",
        sarif=evil,
    )
    assert base_of(words) == [evil]
    assert words[words.index("--fail-on") :] == [
        *("--fail-on", "error", "--format", f"sarif={evil}", "--patch", "the patches"),
        *(f"--profile={evil}", "--no-routing", "--", "pod 1", "--help", evil),
    ]
    assert not [path for path in hub.folder.rglob("pwned") if path.exists()]


def unwatched(hub: Hub) -> str:
    """Take the PFC watchdog from the ports of a leaf by hand, as a pull request does; return its merge."""
    git(hub.author, "checkout", "-q", "-B", "topic")
    file = hub.author / "build" / "pod1" / "leaf1" / "config_db.json"
    text = file.read_text()
    new = re.sub(r'"PFC_WD": \{.*?\n    \}', '"PFC_WD": {}', text, flags=re.DOTALL)
    assert new != text
    file.write_text(new)
    committed(hub.author, "without watchdogs")
    return hub.merged("topic")


@pytest.mark.slow
def test_a_change_that_breaks_a_fabric_is_told_everywhere_and_stopped(fabrics: Hub) -> None:
    merge = unwatched(fabrics)
    workspace = fabrics.checkout(f"refs/pull/{NUMBER}/merge")
    job = fabrics.pull_request(workspace, merge)
    assert job.use(ROOT, paths="build\nintents", patch="patches", sarif="nodrop.sarif") == 1, job.log
    report = Path(job.outputs["report"]).read_text()
    decision = "### nodrop: ❌ blocked by error pfc-without-watchdog on leaf1; "
    assert report.startswith(f"{decision}7 new errors, 8 new warnings; 1 build not as the intent has it; ")
    assert f"<sub>compared with `{fabrics.base[:12]}`" in report
    assert job.summary == report
    told = {name: value for name, value in job.outputs.items() if name not in ("report", "json")}
    assert told == {"exit-code": "1", "changed": "true", "patch": "patches", "sarif": "nodrop.sarif"}
    assert '"summary"' in Path(job.outputs["json"]).read_text()
    assert [path.name for path in (workspace / "patches").iterdir() if path.is_dir()] == ["leaf1"]
    assert '"version": "2.1.0"' in (workspace / "nodrop.sarif").read_text()
    key = re.search("^::stop-commands::(.*)", job.log, flags=re.MULTILINE)
    assert key
    told, _, commands = job.log.partition(f"\n::{key[1]}::\n")
    assert "error[pfc-without-watchdog]" in told
    first, second, *_ = commands.splitlines()
    assert first.startswith("::error title=pfc-without-watchdog,file=build/pod1/leaf1/config_db.json,")
    assert second.startswith("::error title=build-unlike-intent,file=build/pod1/leaf1/config_db.json,")
    listing, writing = calls(job)
    assert {listing["host"], writing["host"]} == {"github.example.com"}
    assert (listing["fields"]["owner"], listing["fields"]["name"]) == ("a-site", "fabrics")
    assert listing["fields"]["number"] == str(NUMBER)
    assert writing["words"][:3] == ["api", "--silent", f"repos/a-site/fabrics/issues/{NUMBER}/comments"]
    assert writing["fields"]["body"] == f"<!-- nodrop check: nodrop -->\n{report}"

    # The change is mended, and the same comment says so.
    git(fabrics.author, "checkout", "-q", "-B", "topic", "main")
    (fabrics.author / "README.md").write_text("About our fabrics.\n")
    committed(fabrics.author, "words")
    merge = fabrics.merged("topic")
    workspace = fabrics.checkout(f"refs/pull/{NUMBER}/merge")
    job = fabrics.pull_request(workspace, merge, environment={"GH_EARLIER": "IC_1\nIC_2\n"})
    assert job.use(ROOT, comment_key="pods") == 0, job.log
    assert (job.outputs["changed"], job.outputs["patch"], job.outputs["sarif"]) == ("false", "", "")
    listing, writing = calls(job)
    assert listing["mark"] == "<!-- nodrop check: pods -->"
    assert (writing["fields"]["id"], writing["words"][:2]) == ("IC_1", ["api", "graphql"])
    assert "updateIssueComment" in writing["fields"]["query"]
    assert writing["fields"]["body"].startswith(
        "<!-- nodrop check: pods -->\n### nodrop: ✅ passes; no new finding; nothing changes\n"
    )


def reported(job: Job, code: int, *, changed: int) -> Job:
    """Have nodrop end so, with a report that says how many fabrics change."""
    venv = job.scratch / "home" / "venv"
    venv.unlink()
    text = f"""#!/bin/sh
for word; do case $word in
  markdown=*) echo '### nodrop: told' >"${{word#*=}}" ;;
  json=*) echo '{{"summary": {{"changed": {changed}}}}}' >"${{word#*=}}" ;;
esac; done
exit {code}
"""
    executable(venv / "bin" / "nodrop", text)
    (venv / "bin" / "python").symlink_to(sys.executable)
    return job


def test_a_pull_request_that_changes_no_fabric_gets_no_comment(hub: Hub) -> None:
    hub.change("topic")
    merge = hub.merged("topic")
    workspace = hub.checkout(f"refs/pull/{NUMBER}/merge")
    for code, changed, said in ((0, 0, 1), (0, 1, 2), (2, 0, 2)):
        job = reported(hub.pull_request(workspace, merge), code, changed=changed)
        assert job.use(ROOT) == code, job.log
        assert len(calls(job)) == said
    job = reported(hub.pull_request(workspace, merge), 0, changed=1)
    assert job.use(ROOT, comment="false") == 0
    assert (calls(job), job.ran) == ([], ["nodrop check", "end as nodrop check did"])


def page(*comments: tuple[str, str, bool]) -> dict[str, Any]:
    """Return what GitHub answers for a page of comments: each with its id, its text, and whether it is one of ours."""
    nodes = [{"id": one, "body": body, "viewerDidAuthor": own} for one, body, own in comments]
    told = {"nodes": nodes, "pageInfo": {"hasNextPage": False, "endCursor": None}}
    return {"data": {"repository": {"pullRequest": {"comments": told}}}}


def test_a_comment_is_written_over_where_the_action_wrote_it_and_nowhere_else(hub: Hub) -> None:
    """Not where somebody else has copied its mark, nor where its token has written something else."""
    require("jq", shutil.which("jq") is not None, "there is no jq (apt install jq)")
    hub.change("topic")
    merge = hub.merged("topic")
    workspace = hub.checkout(f"refs/pull/{NUMBER}/merge")
    mark = "<!-- nodrop check: nodrop -->"
    others = page(
        ("IC_1", f"{mark}\n### of somebody else", False),
        ("IC_2", "of another tool", True),
        ("IC_3", f"> {mark}\nquoted", True),
        ("IC_4", "<!-- nodrop check: pods -->\n### of another use", True),
    )
    own = page(("IC_5", f"{mark}\n### nodrop: as it was", True), ("IC_6", f"{mark}\n### twice", True))
    for pages, written in (([others], None), ([others, own], "IC_5")):
        environment = {"GH_PAGES": json.dumps(pages)}
        job = reported(hub.pull_request(workspace, merge, environment=environment), 0, changed=1)
        assert job.use(ROOT) == 0, job.log
        _, writing = calls(job)
        assert writing["fields"].get("id") == written
        assert ("updateIssueComment" in writing["fields"].get("query", "")) == (written is not None)


def test_a_pull_request_of_a_fork_has_the_summary(hub: Hub) -> None:
    hub.change("topic")
    merge = hub.merged("topic")
    workspace = hub.checkout(f"refs/pull/{NUMBER}/merge")
    job = reported(hub.pull_request(workspace, merge, environment={"GH_REFUSES": "1"}), 1, changed=1)
    assert job.use(ROOT) == 1, job.log
    assert "::notice title=nodrop::the comment could not be written" in job.log
    assert job.summary == "### nodrop: told\n"


def test_a_command_that_is_refused_is_told_in_the_summary(hub: Hub) -> None:
    hub.change("topic")
    merge = hub.merged("topic")
    job = hub.pull_request(hub.checkout(f"refs/pull/{NUMBER}/merge"), merge)
    assert job.use(ROOT, arguments="--no-such-option") == 2
    assert job.summary.startswith("### nodrop: nothing could be told\n\n`nodrop check` ended with exit code 2")
    assert "No such option '--no-such-option'" in job.log
    assert (job.outputs["exit-code"], job.outputs["changed"]) == ("2", "")


def test_files_of_another_user_are_read(hub: Hub) -> None:
    hub.change("topic")
    merge = hub.merged("topic")
    workspace = hub.checkout(f"refs/pull/{NUMBER}/merge", "--depth=2147483647")
    job = hub.pull_request(workspace, merge, environment={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert base_of(asked(job)) == [hub.base, "--exact"]


def test_a_python_that_is_too_old_is_told(hub: Hub) -> None:
    job = hub.job(hub.checkout("refs/heads/main"), "push")
    job.given = {}
    executable(job.scratch / "bin" / "python3.9", "#!/bin/sh\nexit 1\n")
    assert job.use(ROOT, python="python3.9") == 2
    assert "::error title=nodrop::`python3.9` is no Python 3.11 or newer" in job.log


@pytest.mark.slow
def test_the_action_installs_the_nodrop_that_it_is_part_of(hub: Hub) -> None:
    job = hub.job(hub.checkout("refs/heads/main"), "push", sha=hub.base)
    job.given = {}
    job.environment = {**job.environment, **offline(), "PYTHONPATH": ""}
    job.payload = {"before": NOTHING, "repository": {"default_branch": "main"}}
    assert job.use(ROOT, python=sys.executable) == 3, job.log
    assert "nothing changes" in job.summary
