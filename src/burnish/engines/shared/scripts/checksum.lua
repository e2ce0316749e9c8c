-- CHECKSUM TABLE over sysbench's tables, one table an event, in turn: every row is read and summed.

require("oltp_common")

function prepare_statements()
end

local turn

function event()
   turn = (turn or sysbench.tid) % sysbench.opt.tables + 1
   con:query(string.format("CHECKSUM TABLE sbtest%d EXTENDED", turn)):free()
end
