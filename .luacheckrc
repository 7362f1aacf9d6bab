-- Scripts run in Redis's sandbox, and must run in GopherLua too: so only what both have.
std = "lua51"
read_globals = { "redis", "KEYS", "ARGV" }
not_globals = {
  "_G", "collectgarbage", "coroutine", "debug", "dofile", "getfenv", "io", "load", "loadfile", "loadstring",
  "module", "newproxy", "os", "package", "print", "require", "setfenv",
}
max_line_length = 110
