ALTER TABLE round ADD COLUMN ended text;

ALTER TABLE round ADD COLUMN expired bigint;

UPDATE round SET ended = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') WHERE closed;
