"""The losses, a file each, behind one protocol: what holds, what it costs, what noise is calibrated to it."""
