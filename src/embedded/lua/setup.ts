/** The function that runs a script by its SHA-1, for {@link runChunk}. */
const RUN = "__run";

/** In front of an error that `redis.call` raises. It is a string for Lua, and must become a table. */
export const RAISED = "\u0001";

/**
 * Runs before all scripts, with the tables that are otherwise read-only unlocked.
 *
 * A script is compiled once and kept as a function; only the few words of {@link runChunk} are compiled for each
 * call. The interpreter knows no error tables, which `redis.call` raises in Redis 7 and a script may raise itself. So a
 * script runs in `xpcall`, whose handler finds the line that Redis reports: that of the function that raised the
 * error, or of its caller if C raised it.
 */
export const setup = String.raw`
local scripts = {}
local raw_pcall, raw_xpcall, raw_resume = pcall, xpcall, coroutine.resume

local function text_of(message)
  message = string.gsub(message, '__RLUA_E__:global%-read:(.*)$', "Script attempted to access nonexistent global variable '%1'")
  return (string.gsub(message, '__RLUA_E__:command%-arg%-type', 'Lua redis lib command arguments must be strings or integers'))
end

-- The error as a script sees it: of redis.call a table with the text in 'err'.
local function error_of(thrown)
  if type(thrown) ~= 'string' then return thrown end
  if string.byte(thrown) == 1 then return { err = string.sub(thrown, 2) } end
  if thrown == '__RLUA_E__:command-arg-type' then return { err = 'ERR ' .. text_of(thrown) } end
  return text_of(thrown)
end

local function caught(ok, thrown, ...)
  if ok then return ok, thrown, ... end
  return ok, error_of(thrown)
end

-- As in Redis, pcall returns the text of an error table.
local function text_caught(ok, thrown, ...)
  if ok then return ok, thrown, ... end
  local found = error_of(thrown)
  return ok, type(found) == 'table' and type(found.err) == 'string' and found.err or found
end

local function line(level)
  local _, where = raw_pcall(error, '', level)
  return string.match(where, ':(%d+): $')
end

local function handler(thrown)
  local at = line(4) or line(5) or ''
  local found = error_of(thrown)
  if type(found) == 'table' then return { tostring(found.err or 'ERR unknown error'), at, '' } end
  return { 'ERR ' .. tostring(found), at, '' }
end

pcall = function(...) return text_caught(raw_pcall(...)) end
xpcall = function(f, handle) return raw_xpcall(f, function(thrown) return handle(error_of(thrown)) end) end
coroutine.resume = function(...) return caught(raw_resume(...)) end

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

rawset(_G, '${RUN}', function(sha)
  local ok, reply = raw_xpcall(scripts[sha], handler)
  if ok then return { reply } end
  return reply
end)
rawset(_G, '${RUN}_load', function(sha, source)
  local compiled, problem = loadstring(source, '@user_script')
  scripts[sha] = compiled
  return problem
end)
rawset(_G, '${RUN}_forget', function() scripts = {} end)
`;

/** The addresses of the tables that {@link setup} changes: each behind the name of a table. */
export const addressChunk = "return {tostring(_G), tostring(redis), tostring(coroutine)}";
export const runChunk = (sha: string) => `return ${RUN}'${sha}'`;
/** Compiles the script ARGV[1] as KEYS[1]. Returns the problem, if there is one. */
export const loadChunk = `return ${RUN}_load(KEYS[1], ARGV[1])`;
export const forgetChunk = `return ${RUN}_forget()`;
