"""Files: what is known of one, reading untrusted ones, writing private ones, CSV."""
