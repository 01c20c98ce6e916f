"""Maps: counts of a grid's cells and a quadtree's nodes, and the error of sums over rectangles."""
