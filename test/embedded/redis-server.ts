// A redis-server whose store is the embedded one, and whose Lua is GopherLua if the environment names the program. It takes the arguments that the tests give to redis-server, and
// refuses those that need more than the embedded store has.

import { EmbeddedDatabase, startEmbeddedServer } from "../../src/embedded/index.ts";
import { interpreter } from "../../src/embedded/scripts.ts";
import { GopherLua } from "../portable/gopher-lua.ts";

/** Arguments that change nothing with these values. */
const ACCEPTED: Readonly<Record<string, string>> = { save: "", appendonly: "no" };

const options = new Map<string, string>();
for (let at = 2; at < process.argv.length; at += 2) {
  options.set((process.argv[at] ?? "").replace(/^--/, ""), process.argv[at + 1] ?? "");
}
const { bind = "127.0.0.1", port = "6379", dir: _, ...others } = Object.fromEntries(options);
const refused = Object.entries(others).filter(([name, value]) => ACCEPTED[name] !== value);
if (refused.length > 0) {
  console.error(
    `the embedded store has no ${refused.map(([name, value]) => `--${name} ${value}`).join(" ")}`,
  );
  process.exit(1);
}

const { SLUICE_GOPHER_LUA: gopherLua } = process.env;
if (gopherLua) interpreter.start = (call) => new GopherLua(call, gopherLua);

try {
  await startEmbeddedServer(new EmbeddedDatabase(), { port: Number(port), host: bind });
} catch (error) {
  // In the words of redis-server, which tests expect.
  console.error(error instanceof Error ? error.message.replace("EADDRINUSE: address", "Address") : error);
  process.exit(1);
}
console.log("Ready to accept connections");
