ALTER TABLE round ADD COLUMN ended TEXT;

ALTER TABLE round ADD COLUMN expired INTEGER;

UPDATE round SET ended = date('now') WHERE closed;
