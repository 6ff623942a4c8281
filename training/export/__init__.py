"""Networks for the runtime: `networks` writes a folder from checkpoints, `onnx` its files, full and int8."""
