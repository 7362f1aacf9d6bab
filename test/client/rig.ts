import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, onTestFinished, vi } from "vitest";
import {
  createClient,
  type ClientOptions,
  type ClientQueue,
  type ClientQueueOptions,
} from "../../src/client/index.ts";
import { Operator, Queue, type QueueOptions } from "../../src/index.ts";
import { secrets, useServed, type Caller } from "../http/served.ts";
import { listening } from "../support/listening.ts";
import { inOwnTime, TRY } from "../support/own-time.ts";
import { ComparableAnswers } from "./comparable-answers.ts";

/** What happens to one request on its way. */
export type Fault =
  /** It runs; in place of its answer the connection ends. */
  | "lost reply"
  /** It runs; the connection ends in the middle of its answer. */
  | "cut body"
  /** It runs; half of its answer arrives, as if it were whole. */
  | "half JSON"
  /** It does not run, and the connection ends. */
  | "reset"
  /** It does not run and is not answered. */
  | "hang"
  /** It runs and is not answered. */
  | "silence"
  /** It gets a 502, and runs when that many further copies have been answered. */
  | { readonly late: number }
  /** It does not run, and gets this answer. */
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> };

/** A copy of a request, as it was sent. */
export interface Copy {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A server of the app, on whose way requests meet faults. */
export class FaultyWay {
  /** Every copy that came, in order. */
  readonly copies: Copy[] = [];
  /** The faults of the copies to come, in order; the rest pass. */
  faults: (Fault | undefined)[] = [];
  /** How many copies were left without an answer. */
  unanswered = 0;
  /** How many copies the app is answering. */
  running = 0;
  /** The address that the client is given. */
  url = "";
  readonly #answer: (request: Request) => Response | Promise<Response>;
  readonly #server = createServer((request, response) => void this.#pass(request, response));
  #late: { readonly copy: Copy; after: number }[] = [];

  constructor(answer: (request: Request) => Response | Promise<Response>) {
    this.#answer = answer;
  }

  async open(): Promise<void> {
    this.url = `http://127.0.0.1:${await listening(this.#server)}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  clear(): void {
    this.copies.length = 0;
    this.faults = [];
    this.unanswered = 0;
    this.#late = [];
  }

  /** Runs late copies, by default all of them. */
  async runLate(isDue: (late: { after: number }) => boolean = () => true): Promise<void> {
    const due = this.#late.filter(isDue);
    this.#late = this.#late.filter((late) => !due.includes(late));
    for (const { copy } of due) await this.#run(copy);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { method = "GET", url: path = "/" } = request;
    const copy = { method, path, headers: new Headers(request.headers as Record<string, string>), body };
    this.copies.push(copy);
    const fault = this.faults.shift();
    if (fault === "reset") return void response.destroy();
    if (fault === "hang") return void this.unanswered++;
    if (typeof fault === "object" && "late" in fault) {
      this.#late.push({ copy, after: fault.late });
      return void response.writeHead(502).end();
    }
    if (typeof fault === "object")
      return void response.writeHead(fault.status, { ...fault.headers }).end(fault.body ?? "");

    const { status, type, answer } = await this.#run(copy);
    await this.runLate((late) => --late.after <= 0);
    if (fault === "silence") return void this.unanswered++;
    if (fault === "lost reply") return void response.destroy();
    if (fault === "cut body") {
      response.writeHead(status, { "content-length": Buffer.byteLength(answer) });
      response.write(answer.slice(0, answer.length / 2), () => response.destroy());
      return;
    }
    response.writeHead(status, { "content-type": type });
    response.end(fault === "half JSON" ? answer.slice(0, answer.length / 2) : answer);
  }

  async #run({ method, path, headers, body }: Copy) {
    const request = new Request(this.url + path, { method, headers, ...(body && { body }) });
    this.running++;
    const response = await this.#answer(request);
    this.running--;
    const type = response.headers.get("content-type") ?? "";
    return { status: response.status, type, answer: await response.text() };
  }
}

export const PATIENT = { tryTimeout: TRY, deadline: 100 * TRY } as const;

/** The calls that a queue and a client's queue both have. */
export type Either = Pick<Queue, keyof ClientQueue & keyof Queue>;

/** The app on a port over a Redis of the test file's own, faults on the way to it, and clients. */
export function useServer() {
  const served = useServed({ onError: () => {} });
  const way = new FaultyWay((request) => served.app.fetch(request));
  beforeAll(() => way.open());
  beforeEach(async () => {
    way.clear();
    await served.transport.send([["FLUSHALL"]]);
  });
  afterAll(() => way.close());
  const client = (options: Partial<ClientOptions> = {}, as: Caller = "all") =>
    createClient({ url: way.url, token: secrets[as], ...options });
  const direct = <In = unknown, Out = In>(name: string, options: Partial<QueueOptions<In, Out>> = {}) =>
    new Queue<In, Out>(name, { transport: served.transport, ...options });
  return {
    way: () => way,
    /** A client whose requests meet the faults. */
    client,
    /** A queue on Redis, without the server. */
    direct,
    /**
     * The answers to the same calls from a queue, and from a client's queue of the same name on an emptied
     * Redis.
     */
    async both(calls: (queue: Either) => Promise<unknown>, options: ClientQueueOptions = {}) {
      const byQueue = new ComparableAnswers().of(await calls(direct("emails", options)));
      await served.transport.send([["FLUSHALL"]]);
      const overHttp = new ComparableAnswers().of(await calls(client().queue("emails", options)));
      return { direct: byQueue, overHttp };
    },
    /**
     * Makes calls of a client with {@link PATIENT} for which time passes only as the copies of requests need it: each
     * that gets no answer takes as long as it may, and the waits between them take none.
     * @param ms how long each copy takes. Default: 0
     */
    inOwnTime<T>(call: () => Promise<T>, ms = 0): Promise<T> {
      vi.spyOn(Math, "random").mockReturnValue(0);
      onTestFinished(() => void vi.restoreAllMocks());
      let [copies, unanswered] = [0, 0];
      return inOwnTime(call, () => {
        // The app's own requests are not to run out of time.
        if (way.running > 0) return 0;
        const passed = (way.copies.length - copies) * ms + (way.unanswered - unanswered) * TRY;
        [copies, unanswered] = [way.copies.length, way.unanswered];
        return passed;
      });
    },
    operator: (name: string) => new Operator(name, { transport: served.transport }),
    transport: () => served.transport,
    redis: (...command: [string, ...string[]]) => served.transport.send([command]),
  };
}
