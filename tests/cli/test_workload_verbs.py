"""The verbs that turn what a server has kept into statements with weights."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.cli.common import app
from burnish.workload.sql import statements

DIGESTS = """\
SCHEMA_NAME\tDIGEST_TEXT\tCOUNT_STAR\tSUM_ROWS_SENT
shop\tSELECT `name` FROM `items` WHERE `id` = ?\t30\t30
shop\tSHOW STATUS\t2\t0
"""
DUMP = """\
CREATE TABLE `items` (`id` int NOT NULL AUTO_INCREMENT, `name` varchar(40), PRIMARY KEY (`id`)) AUTO_INCREMENT=51;
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "digests.tsv").write_text(DIGESTS)
    (tmp_path / "dump.sql.gz").write_bytes(gzip.compress(DUMP.encode()))
    return tmp_path


def test_digests_become_a_file_of_statements(place: Path) -> None:
    words = ["workload", "from-digest", str(place / "digests.tsv"), "--schema", str(place / "dump.sql.gz")]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    (unit,) = statements.parse(done.stdout, "mine.sql")
    assert (unit.statements, unit.weight) == (("SELECT `name` FROM `items` WHERE `id` = {1..50}",), 30.0)
    assert "30 executions as 1 statements of database shop; left out: 2 SHOW" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "from-digest: name either an exported FILE or a running server's --socket"),
        (["{}/digests.tsv", "--socket", "/run/s.sock"], "from-digest: name either an exported FILE"),
        (["{}/nothing.tsv"], "{}/nothing.tsv: cannot be read (No such file or directory); name an export of"),
        (["{}/digests.tsv", "--database", "shp"], "--database shp: not in {}/digests.tsv; there are: shop"),
        (["{}/digests.tsv", "--schema", "{}/digests.tsv"], "--schema {}/digests.tsv: no definition of a table of shop"),
        (["{}/digests.tsv", "--user", "u"], "--user: is of a running server; name its --socket, or leave --user out"),
        (["{}/digests.tsv", "--password-file", "{}/p"], "--password-file: is of a running server; name its --socket"),
        (["--socket", "{}/no.sock"], "--socket {}/no.sock: Can't connect"),
    ],
)
def test_what_cannot_be_read_is_named(place: Path, words: list[str], says: str) -> None:
    given = [word.replace("{}", str(place)) for word in words]
    with pytest.raises(UserError) as caught:
        CliRunner().invoke(app, ["workload", "from-digest", *given], catch_exceptions=False)
    assert str(caught.value).startswith(says.replace("{}", str(place)))


@pytest.mark.parametrize("head", ["[mine]\n", "", "{\n"])
def test_a_file_that_is_no_export_is_not_said_to_have_wrong_columns(place: Path, head: str) -> None:
    (place / "mine.toml").write_text(f'{head}reason = "a, b"\nclients = 4\n')
    with pytest.raises(
        UserError, match=r"mine\.toml: .*not TSV, CSV or JSON of events_statements_summary_by_digest; export"
    ):
        CliRunner().invoke(app, ["workload", "from-digest", str(place / "mine.toml")], catch_exceptions=False)


def test_the_list_tells_of_files_and_mixes_where_they_run() -> None:
    listed = CliRunner().invoke(app, ["workload", "list", "mariadb"], catch_exceptions=False).output
    assert "oltp_read_only (mariadb, " in listed
    assert "./mine.sql --data dump.sql" in listed
    assert "together:oltp_read_only=3,./mine.lua=1" in listed
    assert "mine.lua" not in CliRunner().invoke(app, ["workload", "list", "sqlite"], catch_exceptions=False).output


def test_a_full_disk_leaves_an_older_file_of_statements(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (place / "mine.sql").write_text("-- mine\n")
    monkeypatch.setattr(os, "fsync", no_room)
    words = ["workload", "from-digest", str(place / "digests.tsv"), "--schema", str(place / "dump.sql.gz")]
    with pytest.raises(UserError, match=r"^--output .*mine\.sql: cannot be written \(No space left on device\)"):
        CliRunner().invoke(app, [*words, "--output", str(place / "mine.sql")], catch_exceptions=False)
    assert (place / "mine.sql").read_text() == "-- mine\n"
