import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { matches } from "../../src/kernel/names/queue-pattern.ts";
import type { Scope, TokenEntry } from "../../src/http/auth/tokens.ts";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { readKeySpace } from "../support/key-space.ts";
import { accessRows, type Callable, callables } from "./access-rows.ts";
import { type Ask, secrets, useServed } from "./served.ts";

// Every route × every caller × the queues that the token is for.

const queues = ["mails-1-x", "mails-1-y", "bills"] as const;
const patterns = {
  "mails-1-x": ["mails-1-x"],
  "mails-*": ["mails-1-x", "mails-1-y"],
  "*-x": ["mails-1-x"],
  "m*y": ["mails-1-y"],
  "*": ["mails-1-x", "mails-1-y", "bills"],
  other: [],
  "mails.1.x": [],
} as const satisfies Record<string, readonly (typeof queues)[number][]>;
const scopeSets: readonly (readonly Scope[])[] = [
  ["enqueue"],
  ["consume"],
  ["view"],
  ["admin"],
  ["enqueue", "consume"],
  ["enqueue", "admin"],
  ["consume", "admin"],
  ["consume", "view"],
  ["enqueue", "consume", "admin"],
];

interface Holder {
  readonly token: string;
  readonly scopes: readonly Scope[];
  readonly queues: readonly string[];
  readonly entry: TokenEntry;
}

const holders: readonly Holder[] = Object.entries(patterns).flatMap(([pattern, fitting]) =>
  scopeSets.map((scopes, at) => {
    const token = `the-token-of:${scopes.join("+")}@${pattern}`;
    const sha256 = createHash("sha256").update(token).digest("hex");
    const known = at % 2 === 0 ? { token } : { sha256 };
    return { token, scopes, queues: fitting, entry: { ...known, scopes: [...scopes], queues: pattern } };
  }),
);

/** Authorization headers that hold no valid token. */
const strangers: readonly (string | undefined)[] = [
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "Bearer unknown-0123456789abcdef",
  `Bearer ${holders[0]!.token}x`,
  `Bearer ${holders[0]!.token} ${holders[0]!.token}`,
  `Bearer ${holders[0]!.token}, Bearer ${holders[1]!.token}`,
  `Bearer\t${holders[0]!.token}`,
  `Bearer "${holders[0]!.token}"`,
  `Basic ${btoa(`:${holders[0]!.token}`)}`,
  `Token ${holders[0]!.token}`,
  holders[0]!.token,
  // The digest of a token is not the token.
  `Bearer ${createHash("sha256").update(holders[1]!.token).digest("hex")}`,
  `Bearer \u00e9${holders[0]!.token}`,
  `Bearer ${"x".repeat(10_000)}`,
];

const served = useServed();
let ask: Ask;
let sent = 0;
beforeAll(() => {
  const { send, ...transport } = served.transport;
  const counted: Transport = {
    ...transport,
    send: (commands, options) => (sent++, send(commands, options)),
    ...(transport.subscribe && {
      subscribe: (...args: Parameters<typeof transport.subscribe>) => (sent++, transport.subscribe!(...args)),
    }),
  };
  ask = served.asking({ transport: counted, tokens: holders.map(({ entry }) => entry) });
});

const keySpace = () => readKeySpace(served.redis.url);

/** Calls the route. Returns its status and the number of requests to Redis. */
async function call(
  { method, path, body: bodyOf }: Callable,
  queue: string,
  authorization: string | undefined,
) {
  const before = sent;
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const { status, body } = await ask(method, path(queue), { as: null, json: bodyOf(queue), headers });
  return { status, code: body?.code as unknown, asked: sent - before };
}

const isRefused = (status: number) => status === 401 || status === 403;

it("every route has a row, and every row a route", () => {
  const ofApp = served.app.routes.filter(({ method }) => method !== "ALL");
  const routes = new Set(ofApp.map(({ method, path }) => `${method} ${path}`));
  expect(Object.keys(accessRows).toSorted()).toEqual([...routes].toSorted());
});

