CREATE TABLE round (
  place INTEGER PRIMARY KEY,
  ask TEXT NOT NULL,
  number INTEGER NOT NULL,
  design TEXT NOT NULL,
  closed INTEGER NOT NULL DEFAULT 0,
  after INTEGER UNIQUE REFERENCES round (place),
  UNIQUE (ask, number)
) STRICT;

CREATE TABLE upload (
  key INTEGER PRIMARY KEY,
  reports INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE TABLE refused (
  place INTEGER NOT NULL REFERENCES round (place),
  reason TEXT NOT NULL,
  reports INTEGER NOT NULL,
  PRIMARY KEY (place, reason)
) STRICT;
