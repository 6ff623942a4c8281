"""The set-up of a table in the browser: what a rig provides for it (`table_setup`), and drawings of a calibration."""
