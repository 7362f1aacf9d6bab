import { rmSync } from "node:fs";
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { useFolder } from "../support/folder.ts";
import { allPages } from "../support/paging.ts";
import { targets, useCli } from "./rig.ts";

const rig = useCli();
const { sluice, piping, onTerminal } = rig;
const folder = useFolder();

const lines = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => `{"n":${from + i}}\n`).join("");

/** The numbers in the payloads of all pending tasks, in the order of delivery. */
async function delivered(queue = "emails"): Promise<number[]> {
  const operator = rig.operator(queue);
  const pages = await allPages((cursor) =>
    operator.list({ state: "pending", payloads: true, size: 1_000, cursor }),
  );
  return pages.flatMap(({ tasks }) => tasks.map(({ payload }) => (payload as { readonly n: number }).n));
}

const progress = () => join(folder.path, "progress");
/** Enqueues lines with `--resume`, always with the same file. */
const resuming = (input: string, queue = "emails") => piping(input, "enqueue", queue, "--resume", progress());

const numbersTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

test("enqueue says whether it enqueued the task, or its id is known", async () => {
  expect((await sluice("enqueue", "emails", "null", "--id", "two")).rows).toEqual([
    { queue: "emails", id: "two", created: true },
  ]);
  expect((await sluice("enqueue", "emails", "2", "--id", "two")).rows).toMatchObject([{ created: false }]);
  const one = () => onTerminal("enqueue", "emails", '{"to":"a"}', "--id", "one");
  expect(await one()).toMatchObject({ code: 0, out: "Enqueued one in emails.\n" });
  expect(await one()).toMatchObject({
    code: 0,
    out: "Nothing was enqueued: there is a task one in emails.\n",
  });
  for (const payload of ['""', "0", "-5", "false", "[]"])
    expect((await sluice("enqueue", "emails", payload)).code).toBe(0);
});

test("enqueue --at takes the next such time", async () => {
  const soon = new Date(Date.now() - 60_000);
  const time = `${soon.getHours()}:${String(soon.getMinutes()).padStart(2, "0")}`;
  expect(await sluice("enqueue", "emails", "1", "--id", "at", "--at", time)).toMatchObject({ code: 0 });
  const due = (await rig.queue().get("at"))?.dueAt ?? 0;
  expect(due - Date.now()).toBeGreaterThan(22 * 3_600_000);
});

test("enqueue enqueues each line of JSON of the standard input or of a file, with the options", async () => {
  expect(await piping(lines(3), "enqueue", "emails", "--max-attempts", "1")).toMatchObject({
    code: 0,
    out: '{"queue":"emails","enqueued":3,"known":0,"skipped":0}\n',
    err: "emails is a new queue.\n",
  });
  const file = join(folder.path, "tasks.jsonl");
  await writeFile(file, '\uFEFF{"n":4}\r\n\n{"n":5}');
  expect((await onTerminal("enqueue", "emails", "--file", file)).out).toBe("Enqueued 2 tasks in emails.\n");
  expect(await delivered()).toEqual([1, 2, 3, 4, 5]);
  expect(await piping('"a\u2028b"\n', "enqueue", "texts")).toMatchObject({ code: 0 });
  expect((await rig.queue("texts").dequeue()).map(({ payload }) => payload)).toEqual(["a\u2028b"]);
});

test("a line that is not JSON ends it: earlier requests are written, nothing of its own", async () => {
  const input = `${lines(700)}{"n":\n${lines(10, 702)}`;
  expect(await piping(input, "enqueue", "emails")).toMatchObject({
    code: 1,
    out: "",
    err:
      "Lines 1 to 500 are enqueued. To continue, begin with line 501, such as with tail -n +501.\n" +
      "sluice: line 701 is not JSON\n",
  });
  expect(await delivered()).toEqual(numbersTo(500));
  expect(await piping("nope\n", "enqueue", "reports")).toMatchObject({
    code: 1,
    err: "No line is enqueued.\nsluice: line 1 is not JSON\n",
  });
});

