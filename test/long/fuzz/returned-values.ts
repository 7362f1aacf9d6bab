import { isObject } from "./document.ts";
import type { Answered } from "./stack.ts";
import type { Plan } from "./valid-request.ts";

const PLACEHOLDER = /^<(receipt|cursor) (\d+)>$/;

/** Receipts and cursors from earlier answers, which later requests send back. */
export class ReturnedValues {
  readonly #receipts: string[] = [];
  readonly #cursors = new Map<string, string[]>();

  /** The same request with its placeholders filled in; without a cursor if none is known. */
  filled(plan: Plan): Plan {
    const cursors = this.#cursors.get(scopeOf(plan)) ?? [];
    const fill = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(fill).filter((item) => item !== undefined);
      if (isObject(value)) return withoutUndefined(value, fill);
      const [, what, number] = (typeof value === "string" && PLACEHOLDER.exec(value)) || [];
      if (what === undefined) return value;
      if (what === "cursor") return cursors[Number(number) % cursors.length];
      return this.#receipts[Number(number) % this.#receipts.length] ?? `1.1.${number}.never-given.a`;
    };
    return {
      ...plan,
      query: fill(plan.query) as Plan["query"],
      body: plan.body === undefined ? undefined : fill(plan.body),
    };
  }

  /** Keeps the receipts and cursors of an answer. */
  learn(plan: Plan, { status, text }: Answered): void {
    if (status !== 200 || plan.route.path === "/openapi.json" || !text.startsWith("{")) return;
    const body = JSON.parse(text) as { tasks?: unknown; pull?: { tasks?: unknown }; cursor?: unknown };
    for (const task of [body.tasks, body.pull?.tasks].flat()) {
      if (isObject(task) && typeof task["receipt"] === "string") keep(this.#receipts, task["receipt"]);
    }
    if (typeof body.cursor !== "string") return;
    const scope = scopeOf(plan);
    const cursors = this.#cursors.get(scope) ?? [];
    keep(cursors, body.cursor);
    this.#cursors.set(scope, cursors);
  }
}

/** A cursor belongs to the call that returned it: the same operation, queue and state. */
function scopeOf({ route, path, query, body }: Plan): string {
  const { queue, state } = isObject(body) ? body : {};
  return [route.operationId, path["queue"], query["state"], queue, state].join(" ");
}

/** Adds an item and keeps the last twelve. */
function keep(list: string[], item: string): void {
  if (!list.includes(item)) list.unshift(item);
  list.length = Math.min(list.length, 12);
}

function withoutUndefined(value: Readonly<Record<string, unknown>>, fill: (value: unknown) => unknown) {
  const entries = Object.entries(value).map(([name, field]) => [name, fill(field)] as const);
  return Object.fromEntries(entries.filter(([, field]) => field !== undefined));
}
