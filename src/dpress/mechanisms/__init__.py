"""One file per method, named as its paper names it; families never import each other."""
