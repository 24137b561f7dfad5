"""What Redis does for a store, in Lua: Redis runs a script whole, so that no other server sees or writes in between.

Each kind has three keys: `<base>order`, its keys by the time of their last use; `<base>about`, of each key the digest
and the owner in one text; `<base>values`. No total is kept that could be wrong: sums are made when something is put.
Redis may have lost any of the three, as under an eviction policy, and somebody else may have written into them: what is
not in all of them is put in order before anything else (`tidy`), and every loop goes over a list. The base is KEYS[1],
and ARGV[1] the kind's lifetime in microseconds, or 0.
"""

COMMON = """
local order, about, values = KEYS[1] .. 'order', KEYS[1] .. 'about', KEYS[1] .. 'values'
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lifetime = tonumber(ARGV[1])
local oldest = lifetime > 0 and string.format('%.0f', now - lifetime) or '-inf'

local function drop(key)
    redis.call('ZREM', order, key)
    redis.call('HDEL', about, key)
    redis.call('HDEL', values, key)
end

-- Never the same time twice, so that the order of uses is that of the times.
local function use(key)
    local last = redis.call('ZRANGE', order, -1, -1, 'WITHSCORES')[2]
    redis.call('ZADD', order, string.format('%.0f', math.max(now, tonumber(last or 0) + 1)), key)
end

local function mend()
    for _, key in ipairs(redis.call('ZRANGE', order, 0, -1)) do
        if redis.call('HEXISTS', values, key) == 0 then drop(key) end
    end
    for _, key in ipairs(redis.call('HKEYS', about)) do
        if redis.call('HEXISTS', values, key) == 0 then drop(key) end
    end
    for _, key in ipairs(redis.call('HKEYS', values)) do
        if redis.call('HEXISTS', about, key) == 0 then drop(key)
        elseif not redis.call('ZSCORE', order, key) then use(key) end
    end
end

local function tidy()
    local count = redis.call('ZCARD', order)
    if redis.call('HLEN', about) ~= count or redis.call('HLEN', values) ~= count then mend() end
    if lifetime > 0 then
        for _, key in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', '(' .. oldest)) do drop(key) end
    end
end

-- The digest and the owner; nothing if somebody else has written what it says.
local function told(text) return string.match(text or '', '^(%x+) (.*)$') end
"""

PUT = f"""{COMMON}
local _, key, owner, digest, value, extra, each, network, together = unpack(ARGV)
redis.call('HSET', values, key, value)  -- first: after another write, Redis would let a script go over maxmemory
redis.call('HSET', about, key, digest .. ' ' .. owner)
use(key)  -- now, so that it has not outlived its time, and again after what is put in order
tidy()
use(key)
local sizes, owners, rows = {{}}, {{}}, redis.call('HGETALL', about)
for row = 1, #rows, 2 do
    local _, whose = told(rows[row + 1])
    if whose then
        owners[rows[row]], sizes[rows[row]] = whose, extra + redis.call('HSTRLEN', values, rows[row])
    else
        drop(rows[row])
    end
end

-- The oldest of these go until they fit; a limit of 0 is none.
local function make_room(limit, counts)
    local total = 0
    for old, size in pairs(sizes) do
        if counts(owners[old]) then total = total + size end
    end
    if limit == 0 or total <= limit then return end
    for _, old in ipairs(redis.call('ZRANGE', order, 0, -1)) do
        if total <= limit then return end
        if sizes[old] and counts(owners[old]) then
            drop(old)
            total, sizes[old] = total - sizes[old], nil
        end
    end
end

local address = string.match(owner, '^[^ ]*')
make_room(tonumber(each), function(whose) return whose == owner end)
make_room(tonumber(network), function(whose) return string.match(whose, '^[^ ]*') == address end)
make_room(tonumber(together), function() return true end)
"""

# Its owner and digest, and with ARGV[4] the value; nothing of a value that is larger than ARGV[5] bytes. A Redis that
# is full, or may only be read, still tells: what reading writes is left out then.
READ = f"""{COMMON}
local _, key, renews, whole, most = unpack(ARGV)
pcall(tidy)
local digest, owner = told(redis.call('HGET', about, key))
local used = redis.call('ZSCORE', order, key)
if not digest or redis.call('HSTRLEN', values, key) > tonumber(most) then return false end
if lifetime > 0 and used and tonumber(used) < tonumber(oldest) then return false end
local value = whole == '1' and redis.call('HGET', values, key) or ''
if not value or redis.call('HEXISTS', values, key) == 0 then return false end
if renews == '1' then pcall(use, key) end
return {{owner, digest, value}}
"""

KEYS = f"""{COMMON}
pcall(tidy)
return redis.call('ZRANGEBYSCORE', order, oldest, '+inf')
"""

REMOVE = f"""{COMMON}
tidy()
drop(ARGV[2])
"""
