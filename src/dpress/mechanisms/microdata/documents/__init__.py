"""Records as the documents have them: by name only, `auto` never takes one."""
