"""HTML for print in one file: every text is escaped, nothing is loaded from anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, "Noto Sans", sans-serif; color: #16202b; background: #fff; margin: 2rem auto;
  max-width: 60rem; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 1.8rem 0 .4rem; }
p { margin: .3rem 0; } .muted { color: #56636f; } .score { font-size: 1.3rem; font-weight: 700; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid #d5dce2; }
th { background: #eef2f5; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td:first-child { white-space: nowrap; } td:last-child ul { min-width: 15rem; }
td ul { margin: 0; padding-left: 1.1rem; } code { font-size: .85em; }
svg { width: 100%; height: auto; } figure { margin: .6rem 0; break-inside: avoid; }
@media screen and (max-width: 40rem) { /* what a play's calls say stands below its numbers, not beside them */
  table:has(td ul) thead { display: none; }
  tr:has(td ul) { display: flex; flex-wrap: wrap; gap: 0 .6rem; padding: .4rem 0; border-bottom: 1px solid #d5dce2; }
  tr:has(td ul) td { border: 0; padding: .1rem 0; } tr:has(td ul) td:first-child::before { content: "#"; }
  tr:has(td ul) td:last-child { flex: 1 0 100%; } td:last-child ul { min-width: 0; } }
@media print { body { margin: 0; padding: 0; max-width: none; font-size: 11px; } tr { break-inside: avoid; }
  table { font-size: .8em; } th, td { padding: .2em .3em; overflow-wrap: anywhere; } /* as wide as the paper */
  td:first-child { white-space: normal; } td:last-child ul { min-width: 0; }
  h2 { break-after: avoid; } .wide { overflow: visible; } @page { margin: 14mm; } }
"""


_LETTERS: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_NAME: Final = re.compile(rf"[{_LETTERS}]+(?:[\s'’\"״׳.-]+[{_LETTERS}]+)*")


def isolate_names(text: str) -> str:
    """Return a text in which every name written from right to left is isolated; as it is where it is nothing else."""
    return _NAME.sub(lambda found: found[0] if found[0] == text else f"\u2068{found[0]}\u2069", text)


class Markup(str):
    """HTML that is escaped already."""

    __slots__ = ()


Cell = str | int | float | Markup
"""What a cell of a table may hold; numbers are set to the right, a float with one digit behind the point."""


def text(value: str) -> Markup:
    """Return a text as HTML."""
    return Markup(escape(isolate_names(value)))


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], empty: str) -> Markup:
    """Return a table; the sentence `empty` where it has no rows."""
    found = [list(row) for row in rows]
    if not found:
        return paragraph(empty, "muted")
    numbers = [all(isinstance(row[place], int | float) for row in found) for place in range(len(head))]
    titles = "".join(_cell("th", title, number=number) for title, number in zip(head, numbers, strict=True))
    lines = ("".join(_cell("td", cell, number=not isinstance(cell, str)) for cell in row) for row in found)
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return Markup(f'<div class="wide"><table><thead><tr>{titles}</tr></thead><tbody>\n{body}</tbody></table></div>\n')


def paragraph(content: str, kind: str = "") -> Markup:
    """Return a paragraph, of a class where one is given."""
    return Markup(f"<p{_class(kind)}>{_inner(content)}</p>\n")


def section(title: str, *content: Markup) -> Markup:
    """Return a heading with what follows it."""
    return Markup(f"<h2>{text(title)}</h2>\n{''.join(content)}")


def bullets(items: Iterable[str]) -> Markup:
    """Return a list; nothing where it is empty."""
    lines = "".join(f"<li>{_inner(item)}</li>" for item in items)
    return Markup(f"<ul>{lines}</ul>" if lines else "")


def figure(drawing: Markup, caption: str) -> Markup:
    """Return a drawing with what it shows."""
    return Markup(f"<figure>{drawing}<figcaption>{_inner(caption)}</figcaption></figure>\n")


def document(title: str, *content: Markup) -> str:
    """Return a whole page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{''.join(content)}</body>\n</html>\n"
    )


def _cell(tag: str, content: Cell, *, number: bool) -> str:
    if isinstance(content, float):
        shown = f"{content:.1f}"
    else:
        shown = _inner(content) if isinstance(content, str) else str(content)
    return f"<{tag}{_class('number' if number else '')}>{shown}</{tag}>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _inner(content: str) -> str:
    return content if isinstance(content, Markup) else text(content)