it("the documentation says of every route who may call it", () => {
  const documented = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => {
      const scopes = security.flatMap((one) => one["token"] ?? (one["cronSecret"] ? ["cron"] : []));
      return [`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`, scopes];
    }),
  );
  const { "GET /": _, ...rows } = accessRows;
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(Object.entries(rows).map(([route, { scopes }]) => [route, scopes])),
  );
});

const closed = callables.filter(({ scopes }) => scopes.length > 0);
const open = callables.filter(({ scopes }) => scopes.length === 0);

describe.each(closed)("$route", (route) => {
  const { ofQueue, withoutRedis = false } = route;

  it("is closed to a caller without a token, and asks Redis nothing", async () => {
    const before = await keySpace();
    const methods = route.method === "GET" ? ["GET", "HEAD"] : [route.method];
    for (const method of methods) {
      for (const authorization of strangers) {
        const { status, asked } = await call({ ...route, method }, "mails-1-x", authorization);
        expect([authorization, status, asked]).toEqual([authorization, 401, 0]);
      }
    }
    expect(await keySpace()).toEqual(before);
  });

  it("lets in a token with its scope for the queue, and no other; a refused call wrote and read nothing", async () => {
    const wrong: unknown[] = [];
    // Refused calls come first, so that the others do not change the key space meanwhile.
    const calls = holders.flatMap((holder) =>
      (ofQueue ? queues : [route.queue ?? "-"]).map((queue) => {
        const fits = (!ofQueue && route.queue === undefined) || holder.queues.includes(queue);
        const has = holder.scopes.includes("admin") ? [...holder.scopes, "view" as const] : holder.scopes;
        const scoped = has.some((scope) => route.scopes.includes(scope));
        return { holder, queue, allowed: fits && scoped };
      }),
    );
    const before = await keySpace();
    for (const { holder, queue } of calls.filter(({ allowed }) => !allowed)) {
      const { status, code, asked } = await call(route, queue, `Bearer ${holder.token}`);
      if (status !== 403 || code !== "forbidden" || asked !== 0)
        wrong.push([holder.token, queue, status, asked]);
    }
    expect([wrong, await keySpace()]).toEqual([[], before]);
    for (const { holder, queue } of calls.filter(({ allowed }) => allowed)) {
      const { status, asked } = await call(route, queue, `Bearer ${holder.token}`);
      if (isRefused(status) || status >= 500 || asked > 0 === withoutRedis)
        wrong.push([holder.token, queue, status, asked]);
    }
    expect(wrong).toEqual([]);
  });

  it("opens to the cron secret only if its row says so", async () => {
    const before = await keySpace();
    for (const queue of ofQueue ? queues : ["-"]) {
      const { status, asked } = await call(route, queue, `Bearer ${secrets.cron}`);
      if (route.scopes.includes("cron")) expect([status, asked > 0]).toEqual([200, true]);
      else expect([status, asked]).toEqual([403, 0]);
    }
    if (!route.scopes.includes("cron")) expect(await keySpace()).toEqual(before);
  });
});

it.each(open)("$route is open to every caller, whatever its authorization", async (route) => {
  for (const authorization of [...strangers, `Bearer ${holders[0]!.token}`, `Bearer ${secrets.cron}`]) {
    const { status } = await call(route, "", authorization);
    expect([authorization, status]).toEqual([authorization, route.route === "GET /" ? 302 : 200]);
  }
});

