"""Training of the networks, and learning a table of one's own. Needs the extra `train`; nothing that runs imports it.

In come labeled pictures of the twin, tables to trace, recordings with their tracks and contributed pictures; out come
checkpoints, networks' folders (ONNX files with `network.json`) and measures of their accuracy. Open `command` first:
each command of `downfield train` is a few lines there or in `networks_command`; `learn_command` is `downfield learn`.

Packages in the order in which they import each other:

    data/        objects, frames and what varies them; crops and patches with their labels
    traced/      the same crops and patches, path-traced endlessly from tables that are drawn as they are needed
    networks/    the networks, their losses and checkpoints
    export/      ONNX, int8, networks' folders
    runs/        training: by samples (`trainer`), by the clock (`pair_run`, `refiner_run`), of one table (`own_table`)
    evaluation/  scores on labeled pictures; thresholds and weights that follow from them; needs no torch

Modules beside them: the commands, `recipe` (data sets and schedules of the bundled network) and `strip_digits`, which
trains the digits of `vision.strip` with numpy alone.
"""

from downfield.models.telemetry import disable_telemetry

# Here, since whatever is imported of training comes after it, in worker processes too.
disable_telemetry()
