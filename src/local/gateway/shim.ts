/**
 * Lua that runs before a client's script. It replaces `redis`, counts the commands that the script runs, and
 * refuses undeclared keys if requested.
 *
 * Parameters: the real `redis`; the key ranges of the commands that the script names (`'container'` for those
 * with subcommands); whether to refuse undeclared keys; and the line of the shim.
 * Returns the replacement, and a function that runs the script and returns `{1, counts, reply}` or `{0,
 * counts, error text, line of the error}`. `counts` is a flat list of names and counts. A failed call is
 * counted under its name, a newline and its error.
 *
 * The counts cannot be known before EVALSHA, because the number of calls depends on the data. The script runs
 * in xpcall, so that an error does not lose the counts. The line of an error is the one that Redis reports:
 * that of the function that raised it, or of its caller if C raised it.
 */
const shim = String.raw`
function(real, specs, strict, shim_line)
  local counts, declared, thrown = {}, {}, nil
  for i = 1, #KEYS do declared[KEYS[i]] = true end
  local function undeclared(...)
    local spec = specs[(...)]
    if type(spec) ~= 'table' then
      local keys = real.pcall('COMMAND', 'GETKEYS', ...)
      for i = 1, #keys do
        if not declared[keys[i]] then return keys[i] end
      end
      return nil
    end
    local words, n = { ... }, select('#', ...)
    for i = 1, #spec do
      local first, last, step, count = unpack(spec[i])
      if count > 0 then
        last = first + ((tonumber(words[count + 1]) or 0) - 1) * step
      elseif last < 0 then
        last = n + last
      end
      for at = first, math.min(last, n - 1), step do
        local key = tostring(words[at + 1])
        if not declared[key] then return key end
      end
    end
  end
  local function invoke(...)
    local key = strict and undeclared(...)
    if key then
      return { err = "ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: " .. key, bare = true }
    end
    local reply = real.pcall(...)
    local name, sub = ...
    name = tostring(name)
    if specs[name] == 'container' then name = name .. '|' .. tostring(sub) end
    if type(reply) == 'table' and reply.err then name = name .. '\n' .. reply.err end
    counts[name] = (counts[name] or 0) + 1
    return reply
  end
  local function call(...)
    local reply = invoke(...)
    if type(reply) == 'table' and reply.err then
      thrown = reply
      error(reply)
    end
    return reply
  end
  local function line(level)
    local _, where = pcall(error, '', level)
    return string.match(where, ':(%d+): $')
  end
  local function handler(err)
    if type(err) ~= 'table' then
      return { 'ERR ' .. tostring(err), line(4) or line(5) }
    end
    if err.bare then return { err.err } end
    local at = err == thrown and line(5) == shim_line and line(6) or line(4) or line(5)
    return { tostring(err.err or 'ERR unknown error'), at }
  end
  local function run(main)
    local ok, reply = xpcall(main, handler)
    local tally = {}
    for name, count in pairs(counts) do
      tally[#tally + 1] = name
      tally[#tally + 1] = count
    end
    if ok then return { 1, tally, reply } end
    if type(reply) ~= 'table' then reply = { 'ERR ' .. tostring(reply) } end
    return { 0, tally, reply[1], reply[2] or '' }
  end
  local library = setmetatable({ call = call, pcall = invoke }, { __index = real })
  local function refuse() error('Attempt to modify a readonly table', 2) end
  return setmetatable({}, { __index = library, __newindex = refuse }), run
end`;

/** The shim on one line, so that the lines of the client's script keep their numbers. */
const oneLine = shim.trim().replaceAll(/\s*\n\s*/g, " ");

/**
 * Wraps a script's body in the shim.
 * @param specs key ranges, as a Lua table constructor
 */
export const wrapBody = (body: string, specs: string, strict: boolean, line: number): string =>
  `local redis, __gateway = (${oneLine})(redis, ${specs}, ${strict}, '${line}') ` +
  `return __gateway(function(...) ${body}\nend)`;
