"""The kinds of release, a room each: what its page says. Rooms never import each other; the catalogue finds them."""
