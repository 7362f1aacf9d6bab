import { always, change, type LawMutants, never } from "../mutant.ts";

export const network: LawMutants = {
  "a queue of a cluster is registered beside its enqueue": {
    breaks: "law 10",
    in: "sendInOrder",
    src: change("!transport.cluster", "commands.length > 0"),
    because: "if the registry's node is down, tasks are added that no sweep finds",
  },
  "a key's hash tag counts for nothing": {
    breaks: "law 2",
    in: "hashSlot",
    src: change("close > open + 1", "close < 0"),
    because: "each key of a queue has its own slot, and each call is redirected",
  },
  "one node that is down fails the calls for all nodes": {
    breaks: "law 11",
    src: never('parts.some(([, { status }]) => status === "fulfilled")'),
    because: "a sweep does nothing for the queues on the other nodes",
  },
  "a copy goes out after its try has ended": {
    breaks: "law 5",
    src: change("if (currentTry.reason) throw _; const results = _1;", "const results = _1;"),
    because: "a command arrives that no call counts as sent",
  },
  "resent scripts go without their mark": {
    breaks: "law 5",
    src: never("entry.copies > _"),
    because: "a late first copy leases tasks without a consumer",
  },
  "texts pass through the SDK's base64": {
    breaks: "law 9",
    src: change("responseEncoding: false", 'responseEncoding: "base64"'),
    because: "what is no UTF-8 comes back as another text",
  },
  "each piece of a long base64 loses a byte": {
    breaks: "law 9",
    in: "codes",
    src: change("STEP", "STEP - 1"),
    because: "a payload of bytes over 8 KiB comes back damaged",
  },
  "an infinite number in a value is stored as null": {
    breaks: "law 10",
    src: never('json.includes("null")'),
    because: "a payload of 1e400 is answered 201, and its consumer gets null",
  },
  "a token is good for every queue": {
    breaks: "access",
    in: "allows",
    src: always("matches(grant.queues, queue)"),
    because: "a tenant's token opens the queues of all others",
  },
  "the scope view includes admin": {
    breaks: "access",
    src: change(
      'scope === "view" && scopes.includes("admin")',
      'scope === "admin" && scopes.includes("view")',
    ),
    because: "a token that may only look changes queues",
  },
  "eight bytes of a token's digest are compared": {
    breaks: "access",
    src: change("at < one.length", "at < 8"),
    because: "a token is guessed with the square root of the effort",
  },
  "the cron secret is a token of an admin": {
    breaks: "access",
    src: change('scopes: ["cron"]', 'scopes: ["cron", "admin"]'),
    because: "a holder of the cron secret may delete queues",
  },
  "a sweep over HTTP touches every queue": {
    breaks: "access",
    src: change('grants.allows("admin", queue)', 'grants.has("admin")'),
    because: "a token for one queue sweeps those of others",
  },
  "the dashboard takes writes of any origin": {
    breaks: "access",
    src: always('hostOf(c.req.header("origin")) === _'),
    because: "a page of a neighbouring host purges queues",
  },
  "an Idempotency-Key over HTTP is dropped": {
    breaks: "law 5",
    src: change("{ idempotencyKey: key }", "{}"),
    because: "a resent POST enqueues twice",
  },
  "a client's POST has no key of its own": {
    breaks: "law 5",
    in: "request",
    src: change("newToken()", "'the-same-key'"),
    because: "a second enqueue is taken for a copy of the first",
  },
  "a client follows redirects with its token": {
    breaks: "access",
    in: "#exchange",
    src: change('redirect: "manual"', 'redirect: "follow"'),
    because: "a redirect leads the token, or a POST as a GET, elsewhere",
  },
  "a client takes bytes for a text": {
    breaks: "law 9",
    src: change("encoding === undefined ? value : _", "value"),
    because: "a payload of bytes comes back in base64",
  },
};
