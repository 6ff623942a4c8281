"""The service's endpoints, by subject."""
