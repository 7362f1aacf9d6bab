/** The function that runs a script by its SHA-1, for {@link runChunk}. */
const RUN = "__run";

/** How many places on Lua's stack a reply may need. At its smallest the stack has 45, less those in use. */
const PLACES = 32;

/**
 * Runs before all scripts, with the tables that are otherwise read-only unlocked.
 *
 * A script is compiled once and kept as a function; only the few words of {@link runChunk} are compiled for each
 * call. The interpreter knows no error tables, which a script may raise. So a script runs in `xpcall`, whose handler
 * finds the line that Redis reports: that of the function that raised the error, or of its caller if C raised it.
 *
 * Functions that raise errors must look like C to a script that asks for the line of an error, as the gateway's shim
 * does. `coroutine.wrap` makes such a function, and puts the line of the caller in front of the error.
 */
export const setup = String.raw`
local scripts = {}
local raw_pcall, raw_xpcall, raw_redis_pcall = pcall, xpcall, redis.pcall
local WRONG_ARGUMENT = '__RLUA_E__:command-arg-type'

-- An error as a script sees it.
local function error_of(thrown)
  if thrown == WRONG_ARGUMENT then return 'ERR Lua redis lib command arguments must be strings or integers' end
  return thrown
end

local function line(level)
  local _, where = raw_pcall(error, '', level)
  return string.match(where, ':(%d+): $')
end

local function handler(thrown)
  local at = line(4) or line(5) or ''
  if type(thrown) == 'table' then return { tostring(thrown.err or 'ERR unknown error'), at, '' } end
  if thrown == WRONG_ARGUMENT then return { error_of(thrown), at, '' } end
  return { 'ERR ' .. tostring(thrown), at, '' }
end

local function replied(ok, reply)
  if ok then return reply end
  return { err = error_of(reply) }
end
redis.pcall = function(...) return replied(raw_pcall(raw_redis_pcall, ...)) end

local globals, missing = {}, {}
local function renew()
  missing.__index = coroutine.wrap(function(_, name)
    -- This coroutine ends with the error.
    renew()
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 0)
  end)
end
renew()
getmetatable(_G).__index = setmetatable(globals, missing)

redis.error_reply = function(text, ...)
  if type(text) ~= 'string' or select('#', ...) > 0 then
    return { err = 'ERR wrong number or type of arguments' }
  end
  local coded = string.sub(text, 1, 1) == '-' and string.sub(text, 2) or text
  return { err = string.find(coded, ' ', 1, true) and coded or 'ERR ' .. coded }
end

redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_ALL = 0, 1, 2, 2, 3
redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = '7.0.15', 0x0007000f
redis.replicate_commands = function() return true end
redis.set_repl = function() end
redis.breakpoint = function() return false end
redis.debug = function() end

-- True if Lua's stack has room for the tables within a reply. The interpreter converts a reply without a look at its
-- stack, and would write beyond it: for ever, if a table is within itself. It needs one place for each array, three
-- for each map or set.
local fits
local function members_fit(members, places)
  for key, value in pairs(type(members) == 'table' and members or {}) do
    if type(key) == 'table' and not fits(key, places) then return false end
    if type(value) == 'table' and not fits(value, places) then return false end
  end
  return true
end
function fits(reply, places)
  if places < 3 then return false end
  for i = 1, #reply do
    local item = reply[i]
    if type(item) == 'table' and not fits(item, places - 1) then return false end
  end
  if not (reply.map or reply.set) then return true end
  return members_fit(reply.map, places - 3) and members_fit(reply.set, places - 3)
end

rawset(_G, '${RUN}', function(sha)
  local ok, reply = raw_xpcall(scripts[sha], handler)
  -- Without memory the handler cannot run, and the error is a text.
  if not ok then return type(reply) == 'table' and reply or { 'ERR ' .. tostring(reply), '', '' } end
  if type(reply) == 'table' and not fits(reply, ${PLACES}) then return { { err = 'ERR reached lua stack limit' } } end
  return { reply }
end)
rawset(_G, '${RUN}_load', function(sha, source)
  local compiled, problem = loadstring(source, '@user_script')
  scripts[sha] = compiled
  return problem
end)
rawset(_G, '${RUN}_forget', function() scripts = {} end)
`;

/** The addresses of the tables that {@link setup} changes: each behind the name of a table. */
export const addressChunk = "return {tostring(_G), tostring(redis), tostring(getmetatable(_G))}";
export const runChunk = (sha: string) => `return ${RUN}'${sha}'`;
/** Compiles the script ARGV[1] as KEYS[1]. Returns the problem, if there is one. */
export const loadChunk = `return ${RUN}_load(KEYS[1], ARGV[1])`;
export const forgetChunk = `return ${RUN}_forget()`;
