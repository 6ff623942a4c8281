"""Lists as spreadsheets write them are read; what is no list is refused in one sentence that names the line."""

from __future__ import annotations

import pytest

from downfield.core.errors import InputError
from downfield.desk.event.csv_files import read_entrants, read_figures
from downfield.desk.event.records import Entrant
from downfield.desk.event.state import TournamentEvent
from downfield.desk.service.push_content import teams_of

KNOWN = [Entrant("1", "José")]


@pytest.mark.parametrize(
    ("text", "coaches"),
    [
        ('\ufeffCoach;Team;Seed\r\n"Müller; Hans";Löwen;1\r\n;;\r\n\r\nBo;Bos;\r\n', ["Müller; Hans", "Bo"]),
        ("sep=;\r\ncoach;team\r\nAna;A, B\r\n", ["Ana"]),
        ("SEP=\t\ncoach\tteam\nAna\tA\n", ["Ana"]),
        ("coach\tteam\nAna\tA, B and C\n", ["Ana"]),
        ("coach,team\rAna,A\rBo,B\r", ["Ana", "Bo"]),
        ("coach,team,,\nAna,A,,,,\n", ["Ana"]),
        ("\n\ncoach,team\nعلي,A\n", ["علي"]),
        ('coach,team\n"Ana ""the"" B","two\nlines"\n', ['Ana "the" B']),
        ("coach\n", []),
    ],
)
def test_what_spreadsheets_write_is_read(text: str, coaches: list[str]) -> None:
    assert [entrant.coach for entrant in read_entrants(text, ())] == coaches


def test_a_name_with_composed_and_decomposed_letters_is_one_coach() -> None:
    (found,) = read_entrants("coach,team\nJose\u0301,Leones\n", KNOWN)
    assert (found.id, found.team) == ("1", "Leones")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("coach\nM\ufffdller\n", "not text in UTF-8"),
        ("coach,Coach\na,b\n", "The column 'coach' occurs twice"),
        ("coach,team\nAna,A\n\nana,B\n", "Line 4: the coach 'ana' is in line 2 already"),
        ('coach,team\n"Ana,A\nBo,B\n', "Line 3: the quotation marks do not fit"),
        ("coach\nA,B\n", "Line 2: 2 values in 1 columns"),
        ("", "needs the column 'coach'"),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_entrants(text, ())


def test_weights_with_a_comma_and_marks_of_a_refusal_are_read() -> None:
    (roster,) = read_figures("coach;number;grams;refused\r\njosé;7;3,9;x\r\nJOSÉ;8;;\r\n", KNOWN).values()
    assert [(figure.number, figure.grams, figure.refused) for figure in roster] == [
        ("7", 3.9, True),
        ("8", None, False),
    ]


def test_a_name_that_no_table_takes_is_sent_on_one_line() -> None:
    named = Entrant("1", "Ana\x07", "two\nlines\t", short="\x00")
    (team,) = teams_of(TournamentEvent("Open", entrants=(named,))).teams
    assert (team.sheet.name, team.sheet.short) == ("two lines", "TWO")
