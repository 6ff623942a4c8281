"""Fuzz the service with everything its OpenAPI description allows and much that it does not: no answer may be a 5xx.

``python benchmarks/fuzz_service.py [--examples 50]`` starts a service in a process of its own and runs schemathesis
(`pip install 'schemathesis>=4'`) on its `/openapi.json`. The two endless responses are left out; the tests cover them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

SERVER = Path(__file__).parents[1] / "tests" / "served_games.py"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
ENDLESS_PATHS = ("/api/feed", "/camera.mjpeg")


def main() -> int:
    """Start a service, fuzz it, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50, help="for each operation")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(SERVER), f"{folder}/games.db", "--unlimited", "--lan"]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            if service.stdout is None:
                raise RuntimeError("no output to read")
            address = next(match[0] for line in service.stdout if (match := re.search(r"http://\S+", line)))
            return _fuzz(address, options.examples, options.seed, folder) or _check_alive(service, address)
        finally:
            service.terminate()
            service.wait(10)


def _fuzz(url: str, examples: int, seed: int, folder: str) -> int:
    with urllib.request.urlopen(f"{url}/openapi.json", timeout=120) as description:  # made with the first request
        description.read()
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{url}/openapi.json", "--checks", CHECKS]
    command += ["--max-examples", str(examples), "--seed", str(seed), "--suppress-health-check", "all", "--no-color"]
    for path in ENDLESS_PATHS:
        command += ["--exclude-path", path]
    return subprocess.run(command, check=False, cwd=folder).returncode  # leaves its cache in the folder


def _check_alive(service: subprocess.Popen[str], url: str) -> int:
    with urllib.request.urlopen(f"{url}/healthz", timeout=20) as response:
        print("after fuzzing:", response.read().decode())
    return service.poll() or 0


if __name__ == "__main__":
    sys.exit(main())
