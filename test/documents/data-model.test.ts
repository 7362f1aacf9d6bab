import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { linked } from "../../src/features/linked/index.ts";
import { Operator, Queue } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";

// Small hashes then keep the order in which their fields were written, so that HGETALL has one answer.
const rig = useRig({ args: ["--hash-max-listpack-value", "1000"] });

/** The code of these tests, as the pages show it: without indentation. */
const source = readFileSync(fileURLToPath(import.meta.url), "utf8").replaceAll(/^ {2}/gm, "");

/** The chapter "One example" of a page, and its blocks of code in a language. */
function exampleOf(page: string) {
  const text = readFileSync(fileURLToPath(new URL(`../../lua/${page}`, import.meta.url)), "utf8");
  const [, example = ""] = /## One example(.*?)\n## /s.exec(text) ?? [];
  const blocks = (language: string) =>
    Array.from(
      example.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, "gs")),
      ([, code = ""]) => code,
    );
  return { example, code: blocks("ts"), shown: blocks("console") };
}

/** The page's short names: what was made at random -> what the page calls it. */
const names = new Map<string, string>();
const exchange = (text: string, pairs: Iterable<readonly [string, string]>) =>
  [...pairs].reduce((changed, [from, to]) => changed.replaceAll(from, to), text);

/** A command of the page and what redis-cli prints for it, with the page's names. */
async function answered(command: string): Promise<string> {
  const backwards = Array.from(names, ([actual, short]) => [short, actual] as const);
  const words = exchange(command, backwards).split(" ");
  const args = ["-p", String(rig.redis.port), "--no-raw", ...words];
  const { stdout } = await promisify(execFile)("redis-cli", args);
  return `> ${command}\n${inOrder(command, exchange(stdout.trimEnd(), names))}`;
}

/** Redis lists keys in an order of its own; the page sorts them. */
function inOrder(command: string, output: string): string {
  if (!command.startsWith("KEYS ")) return output;
  const keys = output.split("\n").map((line) => line.replace(/^\d+\) /, ""));
  return keys
    .toSorted()
    .map((key, i) => `${i + 1}) ${key}`)
    .join("\n");
}

/** Runs the commands of a block, and compares what redis-cli prints with the block. */
async function compare(block = "") {
  const commands = Array.from(block.matchAll(/^> (.*)$/gm), ([, command = ""]) => command);
  const answers: string[] = [];
  for (const command of commands) answers.push(await answered(command));
  expect(answers.join("\n")).toBe(block);
}

test("the example of lua/README.md is what Redis has", async () => {
  const { transport } = rig;
  const now = () => rig.now;
  const { example, code, shown } = exampleOf("README.md");
  expect([code.length, shown.length]).toEqual([3, 3]);
  for (const lines of code) expect(source).toContain(lines);

  const queue = new Queue("emails", { transport, now });
  const ada = await queue.enqueue({ to: "ada@example.com" });
  const bob = await queue.enqueue({ to: "bob@example.com" }, { id: "reminder-17", delay: "10m" });
  const eve = await queue.enqueue(
    { to: "eve@example.com" },
    { lease: "1m", maxAttempts: 3, headers: { trace: "t-1" } },
  );
  names.set(ada.id, "0Vbl1").set(eve.id, "0Vbl3");
  const [, producer = ""] = /;t=(\S{16})\n/.exec((await rig.space()).tasks.get(bob.id) ?? "") ?? [];
  names.set(producer, "qGkcqVzk");
  await compare(shown[0]);

  rig.now += 2_000;
  const [first, second] = await queue.dequeue({ max: 2 });
  if (!first || !second) throw new Error("fewer than two tasks");
  const slot = [...(await rig.space()).tasks.keys()].find((field) => field.startsWith("~r")) ?? "";
  names.set(first.receipt.split(".")[3] ?? "", "zlt4vy8u").set(slot, "~r521");
  await compare(shown[1]);

  rig.now += 1_000;
  await queue.settle([
    { receipt: first.receipt, outcome: "complete", result: { sent: true } },
    { receipt: second.receipt, outcome: "requeue", delay: "30s", error: "try later" },
  ]);
  await compare(shown[2]);

  expect(exchange(first.receipt, names)).toBe("1.1.1.zlt4vy8u.0Vbl1");
  expect(example).toContain("`1.1.1.zlt4vy8u.0Vbl1`");
});

test("the example of lua/groups.md is what Redis has", async () => {
  const { transport } = rig;
  const now = () => rig.now;
  const { code, shown } = exampleOf("groups.md");
  expect([code.length, shown.length]).toEqual([1, 1]);
  expect(source).toContain(code[0]);
  names.clear();

  const reports = new Queue("reports", { transport, now });
  await reports.enqueue("first", { id: "a1", group: "acme" });
  await reports.enqueue("second", { id: "a2", group: "acme" });
  await reports.enqueue("urgent", { id: "z1", group: "zen", priority: 5 });
  await compare(shown[0]);
});

test("the example of lua/order.md is what Redis has", async () => {
  const transport = linked(rig.transport);
  const now = () => rig.now;
  const { code, shown } = exampleOf("order.md");
  expect([code.length, shown.length]).toEqual([3, 3]);
  for (const lines of code) expect(source).toContain(lines);
  names.clear();

  const ledger = new Queue("ledger", { transport, now });
  const operator = new Operator("ledger", { transport, now });
  await operator.configure({ order: "strict", onDead: "stop" });
  for (const id of ["a1", "a2", "a3"]) await ledger.enqueue(100, { id, group: "acme" });
  await compare(shown[0]);

  const [entry] = await ledger.dequeue();
  await entry?.reject({ error: "no such account" });
  await compare(shown[1]);

  await operator.skip("a1");
  await compare(shown[2]);
});
