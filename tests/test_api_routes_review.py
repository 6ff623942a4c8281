"""Games, plays and rulings after the game over HTTP: filters, and who may rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asgi_client import AsgiClient
from played_table import Table

from downfield.api.app import create_app
from downfield.api.dependencies import AppContext
from downfield.api.feed.latest_picture import LatestPicture
from downfield.api.security.access import AccessPolicy, RateLimit, RateLimits
from downfield.game.commands import NewGame

MANY = RateLimit(1e6, 10**6)
ACCESS = AccessPolicy(trust_local=True, limits=RateLimits(MANY, MANY, MANY))


class Reviewed:
    """A finished game behind the API."""

    def __init__(self, path: Path, *, operators_review: bool = False) -> None:
        self.table = Table(path)
        self.game = self.table.begin()
        self.table.play()
        self.tackle = quote(self.table.call("tackle"))
        self.table.game_service.start_game(NewGame())
        parts = AppContext(
            self.table.game_service,
            self.table.hub,
            LatestPicture(),
            self.table.store,
            operators_review=operators_review,
        )
        app = create_app(parts, ACCESS)
        self.admin = AsgiClient(app)
        tokens = app.state.token_store
        redeemed = tokens.redeem(tokens.make_code("operator").code, "phone")
        assert redeemed is not None
        self.operator = AsgiClient(app, token=redeemed[0])

    @property
    def path(self) -> str:
        return f"/api/games/{self.game}"

    def close(self) -> None:
        self.table.close()


@pytest.fixture
def reviewed(tmp_path: Path) -> Iterator[Reviewed]:
    opened = Reviewed(tmp_path / "games.db")
    yield opened
    opened.close()


def test_games_and_plays_are_filtered(reviewed: Reviewed) -> None:
    get = reviewed.admin.get
    assert [game["standing"] for game in get("/api/games").json] == ["in_play", "ended"]
    assert [game["id"] for game in get("/api/games?text=river&standing=ended").json] == [reviewed.game]
    assert get("/api/games?text=nowhere").json == []
    (play,) = get(f"{reviewed.path}/plays?kind=tackle&player=50").json
    assert [call["kind"] for call in play["calls"]] == ["tackle"]
    assert get(f"{reviewed.path}/plays?verdict=overturned").json == []
    assert get(f"{reviewed.path}/plays?kind=kangaroo").status == 422
    assert get(f"{reviewed.path}/calls/{reviewed.tackle}/thumbnail.jpg").status == 404


def rule(client: AsgiClient, reviewed: Reviewed, query: str = "") -> Any:
    return client.post(
        f"{reviewed.path}/calls/{reviewed.tackle}/rulings{query}",
        {"decision": "strike", "note": "lifted", "name": "Ann"},
    )


def test_a_finished_game_is_reopened_ruled_and_closed_with_its_trail(reviewed: Reviewed) -> None:
    admin = reviewed.admin
    assert (rule(admin, reviewed).status, rule(admin, reviewed, "?preview=true").status) == (409, 200)
    assert admin.post(f"{reviewed.path}/reopening", {"reason": "  "}).status == 422
    assert admin.post(f"{reviewed.path}/reopening", {"reason": "on film", "name": "Ann"}).status == 200
    assert admin.get(reviewed.path).json["standing"] == "reopened"
    assert admin.get("/api/games?standing=reopened").json[0]["id"] == reviewed.game
    changes = rule(admin, reviewed).json
    assert changes["lines"][0].startswith("No longer called:")
    trail = admin.post(f"{reviewed.path}/closing", {"name": "Ann"}).json
    assert [line["text"].split(":")[0] for line in trail] == ["Ended", "Reopened", "Ruling", "Closed"]
    assert trail[2]["by"] == "Ann (this computer)"
    (play,) = admin.get(f"{reviewed.path}/plays?verdict=struck").json
    assert play["struck"][0]["ruling"]["note"] == "lifted"
    assert admin.get(f"{reviewed.path}/verification").json["intact"]


def test_an_operator_may_rule_after_the_game_only_where_the_rig_lets_him(reviewed: Reviewed, tmp_path: Path) -> None:
    refused = reviewed.operator.post(f"{reviewed.path}/reopening", {"reason": "on film"})
    assert (refused.status, "operators_review" in refused.json["detail"]) == (403, True)
    assert rule(reviewed.operator, reviewed, "?preview=true").status == 403
    lenient = Reviewed(tmp_path / "lenient.db", operators_review=True)
    assert lenient.operator.post(f"{lenient.path}/reopening", {"reason": "on film"}).status == 200
    assert rule(lenient.operator, lenient).status == 200
    lenient.close()