test("a line that the queue refuses ends it, with its number", async () => {
  const large = JSON.stringify("x".repeat(1_100_000));
  expect(await piping(`${lines(2)}${large}\n`, "enqueue", "emails")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^No line is enqueued\.\nsluice: line 3: payload .*\n$/),
  });
  await rig.operator().configure({ maxPending: 600 });
  expect(await piping(lines(1_000), "enqueue", "emails")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Lines 1 to 500 are enqueued\. [^\n]*\nsluice: .*maxPending/),
  });
  expect(await delivered()).toEqual(numbersTo(500));
});

test("many lines are enqueued in their order, with a progress bar on a terminal", async () => {
  const file = join(folder.path, "many.jsonl");
  await writeFile(file, lines(2_000));
  const { code, out, err } = await onTerminal("enqueue", "emails", "--file", file);
  expect([code, out]).toEqual([0, "Enqueued 2000 tasks in emails.\n"]);
  expect(err).toMatch(/ 47% {2}1,000 tasks {2}/);
  expect(stripVTControlCharacters(err)).toMatch(/█{24} 100% {2}2,000 tasks {2}[\d,]+\/s\r/);
  expect(await delivered()).toEqual(numbersTo(2_000));
});

test("--resume goes on after a line that was wrong, and enqueues no line twice", async () => {
  expect(await resuming(`${lines(600)}oops\n`)).toMatchObject({
    code: 1,
    err: expect.stringContaining("To continue, run the same command again: it enqueues no line twice."),
  });
  // The ids are refused for a day, so that also tasks of the last request that end meanwhile do not come again.
  const [first] = await rig.operator().peek({ max: 1 });
  expect(first).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f]{12}-1$/),
    options: { unique: 86_400_000 },
  });
  for (const [enqueued, skipped] of [
    [600, 500],
    [0, 1_100],
  ])
    expect((await resuming(lines(1_100))).rows).toEqual([{ queue: "emails", enqueued, known: 0, skipped }]);
  expect(await delivered()).toEqual(numbersTo(1_100));
});

test("--resume refuses a file of another queue, of another input, or of another kind", async () => {
  const file = progress();
  await resuming(lines(3));
  const kept = await readFile(file, "utf8");
  for (const [input, queue, message] of [
    [lines(3), "reports", `--resume ${file} is of the queue emails, not reports`],
    [lines(5, 2), "emails", "is of another input: the first 3 lines are not the same; name a new file"],
    [lines(2), "emails", "is of another input"],
  ] as const) {
    const { code, out, err } = await resuming(input, queue);
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(message)]);
    expect(await readFile(file, "utf8")).toBe(kept);
  }
  const nowhere = await piping(lines(3), "enqueue", "emails", "--resume", "/nope/progress");
  expect(nowhere.err).toMatch(/^sluice: --resume \/nope\/progress cannot be written: ENOENT/);
  await writeFile(file, "{}");
  expect(await resuming(lines(3))).toMatchObject({
    code: 2,
    err: expect.stringContaining("was not written by --resume; name a new file"),
  });
  expect(await delivered()).toEqual([1, 2, 3]);
});

test("--resume refuses to continue after a day, when the ids of its last request may be known no more", async () => {
  const endedAgo = async (ms: number) => {
    const at = new Date(Date.now() - ms);
    await utimes(progress(), at, at);
  };
  const refusal = (known: string, next: number) => ({
    code: 2,
    out: "",
    err: expect.stringMatching(
      `its last run was more than 24 hours ago, .* ${known} known to be enqueued, and up to .*tail -n \\+${next}\n`,
    ) as string,
  });
  await resuming("oops\n");
  await endedAgo(86_400_000);
  expect(await resuming(lines(3))).toMatchObject(refusal("No line is", 1));
  await endedAgo(86_000_000);
  await resuming(lines(3));
  await endedAgo(86_400_000);
  expect(await resuming(lines(5))).toMatchObject(refusal("Lines 1 to 3 are", 4));
  // Nothing is left to enqueue.
  expect((await resuming(lines(3))).rows).toMatchObject([{ enqueued: 0, skipped: 3 }]);
  await endedAgo(86_000_000);
  expect((await resuming(lines(5))).rows).toMatchObject([{ enqueued: 2, skipped: 3 }]);
  expect(await delivered()).toEqual(numbersTo(5));
});

