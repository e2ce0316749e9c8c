"""A study at work: builds and programs become sides, sides become starts; what can't be made is its row's reason."""
