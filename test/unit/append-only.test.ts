import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { appendedCommands } from "../long/chaos/append-only-file.ts";
import { readHistory } from "../long/chaos/history.ts";
import { appendOnlyFiles } from "../support/append-only-files.ts";
import { useFolder } from "../support/folder.ts";

// What the tests of faults and of chaos read of Redis's append-only file. Its manifest differs by release.

const folder = useFolder();
beforeEach(() => {
  mkdirSync(join(folder.path, "appendonlydir"));
});
const write = (name: string, text: string) => writeFileSync(join(folder.path, "appendonlydir", name), text);
const SET = (key: string) => `*3\r\n$3\r\nSET\r\n$1\r\n${key}\r\n$1\r\n1\r\n`;

test.for([
  ["Redis 7", ""],
  ["Redis 8", " startoffset 0"],
  ["Redis 8, of a file with an end", " startoffset 0 endoffset 27"],
] as const)("the manifest of %s names the files with commands, the last one appended to", ([, more]) => {
  const manifest = [
    "file appendonly.aof.1.base.rdb seq 1 type b",
    "file appendonly.aof.1.incr.aof seq 1 type h",
    `file appendonly.aof.2.incr.aof seq 2 type i${more}`,
    `file appendonly.aof.3.incr.aof seq 3 type i${more}`,
    "",
  ];
  write("appendonly.aof.manifest", manifest.join("\n"));
  for (const i of [1, 2, 3]) write(`appendonly.aof.${i}.incr.aof`, SET(String(i)));
  expect(appendOnlyFiles(folder.path).at(-1)).toBe(
    join(folder.path, "appendonlydir", "appendonly.aof.3.incr.aof"),
  );
  expect(Array.from(appendedCommands(folder.path), ([, key]) => key)).toEqual(["2", "3"]);
});

describe("what was not read is not taken for nothing wrong:", () => {
  test("a manifest that names no file with commands", () => {
    write("appendonly.aof.manifest", "file appendonly.aof.1.base.rdb seq 1 type b\n");
    const message = "no file of type i in the manifest: file appendonly.aof.1.base.rdb seq 1 type b";
    expect(() => [...appendedCommands(folder.path)]).toThrow(message);
    expect(() => appendOnlyFiles(folder.path)).toThrow(message);
  });

  test.for([
    ["no commands", []],
    ["commands that write no record", [["SET", "sluice:{emails}:tasks", "1"]]],
    ["control fields alone", [["HSET", "sluice:{emails}:tasks", "~lease", "1"]]],
  ] as const)("a history of %s", ([, commands]) => {
    expect(readHistory(commands).faults).toEqual(["the history has no task, so nothing was checked"]);
  });

  test("a history with a task has no fault", () => {
    const { tasks, faults } = readHistory([["HSET", "sluice:{emails}:tasks", "id", "1;e=1\n"]]);
    expect([[...tasks.keys()], faults]).toEqual([["emails id"], []]);
  });
});
