from burnish.statistics.sittings import Between


def shipped() -> Between:
    return Between(0.009, 18.0, "the records in docs/results")
