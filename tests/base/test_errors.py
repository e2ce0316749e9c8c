"""What errors say: names that there are, several problems of one request."""

from __future__ import annotations

from burnish.base.errors import MOST_NAMES, UserError, together, unknown


def test_a_short_list_of_names_is_told_whole() -> None:
    message = str(unknown("transport", "tpc", ["unix", "tcp", "tls"], "burnish transports"))
    assert message == "unknown transport 'tpc' (did you mean 'tcp'?); there are: tcp, tls, unix"


def test_the_nearest_name_is_found_whatever_its_case() -> None:
    assert "'MySQL' (did you mean 'mysql'?)" in str(unknown("engine", "MySQL", ["mariadb", "mysql"]))
    assert "'with_ssl' (did you mean 'WITH_SSL'?)" in str(unknown("option", "with_ssl", ["WITH_SSL"]))


def test_of_a_long_list_the_nearest_are_told_and_what_lists_the_others() -> None:
    names = [f"variant-{number}" for number in range(MOST_NAMES)] + ["gcc-pgo", "gcc-pgo-bolt"]
    message = str(unknown("variant", "gcc-pog", names, "burnish variants"))
    assert message.startswith("unknown variant 'gcc-pog' (did you mean 'gcc-pgo'?); there are: gcc-pgo, gcc-pgo-bolt, ")
    assert message.endswith(f" and {len(names) - 8} more (`burnish variants` lists them)")
    assert len(message) < 250


def test_several_problems_are_a_line_each_however_they_were_found() -> None:
    one, two, three = UserError("one"), UserError("two"), UserError("three")
    assert together([one, one]) is one
    every = together([together([one, two]), three, two])
    assert str(every) == "3 things are wrong with this request:\n  one\n  two\n  three"
    assert str(together([every])) == str(every)
