-- Replays a user's statements: each event draws a unit by its weight and runs its statements in order.
--
-- Environment:
--   BURNISH_STATEMENTS  file that burnish.workload.sql.statements.compiled wrote

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

local last -- the number that was drawn last in the statement

-- What a placeholder stands for: {first..last} a number drawn anew, {+more} the last one and so much more.
local function number(inside)
   local from, to = inside:match("^(%-?%d+)%.%.(%-?%d+)$")
   if from ~= nil then
      -- sysbench draws whole numbers without a sign
      last = tonumber(from) + sysbench.rand.default(0, tonumber(to) - tonumber(from))
      return tostring(last)
   end
   local more = inside:match("^%+(%d+)$")
   return more ~= nil and last ~= nil and tostring(last + tonumber(more)) or nil
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
         last = nil
         text = text:gsub("{([%d%.%+%-]+)}", number)
      end
      local result = con:query(text)
      if result ~= nil then
         result:free()
      end
   end
end
