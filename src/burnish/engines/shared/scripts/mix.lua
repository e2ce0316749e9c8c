-- Several sysbench scripts as one load. Each is loaded in a world of its own (globals, options, required modules), so
-- that they don't know of each other.
--
-- Environment:
--   BURNISH_MIX     for each part the lines script=..., weight=..., option=NAME=VALUE for what differs from its own, and
--                   variable=NAME=VALUE for what it alone finds in its environment
--   BURNISH_MIXING  together: each client thread runs one part, threads shared out by weight;
--                   in_turn: each client thread runs transactions of all parts in turn, by weight

local parts, total = {}, 0

-- A copy of `value` as an option of the same kind as `like`.
local function as(like, value)
   if type(like) == "boolean" then
      return value == "on"
   elseif type(like) == "number" then
      return tonumber(value)
   end
   return value
end

-- The world of one part: what it sets stays in it, what it reads and has not set is everybody's.
local function world(given, variables, folder)
   local own = setmetatable({cmdline = {command = sysbench.cmdline.command, options = {}, commands = {}}, hooks = {}},
                            {__index = sysbench})
   own.cmdline.PARALLEL_COMMAND = sysbench.cmdline.PARALLEL_COMMAND
   own.opt = setmetatable({}, {__index = function(_, name)
      local option = own.cmdline.options[name]
      if given[name] ~= nil then
         return as(option and option[2], given[name])
      elseif option ~= nil then
         return option[2]
      end
      return sysbench.opt[name]
   end})
   local env = setmetatable({sysbench = own}, {__index = _G})
   env.os = setmetatable({getenv = function(name) return variables[name] or os.getenv(name) end}, {__index = os})
   local loaded = {}
   local places = (folder and folder .. "/?.lua;" or "") .. package.path -- what a script requires may lie beside it
   env._G = env
   env.require = function(name)
      if loaded[name] == nil then
         local file = package.searchpath and package.searchpath(name, places)
         if file == nil then
            return require(name)
         end
         loaded[name] = setfenv(assert(loadfile(file)), env)(name) or true
      end
      return loaded[name]
   end
   env.dofile = function(file)
      return setfenv(assert(loadfile(file)), env)()
   end
   return env
end

local function load(part)
   part.env = world(part.options, part.variables, part.script:match("^(.*)/"))
   if part.script:sub(1, 1) == "/" then
      part.env.dofile(part.script)
   else
      part.env.require(part.script)
   end
   assert(type(part.env.event) == "function", part.script .. " has no event() function")
end

for line in (assert(os.getenv("BURNISH_MIX"), "BURNISH_MIX is not set") .. "\n"):gmatch("(.-)\n") do
   local key, value = line:match("^(%w+)=(.*)$")
   if key == "script" then
      parts[#parts + 1] = {script = value, options = {}, variables = {}}
   elseif key == "weight" then
      parts[#parts].weight = tonumber(value)
      total = total + tonumber(value)
   elseif key == "option" then
      local name, text = value:match("^([^=]+)=(.*)$")
      parts[#parts].options[name] = text
   elseif key == "variable" then
      local name, text = value:match("^([^=]+)=(.*)$")
      parts[#parts].variables[name] = text
   end
end
for _, part in ipairs(parts) do
   load(part)
end

local in_turn = os.getenv("BURNISH_MIXING") == "in_turn"
local mine, order, place = nil, {}, 0

-- The parts in an order in which each comes as often as its weight says, spread as evenly as can be.
local function spread()
   local credit, found = {}, {}
   for step = 1, total do
      local best = 1
      for i, part in ipairs(parts) do
         credit[i] = (credit[i] or 0) + part.weight
         if credit[i] > credit[best] then
            best = i
         end
      end
      credit[best] = credit[best] - total
      found[step] = parts[best]
   end
   return found
end

function thread_init(...)
   order = spread()
   if in_turn then
      place = sysbench.tid % #order -- threads are not all at the same part at once
      mine = parts
   else
      mine = {order[sysbench.tid % #order + 1]}
   end
   for _, part in ipairs(mine) do
      if part.env.thread_init ~= nil then
         part.env.thread_init(...)
      end
   end
end

function event(...)
   if in_turn then
      place = place % #order + 1
      return order[place].env.event(...)
   end
   return mine[1].env.event(...)
end

function thread_done(...)
   for _, part in ipairs(mine) do
      if part.env.thread_done ~= nil then
         part.env.thread_done(...)
      end
   end
end
