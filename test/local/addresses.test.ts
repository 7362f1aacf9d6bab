import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addresses, nextSteps } from "../../src/local/stack/addresses.ts";
import type { Stack } from "../../src/local/stack/stack.ts";
import { useFolder } from "../support/folder.ts";

const folder = useFolder();

const stack = {
  redisUrl: "redis://127.0.0.1:6379",
  gateway: { url: "http://127.0.0.1:8079", token: "gateway-token" },
  url: "http://127.0.0.1:8787",
  tokens: { enqueue: "e", consume: "c", all: "all-token" },
} as unknown as Stack;

test("the first line that `npm start` prints is the address of the dashboard, with the token for it", () => {
  expect(addresses(stack).trim().split("\n")[0]).toBe(
    "Dashboard http://127.0.0.1:8787/dashboard     sign in with the token all-token",
  );
});

test("the last output of `npm start` is a script: exports, then three requests, each answer on a line of its own", () => {
  // In place of curl: prints its arguments.
  writeFileSync(join(folder.path, "curl"), `#!/bin/sh\nprintf '%s|' "$@"; echo\n`, { mode: 0o755 });
  const script = nextSteps(stack)
    .split("\n")
    .filter((line) => /^ {2}(export|curl| {2}-H)/.test(line));
  script.push('echo "$UPSTASH_REDIS_REST_URL $UPSTASH_REDIS_REST_TOKEN"');
  const output = execFileSync("sh", ["-c", script.join("\n")], {
    env: { PATH: `${folder.path}:${process.env["PATH"]}` },
    encoding: "utf8",
  });
  const tasks = "http://127.0.0.1:8787/v1/queues/hello/tasks";
  const token = "-H|Authorization: Bearer all-token|";
  const json = "-H|Content-Type: application/json|-d|";
  expect(output.split("\n")).toEqual([
    `-sw|\\n|${tasks}|${token}${json}{"id": "hello-1", "payload": {"to": "you"}}|`,
    `-sw|\\n|${tasks}/pull|${token}${json}{"lease": "1m"}|`,
    `-sw|\\n|${tasks}/hello-1|${token}`,
    "http://127.0.0.1:8079 gateway-token",
    "",
  ]);
});
