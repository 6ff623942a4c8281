"""The page for guests: schedule, results and standings as plain HTML, for phones, a hall's TV and any website.

It is one file without scripts, so the same text is served to guests and saved as a static copy.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from types import MappingProxyType
from typing import Final

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.http.network_addresses import qr_svg
from downfield.api.http.requests import sends
from downfield.api.routes.pairing import watch_url
from downfield.api.security.tokens import CODE_LETTERS
from downfield.core.errors import NotFoundError
from downfield.desk.event.outcomes import in_play, is_called
from downfield.desk.event.placing import at_table
from downfield.desk.event.progress import Progress
from downfield.desk.service.event_views import EventView, MatchView, PoolView, event_view
from downfield.desk.service.parts import DeskDep
from downfield.rig.tournament.push_payloads import Announcement
from downfield.store.sealing.signing import RigKey

REFRESH_S: Final = 20  # How often an open page asks again; a static copy does not

_STYLE: Final = """
:root{color-scheme:light dark}body{font:clamp(16px,1.4vw,28px)/1.4 system-ui,sans-serif;margin:0 auto;max-width:80em;
padding:.7em}h1{margin:.2em 0}h2{margin:1.2em 0 .3em;border-bottom:2px solid}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.25em .5em;border-bottom:1px solid #8886}td.n,th.n{text-align:right;width:2.5em}
.scroll{overflow-x:auto}.now{font-weight:700}.note{opacity:.75;font-size:.85em}
.score td,.score th{border:1px solid;height:2em}.sheet{break-inside:avoid}@media print{.noprint{display:none}}
.say{background:#fd6;color:#000;
padding:.6em;border-radius:.4em}
"""


Points = tuple[int, int]  # Home and away


def guest_page(
    event: EventView,
    announcements: Sequence[str] = (),
    live: Mapping[str, Points] = MappingProxyType({}),
    *,
    refreshes: bool = False,
) -> str:
    """Return the page.

    Args:
        announcements: shown on top, the latest first.
        live: how it stands in games that are in play, by match.
        refreshes: whether an open page asks for it again by itself.
    """
    at = datetime.now().astimezone().strftime("%H:%M")
    left = [match for match in event.matches if match.state in {"open", "ready", "in_play", "stopped"}]
    order = {match.id: (match.slot is None, match.slot or 0, match.table) for match in left}
    left.sort(key=lambda match: (match.state != "in_play", _is_overdue(match, event), order[match.id]))
    played = [match for match in reversed(event.matches) if match.state == "played"]
    places = [f"<tr><td class=n>{rank.place}</td><td>{escape(rank.name)}</td></tr>" for rank in event.ranking]
    parts = [
        "".join(f"<p class=say>{escape(text)}</p>" for text in announcements),
        section("Places", table(places)) if places else "",
        section("Now and next", _games(left, live, event)),
        section("Results", _games(played, live, event)),
        *(section(pool.title, _standings(pool)) for pool in event.pools),
    ]
    refresh = f'<meta http-equiv="refresh" content="{REFRESH_S}">' if refreshes else ""
    return document(event.name, f"<p class=note>As of {at}</p>{''.join(parts)}", refresh)


def document(title: str, content: str, head: str = "") -> str:
    """Return a page of HTML that stands alone, in the style of all of them, with what else its head has."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{content}</body></html>\n"
    )


def section(title: str, content: str) -> str:
    """Return a part of a page; nothing where it has no content."""
    return f"<h2>{escape(title)}</h2>{content}" if content else ""


def table(rows: Iterable[str]) -> str:
    """Return a table of rows as HTML."""
    return f"<div class=scroll><table>{''.join(rows)}</table></div>"


def _games(matches: Sequence[MatchView], live: Mapping[str, Points], event: EventView) -> str:
    return table(_game(match, live.get(match.id), _is_overdue(match, event)) for match in matches) if matches else ""


def _is_overdue(match: MatchView, event: EventView) -> bool:
    """Return whether a game should be over, since one of a later round was begun or played."""
    begun = [one for one in event.matches if one.state == "in_play" or (one.result and not one.result.forfeited_by)]
    return match.state == "ready" and match.slot is not None and any((one.slot or 0) > match.slot for one in begun)


