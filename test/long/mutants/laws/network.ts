import { always, change, type LawMutants, never } from "../mutant.ts";

export const network: LawMutants = {
  "a queue of a cluster is registered beside its enqueue": {
    in: "sendInOrder",
    src: change("!transport.cluster", "commands.length > 0"),
    breaks: "law 10: if the registry's node is down, tasks are added that no sweep finds",
  },
  "a key's hash tag counts for nothing": {
    in: "hashSlot",
    src: change("close > open + 1", "close < 0"),
    breaks: "law 2: each key of a queue has its own slot, and each call is redirected",
  },
  "one node that is down fails the calls for all nodes": {
    src: never('parts.some(([, { status }]) => status === "fulfilled")'),
    breaks: "law 11: a sweep does nothing for the queues on the other nodes",
  },
  "a copy goes out after its try has ended": {
    src: change("if (currentTry.reason) throw _; const results = _1;", "const results = _1;"),
    breaks: "law 5: a command arrives that no call counts as sent",
  },
  "resent scripts go without their mark": {
    src: never("entry.copies > _"),
    breaks: "law 5: a late first copy leases tasks without a consumer",
  },
  "texts pass through the SDK's base64": {
    src: change("responseEncoding: false", 'responseEncoding: "base64"'),
    breaks: "law 9: what is no UTF-8 comes back as another text",
  },
  "each piece of a long base64 loses a byte": {
    in: "codes",
    src: change("STEP", "STEP - 1"),
    breaks: "law 9: a payload of bytes over 8 KiB comes back damaged",
  },
  "an infinite number in a value is stored as null": {
    src: never('json.includes("null")'),
    breaks: "law 10: a payload of 1e400 is answered 201, and its consumer gets null",
  },
  "a token is good for every queue": {
    in: "allows",
    src: always("matches(grant.queues, queue)"),
    breaks: "access: a tenant's token opens the queues of all others",
  },
  "the scope view includes admin": {
    src: change(
      'scope === "view" && scopes.includes("admin")',
      'scope === "admin" && scopes.includes("view")',
    ),
    breaks: "access: a token that may only look changes queues",
  },
  "eight bytes of a token's digest are compared": {
    src: change("at < one.length", "at < 8"),
    breaks: "access: a token is guessed with the square root of the effort",
  },
  "the cron secret is a token of an admin": {
    src: change('scopes: ["cron"] as const', 'scopes: ["cron", "admin"] as const'),
    breaks: "access: a holder of the cron secret may delete queues",
  },
  "a sweep over HTTP touches every queue": {
    src: change('grants.allows("admin", queue)', 'grants.has("admin")'),
    breaks: "access: a token for one queue sweeps those of others",
  },
  "the dashboard takes writes of any origin": {
    src: always('hostOf(c.req.header("origin")) === _'),
    breaks: "access: a page of a neighbouring host purges queues",
  },
  "a caller of the dashboard keeps its own Authorization": {
    in: "callApi",
    src: change(
      'request.headers.set("authorization", authorization)',
      'request.headers.append("authorization", authorization)',
    ),
    breaks: "access: a caller's own token counts below the dashboard",
  },
  "an application need not give the scope view": {
    in: "decide",
    src: always('grants.has("view")'),
    breaks: "access: an enqueuer is shown the dashboard",
  },
  "an Idempotency-Key over HTTP is dropped": {
    src: change("{ ...options, idempotencyKey: key }", "options"),
    breaks: "law 5: a resent POST enqueues twice",
  },
  "a client's POST has no key of its own": {
    in: "request",
    src: change("requestKey(options) ?? newToken()", "requestKey(options) ?? 'the-same-key'"),
    breaks: "law 5: a second enqueue is taken for a copy of the first",
  },
  "a client follows redirects with its token": {
    in: "#exchange",
    src: change('redirect: "manual"', 'redirect: "follow"'),
    breaks: "access: a redirect leads the token, or a POST as a GET, elsewhere",
  },
  "a client takes bytes for a text": {
    src: change("encoding === undefined ? value : _", "value"),
    breaks: "law 9: a payload of bytes comes back in base64",
  },
  "a client sends an infinite number as null": {
    in: "isPlain",
    src: change("Number.isFinite(value)", "true"),
    breaks: "law 10: an enqueue of Infinity is answered 201, and its consumer gets null",
  },
  "a client sends an error as its own properties": {
    src: never("error instanceof Error || _"),
    breaks: "law 10: a dead letter has neither the name nor the message of its error",
  },
};
