-- Plays sysbench's reporting to the hook by a clock of its own: no core decides what is read when.
-- Environment: HOOK, STOPS ("begin:end ..." in seconds, when the load is stopped), SECONDS, and the hook's own.

local ffi = require("ffi")

local PHASE = 0.31 -- of sysbench's whole seconds on the clock that all processes share
local EVENT_S, THREADS = 0.002, 2
local SIZE, LEAST, MOST = 1024, 0.001, 100000 -- sysbench's own buckets, in milliseconds

local time, events = PHASE, 0
local stops = {}
for begin, stop in os.getenv("STOPS"):gmatch("([%d.]+):([%d.]+)") do
   stops[#stops + 1] = {tonumber(begin), tonumber(stop)}
end

local counted, none = ffi.new("uint64_t[?]", SIZE), ffi.new("uint64_t[?]", SIZE)
local deduct = math.log(LEAST)
local mult = (SIZE - 1) / (math.log(MOST) - deduct)

-- So many events that took so long are finished.
local function finish(number, seconds)
   local bucket = math.floor((math.log(seconds * 1000) - deduct) * mult + 0.5)
   counted[bucket] = counted[bucket] + number
   events = events + number
end

-- Lets the time go on, in which the load works where it is not stopped.
local function until_(target)
   local stop = stops[1]
   if stop ~= nil and target > stop[1] then
      finish(math.floor((stop[1] - time) / EVENT_S) * THREADS, EVENT_S)
      finish(THREADS, stop[2] - stop[1]) -- under way meanwhile, in each thread
      time = stop[2]
      table.remove(stops, 1)
   end
   if target > time then
      finish(math.floor((target - time) / EVENT_S) * THREADS, EVENT_S)
      time = target
   end
end

local C = {
   burnish_clock = function(_, now)
      now.tv_sec = math.floor(time)
      now.tv_nsec = math.floor((time - math.floor(time)) * 1e9)
      return 0
   end,
   burnish_sleep = function(_, _, target)
      until_(tonumber(target.tv_sec) + tonumber(target.tv_nsec) * 1e-9)
      return 0
   end,
   pthread_setcancelstate = function() return 0 end,
   sb_counter_val = function(thread) return thread == 0 and events or 0 end,
   sb_latency_histogram = {
      cumulative_array = counted,
      interm_slots = setmetatable({}, {__index = function() return none end}),
      array_size = SIZE,
      range_deduct = deduct,
      range_mult = mult,
   },
}

local function play()
   for _ = 1, tonumber(os.getenv("SECONDS")) do
      until_(math.floor(time - PHASE) + 1 + PHASE) -- as sysbench does: its next whole second, however late it is
      sysbench.hooks.report_intermediate()
   end
end

sysbench.cmdline.commands = {play = {play}}
package.loaded.ffi = setmetatable({C = C}, {__index = ffi})
dofile(os.getenv("HOOK"))
