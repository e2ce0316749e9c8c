-- Questions of an analyst to sysbench's tables: each event is one of a handful of queries over a slice of rows, joins,
-- aggregates and sorts, none of which a single index answers. Slices begin anywhere and have one size, so that
-- the events of one kind cost the same.

require("oltp_common")

sysbench.cmdline.options.slice = {"Rows that one query begins with", 2000}

-- One name for what `oltp_common` would prepare; these queries are sent as text, as an analyst's tool does.
function prepare_statements()
end

local queries = {
   -- a join by the primary key, grouped by a value that has no index
   [[SELECT LEFT(a.c, 2) AS g, COUNT(*), SUM(b.k), AVG(b.id) FROM sbtest%d a JOIN sbtest%d b ON b.id = a.k
     WHERE a.id BETWEEN %d AND %d GROUP BY g ORDER BY 3 DESC LIMIT 20]],
   -- a join by a secondary index
   [[SELECT COUNT(*), MIN(b.pad), MAX(b.pad) FROM sbtest%d a JOIN sbtest%d b ON b.k = a.id
     WHERE a.id BETWEEN %d AND %d]],
   -- a sort of wide rows, of which a page is wanted
   [[SELECT a.id, a.c, b.k FROM sbtest%d a JOIN sbtest%d b ON b.id = a.id
     WHERE a.id BETWEEN %d AND %d ORDER BY a.pad, a.c DESC LIMIT 50]],
   -- distinct values and a filter on the groups
   [[SELECT a.k %% 100 AS g, COUNT(DISTINCT LEFT(b.pad, 3)), SUM(a.k * 1.5) FROM sbtest%d a JOIN sbtest%d b ON b.id = a.id
     WHERE a.id BETWEEN %d AND %d GROUP BY g HAVING COUNT(*) > 1 ORDER BY 2, 1]],
   -- a window over groups
   [[SELECT g, n, SUM(n) OVER (ORDER BY g) FROM (
       SELECT a.k DIV 1000 AS g, COUNT(*) AS n FROM sbtest%d a LEFT JOIN sbtest%d b ON b.id = a.id AND b.k > a.k
       WHERE a.id BETWEEN %d AND %d GROUP BY g) t]],
}
local turn

function event()
   turn = (turn or sysbench.tid) % #queries + 1 -- each kind equally often: a draw would add its own noise
   local opt = sysbench.opt
   local first = sysbench.rand.default(1, math.max(1, opt.table_size - opt.slice + 1))
   local one, other = sysbench.rand.uniform(1, opt.tables), sysbench.rand.uniform(1, opt.tables)
   con:query(string.format(queries[turn], one, other, first, first + opt.slice - 1)):free()
end
