-- Wraps a sysbench 1.0 script: runs it unchanged and writes one JSON line per tick, with all counters of this
-- side read at the same instant: transactions, statements, errors, latency percentiles, and the CPU clocks of the
-- server and of sysbench itself.
--
-- Environment:
--   BURNISH_SCRIPT      the script to run: a name that sysbench knows (oltp_read_only) or an absolute path
--   BURNISH_TICKS       file to append the JSON lines to
--   BURNISH_TICK_S      seconds between ticks; 1 divided by a whole number
--   BURNISH_LATENCY_EVERY  latencies are read at every so many ticks, for the time since they were read last
--   BURNISH_SERVER_PID  process whose CPU clock is read
--   BURNISH_CIPHER      file that the TLS cipher of a connection of this load is written to ('' without TLS); optional
--
-- sysbench reports at whole seconds only. Its reporting thread calls our hook once a second; the hook stays for
-- most of that second and ticks in between, then returns and lets sysbench keep the rhythm. Ticks lie on multiples of
-- the interval on the clock that all processes share, so that the sides of a duet are read at the same instants: a turn
-- begins with both sides moved to other cores, and who is read sooner after that would look slower.

local script = assert(os.getenv("BURNISH_SCRIPT"), "BURNISH_SCRIPT is not set")
if script:sub(1, 1) == "/" then
   dofile(script)
else
   require(script)
end

local ffi = require("ffi")
local bit = require("bit")

