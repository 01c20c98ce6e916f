"""What a curator does: rows are counted, the loss is charged, noise is added, a release is written."""
