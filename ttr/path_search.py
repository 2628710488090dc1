"""Room for the search of the cheapest set of routes that joins all tickets."""

import numpy as np

PATHS = np.dtype([("cost", "i8", 128)], align=True)
