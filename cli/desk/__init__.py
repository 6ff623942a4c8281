"""Commands of the director: `desk`, its broker, and `archive`."""
