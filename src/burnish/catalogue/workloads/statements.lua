-- Replays a user's statements: each event draws a unit by its weight and runs its statements in order.
--
-- Environment:
--   BURNISH_STATEMENTS  file that burnish.study.statements.compiled wrote

local units, total = {}, 0

local function read()
   local path = assert(os.getenv("BURNISH_STATEMENTS"), "BURNISH_STATEMENTS is not set")
   local file = assert(io.open(path, "rb"))
   while true do
      local head = file:read("*l")
      if head == nil then
         break
      end
      local weight, count = head:match("^unit (%S+) (%d+)$")
      total = total + assert(tonumber(weight), path .. ": not a file of units")
      local unit = {upto = total}
      for i = 1, tonumber(count) do
         local length, drawn = file:read("*l"):match("^(%d+) ([01])$")
         unit[i] = {text = file:read(tonumber(length)), drawn = drawn == "1"}
         file:read("*l")
      end
      units[#units + 1] = unit
   end
   file:close()
   assert(#units > 0, path .. ": no unit in it")
end

function thread_init()
   read()
   drv = sysbench.sql.driver()
   con = drv:connect()
end

function thread_done()
   con:disconnect()
end

local function number(first, last)
   return tostring(sysbench.rand.default(tonumber(first), tonumber(last)))
end

-- The first unit whose running total of weights reaches `at`.
local function find(at)
   local low, high = 1, #units
   while low < high do
      local middle = math.floor((low + high) / 2)
      if units[middle].upto >= at then
         high = middle
      else
         low = middle + 1
      end
   end
   return units[low]
end

function event()
   local unit = find(sysbench.rand.uniform(1, 1000000) / 1000000 * total)
   for i = 1, #unit do
      local text = unit[i].text
      if unit[i].drawn then
         text = text:gsub("{(%-?%d+)%.%.(%-?%d+)}", number)
      end
      local result = con:query(text)
      if result ~= nil then
         result:free()
      end
   end
end
