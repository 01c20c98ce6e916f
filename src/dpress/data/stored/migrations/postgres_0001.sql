CREATE TABLE round (
  place integer PRIMARY KEY,
  ask text NOT NULL,
  number integer NOT NULL,
  design text NOT NULL,
  closed boolean NOT NULL DEFAULT false,
  after integer UNIQUE REFERENCES round (place),
  UNIQUE (ask, number)
);

CREATE TABLE upload (
  key bigint PRIMARY KEY,
  reports integer NOT NULL,
  body bytea NOT NULL
);

ALTER TABLE upload ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE refused (
  place integer NOT NULL REFERENCES round (place),
  reason text NOT NULL,
  reports bigint NOT NULL,
  PRIMARY KEY (place, reason)
);
