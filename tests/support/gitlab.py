"""GitLab's runner and API, as far as a job sees them: a script in a shell, CI_* variables, notes of a merge request.

A job's script is run as gitlab-runner's shell executor writes it (shells/bash.go): one `eval` of all of it, that ends
at the first failure, with no input; variables are expanded once, those of the job before the file's.
"""

import json
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ruamel.yaml import YAML


def template(path: Path) -> Any:
    """Return what a file for GitLab says."""
    return YAML(typ="safe").load(path.read_text())


def variables(text: str, known: Mapping[str, str]) -> str:
    """Return a value with the variables in it expanded."""
    return re.sub(r"\$\{?(\w+)\}?", lambda found: known.get(found[1], ""), text)


def wanted(rules: list[Mapping[str, str]], known: Mapping[str, str]) -> bool:
    """Whether one of a job's rules holds: texts and variables compared by `==`, joined by `&&`."""

    def value(word: str) -> str:
        return word.strip('"') if word.startswith('"') else known.get(word.removeprefix("$"), "")

    def holds(rule: str) -> bool:
        sides = [part.split(" == ") for part in rule.split(" && ")]
        assert all(len(one) == 2 for one in sides), f"not a rule that is understood here: {rule}"
        return all(value(left) == value(right) for left, right in sides)

    return any(holds(rule["if"]) for rule in rules)


@dataclass(kw_only=True)
class Run:
    """How a job ended."""

    code: int
    log: str


def run(
    document: Mapping[str, Any], job: str, project: Path, given: Mapping[str, str], shell: str = "bash", **own: str
) -> Run:
    """Run the script of a job in a checked out project; `given` is predefined, `own` are variables of the project."""
    said = {**document.get(document[job].get("extends", ""), {}), **document[job]}
    stated = {**document["variables"], **own, **said.get("variables", {})}
    known = {"CI_JOB_NAME": job, "CI_PROJECT_DIR": str(project), "CI_JOB_TOKEN": "token of the job", **given}
    known |= {name: variables(value, known) for name, value in stated.items()}
    script = "\n".join((*said.get("before_script", ()), *said["script"]))
    written = (
        f"set -e\nif set -o | grep pipefail >/dev/null; then set -o pipefail; fi\n: | eval {shlex.quote(script)}\n"
    )
    base = {name: value for name, value in os.environ.items() if not name.startswith(("CI_", "GIT_", "NODROP_"))}
    done = subprocess.run(
        [shell],
        cwd=project,
        env={**base, "CI": "true", "GITLAB_CI": "true", **known},
        input=written,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
    )
    return Run(code=done.returncode, log=done.stdout)


@dataclass(kw_only=True)
class Notes:
    """Notes of a merge request, on a server of one's own, two on a page; the caller is user 1."""

    notes: list[dict[str, Any]] = field(default_factory=list)
    token: str = "of the project"
    url: str = ""

    def add(self, author: int, body: str) -> None:
        """Add a note of a user."""
        self.notes.append({"id": 100 + len(self.notes), "author": {"id": author}, "body": body})


@contextmanager
def api(notes: Notes) -> Iterator[None]:
    """Serve the notes of merge request 7 of project 42 as long as the context lasts."""
    of_request = "/api/v4/projects/42/merge_requests/7/notes"

    class Handler(BaseHTTPRequestHandler):
        def answer(self, status: int, what: object, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(json.dumps(what).encode())

        def body(self) -> str:
            text: str = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
            return text

        def do(self) -> None:
            at = urlsplit(self.path)
            if self.headers["PRIVATE-TOKEN"] != notes.token:
                self.answer(401, {"message": "401 Unauthorized"})
            elif (self.command, at.path) == ("GET", "/api/v4/user"):
                self.answer(200, {"id": 1})
            elif (self.command, at.path) == ("GET", of_request):
                page = int(parse_qs(at.query)["page"][0])
                more = str(page + 1) if 2 * page < len(notes.notes) else ""
                self.answer(200, notes.notes[2 * page - 2 : 2 * page], X_Next_Page=more)
            elif (self.command, at.path) == ("POST", of_request):
                notes.add(1, self.body())
                self.answer(201, notes.notes[-1])
            elif self.command == "PUT" and at.path.startswith(f"{of_request}/"):
                (note,) = (one for one in notes.notes if str(one["id"]) == at.path.rpartition("/")[2])
                note["body"] = self.body()
                self.answer(200, note)
            else:
                self.answer(404, {"message": "404 Not Found"})

        do_GET = do_POST = do_PUT = do  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    notes.url = f"http://127.0.0.1:{server.server_port}/api/v4"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
