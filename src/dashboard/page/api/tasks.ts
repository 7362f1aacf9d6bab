/** The requests of the dashboard for tasks, with about how many Redis commands each costs. */
import type * as types from "./types.ts";
import { pathOf, queryOf } from "./path.ts";
import { send } from "./request.ts";

type Query = Parameters<typeof queryOf>[0];

/** Empty pages that are passed over at most. */
const MOST_EMPTY = 10;

/**
 * A page of tasks. Empty ones before it are passed over: one request looks at a thousand tasks, of which none may match
 * the filter, and completed tasks are kept beside dead letters, which last longer.
 */
export async function tasks(queue: string, query: Query, signal: AbortSignal): Promise<types.TaskPage> {
  const read = (cursor: Query[string]): Promise<types.TaskPage> =>
    send(pathOf(queue, "tasks") + queryOf({ ...query, cursor }), { signal, commands: 6 });
  let page = await read(query["cursor"]);
  for (let empty = 0; empty < MOST_EMPTY && page.tasks.length === 0 && page.cursor !== null; empty++) {
    const { unreadable } = page;
    page = await read(page.cursor);
    page = { ...page, unreadable: page.unreadable + unreadable };
  }
  return page;
}

export const task = (queue: string, id: string, payload: boolean, signal: AbortSignal): Promise<types.Task> =>
  send(pathOf(queue, "tasks", id) + queryOf({ payload: payload || undefined }), { signal, commands: 3 });

/** @param lease the number of the task's latest lease; if it has a later one by now, nothing is changed */
export const cancel = (queue: string, id: string, lease: number): Promise<types.Cancelled> =>
  send(pathOf(queue, "tasks", id, "cancel"), { method: "POST", body: { lease }, commands: 6 });

export const remove = (queue: string, id: string) =>
  send(pathOf(queue, "tasks", id), { method: "DELETE", commands: 6 });

export const redriveOne = (queue: string, id: string) =>
  send(pathOf(queue, "redrive"), { method: "POST", body: { ids: [id] }, commands: 8 });

/** Lets the group go on that the dead letter has stopped. */
export const skip = (queue: string, id: string) =>
  send(pathOf(queue, "tasks", id, "skip"), { method: "POST", commands: 8 });

interface Leased {
  readonly id: string;
  /** The number of its latest lease. If it has a later one by now, nothing is changed. */
  readonly lease: number;
}

/** Redrives up to 1,000 dead letters. */
export const redriveMany = (queue: string, ids: readonly Leased[]): Promise<types.Redriven> =>
  send(pathOf(queue, "redrive"), { method: "POST", body: { ids }, commands: 5 + 3 * ids.length });

/** Cancels up to 1,000 tasks. */
export const cancelMany = (queue: string, ids: readonly Leased[]): Promise<types.CancelledMany> =>
  send(pathOf(queue, "tasks", "cancel"), { method: "POST", body: { ids }, commands: 5 + ids.length });

/** Deletes the records of up to 1,000 tasks that have ended. */
export const removeMany = (queue: string, ids: readonly string[]): Promise<types.DeletedMany> =>
  send(pathOf(queue, "tasks", "delete"), { method: "POST", body: { ids }, commands: 5 + ids.length });

interface RedriveStep extends Omit<types.Filter, "reason"> {
  readonly reason?: string | readonly string[];
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly cursor?: string;
  readonly limit?: number;
}

export const redriveStep = (queue: string, body: RedriveStep): Promise<types.Redriven> =>
  send(pathOf(queue, "redrive"), { method: "POST", body, commands: 13 });

export const purgeStep = (
  queue: string,
  body: types.Filter & { readonly state: string; readonly cursor?: string; readonly limit: number },
): Promise<types.Purged> => send(pathOf(queue, "purge"), { method: "POST", body, commands: 13 });

export interface NewTask {
  readonly payload: unknown;
  readonly encoding?: "base64";
  readonly delay?: string;
  readonly group?: string;
  readonly priority?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param key a second request with the same key enqueues nothing */
export const enqueue = (queue: string, body: NewTask, key: string): Promise<{ readonly id: string }> =>
  send(pathOf(queue, "tasks"), { method: "POST", body, key, commands: 8 });
