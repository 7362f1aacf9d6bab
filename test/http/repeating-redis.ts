import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll } from "vitest";
import { secrets } from "./served.ts";

/** Secrets and payloads, each easy to find in any text. */
export const hidden = {
  payload: "payload-e3b0c44298fc1c14",
  result: "result-9afbf4c8996fb924",
  error: "error-27ae41e4649b934c",
  progress: "progress-a495991b7852b855",
  header: "header-5d41402abc4b2a76",
  pullToken: "pulltoken_7d793037a0760186",
  lease: "leasetoken5feceb66",
  redisToken: "redistoken-ef2d127de37b942b",
  redisPassword: "password-4e07408562bedb8b",
  wake: Buffer.from("wakesecret-4b227777d4dd1fc6").toString("base64"),
  ...secrets,
};

/** The secrets that a text shows, in any encoding that a log or an answer could give them. */
export function shown(text: string): string[] {
  return Object.entries(hidden)
    .filter(([, secret]) =>
      [secret, encodeURIComponent(secret), btoa(secret), secret.toUpperCase()].some((one) =>
        text.includes(one),
      ),
    )
    .map(([name]) => name);
}

/** All of a value as text: an error's stack, its causes, and what is not enumerable. */
export const deep = (value: unknown) =>
  typeof value === "string"
    ? value
    : inspect(value, { depth: 20, showHidden: true, maxStringLength: Infinity });

/** The requests that carry the hidden values. */
export const bodies: Readonly<Record<string, object>> = {
  "POST /v1/queues/:queue/tasks": { payload: hidden.payload, headers: { trace: hidden.header } },
  "POST /v1/queues/:queue/tasks/pull": { max: 10, token: hidden.pullToken },
  "POST /v1/queues/:queue/tasks/settle": {
    settlements: [
      { receipt: `1.1.7.${hidden.lease}.a`, outcome: "complete", result: hidden.result },
      { receipt: `1.1.8.${hidden.lease}.b`, outcome: "reject", error: hidden.error },
      { receipt: `1.1.9.${hidden.lease}.c`, outcome: "extend", progress: { at: hidden.progress } },
    ],
    pull: { token: hidden.pullToken },
  },
  "PUT /v1/queues/:queue/schedules/:schedule": { every: "1h", payload: hidden.payload },
};

export type Words = (body: string, headers: IncomingHttpHeaders) => { status?: number; body: string };
export const all = (body: string, headers: IncomingHttpHeaders) => `${body} ${JSON.stringify(headers)}`;
const each = (body: string, reply: unknown) =>
  JSON.stringify((JSON.parse(body) as unknown[]).map(() => reply));
const refusing =
  (text: (all: string) => string): Words =>
  (body, headers) => ({ body: each(body, { error: text(all(body, headers)) }) });

/** What a Redis, or a proxy in front of it, could repeat. */
export const ways: Readonly<Record<string, Words>> = {
  "an unknown command, with its arguments": refusing(
    (all) => `ERR unknown command, with args beginning with: '${all}'`,
  ),
  "a command that was": refusing((all) => `ERR wrong number of arguments, command was: ${all}`),
  "an error of any other form": (body, headers) => ({
    // Each argument by itself, as a Lua error would have it.
    body: JSON.stringify(
      (JSON.parse(body) as string[][]).map((words) => ({
        error: `ERR user_script:1: cannot do ${words.slice(3).join(" nor ")} script: x. ${headers.authorization}`,
      })),
    ),
  }),
  OOM: refusing((all) => `OOM command not allowed when used memory > 'maxmemory'. command was: ${all}`),
  "NOSCRIPT, for ever": refusing((all) => `NOSCRIPT No matching script. command was: ${all}`),
  "LOADING, for ever": refusing(() => "LOADING Redis is loading the dataset in memory"),
  "a quota": refusing((all) => `ERR max daily request limit exceeded. command was: ${all}`),
  "refused credentials": (_, headers) => ({
    status: 401,
    body: JSON.stringify({ error: `WRONGPASS invalid token ${headers.authorization}` }),
  }),
  "a request that it cannot parse": (body, headers) => ({
    status: 400,
    body: JSON.stringify({ error: `ERR failed to parse command, command was: ${all(body, headers)}` }),
  }),
  "a page of a proxy": (body, headers) => ({ status: 502, body: `<h1>${all(body, headers)}</h1>` }),
  "a reply that is no JSON": (body, headers) => ({ body: `{"result": ${all(body, headers)}` }),
  "a reply that is another's": (body, headers) => ({ body: each(body, { result: [all(body, headers)] }) }),
  "a status that no script knows": (body, headers) => ({
    body: each(body, { result: ["ok", all(body, headers), [all(body, headers)]] }),
  }),
  "a record of a newer release": (body, headers) => ({
    body: each(body, { result: ["newer_schema", all(body, headers)] }),
  }),
  "a redirection": (body, headers) => ({ status: 307, body: all(body, headers) }),
};

/** Takes the place of Redis, and repeats each request in the form that `answer` gives. */
export class RepeatingRedis {
  /** If undefined, it does not answer. */
  way: Words | undefined;
  readonly #server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const answer = this.way?.(body || "[]", request.headers);
      if (!answer) return;
      response.writeHead(answer.status ?? 200, { "content-type": "application/json" }).end(answer.body);
    });
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** One for a test file. */
export function useRepeatingRedis(): RepeatingRedis {
  const redis = new RepeatingRedis();
  beforeAll(() => redis.start());
  afterAll(() => redis.stop());
  return redis;
}
