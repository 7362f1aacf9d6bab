#!/usr/bin/env node
import process from "node:process";
import { processIo } from "./io.ts";
import { run } from "./run.ts";

/** Commands that run on after they have started a server. */
const SERVERS: readonly (string | undefined)[] = ["dev", "serve", "gateway"];

// A reader that has enough, such as `head`, closes the pipe.
for (const [stream, code] of [
  [process.stdout, 0],
  [process.stderr, 1],
] as const)
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(code);
  });

const args = process.argv.slice(2);
process.exitCode = await run(args, processIo());
// A module that `deploy` has loaded may keep the process running, by a timer or a connection.
if (!SERVERS.includes(args[0]))
  process.stderr.write("", () => process.stdout.write("", () => process.exit()));
