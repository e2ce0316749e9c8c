"""What a server of the family can be loaded with."""

from __future__ import annotations

from burnish.engines.loads import OwnData
from burnish.engines.mysql_family import own_data
from burnish.engines.shared.sysbench_loads import SysbenchLoads


class ServerLoads(SysbenchLoads):
    """sysbench's loads, sql-bench, and users' loads over their dumps and data folders."""

    def own_data(self, data: OwnData) -> tuple[str, str]:
        """See `SysbenchLoads.own_data`."""
        return own_data.identity(data.place, data.database), own_data.database_of(data.place, data.database)
