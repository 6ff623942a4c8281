"""Whole games kept without a camera: a driver that knows no rulebook plays what may be declared, over HTTP."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import cv2
import httpx
import numpy as np
import pytest
from legal_moves import filled, playable
from waiting import WAIT_S, let_run, wait_until

from downfield.core.field.model import load_field
from downfield.core.records import adapter, from_json, to_json
from downfield.game.records.commands import NewGame, TeamSheet
from downfield.officiating.declarations import ClockSet, Declaration, Roll
from downfield.officiating.engine.legal import LegalDeclaration, LegalDeclarations
from downfield.officiating.state.game_state import Phase
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper

BOOKS: Final = ("tap", "efl", "lions-den", "nfl-strategy")
PLAYS_IN_A_PERIOD: Final = 5
TOO_FAST: Final = 429
MOVES: Final = 400
"""More declarations than a game of so few plays takes."""
GAME: Final = NewGame(home=TeamSheet(name="River City", short="RIV"))


@contextmanager
def keeping(folder: Path, book: str, game: NewGame | None = GAME) -> Iterator[tuple[Scorekeeper, httpx.Client]]:
    given = {"game.rulebook": book, "service.port": 0, "data": str(folder)}
    keeper = Scorekeeper(load(None, command_line=given), load_field("ultimate"), game)
    try:
        with httpx.Client(base_url=keeper.service.address, timeout=WAIT_S) as client:
            yield keeper, client
    finally:
        keeper.close()


def legal_of(keeper: Scorekeeper) -> LegalDeclarations:
    legal = keeper.game_service.legal()
    assert legal is not None
    return legal


def phase_of(keeper: Scorekeeper) -> Phase:
    session = keeper.game_service._session
    assert session is not None
    return session.state.phase


def declare(client: httpx.Client, body: Any) -> dict[str, Any]:
    content = f'{{"declaration": {adapter(Declaration).dump_json(body).decode()}}}'
    headers = {"Content-Type": "application/json"}
    response = client.post("/api/declarations", content=content, headers=headers)
    while response.status_code == TOO_FAST:  # no person plays a game in two seconds
        let_run(float(response.headers["Retry-After"]))
        response = client.post("/api/declarations", content=content, headers=headers)
    assert response.status_code == 200, (body, response.text)
    receipt: dict[str, Any] = response.json()
    return receipt


def play_on(keeper: Scorekeeper, client: httpx.Client, chance: random.Random) -> None:
    """Declare one thing that goes on with the game."""
    session = keeper.game_service._session
    assert session is not None
    legal = legal_of(keeper)
    moves = [entry for entry in playable(legal) if entry.type not in {"clock", "switch", "claim", "separated", "set"}]
    moves = [entry for entry in moves if entry.type != "roll" or legal.dice is not None] or playable(legal)
    moves = [entry for entry in moves if not entry.word.startswith("career")]
    declare(client, filled(likeliest(moves, chance), legal, session.state, chance))


def likeliest(moves: list[LegalDeclaration], chance: random.Random) -> LegalDeclaration:
    """Return one of the moves, mostly an end of the play, so that games come to their end."""
    ends = [entry for entry in moves if entry.type in {"play_ended", "card", "roll", "return"}]
    return chance.choice(ends if ends and chance.random() < 0.8 else moves)


@pytest.mark.parametrize("book", BOOKS)
def test_a_whole_game_is_kept_by_what_may_be_declared(tmp_path: Path, book: str) -> None:
    chance = random.Random(7)
    with keeping(tmp_path, book) as (keeper, client):
        if book == "lions-den":
            for entry in playable(legal_of(keeper)):
                if entry.type == "roll" and not entry.word.startswith("career"):
                    assert isinstance(entry.example, Roll)
                    for by in entry.by:
                        declare(client, replace(entry.example, by=by, dice=(4, 6)))
        moves = 0
        while phase_of(keeper) is not Phase.OVER and moves < MOVES:
            moves += 1
            if moves % PLAYS_IN_A_PERIOD == 0 and phase_of(keeper) is Phase.BETWEEN_PLAYS:
                declare(client, ClockSet(False, 0.0))
            else:
                play_on(keeper, client, chance)
        game = client.get("/api/game").json()
        assert (game["phase"], game["home"]["short"], game["situation"]) == ("over", "RIV", "final")
        assert {entry.type for entry in playable(legal_of(keeper))} <= {"switch", "roll"}  # none goes on with the game
        current = client.get("/api/games/current").json()
        verification = client.get("/api/games/current/verification", params={"head": current["head"]}).json()
        assert verification["intact"]
        assert any(call["kind"] == "game_over" for call in client.get("/api/calls").json())
        for page in ("panel", "overlay/scorebug", "overlay/calls", "overlay/field"):
            assert client.get(f"/{page}").status_code == 200


def test_the_game_goes_on_after_a_stop_and_the_camera_takes_no_command(tmp_path: Path) -> None:
    with keeping(tmp_path, "tap") as (keeper, client):
        declare(client, ClockSet(False, 600.0))
        game_id = keeper.game_service.game_id
    with keeping(tmp_path, "tap", None) as (keeper, client):
        assert keeper.resumed
        assert keeper.game_service.game_id == game_id
        assert client.get("/api/game").json()["clock"]["left_s"] == 600.0
        refused = client.post("/api/commands", json={"command": "recalibrate"})
        assert refused.status_code == 409
        assert "without a camera" in refused.json()["detail"]
        assert client.get("/api/state").json()["data"]["source"]["text"].startswith("Kept by hand")
        assert client.get("/readyz").status_code == 200


def test_what_may_be_declared_is_the_same_over_http(tmp_path: Path) -> None:
    with keeping(tmp_path, "efl") as (keeper, client):
        over_http = from_json(LegalDeclarations, client.get("/api/legal").text, path="legal")
        assert to_json(LegalDeclarations, over_http) == to_json(LegalDeclarations, legal_of(keeper))


def test_no_vision_and_no_network_is_loaded(tmp_path: Path) -> None:
    program = f"""
