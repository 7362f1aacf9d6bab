import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * Reads the file of the interpreter. The build puts a module with the file itself in the place of this one: what makes
 * CommonJS of the package, as Jest can, or a bundle has no `import.meta.url` of the package.
 */
export function interpreter(): Uint8Array {
  const entry = createRequire(import.meta.url).resolve("lua-redis-wasm");
  return readFileSync(new URL("redis_lua.wasm", pathToFileURL(entry)));
}
