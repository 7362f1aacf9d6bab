import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { MARK } from "./blocks.ts";

const MARKS = new RegExp(`${MARK}(\\d+)`, "g");
const seen = new Set<string>();

/** The folder where `npm run test:coverage` collects which blocks of scripts ran; empty otherwise. */
export const notesFolder = (env: NodeJS.ProcessEnv): string => env["SLUICE_LUA_COVERAGE"] ?? "";

/** Notes the blocks that a redis-server's log names, each once in this process, in a file of this process. */
export function noteBlocks(log: Readable): void {
  const folder = notesFolder(process.env);
  if (folder === "") return;
  mkdirSync(folder, { recursive: true });
  let rest = "";
  log.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    let found = "";
    for (const [, block = ""] of lines.join("\n").matchAll(MARKS)) {
      if (seen.has(block)) continue;
      seen.add(block);
      found += `${block}\n`;
    }
    if (found !== "") appendFileSync(join(folder, String(process.pid)), found);
  });
}
