import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { sweep, type LeasedTask, type Queue } from "../../src/index.ts";
import { startGateway, type Fault, type Gateway } from "../../src/local/index.ts";
import type { Command, CommandOutcome, Transport } from "../../src/queue/transport.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { queueSpace, type KeySpace } from "../support/key-space.ts";
import { QUEUE, START, useRig, type Rig } from "../support/rig.ts";

const rig = useRig();

/** The commands as every copy after the first has them. */
function asResend(commands: readonly Command[]): Command[] {
  return commands.map((command) =>
    "script" in command && command.resendArgs ? { ...command, args: command.resendArgs } : command,
  );
}

/** What happens to one request, counted from 0. */
type Disturbance =
  /** It runs, its reply is lost, and it is sent again. */
  | { kind: "lost"; at: number }
  /** It is sent again and answered; the first copy runs only after a later request. */
  | { kind: "late"; at: number; after: number };

function disturbed(inner: Transport, disturbance: Disturbance | undefined) {
  let sent = 0;
  let late: readonly Command[] | undefined;
  const transport: Transport = {
    async send(commands, options) {
      const index = sent++;
      let outcomes: CommandOutcome[];
      if (disturbance?.at !== index) outcomes = await inner.send(commands, options);
      else {
        if (disturbance.kind === "lost") await inner.send(commands, options);
        else late = commands;
        outcomes = await inner.send(asResend(commands), options);
      }
      if (disturbance?.kind === "late" && disturbance.after === index && late)
        await inner.send(late, options);
      return outcomes;
    },
  };
  return { transport, requests: () => sent };
}

afterEach(() => vi.restoreAllMocks());

/** Chance and the client's clock, the same in each run. */
function fixChance(): void {
  let next = 0;
  vi.spyOn(Date, "now").mockReturnValue(START);
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    const bytes = array as Uint8Array;
    for (let i = 0; i < bytes.length; i++, next++) bytes[i] = (next * 37 + Math.floor(next / 97)) % 248;
    return array;
  });
}

async function run(rig: Rig, scenario: Scenario, disturbance?: Disturbance, over = rig.transport) {
  await rig.command("FLUSHALL");
  fixChance();
  rig.now = START;
  const { transport, requests } = disturbed({ send: over.send }, disturbance);
  const answers = await scenario(rig.queue({ transport }), transport);
  const space = withoutSlots(await rig.keySpace());
  // Once everybody has had a resend's answer, nothing else is left either.
  rig.now += 300_000;
  await rig.sweepOnce();
  return { answers, requests: requests(), space, later: withoutSlots(await rig.keySpace()) };
}

/** Without what only remembers calls: a resent dequeue leaves a mark there. */
function withoutSlots(space: KeySpace) {
  const { tasks, ...rest } = queueSpace(space, QUEUE);
  return {
    ...rest,
    tasks: [...tasks].filter(([field]) => !field.startsWith("~r")),
    registry: space["sluice:queues"],
  };
}

type Scenario = (queue: Queue, transport: Transport) => Promise<unknown>;

/** What a caller sees of a task: a task's methods are not part of the answer. */
const seen = (tasks: readonly LeasedTask[]) =>
  tasks.map(({ id, receipt, payload, attempt, enqueuedAt, deadlineAt }) => ({
    id,
    receipt,
    payload,
    attempt,
    enqueuedAt,
    deadlineAt,
  }));

/** A queue's day: every script, most of them in several states. */
const day: Scenario = async (queue, transport) => {
  const answers: unknown[] = [];
  const note = <T>(answer: T): T => {
    answers.push(
      Array.isArray(answer) && answer[0]?.receipt && "payload" in answer[0] ? seen(answer) : answer,
    );
    return answer;
  };
  note(await queue.enqueue("generated", { idempotencyKey: "key-1" }));
  note(await queue.enqueue("chosen", { id: "chosen" }));
  note(await queue.enqueue("other", { id: "chosen" }));
  note(await queue.enqueueMany(["b", "c", "d", "e"].map((id) => ({ id, payload: id, maxAttempts: 2 }))));
  note(await queue.enqueue("delayed", { id: "delayed", delay: 100 }));
  const [generated, chosen] = note(await queue.dequeue({ max: 2, lease: 1_000 }));
  note(await generated?.extend(2_000));
  note(await generated?.complete("result"));
  note(await chosen?.requeue({ delay: 50, error: "soon" }));
  note(await queue.cancel("b"));
  const [c] = note(await queue.dequeue({ lease: 500 }));
  note(await queue.cancel("c"));
  note(await c?.extend());
  note(await c?.requeue());
  const [d] = note(await queue.dequeue({ lease: 500 }));
  note(await d?.reject(new Error("no")));
  const [e] = note(await queue.dequeue({ lease: 200 }));
  note(await e?.requeue());
  const { settled, tasks } = await queue.settleAndDequeue([], { lease: 200 });
  note(settled);
  note(seen(tasks));
  rig.now += 200;
  await sweep(transport, { now: () => rig.now });
  note(await tasks[0]?.complete("too late"));
  const rest = note(await queue.dequeue({ max: 10, lease: 300 }));
  note(
    await queue.settle(rest.map(({ receipt }) => ({ receipt, outcome: "requeue" as const, count: false }))),
  );
  const again = note(await queue.dequeue({ max: 10, lease: 300 }));
  note(await queue.dequeue({ max: 10 }).then(seen));
  const mixed = await queue.settleAndDequeue(
    again.map(({ receipt }, i) => ({
      receipt,
      outcome: i === 0 ? ("complete" as const) : ("requeue" as const),
    })),
    { max: 10, lease: 300 },
  );
  note(mixed.settled);
  note(seen(mixed.tasks));
  note(await queue.get("chosen"));
  note(await queue.counts());
  return answers;
};