import sys
import time
from pathlib import Path
from downfield.core.field.model import load_field
from downfield.cli.commands import score
from downfield.rig.configuration.loading import load
from downfield.rig.scorekeeper import Scorekeeper
given = {{"service.port": 0, "data": {str(tmp_path)!r}}}
Scorekeeper(load(None, command_line=given), load_field("ultimate")).close()
loaded = [name for name in sys.modules if name.startswith(("downfield.vision", "downfield.models", "onnxruntime"))]
# photos of cards are read by their print alone
allowed = ("core.platform.processes", "vision.card", "vision.read_window", "vision.strip")
allowed = tuple("downfield." + name for name in allowed)
print([name for name in loaded if name != "downfield.vision" and not name.startswith(allowed)])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_programs_are_told_of_a_game_without_a_camera(tmp_path: Path) -> None:
    given = {"service.port": 0, "data": str(tmp_path / "data"), "output.folder": str(tmp_path / "mixer")}
    keeper = Scorekeeper(load(None, command_line=given), load_field("ultimate"), GAME)
    try:
        name = tmp_path / "mixer" / "home_name.txt"
        wait_until(name.is_file)
        assert name.read_text() == "River City"
    finally:
        keeper.close()


def test_logos_and_sponsors_are_kept_without_a_camera_too(tmp_path: Path) -> None:
    _, png = cv2.imencode(".png", np.full((40, 60, 3), (0, 0, 200), np.uint8))
    with keeping(tmp_path, "tap") as (_, client):
        kept = client.post("/api/logos", content=png.tobytes(), headers={"Content-Type": "image/png"})
        assert kept.status_code in {200, 201}, kept.text
        name = kept.json()["logo"]
        shown = client.put("/api/sponsors", json={"shown": True, "logos": [name], "seconds": 5})
        assert shown.status_code == 200, shown.text
        assert client.get(f"/logos/{name}.png").status_code == 200
