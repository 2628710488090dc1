"""Room for a search tree."""

import numpy as np

TREE = np.dtype([("visits", "i8", 1)], align=True)