-- The cipher that this very client gets, asked for by the first thread before it begins.
local cipher_file = os.getenv("BURNISH_CIPHER")
if cipher_file ~= nil then
   local begin = thread_init
   function thread_init(...)
      if sysbench.tid == 0 then
         local connection = sysbench.sql.driver():connect()
         local _, cipher = connection:query_row("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
         connection:disconnect()
         local file = assert(io.open(cipher_file, "w"))
         file:write(cipher or "")
         file:close()
      end
      if begin ~= nil then
         return begin(...)
      end
   end
end

-- Declared as in sysbench 1.0's sb_counter.h and sb_histogram.h; the histogram's lock after these fields is not
-- used: what is read here only ever grows, so a reading that races with an update is late by one event at most.
ffi.cdef [[
struct burnish_timespec { long tv_sec; long tv_nsec; };
int burnish_clock(int clock, struct burnish_timespec *now) __asm__("clock_gettime");
int burnish_sleep(int clock, int flags, const struct burnish_timespec *until, void *rest)
   __asm__("clock_nanosleep");
int pthread_setcancelstate(int state, int *old);
uint64_t sb_counter_val(int thread_id, int counter);
struct burnish_histogram {
   uint64_t *cumulative_array;
   uint64_t cumulative_nevents;
   uint64_t *temp_array;
   uint64_t **interm_slots;
   size_t array_size;
   double range_min, range_max, range_deduct, range_mult;
};
extern struct burnish_histogram sb_latency_histogram;
]]

local C = ffi.C
local MONOTONIC, PROCESS_CPU, ABSOLUTE = 1, 2, 1
local CANCEL_ENABLE, CANCEL_DISABLE = 0, 1
local OTHER, READ, WRITE, EVENT, ERROR, RECONNECT = 0, 1, 2, 3, 4, 5 -- sb_counter_type_t
local SLOTS = 128 -- SB_HISTOGRAM_NSLOTS

-- Statements tell how far a load has come, finer than transactions do. Not where threads run different scripts: a side
-- that is better at one of them then runs other transactions, and only these can be counted.
local mixed = (os.getenv("BURNISH_MIX") or "") ~= "" and os.getenv("BURNISH_MIXING") == "together"

local SPARE = 0.002 -- seconds before sysbench's next call by which the hook returns

local now = ffi.new("struct burnish_timespec")
local upcoming = 0 -- the next tick, counted in intervals of the clock
local resumed = 0 -- when the load last went on after it had been stopped (SIGSTOP), or began
local previous -- the histogram at the last tick
local sink

local function clock(id)
   if C.burnish_clock(id, now) ~= 0 then
      return nil
   end
   return tonumber(now.tv_sec) + tonumber(now.tv_nsec) * 1e-9
end

-- The kernel's clock id for the CPU time of a whole process, as clock_getcpuclockid(3) makes it.
local function cpu_clock_of(pid)
   return bit.bor(bit.lshift(bit.bnot(pid), 3), 2)
end

local function total(counter)
   local sum = 0
   for thread = 0, sysbench.opt.threads - 1 do
      sum = sum + tonumber(C.sb_counter_val(thread, counter))
   end
   return sum
end

-- Adds one array of 64-bit counts to `into`, by their lower halves (little-endian; counts stay below 2^32).
local function add(into, array, size)
   local low = ffi.cast("uint32_t *", array)
   for i = 0, size - 1 do
      into[i] = into[i] + low[2 * i]
   end
end

-- Latencies of the events since they were read last, in seconds, and how many fell into each bucket, 1.8 % wide, so that
-- the reader can put those of several ticks together. One that took
-- longer than the load has been going on for was under way while it was stopped, for the other side's turn: that wait
-- is none of the server's, so these are left out, and their share is written.
local function latencies(at)
   local histogram = C.sb_latency_histogram
   local size = tonumber(histogram.array_size)
   local current = ffi.new("double[?]", size)
   add(current, histogram.cumulative_array, size)
   for slot = 0, SLOTS - 1 do
      add(current, histogram.interm_slots[slot], size)
   end
   local before = previous or ffi.new("double[?]", size)
   previous = current
   local milliseconds, fitting, count, sum, all = {}, size, 0, 0, 0
   for i = 0, size - 1 do -- a bucket stands for the middle of what falls into it, on the logarithmic scale
      milliseconds[i] = math.exp(i / histogram.range_mult + histogram.range_deduct)
      all = all + current[i] - before[i]
      if milliseconds[i] / 1000 > at - resumed then
         fitting = math.min(fitting, i)
      else
         count = count + current[i] - before[i]
         sum = sum + (current[i] - before[i]) * milliseconds[i]
      end
   end
   if count <= 0 then
      return "", ""
   end
   local ranks = {{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}, {"max", 1}}
   local parts = {string.format('"mean":%.9f,"left_out":%.6f', sum / count / 1000, 1 - count / all)}
   local rank, seen, counts = 1, 0, {}
   for i = 0, fitting - 1 do
      local within = current[i] - before[i]
      seen = seen + within
      if within > 0 then
         counts[#counts + 1] = string.format("[%.9f,%.0f]", milliseconds[i] / 1000, within)
      end
      while rank <= #ranks and seen >= ranks[rank][2] * count do
         parts[#parts + 1] = string.format('"%s":%.9f', ranks[rank][1], milliseconds[i] / 1000)
         rank = rank + 1
      end
   end
   local width = 1 / histogram.range_mult
   return table.concat(parts, ","), string.format('"width":%.9f,"counts":[%s]', width, table.concat(counts, ","))
end

local function tick(server, with_latencies)
   local at = clock(MONOTONIC)
   local server_cpu = clock(server)
   local client_cpu = clock(PROCESS_CPU)
   local done, errors, reconnects = total(EVENT), total(ERROR), total(RECONNECT)
   local steps = mixed and 0 or total(READ) + total(WRITE) + total(OTHER)
   local times, counts = "", ""
   if with_latencies then
      times, counts = latencies(at)
   end
   sink:write(string.format(
      '{"at":%.9f,"done":%.0f,"steps":%.0f,"errors":%.0f,"reconnects":%.0f,' ..
         '"server_cpu":%s,"client_cpu":%.9f,"latency":{%s},"times":{%s}}\n',
      at, done, steps, errors, reconnects,
      server_cpu and string.format("%.9f", server_cpu) or "null", client_cpu, times, counts))
   sink:flush()
end

local function sleep_until(seconds)
   now.tv_sec = math.floor(seconds)
   now.tv_nsec = math.floor((seconds - math.floor(seconds)) * 1e9)
   C.burnish_sleep(MONOTONIC, ABSOLUTE, now, nil)
end

function sysbench.hooks.report_intermediate()
   -- At its end sysbench cancels this thread; that must not happen while it is in here.
   C.pthread_setcancelstate(CANCEL_DISABLE, nil)
   if sink == nil then
      sink = assert(io.open(assert(os.getenv("BURNISH_TICKS"), "BURNISH_TICKS is not set"), "a"))
   end
   local server = cpu_clock_of(tonumber(os.getenv("BURNISH_SERVER_PID")))
   local interval = tonumber(os.getenv("BURNISH_TICK_S"))
   local every = tonumber(os.getenv("BURNISH_LATENCY_EVERY"))
   local began = clock(MONOTONIC)
   while upcoming * interval < began + 1 - SPARE do
      sleep_until(upcoming * interval)
      local at = clock(MONOTONIC)
      if at - upcoming * interval > interval then
         resumed = at
      end
      if at - upcoming * interval > 2 * interval then
         -- This is the first call, or we were stopped (SIGSTOP): tick on from here, not at sysbench's next second.
         began, upcoming = at, math.ceil(at / interval)
      else
         tick(server, upcoming % every == 0)
         upcoming = upcoming + 1
      end
   end
   C.pthread_setcancelstate(CANCEL_ENABLE, nil)
end
