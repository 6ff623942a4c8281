"""Record what the program makes of a set of clips, and compare two such recordings value by value.

Run:
    python benchmarks/replay.py record CLIPS OUT     # tracks and calls of every clip, and of the demo
    python benchmarks/replay.py compare BEFORE AFTER  # exits with 1 where anything differs

`record` renders ten plays into CLIPS where they are missing (five random ones and five named ones),
runs `downfield track` and `downfield judge` under every rulebook on each of them and on the bundled demo, judges the
exact truth beside each clip, and judges the game of `benchmarks/officiating.py`. `compare` reads both folders and
compares every number, name and enumeration exactly; sentences for people are left out. Record both with the same
number of BLAS threads (`OMP_NUM_THREADS`): sums of another order differ in the last digits. It is run before and
after a change that must not change a call.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from downfield.officiating.rulebooks.installed import installed_rulebooks

RANDOM = ((91960, 8790), (91961, 8791), (91962, 8792), (91963, 8793), (91964, 8794))
"""Seeds of play and look."""
NAMED = ("clean-tackle", "fumble-physics", "reception", "goal-line-stop", "pivots")
PROSE = frozenset({"text", "unfit", "reason", "title", "source", "note", "statement", "about"})


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("first", type=Path, metavar="CLIPS|BEFORE")
    parser.add_argument("second", type=Path, metavar="OUT|AFTER")
    options = parser.parse_args()
    if options.action == "record":
        record(options.first, options.second)
    else:
        sys.exit(compare(options.first, options.second))


def record(clips: Path, out: Path) -> None:
    """Write tracks and calls of every clip, rendering those that are missing."""
    out.mkdir(parents=True, exist_ok=True)
    clips.mkdir(parents=True, exist_ok=True)
    _render_missing(clips)
    demo = Path(str(files("downfield.capture") / "demo" / "demo.mp4"))
    for clip in [demo, *sorted(clips.glob("*.mp4"))]:
        print(clip.name, flush=True)
        beside = clip.with_suffix("")
        tracks = out / f"{clip.stem}.tracks.jsonl"
        if not tracks.is_file():
            _downfield("track", str(clip), "-c", f"{beside}.calibration.json", "-o", str(tracks))
        events = Path(f"{beside}.events.jsonl")
        for rulebook in installed_rulebooks():
            for kind, source in (("seen", tracks), ("truth", Path(f"{beside}.tracks.jsonl"))):
                if source.is_file():
                    calls = out / f"{clip.stem}.{kind}.{rulebook}.calls.jsonl"
                    declared = ("--events", str(events)) if events.is_file() else ()
                    _downfield("judge", str(source), *declared, "--rulebook", rulebook, "-o", str(calls), "--overwrite")
    _judge_game(out)


def compare(before: Path, after: Path) -> int:
    """Print every file that differs with its first difference; 1 where any does."""
    differing = 0
    names = sorted({file.name for folder in (before, after) for file in folder.glob("*.jsonl")})
    for name in names:
        difference = _first_difference(before / name, after / name)
        differing += difference is not None
        if difference is not None:
            print(f"{name}: {difference}")
    print(f"{len(names)} files compared, {differing} differ")
    return 1 if differing or not names else 0


def _render_missing(clips: Path) -> None:
    for seed, look in RANDOM:
        _render(clips / f"{seed}", "random", "--seed", str(seed), "--appearance-seed", str(look))
    for number, name in enumerate(NAMED):
        _render(clips / name, name, "--appearance-seed", str(8_795 + number))


def _render(clip: Path, *words: str) -> None:
    if not clip.with_name(clip.name + ".mp4").is_file():
        _downfield("twin", "render", *words, "--size", "1920x1080", "--fps", "30", "-o", str(clip))


def _judge_game(out: Path) -> None:
    """Judge ten minutes of the game that `officiating.py` times."""
    import officiating  # the benchmark beside this one

    game, minutes = officiating, 10.0
    header = json.dumps({"note": "benchmark game"})
    for rulebook in installed_rulebooks():
        made = game.judged(minutes, rulebook)
        lines = [json.dumps(json.loads(line)) for line in made]
        (out / f"game.{rulebook}.calls.jsonl").write_text("\n".join([header, *lines]) + "\n")


def _downfield(*words: str) -> None:
    done = subprocess.run((sys.executable, "-m", "downfield", *words), capture_output=True, text=True, check=False)
    if done.returncode not in {0, 3}:  # 3: little was tracked, or can be judged
        raise SystemExit(f"downfield {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")


def _first_difference(before: Path, after: Path) -> str | None:
    for missing in (path for path in (before, after) if not path.is_file()):
        return f"missing in {missing.parent}"
    old, new = list(_lines(before)), list(_lines(after))
    for number, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        found = _different(one, other, "")
        if found:
            return f"line {number}: {found}"
    return None if len(old) == len(new) else f"{len(old)} lines before, {len(new)} after"


def _lines(path: Path) -> Iterator[Any]:
    for number, line in enumerate(path.read_text().splitlines()):
        content = _normalized(json.loads(line))
        if number == 0 and isinstance(content, dict):
            content.pop("version", None)
        yield content


def _normalized(value: Any) -> Any:
    """A value without sentences."""
    if isinstance(value, dict):
        return {key: _normalized(one) for key, one in value.items() if key not in PROSE}
    if isinstance(value, list):
        return [_normalized(one) for one in value]
    return value


def _different(one: Any, other: Any, where: str) -> str | None:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            found = _different(one.get(key), other.get(key), f"{where}.{key}")
            if found:
                return found
        return None
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{where}: {len(one)} items before, {len(other)} after"
        return next(
            (d for k, (a, b) in enumerate(zip(one, other, strict=True)) if (d := _different(a, b, f"{where}[{k}]"))),
            None,
        )
    return None if one == other and type(one) is type(other) else f"{where}: {one!r} before, {other!r} after"


if __name__ == "__main__":
    main()
