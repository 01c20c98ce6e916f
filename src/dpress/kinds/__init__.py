"""The kinds of release, a room each: from a specification to candidates, answers, evaluation and page.

Rooms never import each other; the catalogue finds them.
"""
