"""Training of the networks, and learning a table of one's own. Needs the extra `train`; nothing that runs imports it.

In come tables to trace, recordings with their tracks and contributed pictures; out come checkpoints, networks' folders
(ONNX files with `network.json`) and measures of their accuracy. Open `command` first: each command of `downfield train`
is a few lines there; `learn_command` is `downfield learn`, which `own_table` does.

Packages in the order in which they import each other:

    data/        objects, frames and what varies them; crops and patches with their labels, and files of them
    traced/      the same crops and patches, path-traced from tables that are drawn as they are needed
    networks/    the networks, their losses and checkpoints
    export/      ONNX, int8, networks' folders
    evaluation/  scores on labeled pictures; thresholds and weights that follow from them; needs no torch
    keep/        the trainer: it traces and learns on idle time, for as long as it runs

`strip_digits` trains the digits of `vision.strip` with numpy alone.
"""

from downfield.models.telemetry import disable_telemetry

# Here, since whatever is imported of training comes after it, in worker processes too.
disable_telemetry()
