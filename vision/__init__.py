"""Frames to scenes: who stands where, who touches whom, who fell, where the ball is, whether the board runs.

Frames and detections enter, scenes leave, in order of time (`core.scene.Scene`). Nothing here reads a clock or knows a
rule. Open `pipeline` first: it calls every stage once a frame. Packages, in the order in which they are used:

    measuring    one figure in one frame: place, heading, size, signs of a fall, each with its error
    board        light, health of the pictures, and whether the board is on
    tracking     which detection is which figure, over time: identity, front, whether it lies
    contacts     gaps between bases with their error, and the instant at which one closed
    strip        the strip of card games

Modules of their own: `detection_schedule`, which networks run on a frame and in which order; `ball_tracker`, the ball;
`hands`, what reaches in over the board; and `card_photo`, the result windows of play cards.
"""
