"""Send the service everything its description allows, and much that it does not: no answer may be a 5xx of its own.

``python benchmarks/fuzz_service.py [--examples 50]`` starts a service in a process of its own and runs schemathesis
(an extra of developers) over its `/openapi.json`. The two answers without an end are left out; tests look at those.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

SERVED = Path(__file__).parents[1] / "tests" / "served_games.py"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
ENDLESS = ("/api/feed", "/camera.mjpeg")


def main() -> int:
    """Start, send, and say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50, help="of every operation")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(SERVED), f"{folder}/games.db", "--unlimited", "--lan"]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            if service.stdout is None:
                raise RuntimeError("no output to read")
            found = next(match for line in service.stdout if (match := re.search(r"http://\S+", line)))
            return _fuzz(found[0], asked.examples, asked.seed, folder) or _alive(service, found[0])
        finally:
            service.terminate()
            service.wait(10)


def _fuzz(url: str, examples: int, seed: int, folder: str) -> int:
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{url}/openapi.json", "--checks", CHECKS]
    command += ["--max-examples", str(examples), "--seed", str(seed), "--suppress-health-check", "all", "--no-color"]
    for path in ENDLESS:
        command += ["--exclude-path", path]
    return subprocess.run(command, check=False, cwd=folder).returncode  # where it leaves a cache


def _alive(service: subprocess.Popen[str], url: str) -> int:
    with urllib.request.urlopen(f"{url}/healthz", timeout=20) as answer:
        print("alive afterwards:", answer.read().decode())
    return service.poll() or 0


if __name__ == "__main__":
    sys.exit(main())
