"""Joint distributions of several attributes, from devices."""
