"""What the pages' scripts are checked against is what the services' models and the pages say."""

from __future__ import annotations

import re
from functools import cache

import service_types


@cache
def written() -> str:
    return "".join(service_types.declarations())


def declared(namespace: str) -> str:
    rest = written().partition(f"declare namespace {namespace} {{")[2]
    return re.split(r"^declare namespace ", rest, flags=re.MULTILINE)[0]


def test_every_topic_of_the_feed_has_the_type_of_its_model() -> None:
    assert "game: GameView; ball: BallView; calls: CallsUpdate" in declared("Service")


def test_an_answer_has_every_field_and_a_request_may_leave_out_what_has_a_default() -> None:
    service = declared("Service")
    assert re.search(r'type CallView = .*"spot_yd": \[number, number\] \| null;', service)
    assert re.search(r'type RulingRequest = .*"note"\?: string;', service)


def test_a_value_out_of_several_is_a_union_of_them() -> None:
    assert '"need": "refused" | "lost" | "alarm"' in declared("Desk")


def test_the_elements_of_a_page_have_the_types_of_their_tags() -> None:
    pages = declared("Page")
    for page, element in (
        ("camera", '"live": HTMLElementTagNameMap["img"]'),
        ("evidence", '"drawing": SVGSVGElement'),
        ("event", '"dialog": HTMLElementTagNameMap["dialog"]'),
    ):
        assert re.search(rf"^ +{page}: .*{re.escape(element)}", pages, re.MULTILINE), page
