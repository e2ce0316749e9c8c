"""The fake engine, whose true speed is known: for the tests of everything else."""
