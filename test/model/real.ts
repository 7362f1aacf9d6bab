/** The real queue: three clients, over HTTP through the gateway, of a Redis of its own. */
import { createClient } from "@redis/client";
import {
  Operator,
  Queue,
  SluiceError,
  sweep,
  deepSweep,
  type Command,
  type Transport,
} from "../../src/index.ts";
import { startGateway, type Fault, type Gateway } from "../../src/local/index.ts";
import { callOf } from "../../src/queue/binding.ts";
import { queueKeys } from "../../src/queue/keys.ts";
import * as scripts from "../../src/queue/lua.gen.ts";
import { lastReply } from "../../src/queue/outcome.ts";
import { dequeueScript, enqueueScript, sweepScript } from "../../src/queue/scripts.ts";
import { keyLocking } from "../../src/queue/transport.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { readQueueSpace, type QueueSpace } from "../support/key-space.ts";
import { startRedis } from "../support/redis.ts";
import { invalidCalls } from "./invalid.ts";
import type { Mishap, Operation, OperationSettlement, Pull } from "./operations.ts";

/** For how long a wake counts, ms. */
export const WINDOW = 5_000;
const CLIENTS = 3;

const FAULTS: Readonly<Record<Exclude<Mishap, "none">, Fault>> = {
  "reply lost": { kind: "lose-reply", match: { command: "EVALSHA" } },
  "delivered twice": { kind: "duplicate", answer: "second", match: { command: "EVALSHA" } },
  "scripts forgotten": { kind: "flush-scripts", match: { command: "EVALSHA" } },
};

/** What one call came to. */
export interface Happened {
  readonly answer: unknown;
  /** Whether an enqueue looked at the settings. */
  readonly look: boolean;
  /** Whether the queue stood in the registry before. */
  readonly registered: boolean;
  readonly before: QueueSpace;
  readonly after: QueueSpace;
}

interface Client {
  readonly queue: Queue;
  readonly woken: Queue;
  readonly operator: Operator;
  readonly transport: Transport;
}

export class Real {
  now = 0;
  name = "";
  /** How often a consumer was woken. */
  woken = 0;
  /** How many calls were made in all. */
  calls = 0;
  /** And how many of them something befell on their way. */
  mishaps = 0;
  space: QueueSpace;
  readonly #gateway: Gateway;
  readonly #direct: ReturnType<typeof createClient>;
  readonly #stop: () => Promise<void>;
  #clients: readonly Client[] = [];
  #look = false;
  #registered = false;
  #flagged = true;

  static async start(): Promise<Real> {
    const redis = await startRedis();
    const gateway = await startGateway({ redisUrl: redis.url, log: () => {} });
    const direct = createClient({ url: redis.url, RESP: 2 });
    await direct.connect();
    await loadScripts(gateway);
    const stop = async () => {
      direct.destroy();
      await gateway.close();
      await redis.stop();
    };
    return new Real(gateway, direct as never, stop, await readQueueSpace(direct as never, "none"));
  }

