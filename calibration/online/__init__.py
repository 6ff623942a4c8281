"""Keep a calibration true while the camera runs: shake, drift, bumps, solving again."""
