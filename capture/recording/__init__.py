"""The recording of a camera: written as it arrives, kept within limits, sealed, and read back by frame."""
