"""What devices and their collector do: values become reports, reports a release."""
