"""The networks: running them on a picture, and what is believed of what they find.

A picture enters; detections leave, each with ordered corners, their errors, and probabilities (`core.frame.Detection`).
Open `loading` first (which network, which runtime), then `two_stage_detector` (the detector over the whole frame, the
refiner over each figure) and `card` (what a network says of itself). `weights/` holds the bundled networks.
Nothing here needs torch.
"""
