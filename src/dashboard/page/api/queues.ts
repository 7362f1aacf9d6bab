/** The requests of the dashboard, with about how many Redis commands each costs: see docs/costs.md. */
import type * as types from "./types.ts";
import { countCommands } from "../../../operate/estimated-commands.ts";
import { send, spend } from "./request.ts";

const path = (queue: string, rest = "") => `api/v1/queues/${encodeURIComponent(queue)}${rest}`;
const taskPath = (queue: string, id: string, rest = "") =>
  path(queue, `/tasks/${encodeURIComponent(id)}${rest}`);

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const queryOf = (query: Query) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, String(value)]],
    ),
  ).toString();

export const signIn = (token: string) => send("session", { method: "POST", body: { token } });
export const signOut = () => send("session", { method: "DELETE" });

/** What the session's token may do; null without a session. */
export const grants = async () =>
  (await send<{ readonly grants: readonly types.Grant[] | null }>("session")).grants;

/** Most queues that the page lists. */
const MOST_QUEUES = 10_000;

/** The names of all queues that the token may see, sorted. */
export async function queueNames(signal: AbortSignal): Promise<string[]> {
  const names = new Set<string>();
  let cursor: string | null | undefined;
  do {
    const query = queryOf({ size: 1_000, cursor: cursor ?? undefined });
    const page: types.QueuePage = await send(`api/v1/queues?${query}`, { signal, commands: 3 });
    for (const { name } of page.queues) names.add(name);
    cursor = page.cursor;
  } while (cursor !== null && names.size < MOST_QUEUES);
  return [...names].toSorted();
}

/** Most queues of one overview. */
export const OVERVIEW = 100;

/** What there is to see of up to 100 queues. */
export async function overviews(queues: readonly string[], signal: AbortSignal): Promise<types.Overviews> {
  if (queues.length === 0) return { now: null, queues: [] };
  const query = queryOf({ queues: queues.join(",") });
  const found: types.Overviews = await send(`api/v1/overview?${query}`, { signal });
  spend(
    found.queues.reduce(
      (sum, queue) => sum + ("code" in queue ? 1 : queue.partitions * countCommands(queue)),
      0,
    ),
  );
  return found;
}

export const tasks = (queue: string, query: Query, signal: AbortSignal): Promise<types.TaskPage> =>
  send(path(queue, `/tasks?${queryOf(query)}`), { signal, commands: 6 });

export const task = (queue: string, id: string, payload: boolean, signal: AbortSignal): Promise<types.Task> =>
  send(taskPath(queue, id, payload ? "?payload=true" : ""), { signal, commands: 3 });

/** Schedules, workers or groups of one page. */
const SIZE = 50;

const pageOf = (queue: string, what: string, cursor: string | undefined) =>
  path(queue, `/${what}?${queryOf({ size: SIZE, cursor })}`);

type Cursor = string | undefined;

export const schedules = (queue: string, cursor: Cursor, signal: AbortSignal): Promise<types.SchedulePage> =>
  send(pageOf(queue, "schedules", cursor), { signal, commands: 4 });

export const workers = (queue: string, cursor: Cursor, signal: AbortSignal): Promise<types.WorkerPage> =>
  send(pageOf(queue, "workers", cursor), { signal, commands: 4 });

export const groups = (queue: string, cursor: Cursor, signal: AbortSignal): Promise<types.GroupPage> =>
  send(pageOf(queue, "groups", cursor), { signal, commands: 20 });

/** The partitions of a queue, with the tasks in each. */
export async function partitions(queue: string, signal: AbortSignal): Promise<types.Partitions> {
  const found: types.Partitions = await send(path(queue, "/partitions"), { signal, commands: 1 });
  spend(found.partitions.reduce((sum, one) => sum + countCommands(one), 0));
  return found;
}

export const pause = (queue: string) => send(path(queue, "/pause"), { method: "POST", commands: 8 });
export const resume = (queue: string) => send(path(queue, "/resume"), { method: "POST", commands: 8 });

export const changeSettings = (queue: string, body: Partial<types.Settings>) =>
  send(path(queue, "/settings"), { method: "PATCH", body, commands: 8 });

/** @param lease the number of the task's latest lease; if it has a later one by now, nothing is changed */
export const cancel = (queue: string, id: string, lease: number): Promise<types.Cancelled> =>
  send(taskPath(queue, id, "/cancel"), { method: "POST", body: { lease }, commands: 6 });

export const remove = (queue: string, id: string) =>
  send(taskPath(queue, id), { method: "DELETE", commands: 6 });

export const redriveOne = (queue: string, id: string, lease: number): Promise<types.Redriven> =>
  send(path(queue, "/redrive"), { method: "POST", body: { ids: [{ id, lease }] }, commands: 8 });

interface RedriveStep extends types.Filter {
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly cursor?: string;
  readonly limit?: number;
}

export const redriveStep = (queue: string, body: RedriveStep): Promise<types.Redriven> =>
  send(path(queue, "/redrive"), { method: "POST", body, commands: 13 });

export const purgeStep = (
  queue: string,
  body: types.Filter & { readonly state: string; readonly cursor?: string; readonly limit: number },
): Promise<types.Purged> => send(path(queue, "/purge"), { method: "POST", body, commands: 13 });

export interface NewTask {
  readonly payload: unknown;
  readonly encoding?: "base64";
  readonly delay?: string;
  readonly group?: string;
  readonly priority?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param key a second request with the same key enqueues nothing */
export const enqueue = (queue: string, body: NewTask, key: string): Promise<{ readonly id: string }> =>
  send(path(queue, "/tasks"), { method: "POST", body, key, commands: 8 });

/** The events of a queue, as they happen. Each connection costs a command; the browser makes a new one at its end. */
export function eventsOf(queue: string): EventSource {
  const events = new EventSource(`${location.pathname.replace(/\/$/, "")}/${path(queue, "/events")}`);
  events.addEventListener("open", () => spend(1, 1));
  return events;
}
