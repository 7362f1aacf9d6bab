import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { afterAll, beforeAll } from "vitest";
import { listening } from "../support/listening.ts";
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
  "POST /v1/flows": {
    tasks: [{ ref: "a", queue: "q", payload: hidden.payload, headers: { trace: hidden.header } }],
  },
  "PUT /v1/queues/:queue/schedules/:schedule": { every: "1h", payload: hidden.payload },
};

/** What Redis answers to a request, of which it has the commands, and all of its text. */
export type Words = (sent: {
  readonly commands: string[][];
  readonly all: string;
  readonly token: string;
}) => {
  readonly status?: number;
  readonly body: string;
};
const each =
  (reply: (all: string) => object): Words =>
  ({ commands, all }) => ({ body: JSON.stringify(commands.map(() => reply(all))) });
const refusing = (text: (all: string) => string) => each((all) => ({ error: text(all) }));

/** What a Redis, or a proxy in front of it, could repeat. */
export const ways: Readonly<Record<string, Words>> = {
  "an unknown command, with its arguments": refusing(
    (all) => `ERR unknown command, with args beginning with: '${all}'`,
  ),
  "a command that was": refusing((all) => `ERR wrong number of arguments, command was: ${all}`),
  // Each argument by itself, as a Lua error would have it.
  "an error of any other form": ({ commands, token }) => {
    const errors = commands.map((words) => `cannot do ${words.slice(3).join(" nor ")} script: x. ${token}`);
    return { body: JSON.stringify(errors.map((error) => ({ error: `ERR user_script:1: ${error}` }))) };
  },
  OOM: refusing((all) => `OOM command not allowed when used memory > 'maxmemory'. command was: ${all}`),
  "NOSCRIPT, for ever": refusing((all) => `NOSCRIPT No matching script. command was: ${all}`),
  "LOADING, for ever": refusing(() => "LOADING Redis is loading the dataset in memory"),
  "a quota": refusing((all) => `ERR max daily request limit exceeded. command was: ${all}`),
  "refused credentials": ({ token }) => {
    return { status: 401, body: JSON.stringify({ error: `WRONGPASS invalid token ${token}` }) };
  },
  "a request that it cannot parse": ({ all }) => {
    return { status: 400, body: JSON.stringify({ error: `ERR failed to parse, command was: ${all}` }) };
  },
  "a page of a proxy": ({ all }) => ({ status: 502, body: `<h1>${all}</h1>` }),
  "a reply that is no JSON": ({ all }) => ({ body: `{"result": ${all}` }),
  "a reply that is another's": each((all) => ({ result: [all] })),
  "a status that no script knows": each((all) => ({ result: ["ok", all, [all]] })),
  "a record of a newer release": each((all) => ({ result: ["newer_schema", all] })),
  "a redirection": ({ all }) => ({ status: 307, body: all }),
};

/** Takes the place of Redis for a test file, and repeats each request in the form that `way` gives. */
export function useRepeatingRedis() {
  const repeat = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const all = `${body} ${JSON.stringify(request.headers)}`;
    const commands = body.startsWith("[[") ? (JSON.parse(body) as string[][]) : [];
    const answer = redis.way?.({ commands, all, token: String(request.headers.authorization) });
    if (!answer) return;
    response.writeHead(answer.status ?? 200, { "content-type": "application/json" }).end(answer.body);
  };
  const server = createServer((request, response) => void repeat(request, response));
  const redis = {
    /** If undefined, it does not answer. */
    way: undefined as Words | undefined,
    url: "",
  };
  beforeAll(async () => {
    redis.url = `http://127.0.0.1:${await listening(server)}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  return redis;
}
