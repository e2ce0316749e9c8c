"""Single functions out of two trees, timed by themselves."""
