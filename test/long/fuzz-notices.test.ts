import { describe, expect, it } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import type { ProblemCode } from "../../src/http/problems/codes.ts";
import { Problem, problemBody, type FieldError } from "../../src/http/problems/problem.ts";
import { faultsOfAnswer } from "./fuzz/answer.ts";
import { breakagesOf } from "./fuzz/broken-value.ts";
import { fits } from "./fuzz/conforms.ts";
import { Described, type Route } from "./fuzz/document.ts";
import { escaped } from "./fuzz/fuzz.ts";
import { SECRET } from "./fuzz/from-schema.ts";
import { type Answered, token } from "./fuzz/stack.ts";
import { faultsOfRefusal } from "./fuzz/refused.ts";

const described = new Described(openapi);
const route = (id: string) => described.routes.find(({ operationId }) => operationId === id) as Route;

const headers = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};
const answered = (status: number, body: unknown, more = {}): Answered => ({
  status,
  headers: { ...headers, ...more },
  text: JSON.stringify(body),
});
const problem = (code: ProblemCode, errors?: readonly FieldError[], detail?: string) => {
  const body = problemBody(new Problem(code, { errors, detail }));
  return answered(body.status, body, { "content-type": "application/problem+json" });
};

describe("the fuzz reports", () => {
  const pulled = { tasks: [], nextDueAt: null, paused: false };

  it("no fault of an answer that is as documented", () => {
    expect(faultsOfAnswer(described, route("pull"), answered(200, pulled))).toEqual([]);
    expect(faultsOfAnswer(described, route("enqueue"), problem("queue_full"))).toEqual([]);
    expect(faultsOfAnswer(described, route("openapi"), problem("method_not_allowed"))).toEqual([]);
  });

  it.each([
    ["a field of another type", answered(200, { ...pulled, nextDueAt: "soon" })],
    ["a field that is missing", answered(200, { tasks: [], nextDueAt: null })],
    ["a field that is not in the document", answered(200, { ...pulled, more: true })],
    ["a status that is not in the document", answered(202, pulled)],
    ["an answer that may be cached", answered(200, pulled, { "cache-control": "public" })],
    ["an answer of another content type", answered(200, pulled, { "content-type": "text/html" })],
    ["an answer that shows a token", answered(200, { ...pulled, nextDueAt: token })],
    ["a status of a class that is not in the document", answered(302, pulled)],
    ["a fault of the server", problem("internal")],
    ["a problem as plain JSON", { ...problem("invalid_request"), headers }],
    ["a code that the operation does not have", problem("already_ended")],
    ["a frame of the stack", problem("invalid_request", [], "TypeError: x\n    at f (a.js:1:2)")],
    ["a payload in an error", problem("invalid_request", [], `${SECRET} is no number`)],
  ])("%s", (_, answer) => {
    expect(faultsOfAnswer(described, route("pull"), answer)).not.toEqual([]);
  });

  it("a refusal that names another field, or another code", () => {
    const field = { exact: "tasks[0].backoff.base", within: "tasks[0].backoff" };
    const broken = { how: "", sent: {} as never, code: "invalid_request", field } as const;
    const faults = (code: ProblemCode, path: string) =>
      faultsOfRefusal(
        described,
        route("enqueue"),
        broken,
        problem(code, [{ path, message: "is wrong" }], `${path} is wrong`),
      );
    expect(faults("invalid_request", "tasks[0].backoff.base")).toEqual([]);
    expect(faults("invalid_request", "tasks[0].backoff")).toEqual([]);
    expect(faults("invalid_request", "tasks[0]")).not.toEqual([]);
    expect(faults("invalid_request", "tasks[0].backoff.most")).not.toEqual([]);
    expect(faults("invalid_json", "tasks[0].backoff.base")).not.toEqual([]);
  });
});

describe("breaking a value", () => {
  const schema = { $ref: "#/components/schemas/Settle" };
  const value = {
    settlements: [
      { receipt: "r", outcome: "requeue", backoff: { base: 1 } },
      { receipt: "r", outcome: "complete", result: [1] },
    ],
    pull: { max: 1, worker: { name: "w", pid: 1 } },
  };
  const broken = breakagesOf(described, schema, value);

  it("makes only values that the schema refuses", () => {
    expect(fits(described, schema, value)).toBe(true);
    expect(broken.filter((one) => fits(described, schema, one.value))).toEqual([]);
  });

  it("breaks every field, and names it", () => {
    expect([...new Set(broken.map(({ field }) => field))].toSorted()).toEqual(
      expect.arrayContaining([
        "",
        "pull",
        "pull.max",
        "pull.unknown",
        "pull.worker.name",
        "pull.worker.pid",
        "settlements",
        "settlements[0].backoff.base",
        "settlements[0].outcome",
        "settlements[0].receipt",
        "settlements[1]",
        "settlements[1].result",
        "settlements[1].result[1].a",
        "settlements[1].unknown",
      ]),
    );
  });

  it("knows which unions have forms that cannot be distinguished", () => {
    const base = broken.find(({ field }) => field === "settlements[0].backoff.base");
    expect(base?.within).toBe("settlements[0].backoff");
    const pid = broken.find(({ field }) => field === "pull.worker.pid");
    expect(pid?.within).toBe("pull.worker.pid");
  });
});

it("a counterexample shows invisible characters as \\u escapes, and keeps its lines", () => {
  expect(escaped("a\u0000\r\n\u007f\u2028\u202eé\u{e0001}\ud800")).toBe(
    "a\\u0000\\u000d\n\\u007f\\u2028\\u202eé\\udb40\\udc01\\ud800",
  );
});
