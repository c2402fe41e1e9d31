"""Can a hyperplane part the classes? The question, the search, the verdict."""
