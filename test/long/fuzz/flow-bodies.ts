import { isObject, type Route } from "./document.ts";

type Fields = Record<string, unknown>;

/** Whether an operation takes the tasks of a flow. */
export const isOfFlow = ({ operationId }: Route) => operationId === "addFlow" || operationId === "addBefore";

const CALLBACKS = ["completed", "failed", "ended"];

/** A flow, or a batch: what has no callbacks is a flow, whose items all have refs. */
export function consistentFlow(body: Fields, task: (fields: Fields) => void): void {
  // Ids of tasks may have more characters.
  if (body["id"] !== undefined && !/^[\w.-]{1,64}$/.test(body["id"] as string)) body["id"] = "m";
  const callbacks = CALLBACKS.map((name) => body[name]).filter(isObject);
  if (callbacks.length === 0) for (const [i, item] of list(body["tasks"]).entries()) item["ref"] ??= `r${i}`;
  for (const callback of callbacks) task(callback);
  if (callbacks.length === 0 && !hasTask(body["tasks"]))
    body["tasks"] = [{ ref: "only", queue: "one", payload: 1 }];
  consistentItems(body["tasks"], task);
}

const hasTask = (items: unknown): boolean =>
  list(items).some((item) => !Object.hasOwn(item, "flow") || hasTask(item["flow"]));

/** Gives each item a ref of its own, and lets it wait only for items in front of it. */
function consistentItems(items: unknown, task: (fields: Fields) => void): void {
  const earlier: string[] = [];
  for (const [i, item] of list(items).entries()) {
    if (item["ref"] !== undefined && earlier.includes(item["ref"] as string)) item["ref"] = `r${i}`;
    const after = [item["after"] ?? []].flat().slice(0, i);
    if (after.length === 0) delete item["after"];
    else {
      const known = after.map((one, nth) =>
        isObject(one) ? { ...one, ref: earlier[nth] } : (earlier[nth] as string),
      );
      item["after"] = Array.isArray(item["after"]) ? known : known[0];
    }
    if (Object.hasOwn(item, "flow")) consistentItems(item["flow"], task);
    else task(item);
    earlier.push(String(item["ref"]));
  }
}

/** The same body with another name for what has a ref, also where an item waits for it. */
export function renamed(body: unknown, from: unknown, to: unknown): unknown {
  const text = JSON.stringify(body, (key, value: unknown) => {
    if ((key === "ref" || key === "after") && value === from) return to;
    return key === "after" && Array.isArray(value) ? value.map((one) => (one === from ? to : one)) : value;
  });
  return JSON.parse(text);
}

/** The most characters of a ref in a flow, with the refs of the flows around it. */
export function longestRef(body: unknown): number {
  return isObject(body) ? longestIn(body["tasks"]) : 0;
}

function longestIn(items: unknown): number {
  const lengths = list(items).map(({ ref, flow }) => {
    const inner = longestIn(flow);
    return (typeof ref === "string" ? ref.length : 0) + (inner > 0 ? inner + 1 : 0);
  });
  return Math.max(0, ...lengths);
}

/** The most characters of the id of a flow: its home is the queue of one of its first tasks. */
export function longestId(body: unknown): number {
  if (!isObject(body) || body["receipt"] !== undefined || !Array.isArray(body["tasks"])) return 0;
  const names = list(body["tasks"]).flatMap(({ queue }) => (typeof queue === "string" ? queue.length : []));
  const { id } = body;
  return (typeof id === "string" ? id.length : 20) + 1 + Math.max(0, ...names);
}

/** The body with other queues. */
export const inQueues = (body: unknown, of: (queue: string) => string): unknown =>
  JSON.parse(
    JSON.stringify(body, (key, value: unknown) =>
      key === "queue" && typeof value === "string" ? of(value) : value,
    ),
  );

const list = (items: unknown): Fields[] => (Array.isArray(items) ? items.filter(isObject) : []);
