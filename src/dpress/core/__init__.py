"""The terms of the field, in floors: basics, then linear maps, then reports, then what every method keeps."""
