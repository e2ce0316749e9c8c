-- A driver without a server: every statement that a script sends, with its parameters, is a line of a file.
-- Environment: RECORD (the file), PLAYED (the script)

local file

local function write(text)
   file = file or assert(io.open(os.getenv("RECORD") .. "." .. sysbench.tid, "a"))
   file:write((text:gsub("\n", "\\n")), "\n")
   file:flush()
end

local function statement(text)
   local bound
   return {
      bind_create = function()
         local parameter = {}
         function parameter:set(value) self.value = value end
         function parameter:set_rand_str() self.value = "random" end
         return parameter
      end,
      bind_param = function(_, ...) bound = {...} end,
      execute = function()
         local values = {}
         for i, parameter in ipairs(bound or {}) do
            values[i] = tostring(parameter.value)
         end
         write(text .. (#values > 0 and " [" .. table.concat(values, ",") .. "]" or ""))
      end,
      close = function() end,
   }
end

local connection = {
   prepare = function(_, text) return statement(text) end,
   query = function(_, text)
      write(text)
      return {free = function() end}
   end,
   disconnect = function() end,
   bulk_insert_init = function(_, text) write(text) end,
   bulk_insert_next = function(_, text) write(text) end,
   bulk_insert_done = function() end,
}

sysbench.sql.driver = function()
   return {name = function() return "mysql" end, connect = function() return connection end}
end
local played = os.getenv("PLAYED")
if played:sub(1, 1) == "/" then
   dofile(played)
else
   require(played)
end