describe("a route without a queue name", () => {
  const fill = async () => {
    await served.transport.send([["FLUSHALL"]]);
    // An instance remembers the registry by its transport.
    const enqueue = served.asking({ transport: { ...served.transport } });
    for (const queue of queues) {
      await enqueue("POST", `/v1/queues/${queue}/tasks`, { json: { id: "x", payload: queue, delay: "1h" } });
      await served.transport.send([["ZADD", queueKeys(queue).delayed, "0", "x"]]);
    }
  };
  const delayed = async () => {
    const counts = await Promise.all(queues.map((queue) => served.ask("GET", `/v1/queues/${queue}`)));
    return queues.filter((_, at) => counts[at]!.body.delayed === 1);
  };
  const admins = holders.filter(({ scopes }) => scopes.length === 1 && scopes[0] === "admin");

  it.each(admins)("acts on the queues of $token, and leaves others unchanged", async (holder) => {
    await fill();
    const headers = { authorization: `Bearer ${holder.token}` };
    const listed = await ask("GET", "/v1/queues?counts=true", { as: null, headers });
    const names = listed.body.queues.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual([...holder.queues].toSorted());

    const sweep = (json?: object) => ask("POST", "/v1/sweep", { as: null, headers, json });
    for (const queue of queues) {
      const { status } = await sweep({ deep: true, queue });
      expect([queue, status]).toEqual([queue, holder.queues.includes(queue) ? 200 : 403]);
    }
    expect((await sweep({ deep: true })).body.queues).toBe(holder.queues.length);

    const others = queues.filter((queue) => !holder.queues.includes(queue));
    const keysOfOthers = async () =>
      Object.entries(await keySpace()).filter(([key]) => others.some((queue) => key.includes(`{${queue}}`)));
    const before = await keysOfOthers();
    expect((await sweep()).body.queues).toBe(holder.queues.length);
    expect([await keysOfOthers(), await delayed()]).toEqual([before, others]);
  });

  it.each(["GET", "POST"])("sweeps every queue for the cron secret: %s", async (method) => {
    await fill();
    const { body } = await ask(method, "/v1/sweep", { as: "cron" });
    expect([body.queues, await delayed()]).toEqual([3, []]);
  });
});

describe("a pattern of queue names", () => {
  /** Every text of at most so many of these letters. */
  const texts = (letters: string, most: number): string[] =>
    most === 0
      ? [""]
      : ["", ...letters.split("").flatMap((one) => texts(letters, most - 1).map((rest) => one + rest))];

  it("has * as its only wildcard: every other character is literal, also those of regular expressions", () => {
    const names = [...new Set(texts("ab.-", 4))];
    for (const pattern of new Set(texts("a.*-", 4))) {
      const literal = pattern.replaceAll(/[.-]/g, String.raw`\$&`).replaceAll("*", ".*");
      const oracle = new RegExp(`^${literal}$`);
      const wrong = names.filter((name) => matches(pattern, name) !== oracle.test(name));
      expect([pattern, wrong]).toEqual([pattern, []]);
    }
  });

  it("with many wildcards takes no time", () => {
    expect(matches(`${"*a".repeat(60)}b`, "a".repeat(128))).toBe(false);
  });

  const others = ["a+", "(a)", "[ab]", "a?", "a|b", "^a$", "{a}", String.raw`a\d`, "a:b", "a b", "", "é"];
  it.each([...others, "a".repeat(129)])(
    "is refused if it could be read as another pattern language: %s",
    (queues) => {
      const tokens: TokenEntry[] = [{ token: secrets.all, scopes: ["admin"], queues }];
      const make = () => served.make({ tokens });
      expect(make).toThrow(expect.objectContaining({ code: "invalid_argument", path: "tokens[0].queues" }));
    },
  );
});

it.each(["", "short", "with a space, or two", "x".repeat(513), "\n0123456789abcdef"])(
  "a cron secret that no request could carry is refused at the start, and not shown: %j",
  (cronSecret) => {
    for (const given of [cronSecret, [secrets.cron, cronSecret]]) {
      const make = () => served.make({ tokens: [], cronSecret: given });
      expect(make).toThrow(/^cronSecret must be 16 to 512 visible ASCII characters$/);
    }
  },
);
