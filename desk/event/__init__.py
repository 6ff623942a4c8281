"""An event: registration, pools, brackets, schedule, results and standings. Pure but for its file."""
