"""Monte Carlo tree search: the tree, its selection rule, determinizations, budgets and the difficulty-adjusting choices."""
