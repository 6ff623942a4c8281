"""The table in motion, and the exact truth of it, in millimeters, grams and seconds.

Open `world`: figures with `traits` are placed, switched on, held, steered and stepped; `engine` moves them by MuJoCo
(`body` is its model, `drive` its forces), `exact` on geometric paths. `truth` watches a world and says scenes, contacts
and falls; `truth_file` writes what a clip shows.
"""
