"""Joint distributions of several attributes from reports of devices."""
