"""MySQL's server, for the code that its family shares."""

from __future__ import annotations

from burnish.engines.mysql_family.product import ANSWERS, Feeding, Habits, Product, Suite

_PROGRAMS = "runtime_output_directory"

CLIENTS = (
    "mysql", "mysqladmin", "mysqlbinlog", "mysqlcheck", "mysqldump", "mysqlimport", "mysqlshow", "mysqlslap",
    "mysqltest", "mysql_config_editor", "mysql_keyring_encryption_test", "mysql_migrate_keyring",
    "mysql_secure_installation", "mysql_tzinfo_to_sql", "mysqltest_safe_process", "my_print_defaults", "perror",
    "innochecksum", "ibd2sdi", "myisamchk", "myisampack", "myisamlog", "myisam_ftdump", "comp_err",
)  # fmt: skip
_ABSENT = ("mysql_client_test", "mysql_ssl_rsa_setup", "mysqlpump", "mysql_upgrade")  # 8.0 wants the last three

_SMALL = (
    "--innodb-buffer-pool-size=16M",
    "--loose-innodb-redo-log-capacity=8M",
    "--innodb-flush-log-at-trx-commit=0",  # what is asked is not kept
    "--innodb-doublewrite=OFF",
    "--skip-log-bin",
)

_ACCOUNTS = """\
SET SESSION sql_log_bin = 0;
CREATE USER IF NOT EXISTS root@localhost;
ALTER USER root@localhost IDENTIFIED WITH caching_sha2_password BY '' ACCOUNT UNLOCK;
GRANT ALL ON *.* TO root@localhost WITH GRANT OPTION;
CREATE USER IF NOT EXISTS root@'%';
ALTER USER root@'%' IDENTIFIED WITH caching_sha2_password BY '' ACCOUNT UNLOCK;
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
"""
"""Users are checked, since without that MySQL listens to no network. A user's copied data may lack these accounts."""

PRODUCT = Product(
    title="MySQL",
    forks=("Percona Server",),
    program="mysqld",
    marks=(b"innodb_dedicated_server",),
    strangers=(b"MariaDB Corporation", b"aria_pagecache_buffer_size"),
    server=f"{_PROGRAMS}/mysqld",
    messages="share",
    charsets="share/charsets",
    clients=("mysql", "mariadb"),
    client_folder=_PROGRAMS,
    habits=Habits(
        name="mysqld",
        defaults={
            "innodb_buffer_pool_size": "512M",  # the data fit with room to spare
            "loose_innodb_redo_log_capacity": "256M",  # as an eighth of any pool that is measured here
            "innodb_buffer_pool_dump_at_shutdown": "OFF",  # every start begins equally cold,
            "innodb_buffer_pool_load_at_startup": "OFF",  # and no read-ahead of ours runs beside the load
            "max_connections": "2048",
            "max_prepared_stmt_count": "1048576",  # sysbench prepares each statement in each connection
            "skip_log_bin": "ON",  # as with other servers of the family; the condition binlog=on has it
        },
        options=(
            "--loose-skip-replica-start",  # a user's data may come from a replica,
            "--loose-skip-slave-start",  # and a server before 8.0.26 knows only this name
            "--loose-mysqlx=OFF",  # no load speaks its protocol
            "--loose-auto-generate-certs=OFF",
            "--secure-file-priv=",  # a package's folder need not be there
        ),
        accounts=_ACCOUNTS,
    ),
    feeding=Feeding(
        options=("--initialize-insecure", "--secure-file-priv=", "--loose-auto-generate-certs=OFF"),
        by_file=True,
        # An emulator of one process has no asynchronous I/O.
        small=(*_SMALL, "--key-buffer-size=1M", "--innodb-use-native-aio=0", "--innodb-flush-method=fsync"),
    ),
    suite=Suite(
        script="mysql-test-run.pl",
        programs=tuple(f"{_PROGRAMS}/{name}" for name in CLIENTS),
        main=("t", "r"),
        first="innodb_gis",  # of a collected suite, all tests that are switched off must be there: here are none
        words=("--nounit-tests", "--skip-rpl"),
        # mtr dies without the first ones, even where no test runs them; any program will do. Clients are sought in bin.
        links=(*((f"{_PROGRAMS}/{name}", f"{_PROGRAMS}/mysqltest") for name in _ABSENT), ("bin", _PROGRAMS)),
    ),
    about="SELECT plugin_name, 'built in' FROM information_schema.plugins WHERE plugin_library IS NULL "
    "INTO OUTFILE '{plugins}';\n"
    "SELECT LOWER(variable_name), variable_value FROM performance_schema.global_variables "
    "WHERE variable_name LIKE 'have\\_%' OR variable_name LIKE 'version\\_%' INTO OUTFILE '{variables}';\n",
    about_options=_SMALL,
    answers=ANSWERS,
)
