"""The tables that were set up (`profile`), how one is opened (`table`), and how it is calibrated (`table_calibration`).

A page sets one up: `setup_session` goes through the steps, `aim_check` says how the camera has to be moved, and
`setup_solving` finds the field as the page requests.
"""
