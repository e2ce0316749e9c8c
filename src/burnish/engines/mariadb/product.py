"""MariaDB's server, for the code that its family shares."""

from __future__ import annotations

from burnish.engines.mariadb.system_tables import SCRIPTS
from burnish.engines.mysql_family.product import ANSWERS, Feeding, Habits, Product, Suite

CLIENTS = [
    "mariadb",
    "mariadb-admin",
    "mariadb-binlog",
    "mariadb-check",
    "mariadb-conv",
    "mariadb-dump",
    "mariadb-import",
    "mariadb-plugin",
    "mariadb-show",
    "mariadb-slap",
    "mariadb-test",
    "mariadb-upgrade",
]
EXTRAS = ["comp_err", "innochecksum", "my_print_defaults", "perror", "replace", "resolveip"]
MYISAM = ["myisam_ftdump", "myisamchk", "myisamlog", "myisampack"]
ARIA = ["aria_chk", "aria_dump_log", "aria_ftdump", "aria_pack", "aria_read_log"]

PRODUCT = Product(
    title="MariaDB",
    program="mariadbd",
    marks=(b"MariaDB",),
    strangers=(b"innodb_dedicated_server",),
    server="sql/mariadbd",
    messages="sql/share",
    charsets="sql/share/charsets",
    clients=("mariadb", "mysql"),
    client_folder="client",
    scripts=SCRIPTS,
    habits=Habits(
        name="mariadbd",
        defaults={
            "innodb_buffer_pool_size": "512M",  # the data fit with room to spare
            "loose_performance_schema": "OFF",  # the server's own default; loose: not every feature set has it
            "innodb_buffer_pool_dump_at_shutdown": "OFF",  # every start begins equally cold,
            "innodb_buffer_pool_load_at_startup": "OFF",  # and no read-ahead of ours runs beside the load
            "max_connections": "2048",
            "max_prepared_stmt_count": "1048576",  # sysbench prepares each statement in each connection
        },
        options=("--skip-slave-start",),  # a user's data may come from a replica
        unchecked=("--skip-grant-tables",),
    ),
    feeding=Feeding(
        options=("--bootstrap", "--skip-grant-tables"),
        small=(
            "--innodb-buffer-pool-size=16M",
            # Newer servers set 8 TB of addresses aside for a pool that may grow, of which an emulator notes every page.
            "--loose-innodb-buffer-pool-size-max=16M",
            "--innodb-log-file-size=4M",
            "--aria-log-file-size=8M",
            "--key-buffer-size=1M",
            # An emulator of one process has neither.
            "--innodb-use-native-aio=0",
            "--innodb-flush-method=fsync",
        ),
    ),
    suite=Suite(
        script="mariadb-test-run.pl",
        programs=(
            *(f"client/{name}" for name in CLIENTS),
            *(f"extra/{name}" for name in EXTRAS),
            *(f"storage/myisam/{name}" for name in MYISAM),
            *(f"storage/maria/{name}" for name in ARIA),
            "sql/mariadb-tzinfo-to-sql",
            "mysql-test/lib/My/SafeProcess/my_safe_process",
            "mysql-test/lib/My/SafeProcess/wsrep_check_version",
        ),
        main=("main",),
        # mtr dies without this one, even where no test runs it; any program will do.
        links=(("tests/mysql_client_test", "client/mariadb-test"),),
    ),
    about="""\
select plugin_name, 'built in' from information_schema.plugins where plugin_library is null
  into outfile '{plugins}';
select lower(variable_name), variable_value from information_schema.global_variables
  where variable_name like 'have\\_%' or variable_name like 'version\\_%' into outfile '{variables}';
""",
    about_options=("--skip-innodb", "--default-storage-engine=Aria"),  # without InnoDB: a quarter of a second
    answers=ANSWERS,
)
