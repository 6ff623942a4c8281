"""Setting up a table in the browser: the camera's preview, its calibration, and saving both."""
