"""The digital twin: a simulated table, filmed by a simulated camera, of which everything is known exactly.

What enters: a play's script (named, drawn at random, or a TOML file), a seed, the settings of a data set, or a game on
the strip of NFL Strategy. What leaves: clips with their truth (`downfield twin render`, `strip`, `demo`), labeled
pictures (`downfield twin dataset`, `downfield train`), frames of a play for a rig without a camera (source
`twin:PLAY`), and scenes with the calls that each rulebook should make of them, for the tests. The same arguments always
give the same scenes, labels and pictures, bit for bit with the pinned MuJoCo.

Open `plays/script.py` for what a play can say and `plays/stage.py` for how it is carried out; `randomization/tables.py`
for how a table is drawn; `render/renderer.py` for what every renderer returns; `film/film.py` for how all of it
becomes a clip. docs/twin.md describes it for users.

Packages, each importing only from those before it:

    table/          the words all speak: snapshot, appearance, solids, the bowed surface, the print
    randomization/  a whole table drawn from a seed and a split
    physics/        the table in motion (MuJoCo, or exact paths), and the truth of it
    plays/          scripts, the stage that carries them out, recordings; playbook/: the named plays
    tracing/        the path tracer: scenes as arrays; kernels/: its arithmetic
    render/         the two renderers, by name
    film/           what a camera makes of ideal pictures; clips with their truth; a play as a frame source
    sets/           labeled pictures for training and evaluation
    strip/          the strip of NFL Strategy: its look, its states, games of cards filmed
    commands        `downfield twin`
"""
