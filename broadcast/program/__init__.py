"""The program feed: the camera's picture with graphics painted on the board, under the figures."""
