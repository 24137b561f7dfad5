"""What Redis does for a store, in Lua: Redis runs a script whole, so that no other server sees or writes in between.

Each kind has: `<base>order`, the keys by time of their last use; `<base>order:<owner>`, the same of an owner;
`<base>owner`, `<base>digest` and `<base>size`, by key; `<base>bytes`, by owner; `<base>total`; `<base>last`, the latest
time that was given; and each value in `<base>value:<key>`. The base is KEYS[1], and ARGV[1] the kind's lifetime in
microseconds, or 0.
"""

COMMON = """
local base = KEYS[1]

local function drop(key)
    local owner = redis.call('HGET', base .. 'owner', key)
    if not owner then return end
    local size = redis.call('HGET', base .. 'size', key)
    redis.call('DEL', base .. 'value:' .. key)
    for _, what in ipairs({'owner', 'digest', 'size'}) do redis.call('HDEL', base .. what, key) end
    redis.call('ZREM', base .. 'order', key)
    redis.call('ZREM', base .. 'order:' .. owner, key)
    redis.call('DECRBY', base .. 'total', size)
    if redis.call('HINCRBY', base .. 'bytes', owner, -size) <= 0 then redis.call('HDEL', base .. 'bytes', owner) end
end

local function microseconds()
    local time = redis.call('TIME')
    return time[1] * 1000000 + time[2]
end

-- Never the same twice, so that the order of uses is that of the times.
local function use(key, owner)
    local now = math.max(microseconds(), tonumber(redis.call('GET', base .. 'last') or '0') + 1)
    local score = string.format('%.0f', now)
    redis.call('SET', base .. 'last', score)
    redis.call('ZADD', base .. 'order', score, key)
    redis.call('ZADD', base .. 'order:' .. owner, score, key)
end

if tonumber(ARGV[1]) > 0 then
    local ended = string.format('(%.0f', microseconds() - ARGV[1])
    for _, key in ipairs(redis.call('ZRANGEBYSCORE', base .. 'order', '-inf', ended)) do drop(key) end
end
"""

PUT = f"""{COMMON}
local _, key, owner, digest, size, value, each, together = unpack(ARGV)
drop(key)
redis.call('SET', base .. 'value:' .. key, value)
redis.call('HSET', base .. 'owner', key, owner)
redis.call('HSET', base .. 'digest', key, digest)
redis.call('HSET', base .. 'size', key, size)
redis.call('INCRBY', base .. 'total', size)
redis.call('HINCRBY', base .. 'bytes', owner, size)
use(key, owner)
while tonumber(each) > 0 and tonumber(redis.call('HGET', base .. 'bytes', owner)) > tonumber(each) do
    drop(redis.call('ZRANGE', base .. 'order:' .. owner, 0, 0)[1])
end
while tonumber(redis.call('GET', base .. 'total')) > tonumber(together) do
    drop(redis.call('ZRANGE', base .. 'order', 0, 0)[1])
end
"""

# Its owner and digest, and with ARGV[4] the value; nothing of a value that Redis has dropped for want of memory.
READ = f"""{COMMON}
local _, key, renews, whole = unpack(ARGV)
local owner = redis.call('HGET', base .. 'owner', key)
if not owner then return false end
if redis.call('EXISTS', base .. 'value:' .. key) == 0 then
    drop(key)
    return false
end
if renews == '1' then use(key, owner) end
local value = whole == '1' and redis.call('GET', base .. 'value:' .. key) or ''
return {{owner, redis.call('HGET', base .. 'digest', key), value}}
"""

KEYS = f"{COMMON} return redis.call('ZRANGE', base .. 'order', 0, -1)"

REMOVE = f"{COMMON} drop(ARGV[2])"
