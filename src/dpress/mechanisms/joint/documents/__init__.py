"""Joint distributions as the document has them: by name only, `auto` never takes one."""
