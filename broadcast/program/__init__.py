"""The program feed: the camera's picture with graphics painted on the board, under the figures.

`program_painter` draws one picture, of `board_painter` (paint as if printed), `board_shapes`, `lettering`,
`empty_board` and `figure_volume`. `program_feed` runs it in a thread, or by `picture_process` in a process;
`stream_encoder` encodes it, and `live_stream` is what viewers are served.
"""
