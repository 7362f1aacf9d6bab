/** Fills queues as an hour of work leaves them, for pictures and tests of the dashboard. */
import { Operator, Queue, Schedules } from "../../src/index.ts";
import type { Transport } from "../../src/kernel/transport.ts";

const MINUTE = 60_000;

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Work {
  readonly name: string;
  /** Tasks enqueued in a minute, at most. */
  readonly most: number;
  /** The share of attempts that fail. */
  readonly failing: number;
  /** Of these, the share that is rejected at once. */
  readonly dying: number;
  readonly errors: readonly Error[];
  readonly payload: (number: number) => unknown;
  readonly groups?: readonly string[];
  /** The share of the enqueued tasks that is worked on. */
  readonly speed?: number;
}

const named = (name: string, message: string) => Object.assign(new Error(message), { name });

const people = ["ada", "grace", "alan", "edsger", "barbara", "tim", "margaret"];

const works: readonly Work[] = [
  {
    name: "emails",
    most: 40,
    failing: 0.06,
    dying: 0.5,
    errors: [
      named("MailboxUnavailable", "550 5.1.1 mailbox unavailable"),
      named("TimeoutError", "no answer from smtp.example.com within 10 s"),
    ],
    payload: (number) => ({
      to: `${people[number % people.length]}@example.com`,
      template: "welcome",
      locale: "en",
    }),
  },
  {
    name: "webhooks",
    most: 80,
    failing: 0.12,
    dying: 0.2,
    errors: [named("HttpError", "503 from https://hooks.example.com/orders"), named("HttpError", "410 Gone")],
    payload: (number) => ({
      event: "order.paid",
      order: `ord_${1_000 + number}`,
      amount: 1_900 + (number % 90) * 10,
    }),
    groups: ["acme", "globex", "initech", "umbrella"],
    speed: 0.96,
  },
  {
    name: "thumbnails",
    most: 25,
    failing: 0.01,
    dying: 0.1,
    errors: [named("RangeError", "image is larger than 50 megapixels")],
    payload: (number) => ({ image: `uploads/${number}.jpg`, widths: [320, 640, 1_280] }),
  },
  {
    name: "reports",
    most: 2,
    failing: 0,
    dying: 0,
    errors: [],
    payload: () => ({ kind: "daily", formats: ["pdf", "csv"] }),
  },
];

/**
 * Seeds the queues.
 * @param until the end of the seeded hour, epoch ms
 */
export async function seed(transport: Transport, until: number): Promise<void> {
  const random = numbers(17);
  const clock = { now: until - 60 * MINUTE };
  const options = { transport, now: () => clock.now, wake: undefined };
  for (const { name } of works) await new Operator(name, options).configure({ statistics: true });
  await new Operator("thumbnails", options).configure({ maxWorking: 20 });
  await new Operator("webhooks", options).configureGroup("globex", { maxWorking: 2, weight: 2 });
  for (let minute = 0; minute < 60; minute++) {
    for (const work of works) {
      clock.now = until - (60 - minute) * MINUTE + 1_000;
      await workMinute(work, minute, { random, clock, options });
    }
  }
  clock.now = until - 4_000;
  await leaveWork(options, clock);
}

interface Setting {
  readonly random: () => number;
  readonly clock: { now: number };
  readonly options: { readonly transport: Transport; readonly now: () => number };
}

async function workMinute(work: Work, minute: number, { random, clock, options }: Setting): Promise<void> {
  const queue = new Queue(work.name, options);
  const wave = 0.55 + 0.45 * Math.sin(minute / 7 + work.most);
  const count = Math.round(work.most * wave * (0.7 + 0.3 * random()));
  if (count === 0) return;
  await queue.enqueueMany(
    Array.from({ length: count }, (_, i) => ({
      payload: work.payload(minute * 100 + i),
      maxAttempts: 4,
      ...(work.groups && { group: work.groups[Math.floor(random() ** 2 * work.groups.length)] ?? "acme" }),
    })),
  );
  clock.now += 50 + Math.round(random() * 2_000);
  const batch = await queue.dequeue({
    max: Math.ceil(count * (work.speed ?? 1.05)),
    worker: { name: `${work.name}-${1 + (minute % 3)}` },
  });
  clock.now += 80 + Math.round(random() * random() * 4_000);
  await queue.settle(
    batch.map(({ receipt }) => {
      // A bad quarter of an hour.
      const failing = minute > 34 && minute < 46 ? work.failing * 4 : work.failing;
      const error = work.errors[Math.floor(random() * work.errors.length)];
      if (random() >= failing || error === undefined)
        return { receipt, outcome: "complete" as const, result: { ok: true } };
      return random() < work.dying
        ? { receipt, outcome: "reject" as const, error }
        : { receipt, outcome: "requeue" as const, error, delay: "10s" };
    }),
  );
}

/** What is under way at the end of the hour. */
async function leaveWork(options: Setting["options"], clock: { now: number }): Promise<void> {
  const emails = new Queue("emails", options);
  await emails.enqueue(
    { to: "margaret@example.com", template: "invoice", total: 4_200 },
    { id: "invoice-2091", headers: { trace: "00-4bf92f35" } },
  );
  await emails.enqueueMany(
    Array.from({ length: 12 }, (_, i) => ({
      payload: { to: people[i % 7], template: "digest" },
      delay: `${i + 1}m` as const,
    })),
  );
  const imports = new Queue("imports", options);
  await imports.enqueueMany(
    Array.from({ length: 240 }, (_, i) => ({ payload: { file: "customers.csv", row: i } })),
  );
  const worker = { name: "importer", incarnation: "a81f", node: "eu-west-1", pid: 411 } as const;
  const [first, ...rest] = await imports.dequeue({ max: 6, lease: "10m", worker });
  await first?.extend("10m", { progress: { rows: 1_840, of: 5_000 } });
  clock.now += 900;
  await rest[0]?.complete({ rows: 5_000 });
  await new Operator("thumbnails", options).pause();
  await new Queue("reports", options).enqueue({ kind: "monthly" }, { delay: "3h", id: "monthly-2026-11" });
  const schedules = new Schedules("reports", options);
  await schedules.put("daily-report", {
    cron: "0 7 * * *",
    timeZone: "Europe/Vienna",
    payload: { kind: "daily" },
  });
  await schedules.put("usage", { every: "15m", payload: { kind: "usage" } });
  for (const name of ["audit-log", "billing", "cleanup", "push", "search-index", "sms"]) {
    const queue = new Queue(name, options);
    await queue.enqueue({ since: clock.now });
    const [task] = await queue.dequeue();
    await task?.complete();
  }
}
