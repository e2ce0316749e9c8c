"""Single functions from two source trees, timed by themselves."""
