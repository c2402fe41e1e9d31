"""What is added up over the rows, and how the total becomes a classifier."""