describe("a queue's day comes out the same, answers and key space (law 5)", () => {
  test("with the reply to any one request lost and the request sent again", async () => {
    const expected = await run(rig, day);
    expect(expected.requests).toBeGreaterThan(28);
    for (let at = 0; at < expected.requests; at++) {
      const actual = await run(rig, day, { kind: "lost", at });
      expect({ at, ...actual }).toEqual({ at, ...expected });
    }
  });

  test("with the first copy of any one request running after any later request within the resend window", async () => {
    const expected = await run(rig, day);
    for (let at = 0; at < expected.requests; at++) {
      for (let after = at; after < expected.requests; after++) {
        const actual = await run(rig, day, { kind: "late", at, after });
        expect({ at, after, ...actual }).toEqual({ at, after, ...expected });
      }
    }
  });
});

describe("over HTTP too, with a fault of the network at any one request", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ redisUrl: rig.redis.url });
  });
  afterAll(() => gateway.close());

  const faults: Fault[] = [
    { kind: "lose-reply" },
    { kind: "cut-body" },
    { kind: "cut" },
    { kind: "noscript" },
    { kind: "duplicate", answer: "first" },
    { kind: "duplicate", answer: "second" },
    { kind: "http", status: 502, body: "<html>bad gateway</html>", contentType: "text/html" },
    { kind: "http", status: 429 },
  ];

  test.each(faults.map((fault) => [JSON.stringify(fault), fault] as const))("%s", async (_, fault) => {
    const retry = { firstWait: 1, longestWait: 1 };
    const over = upstash({ url: gateway.url, token: gateway.token }, { retry });
    const expected = await run(rig, day, undefined, over);
    for (let nth = 1; nth <= expected.requests; nth++) {
      const handle = gateway.faults.add({ ...fault, match: { nth } });
      const actual = await run(rig, day, undefined, over);
      expect({ nth, hits: handle.hits, ...actual }).toEqual({ nth, hits: 1, ...expected });
      handle.remove();
    }
  });
});

describe("a dequeue sent again", () => {
  test("gets what is still leased under its token, and no more", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["a", "b", "c", "d"].map((id) => ({ id, payload: id })));
    const first = await queue.dequeue({ max: 3, token: "token-01", lease: 1_000 });
    await first[1]?.complete();
    const before = await rig.keySpace();
    const second = await queue.dequeue({ max: 3, token: "token-01", lease: 1_000 });
    expect(seen(second)).toEqual(seen([first[0], first[2]] as LeasedTask[]));
    expect(await rig.keySpace()).toEqual(before);
  });

  test("gets nothing of what was reclaimed and leased to another meanwhile", async () => {
    const queue = rig.queue();
    await queue.enqueue("a", { id: "a" });
    await queue.dequeue({ token: "token-01", lease: 1_000 });
    rig.now += 1_000;
    const [other] = await queue.dequeue({ token: "token-02", lease: 1_000 });
    expect(other?.attempt).toBe(2);
    expect(await queue.dequeue({ token: "token-01" })).toHaveLength(0);
  });

  test("by an idempotency key is the same call, and by another key another", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const [one] = await queue.dequeue({ idempotencyKey: "k1" });
    const [same] = await queue.dequeue({ idempotencyKey: "k1" });
    const [two] = await queue.dequeue({ idempotencyKey: "k2" });
    expect([one?.receipt === same?.receipt, two?.payload]).toEqual([true, 2]);
  });
});
