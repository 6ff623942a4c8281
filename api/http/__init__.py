"""Plain HTTP: `problems` (RFC 9457), `requests`, the bodies as models, and `network_addresses` of this computer."""
