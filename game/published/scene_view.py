"""A scene as the feed shows it: rounded to what a screen can show."""

from __future__ import annotations

from downfield.core.field import FieldModel
from downfield.core.scene import Figure, Scene
from downfield.game.published.board_topics import FigureView, SceneView


def scene_view(scene: Scene, field: FieldModel) -> SceneView:
    """A scene as the feed shows it."""
    ball = scene.ball
    return SceneView.model_construct(
        frame=scene.frame,
        t_ns=scene.t_ns,
        board=scene.board,
        figures=tuple(_figure(figure, field) for figure in scene.figures),
        touching=tuple((contact.a, contact.b) for contact in scene.contacts if contact.since_ns is not None),
        ball_mm=None if ball is None else (round(ball.x_mm, 1), round(ball.y_mm, 1)),
        hands=tuple(tuple((round(x), round(y)) for x, y in hand.outline_mm) for hand in scene.hands),
    )


def _figure(figure: Figure, field: FieldModel) -> FigureView:
    return FigureView.model_construct(
        id=figure.id,
        jersey=figure.jersey,
        x_yd=round(figure.x_mm / field.mm_per_yd_x, 2),
        y_yd=round(figure.y_mm / field.mm_per_yd_y, 2),
        x_mm=round(figure.x_mm, 1),
        y_mm=round(figure.y_mm, 1),
        heading=round(figure.heading_deg, 1),
        posture=figure.posture,
        sigma_mm=round(max(figure.sigma_mm), 2),
        sure=figure.sure,
    )