  private constructor(
    gateway: Gateway,
    direct: ReturnType<typeof createClient>,
    stop: () => Promise<void>,
    space: QueueSpace,
  ) {
    this.#gateway = gateway;
    this.#direct = direct;
    this.#stop = stop;
    this.space = space;
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** A queue without a past, and clients who know of none. */
  async reset(now: number): Promise<void> {
    await this.#direct.sendCommand(["FLUSHALL"]);
    this.now = now;
    this.woken = 0;
    this.#registered = false;
    this.name = "emails";
    this.#clients = Array.from({ length: CLIENTS }, () => this.#client());
    this.space = await readQueueSpace(this.#direct, this.name);
  }

  #client(): Client {
    const sent = upstash(
      { url: this.#gateway.url, token: this.#gateway.token },
      { retry: { firstWait: 1, longestWait: 2 } },
    );
    // Without a name of the database: what an instance remembers hangs on this object.
    const transport: Transport = {
      send: (commands, options) =>
        sent.send(
          commands.map((command) => this.#onItsWay(command)),
          options,
        ),
    };
    const options = { transport, now: () => this.now };
    const wake = { wake: () => void this.woken++, window: WINDOW };
    return {
      transport,
      queue: new Queue(this.name, options),
      woken: new Queue(this.name, { ...options, wake }),
      operator: new Operator(this.name, options),
    };
  }

  #onItsWay(command: Command): Command {
    if (!("script" in command)) return command;
    if (command.script === enqueueScript.script) this.#look = command.args[1] === "1";
    // A first copy says nothing of others; the transport's own resends do.
    if (command.script === dequeueScript.script && !this.#flagged) {
      return { ...command, args: command.args.with(dequeueScript.args.indexOf("resend"), "") };
    }
    return command;
  }

  /** Makes one call, and looks at what it left. */
  async run(operation: Operation, by: number, mishap: Mishap): Promise<Happened> {
    const client = this.#clients[by % CLIENTS] as Client;
    const fault = mishap === "none" ? undefined : this.#gateway.faults.add(FAULTS[mishap]);
    this.#flagged = true;
    this.calls++;
    if (mishap !== "none") this.mishaps++;
    let answer: unknown;
    try {
      answer = await this.#call(operation, client);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      answer = { refused: error.code };
    } finally {
      fault?.remove();
      if (mishap === "scripts forgotten") await loadScripts(this.#gateway);
    }
    const before = this.space;
    const registered = this.#registered;
    this.#registered = (await this.#direct.sendCommand(["ZSCORE", "sluice:queues", this.name])) !== null;
    this.space = await readQueueSpace(this.#direct, this.name);
    return { answer, look: this.#look, registered, before, after: this.space };
  }

  async #call(operation: Operation, { queue, woken, operator, transport }: Client): Promise<unknown> {
    const now = () => this.now;
    switch (operation.does) {
      case "enqueue": {
        const { key: idempotencyKey, tasks, waker } = operation;
        const producer = waker ? woken : queue;
        const [lone] = tasks;
        if (tasks.length > 1 || !lone) return producer.enqueueMany(tasks, { idempotencyKey });
        const { payload, ...options } = lone;
        return [await producer.enqueue(payload, { ...options, idempotencyKey })];
      }
      case "dequeue":
        return queue.dequeue(this.#pullOf(operation));
      case "settle": {
        const items = operation.items.map(settlementOf);
        return operation.pull
          ? queue.settleAndDequeue(items, this.#pullOf(operation.pull))
          : queue.settle(items);
      }
      case "cancel":
        return queue.cancel(operation.id, { lease: operation.lease });
      case "remove":
        return operator.remove(operation.id);
      case "get":
        return queue.get(operation.id);
      case "redrive":
        return operator.redrive(without(operation));
      case "redriveIds":
        return operator.redrive({ ids: operation.ids });
      case "purge":
        return operator.purge(without(operation));
      case "configure":
        return operator.configure(operation.changes, { idempotencyKey: operation.key });
      case "pause":
      case "resume":
        return operator[operation.does]({ idempotencyKey: operation.key });
      case "configureGroup":
        return operator.configureGroup(operation.group, operation.changes, { idempotencyKey: operation.key });
      case "drop":
        return operator.deleteQueue({ force: operation.force, idempotencyKey: operation.key });
      case "heartbeat":
        return queue.heartbeat(operation.worker, { lease: operation.lease });
      case "fail":
        return operator.failWorker(operation.worker, { limit: operation.limit });
      case "sweep": {
        const { limit, once, waker } = operation;
        if (once) {
          const args = { testNow: String(this.now), limit: String(limit), wake: waker ? String(WINDOW) : "" };
          const outcomes = await transport.send([callOf(sweepScript, queueKeys(this.name), args)]);
          return sweepScript.decode(lastReply(outcomes));
        }
        const wake = waker ? { wake: { wake: () => void this.woken++, window: WINDOW } } : {};
        return sweep(transport, { now, limit, ...wake });
      }
      case "wakeAnother":
        return woken.wakeAnother();
      case "counts":
        return queue.counts();
      case "workers":
        return operator.workers({ size: 1_000 });
      case "statistics":
        return operator.statistics();
      case "settings":
        return operator.settings();
      case "deepSweep":
        return deepSweep(transport, { now, queue: this.name });
      case "list":
        return this.#pages(operator, operation);
      case "invalid":
        return invalidCalls(queue, operator)
          [operation.which]?.()
          .then(
            () => "accepted",
            (error: { code?: string; path?: string }) => ({ code: error.code, path: error.path }),
          );
    }
  }

  #pullOf({ token, max, lease, single, worker, flagged }: Pull) {
    this.#flagged = flagged;
    return { token, max, lease, maxBytes: single ? 1 : undefined, worker };
  }

  async #pages(operator: Operator, { does: _, ...options }: Extract<Operation, { does: "list" }>) {
    const tasks = [];
    let cursor: string | undefined;
    do {
      const page = await operator.list({ ...options, cursor });
      tasks.push(...page.tasks);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return tasks;
  }
}

/**
 * A pipeline runs on behind a script that Redis does not know: what is settled and pulled in one request then comes in
 * the other order. So that this happens where it is meant to, all are known.
 */
async function loadScripts({ url, token }: Gateway): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const commands = Object.values(scripts).map(({ source }) => ["SCRIPT", "LOAD", keyLocking + source]);
  const response = await fetch(`${url}/pipeline`, {
    method: "POST",
    headers,
    body: JSON.stringify(commands),
  });
  if (!response.ok) throw new Error(`SCRIPT LOAD: ${await response.text()}`);
}

const without = <O extends { does: string }>({ does: _, ...options }: O): Omit<O, "does"> => options;

function settlementOf({ receipt, outcome, ms, count, text }: OperationSettlement) {
  switch (outcome) {
    case "complete":
      return { receipt, outcome, ttl: ms, result: text };
    case "reject":
      return { receipt, outcome, ttl: ms, error: text };
    case "requeue":
      return { receipt, outcome, delay: ms, count, error: text };
    case "return":
      return { receipt, outcome: "requeue", unstarted: true } as const;
    case "extend":
      return { receipt, outcome, lease: ms, progress: text };
  }
}
