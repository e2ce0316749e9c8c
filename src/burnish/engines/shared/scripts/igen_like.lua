-- A light system for orders from all over the world, in the manner of Oracle's iGen as far as that is public: light
-- SQL in short explicit transactions on cached data, many clients, the log of commits as the stressed device. Its
-- tables, mix and pace are ours, so its figures are not iGen's.
--
-- Three transactions: a new order (its lines, the items' stock, the customer's balance), a payment (the customer's
-- balance, the order's status), and a look at an order's status, which only reads. Rows are locked in one order (items
-- by number, then the customer, then the order), so that no two transactions wait for each other.

sysbench.cmdline.options = {
   customers = {"Number of customers", 20000},
   items = {"Number of items in stock", 10000},
   orders = {"Number of orders that are there at the start", 60000},
   lines = {"Most lines of a new order", 4},
   new_orders = {"Weight of new orders", 45},
   payments = {"Weight of payments", 43},
   statuses = {"Weight of looks at an order's status", 12},
}

local tables = {
   [[CREATE TABLE customers (
      id INT UNSIGNED NOT NULL PRIMARY KEY, region TINYINT UNSIGNED NOT NULL, name VARCHAR(40) NOT NULL,
      balance BIGINT NOT NULL, orders INT UNSIGNED NOT NULL) ENGINE=InnoDB]],
   [[CREATE TABLE items (
      id INT UNSIGNED NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, price INT UNSIGNED NOT NULL,
      stock BIGINT NOT NULL) ENGINE=InnoDB]],
   [[CREATE TABLE orders (
      id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, customer INT UNSIGNED NOT NULL, placed DATETIME NOT NULL,
      status TINYINT UNSIGNED NOT NULL, KEY by_customer (customer)) ENGINE=InnoDB]],
   [[CREATE TABLE order_lines (
      orders INT UNSIGNED NOT NULL, line TINYINT UNSIGNED NOT NULL, item INT UNSIGNED NOT NULL,
      quantity SMALLINT UNSIGNED NOT NULL, PRIMARY KEY (orders, line)) ENGINE=InnoDB]],
   [[CREATE TABLE payments (
      id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, orders INT UNSIGNED NOT NULL, paid DATETIME NOT NULL,
      amount INT UNSIGNED NOT NULL) ENGINE=InnoDB]],
}

local function fill(con, into, count, row)
   con:bulk_insert_init("INSERT INTO " .. into .. " VALUES")
   for i = 1, count do
      con:bulk_insert_next(row(i))
   end
   con:bulk_insert_done()
end

-- Whose order it is that was there at the start.
local function customer_of(order)
   return order % sysbench.opt.customers + 1
end

function prepare()
   local con = sysbench.sql.driver():connect()
   for _, statement in ipairs(tables) do
      con:query(statement)
   end
   local opt = sysbench.opt
   fill(con, "customers", opt.customers, function(i)
      return string.format("(%d, %d, '%s', 0, 0)", i, i % 6, sysbench.rand.string("customer ##############"))
   end)
   fill(con, "items", opt.items, function(i)
      return string.format("(%d, '%s', %d, 1000000000)", i, sysbench.rand.string("item ##############"),
                           sysbench.rand.uniform(100, 99999))
   end)
   fill(con, "orders", opt.orders, function(i)
      return string.format("(%d, %d, '2026-01-01 00:00:00', 0)", i, customer_of(i))
   end)
   fill(con, "order_lines", 2 * opt.orders, function(i)
      return string.format("(%d, %d, %d, %d)", math.ceil(i / 2), i % 2 + 1, sysbench.rand.uniform(1, opt.items),
                           sysbench.rand.uniform(1, 9))
   end)
end

function cleanup()
   local con = sysbench.sql.driver():connect()
   con:query("DROP TABLE IF EXISTS customers, items, orders, order_lines, payments")
end

local statements = {
   begin = {"BEGIN", 0},
   commit = {"COMMIT", 0},
   customer = {"SELECT region, balance FROM customers WHERE id = ?", 1},
   order = {"INSERT INTO orders (customer, placed, status) VALUES (?, NOW(), 0)", 1},
   price = {"SELECT price, stock FROM items WHERE id = ?", 1},
   stock = {"UPDATE items SET stock = stock - ? WHERE id = ?", 2},
   -- order_lines has no number of its own, so LAST_INSERT_ID() stays the order's.
   line = {"INSERT INTO order_lines (orders, line, item, quantity) VALUES (LAST_INSERT_ID(), ?, ?, ?)", 3},
   owes = {"UPDATE customers SET balance = balance + ?, orders = orders + 1 WHERE id = ?", 2},
   pays = {"UPDATE customers SET balance = balance - ? WHERE id = ?", 2},
   paid = {"UPDATE orders SET status = 1 WHERE id = ?", 1},
   payment = {"INSERT INTO payments (orders, paid, amount) VALUES (?, NOW(), ?)", 2},
   status = {"SELECT placed, status FROM orders WHERE id = ?", 1},
   lines = {"SELECT item, quantity FROM order_lines WHERE orders = ?", 1},
   latest = {"SELECT id, status FROM orders WHERE customer = ? ORDER BY id DESC LIMIT 5", 1},
}

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   prepared = {}
   for name, entry in pairs(statements) do
      local statement, bound = con:prepare(entry[1]), {}
      for i = 1, entry[2] do
         bound[i] = statement:bind_create(sysbench.sql.type.INT)
      end
      if entry[2] > 0 then
         statement:bind_param(unpack(bound))
      end
      prepared[name] = {statement = statement, bound = bound}
   end
end

function thread_done()
   for _, entry in pairs(prepared) do
      entry.statement:close()
   end
   con:disconnect()
end

local function run(name, ...)
   local entry = prepared[name]
   for i = 1, select("#", ...) do
      entry.bound[i]:set((select(i, ...)))
   end
   entry.statement:execute()
end

local function new_order()
   local opt = sysbench.opt
   local customer = sysbench.rand.default(1, opt.customers)
   local chosen, seen = {}, {}
   for _ = 1, sysbench.rand.uniform(1, opt.lines) do
      local item = sysbench.rand.default(1, opt.items)
      if not seen[item] then
         seen[item], chosen[#chosen + 1] = true, item
      end
   end
   table.sort(chosen)
   run("begin")
   run("customer", customer)
   run("order", customer)
   for number, item in ipairs(chosen) do
      local quantity = sysbench.rand.uniform(1, 9)
      run("price", item)
      run("stock", quantity, item)
      run("line", number, item, quantity)
   end
   run("owes", 100 * #chosen, customer)
   run("commit")
end

local function payment()
   local order, amount = sysbench.rand.default(1, sysbench.opt.orders), sysbench.rand.uniform(1, 9999)
   run("begin")
   run("pays", amount, customer_of(order))
   run("paid", order)
   run("payment", order, amount)
   run("commit")
end

local function status()
   local order = sysbench.rand.default(1, sysbench.opt.orders)
   run("begin")
   run("status", order)
   run("lines", order)
   run("latest", customer_of(order))
   run("commit")
end

function event()
   local opt = sysbench.opt
   local drawn = sysbench.rand.uniform(1, opt.new_orders + opt.payments + opt.statuses)
   if drawn <= opt.new_orders then
      new_order()
   elseif drawn <= opt.new_orders + opt.payments then
      payment()
   else
      status()
   end
end