def _game(match: MatchView, live: Points | None, overdue: bool) -> str:
    when, where = when_text(match), at_table(match.played_at or match.table)
    result = match.result
    if result is not None:
        score = "forfeit" if result.forfeited_by else f"{result.home}–{result.away}{' OT' if result.overtime else ''}"
    else:
        words = {"in_play": "in play", "stopped": "under review"}
        score = "no result yet" if overdue else words.get(match.state, "")
        if live is not None:
            score = f"{live[0]}–{live[1]}, {score}"
    note = "postponed" if match.postponed else "if needed" if match.if_needed and result is None else ""
    kind = " class=now" if match.state == "in_play" else ""
    cells = (match.id, when, where, f"{match.home.name} – {match.away.name}", score or note)
    return f"<tr{kind}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def when_text(match: MatchView) -> str:
    """Return when a game begins, such as ``Sat 09:00``; empty while that is open."""
    return f"{datetime.fromisoformat(match.begins):%a %H:%M}" if match.begins else ""


def _standings(pool: PoolView) -> str:
    head = "".join(f"<th class=n>{text}</th>" for text in ("W", "L", "T", "+", "−"))
    rows = [f"<tr><th class=n></th><th>Team</th>{head}</tr>"]
    for line in pool.standings:
        numbers = (line.won, line.lost, line.tied, line.points_for, line.points_against)
        note = " <span class=note>withdrew</span>" if line.withdrawn else ""
        cells = "".join(f"<td class=n>{number}</td>" for number in numbers)
        rows.append(f"<tr><td class=n>{line.place}</td><td>{escape(line.name)}{note}</td>{cells}</tr>")
    return table(rows)


router = AuthorizedRouter(tags=["event"])

PAGE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
    "Cache-Control": "no-store",
}


class GuestLinkView(BaseModel):
    """The address that guests open."""

    url: str
    code: str = Field(description="Its last part, to be written on paper.")


@router.get("/guest/{code}", "anyone", include_in_schema=False)
def guest(desk: DeskDep, code: str) -> Response:
    """Schedule, results and standings, for who has the code."""
    if not secrets.compare_digest(code.upper().encode(), guest_code(desk.grants.key).encode()):
        raise NotFoundError("There is no page of this code. Look at the paper again.")
    view = event_view(desk.keeper.event, "")
    page = guest_page(view, read_announcements(desk), read_live(desk), refreshes=True)
    return HTMLResponse(page, headers=PAGE_HEADERS)


@router.get("/api/event/guests", "viewer", summary="The address that guests open")
def read_guest_link(desk: DeskDep, request: Request) -> GuestLinkView:
    """Needs no pairing; shows schedule, results and standings, and nothing else."""
    code = guest_code(desk.grants.key)
    return GuestLinkView(url=f"{watch_url(request)}/guest/{code}", code=code)


@router.get("/api/event/guests.svg", "viewer", summary="That address as a QR code", **sends("image/svg+xml"))
def guest_picture(desk: DeskDep, request: Request) -> Response:
    """To be printed."""
    return Response(qr_svg(read_guest_link(desk, request).url), media_type="image/svg+xml")


@router.get(
    "/api/event/page.html", "viewer", summary="A static copy of the page for guests", response_class=HTMLResponse
)
def static_copy(desk: DeskDep) -> Response:
    """One file without scripts, to be put on any website."""
    headers = {**PAGE_HEADERS, "Content-Disposition": 'attachment; filename="event.html"'}
    return HTMLResponse(guest_page(event_view(desk.keeper.event, "")), headers=headers)


def guest_code(key: RigKey) -> str:
    """Return the code of a desk's page for guests; always the same."""
    digest = hashlib.sha256(key.sign(b"downfield.guests\n")).digest()
    return "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in digest[:8])


@router.get("/api/event/live", "viewer", summary="How it stands in the games that are in play")
def read_live(desk: DeskDep) -> dict[str, Points]:
    """Points of home and away, by match; for the hall's screen."""
    event, found = desk.keeper.event, {}
    progress, playing = Progress(event), in_play(event)
    entrants = {entrant.id: entrant for entrant in event.entrants}
    tables = {status.name.casefold(): status for status in desk.statuses()}
    for match in event.matches:
        game, home = playing.get(match.id), entrants.get(progress.sides(match)[0] or "")
        status = None if game is None else tables.get(game.table.casefold())
        if game is None or status is None or home is None or (status.home, status.away) != (game.home, game.away):
            continue  # the table has gone on to another game
        found[match.id] = status.score if is_called(home, status.home) else status.score[::-1]
    return found


ANNOUNCED_NS: Final = 30 * 60 * 1_000_000_000  # How long an announcement is shown to the hall


@router.get("/api/event/announcements", "viewer", summary="What was announced to all tables lately")
def read_announcements(desk: DeskDep) -> list[str]:
    """The latest first; for the hall's screen."""
    fresh = [push for push in reversed(desk.tournament.pushes.pushes) if time.time_ns() - push.at_ns < ANNOUNCED_NS]
    sent = [(push.payload, push.rigs) for push in fresh if isinstance(push.payload, Announcement)]
    return [said.text for said, rigs in sent if said.team or not rigs][:3]
