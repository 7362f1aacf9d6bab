import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { LOCK, lockFolder } from "../../src/local/stack/folder-lock.ts";
import { useFolder } from "../support/folder.ts";
import { listening } from "../support/listening.ts";

const program = fileURLToPath(new URL("lock-program.ts", import.meta.url));
const folder = useFolder();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A process that locks the folder for each line that it gets. */
async function other() {
  const child = spawn(process.execPath, [program, folder.path], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => (await lines.next()).value as string;
  expect(await line()).toBe("started");
  return {
    child,
    pid: child.pid as number,
    /** `locked`, or why not. */
    lock() {
      child.stdin.write("lock\n");
      return line();
    },
    kill(signal: NodeJS.Signals) {
      const ended = once(child, "exit");
      child.kill(signal);
      return ended;
    },
  };
}

const inUse = (pid: number) =>
  `the data folder ${folder.path} is in use by process ${pid}; end that process, or use another folder`;
const locked = () => readdirSync(join(folder.path, LOCK));

test("a folder is locked until the lock is given up, which leaves nothing", async () => {
  const nested = join(folder.path, "not", "there");
  const unlock = await lockFolder(nested);
  await expect(lockFolder(nested)).rejects.toMatchObject({
    name: "StackError",
    message: inUse(process.pid).replace(folder.path, nested),
  });
  expect(readdirSync(nested)).toEqual([LOCK]);
  unlock();
  expect(readdirSync(nested)).toEqual([]);
  const again = await lockFolder(nested);
  unlock();
  expect(readdirSync(nested)).toEqual([LOCK]);
  again();
});

test("a file in place of the folder is an error that says so", async () => {
  const file = join(folder.path, "file");
  writeFileSync(file, "");
  for (const path of [file, join(file, "below")]) {
    await expect(lockFolder(path)).rejects.toMatchObject({
      name: "StackError",
      message: expect.stringMatching(`^the data folder ${path} cannot be used: `),
    });
  }
  expect(readdirSync(folder.path)).toEqual(["file"]);
});

test("a process that is paused keeps its lock; one that was killed does not", async () => {
  const first = await other();
  expect(await first.lock()).toBe("locked");
  first.child.kill("SIGSTOP");
  await expect(lockFolder(folder.path)).rejects.toThrow(inUse(first.pid));
  await first.kill("SIGKILL");
  const unlock = await lockFolder(folder.path);
  expect(locked()).toEqual([expect.stringMatching(`^${process.pid}-`)]);
  unlock();
  expect(readdirSync(folder.path)).toEqual([]);
});

describe("a lock that a killed process left", () => {
  /** As the holder left it, with the number of a process that runs now. */
  function left(port: number): void {
    mkdirSync(join(folder.path, LOCK));
    writeFileSync(join(folder.path, LOCK, `${process.pid}-${port}-left`), "");
  }

  test("is taken over although another process has its number", async () => {
    const server = createServer();
    left(await listening(server));
    server.close();
    (await lockFolder(folder.path))();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("is taken over although another program listens on its port", async () => {
    const server = createServer((socket) => socket.end("220 mail.example.com"));
    left(await listening(server));
    (await lockFolder(folder.path))();
    server.close();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("is taken by exactly one of many that start at once, as is a free folder", async () => {
    const all = await Promise.all(Array.from({ length: 4 }, other));
    for (let round = 0; round < 2; round++) {
      if (round % 2 === 0) left(1);
      const answers = await Promise.all(all.map((one) => one.lock()));
      const winner = all[answers.indexOf("locked")];
      expect(answers.toSorted()).toEqual(
        ["locked", ...Array.from({ length: all.length - 1 }, () => inUse(winner?.pid as number))].toSorted(),
      );
      expect(readdirSync(folder.path)).toEqual([LOCK]);
      await winner?.kill("SIGTERM");
      expect(readdirSync(folder.path)).toEqual([]);
      all.splice(all.indexOf(winner as (typeof all)[number]), 1);
    }
  });
});
