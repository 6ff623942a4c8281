"""An event: entrants, pools, brackets, schedule and standings; without network and files, but for `keeper`."""
