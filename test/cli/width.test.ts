import { beforeEach, describe, expect, it, test } from "vitest";
import { useCli } from "./rig.ts";

const rig = useCli();

const group = "customer-4711";
const worker = { name: "mailer-eu-central-1a", node: "ip-10-0-12-34", incarnation: "4b7c9f8e-2d3a" };
const schedule = "reminders-of-open-invoices";
const dead = ["undeliverable-7", "undeliverable-8"];

/** The ids of three tasks that the worker has. */
let working: readonly string[];

beforeEach(async () => {
  const queue = rig.queue("emails");
  const error = new Error(`the mail server refused: ${"550 mailbox unavailable; ".repeat(9)}`);
  await rig.die(dead, error, { group, rejected: true });
  const task = { payload: { to: "someone@example.com", text: "Welcome! ".repeat(20) }, group };
  await queue.enqueueMany([task, task, task, task, { ...task, delay: "1h" }]);
  working = (await queue.dequeue({ max: 3, worker })).map(({ id }) => id);
  const often = { cron: "0,15,30,45 6-18 * * 1-5", timeZone: "America/Argentina/Buenos_Aires" };
  await rig.schedules().put(schedule, { ...often, payload: 1 });
  await rig.operator().configure({ statistics: true });
  for (const last of await queue.dequeue()) await last.complete();
});

const on = (columns: number, command: string) => rig.run(command.split(" "), { terminal: true, columns });

/** The lines that are wider than the terminal. */
const wider = (text: string, columns: number) => text.split("\n").filter((line) => line.length > columns);

describe("a table", () => {
  it.each([
    "queues",
    "ls emails",
    "ls emails --payloads",
    "ls emails --state rejected",
    "dead",
    "dead emails",
    "redrive emails --rejected --dry-run",
    "find example.com",
    "workers emails",
    "schedules emails",
    "partitions emails",
    "docs",
  ])("is not wider than a terminal of 80 characters: sluice %s", async (command) => {
    const { code, text } = await on(80, command);
    expect([code, wider(text, 80)]).toEqual([0, []]);
    expect(text).toMatch(/\S\n.*\S\n$/s);
  });

  it("has the whole of what is copied at any width, if need be nothing else", async () => {
    for (const columns of [80, 40, 10]) {
      const tasks = (await on(columns, "ls emails")).text;
      for (const id of [...working, ...dead]) expect(tasks).toContain(`\n${id}`);
      expect((await on(columns, "workers emails")).text).toContain(`\n${worker.name}`);
      expect((await on(columns, "schedules emails")).text).toContain(`\n${schedule}`);
    }
    expect((await on(10, "schedules emails")).text).toBe(`NAME\n${schedule}\n`);
    await rig.queue().enqueue(1);
    const { text } = await on(80, "pull emails");
    const [, receipt = ""] = / (\S+) +1\n$/.exec(text) ?? [];
    expect((await rig.sluice("settle", "emails", receipt, "--complete")).rows).toMatchObject([{ ok: true }]);
  });

  it("shortens times and texts first, then leaves out the last columns, and says so", async () => {
    const heads = async (columns: number, command: string) => {
      const { text, err } = await on(columns, command);
      return [text.split("\n")[0]?.split(/ {2,}/), err];
    };
    const all = ["ID", "STATE", "NEXT", "SINCE", "DELIVERIES", "GROUP", "ERROR"];
    expect(await heads(120, "ls emails")).toEqual([all, ""]);
    expect((await on(120, "ls emails")).text).toMatch(/ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/);
    expect(await heads(104, "ls emails")).toEqual([all, ""]);
    const left = (columns: string) => `No room for ${columns}; --json has everything.\n`;
    expect(await heads(80, "ls emails")).toEqual([
      ["ID", "STATE", "NEXT", "SINCE", "ERROR"],
      left("DELIVERIES, GROUP"),
    ]);
    expect((await on(80, "ls emails")).text).toMatch(/ {2}\d\d-\d\d \d\d:\d\d {2}/);
    expect(await heads(40, "ls emails")).toEqual([
      ["ID", "ERROR"],
      left("STATE, NEXT, SINCE, DELIVERIES, GROUP"),
    ]);
  });

  it("lists the ids of a worker's tasks beside it, or whole in lines below it", async () => {
    const wide = (await on(200, "workers emails")).text.split("\n");
    expect(wide[0]).toMatch(/ {2}IDS$/);
    expect(wide[1]).toMatch(new RegExp(` ${working.join(" ")}$`));
    const { text, err } = await on(80, "workers emails");
    const [head, row, ...below] = text.split("\n");
    expect([head, row, err]).toEqual([
      expect.stringMatching(/ INCARNATION$/),
      expect.stringMatching(new RegExp(`^${worker.name} .* ${worker.incarnation}$`)),
      "",
    ]);
    expect(below.slice(0, -1).every((line) => line.startsWith("  "))).toBe(true);
    expect(below.join(" ").trim().split(/ +/)).toEqual(working);
  });

  it("has causes of dead letters that differ at the end below them, in at most three lines", async () => {
    const begin = "TypeError: Cannot read properties of an order of a customer that has no address";
    for (const end of ["of the first kind", "of the second kind"])
      await rig.die(end.replaceAll(" ", "-"), `${begin} ${end}`, { queue: "orders" });
    await rig.die("endless", "abcdefghi".repeat(100), { queue: "orders" });
    const { text, err } = await on(80, "dead orders");
    expect([wider(text, 80), err.includes("No room")]).toEqual([[], false]);
    const [causes = "", latest = ""] = text.split("\n\n").slice(1);
    for (const table of [causes, latest])
      for (const kind of ["first", "second"])
        expect(table.replaceAll(/\s+/g, " ")).toContain(` ${begin} of the ${kind} kind`);
    const endless = latest.split("\n").filter((line) => /^ {2}[a-i]{40,}/.test(line));
    expect([endless.length, endless.at(-1)]).toEqual([3, expect.stringMatching(/…$/)]);
  });

  it("is JSON in a pipe, with everything", async () => {
    const { rows } = await rig.run(["ls", "emails", "--payloads"], { columns: 40 });
    expect(rows.find(({ id }) => id === working[0])).toMatchObject({
      group,
      worker: { name: worker.name },
      payload: { to: expect.any(String) },
    });
  });
});

test("the doctor breaks sentences between words, and no command", async () => {
  const long = "mails-of-a-customer-whose-name-is-so-long-that-no-command-fits";
  await rig.die("x", "no", { queue: long, rejected: true });
  const { text } = await on(72, "doctor");
  expect(text).toContain(`\n! ${long}: 1 dead\n  letter, just now\n    → sluice dead ${long}\n`);
  const [command, ...others] = wider(text, 72);
  expect([command, others]).toEqual([`    → sluice dead ${long}`, []]);
});

test("a terminal of unknown width has 80 characters, and COLUMNS wins over each", async () => {
  const queues = async (columns: number, COLUMNS?: string) =>
    (await rig.run(["ls", "emails", "--state", "rejected"], { terminal: true, columns, env: { COLUMNS } }))
      .text;
  const wide = await on(120, "ls emails --state rejected");
  const at80 = await on(80, "ls emails --state rejected");
  expect([await queues(0), await queues(0, "wide"), await queues(120, "80")]).toEqual(
    Array(3).fill(at80.text),
  );
  expect([await queues(0, "120"), await queues(80, "120")]).toEqual([wide.text, wide.text]);
});
