"""Commands that keep a rig running: `doctor`, `config`, `support`, `service`, `logs`, `backup`, `admin` and others."""
