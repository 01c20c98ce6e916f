"""What a device sends and a collector counts: oracles, payloads, and the report on the wire."""
