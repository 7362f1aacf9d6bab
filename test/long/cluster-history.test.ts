import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { commandsOf } from "./chaos/cluster-history.ts";

const root = mkdtempSync(join(tmpdir(), "sluice-witnesses-"));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const { tasks } = queueKeys("plain");
const write = (field: string) => ["HSET", tasks, field, ""];
const arrive = ["RESTORE", tasks, "0", "records", "REPLACE"];

/** A witness that has written these commands. Returns its data folder. */
function witness(name: string, ...commands: readonly (readonly string[])[]): string {
  const folder = join(root, name, "appendonlydir");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "appendonly.aof.manifest"), "file 1.incr.aof seq 1 type i\n");
  const text = commands.map((words) => {
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    return `*${words.length}\r\n${parts.join("")}`;
  });
  writeFileSync(join(folder, "1.incr.aof"), text.join(""));
  return join(root, name);
}

test("the commands of a queue that moved are in the order of its stays", () => {
  const first = witness("first", write("a"), arrive, write("c"));
  const second = witness("second", arrive, write("b"), arrive);
  expect(commandsOf(new Map([["plain", [first, second, first, second]]]))).toEqual({
    commands: [write("a"), write("b"), write("c")],
    faults: [],
  });
});

test("a stay that a witness does not have is a fault, and no empty stay", () => {
  const first = witness("first", write("a"));
  const second = witness("second");
  expect(commandsOf(new Map([["plain", [first, second, first]]])).faults).toEqual([
    `the witness in ${first} has 1 stays of plain, not 2`,
    `the witness in ${second} has 1 stays of plain, not 2`,
  ]);
});

test("so is a stay of which nothing is known: its commands are not read", () => {
  const first = witness("first", write("a"), arrive, write("b"));
  expect(commandsOf(new Map([["plain", [first]]])).faults).toEqual([
    `the witness in ${first} has 2 stays of plain, not 1`,
  ]);
});
