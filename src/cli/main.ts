#!/usr/bin/env node
import process from "node:process";
import { processIo } from "./io.ts";
import { run } from "./run.ts";

// A reader that has enough, such as `head`, closes the pipe.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });

process.exitCode = await run(process.argv.slice(2), processIo());