test("an upload whose progress cannot be written says what is enqueued", async () => {
  const file = join(folder.path, "gone", "progress");
  await mkdir(join(folder.path, "gone"));
  const { code, err } = await rig.run(["enqueue", "emails", "--resume", file], {
    stdin: lines(1_200),
    terminal: true,
    onError: (text) =>
      text.includes("500 tasks") && rmSync(join(folder.path, "gone"), { recursive: true, force: true }),
  });
  expect(code).toBe(1);
  expect(err).toContain("Lines 1 to 1000 are enqueued. To continue, run the same command again");
  expect(err).toMatch(/\nsluice: --resume .* cannot be written: ENOENT/);
});

test("a line without an end is refused before it fills the memory", async () => {
  const endless = `${lines(3)}"${"x".repeat(10_000_000)}`;
  const file = join(folder.path, "endless.jsonl");
  await writeFile(file, endless);
  expect(await rig.run(["enqueue", "emails", "--file", file])).toMatchObject({
    code: 1,
    err: expect.stringContaining("sluice: line 4 is longer than 10000000 characters\n"),
  });
  expect(await delivered()).toEqual([]);
});

test("Ctrl-C ends it with 130, and it says what is enqueued", async () => {
  const interrupt = new AbortController();
  const { code, err } = await rig.run(["enqueue", "emails"], {
    stdin: lines(2_000),
    terminal: true,
    interrupted: interrupt.signal,
    onError: (text) => text.includes("tasks") && interrupt.abort(),
  });
  const [, done = "", last = ""] =
    /Lines 1 to (\d+) are enqueued; those up to (\d+) may be\. /.exec(err) ?? [];
  expect([code, Number(last) - Number(done)]).toEqual([130, 500]);
  expect(err).toMatch(/\nsluice: interrupted; a request that was under way may have taken effect\n$/);
  expect((await delivered()).length).toBeGreaterThanOrEqual(Number(done));
});

test.each(targets)(
  "with %s a lost reply of a request costs nothing, and enqueues none twice",
  async (target) => {
    for (const kind of ["lose-reply", "cut-body", "cut"] as const) {
      const fault = rig.gateway.faults.add({ kind, match: { command: "EVALSHA", nth: 2 } });
      const { rows } = await rig.to(target).piping(lines(600), "enqueue", kind);
      expect([rows, fault.hits]).toMatchObject([[{ enqueued: 600 }], 1]);
      expect(await delivered(kind)).toEqual(numbersTo(600));
    }
  },
);

test("enqueue joins tasks of a key, and says what it has done", async () => {
  const debounce = ["--debounce", '{"key": "page-7", "wait": "1h"}'];
  const [first] = (await sluice("enqueue", "emails", "1", ...debounce)).rows as { id: string }[];
  const second = await sluice("enqueue", "emails", "2", ...debounce);
  expect(second.rows).toEqual([{ queue: "emails", id: first?.id, created: false, outcome: "replaced" }]);
  expect((await onTerminal("forget", "emails", "page-7", "page-8")).text).toBe(
    "KEY     RESULT\npage-7  forgotten\npage-8  not_found\n",
  );
  const third = await sluice("enqueue", "emails", "3", ...debounce);
  expect(third.rows).toMatchObject([{ outcome: "created" }]);
  expect((await sluice("forget", "nope", "page-7")).err).toContain("there is no queue nope");
  const refused = await sluice("enqueue", "emails", "--debounce", "{}");
  expect(refused.err).toContain("--debounce is for one payload");
});
