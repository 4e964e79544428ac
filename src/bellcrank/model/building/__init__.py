"""From what the user wrote to a Model: names resolved, formulas evaluated, the tree grown, the arrays filled."""
