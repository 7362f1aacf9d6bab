import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, onTestFinished, vi } from "vitest";
import {
  createClient,
  type ClientOptions,
  type ClientQueue,
  type ClientQueueOptions,
} from "../../src/client/index.ts";
import { listen } from "../../serverless/process/node-listener.ts";
import type { Listener } from "../../serverless/process/process.ts";
import { Operator, Queue, type QueueOptions } from "../../src/index.ts";
import { secrets, useServed, type Caller } from "../http/served.ts";
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

/** A proxy in front of a server, in which requests meet faults. */
export class FaultyWay {
  /** Every copy that came, in order. */
  readonly copies: Copy[] = [];
  /** The faults of the copies to come, in order; the rest pass. */
  faults: (Fault | undefined)[] = [];
  /** How many copies were left without an answer. */
  unanswered = 0;
  /** The address that the client is given. */
  url = "";
  readonly #to: string;
  readonly #server: Server;
  #late: { readonly copy: Copy; after: number }[] = [];

  constructor(to: string) {
    this.#to = to;
    this.#server = createServer((request, response) => void this.#pass(request, response));
  }

  async open(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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
    for (const { copy } of due) await this.#forward(copy);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    request.setEncoding("utf8");
    for await (const chunk of request) body += String(chunk);
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

    const { status, headers, text } = await this.#forward(copy);
    await this.runLate((late) => --late.after <= 0);
    if (fault === "silence") return void this.unanswered++;
    if (fault === "lost reply") return void response.destroy();
    if (fault === "cut body") {
      response.writeHead(status, { "content-length": Buffer.byteLength(text) });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
      return;
    }
    response.writeHead(status, headers).end(fault === "half JSON" ? text.slice(0, text.length / 2) : text);
  }

  async #forward({ method, path, headers, body }: Copy) {
    const passed = new Headers(headers);
    for (const name of ["host", "connection", "content-length", "transfer-encoding"]) passed.delete(name);
    const sent = await fetch(this.#to + path, { method, headers: passed, ...(body && { body }) });
    const type = sent.headers.get("content-type");
    return {
      status: sent.status,
      headers: { ...(type && { "content-type": type }) },
      text: await sent.text(),
    };
  }
}

export const PATIENT = { tryTimeout: TRY, deadline: 100 * TRY } as const;

/** The calls that a queue and a client's queue both have. */
export type Either = Pick<Queue, keyof ClientQueue & keyof Queue>;

/** The app on a port over a Redis of the test file's own, a proxy with faults in front of it, and clients. */
export function useServer() {
  const served = useServed({ onError: () => {} });
  let server: Listener;
  let way: FaultyWay;
  beforeAll(async () => {
    server = await listen(async (request) => served.app.fetch(request), { port: 0, hostname: "127.0.0.1" });
    way = new FaultyWay(`http://127.0.0.1:${server.port}`);
    await way.open();
  });
  beforeEach(async () => {
    way.clear();
    await served.transport.send([["FLUSHALL"]]);
  });
  afterAll(async () => {
    way.close();
    server.drop?.();
    await server.stop();
  });
  const client = (options: Partial<ClientOptions> = {}, as: Caller = "all") =>
    createClient({ url: way.url, token: secrets[as], ...options });
  const direct = <In = unknown, Out = In>(name: string, options: Partial<QueueOptions<In, Out>> = {}) =>
    new Queue<In, Out>(name, { transport: served.transport, ...options });
  return {
    way: () => way,
    /** A client whose requests go through the proxy with faults. */
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
