#!/usr/bin/env node
// The `sluice` of the terminal in terminal.ts: it has the process of the test run the command, and prints what that
// printed.
import { fstatSync, writeSync } from "node:fs";
import { text } from "node:stream/consumers";

const { SLUICE_TERMINAL: terminal = "", SLUICE_SCREEN: screen = "", ...env } = process.env;
const isPiped = !fstatSync(0).isCharacterDevice();
const call = {
  args: process.argv.slice(2),
  env,
  shown: String(fstatSync(1).ino) === screen,
  ...(isPiped && { stdin: await text(process.stdin) }),
};
const response = await fetch(terminal, { method: "POST", body: JSON.stringify(call) });
const { code, printed } = await response.json();
for (const [descriptor, part] of printed) writeSync(descriptor, part);
process.exitCode = code;
