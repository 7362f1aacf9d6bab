/** The requests of the dashboard for queues, with about how many Redis commands each costs: see docs/costs.md. */
import type * as types from "./types.ts";
import { countCommands } from "../../../operate/estimated-commands.ts";
import { type Cursor, pageOf, pathOf, queryOf } from "./path.ts";
import { send, spend } from "./request.ts";

export const signIn = (token: string) => send("session", { method: "POST", body: { token } });
export const signOut = () => send("session", { method: "DELETE" });

interface Session {
  /** What the viewer may do; null if the server does not know the viewer. */
  readonly grants: readonly types.Grant[] | null;
  /** Says that the application decides who the viewers are. */
  readonly login?: "application";
}

export const session = () => send<Session>("session");

/** Most queues that the page lists. */
const MOST_QUEUES = 10_000;

/** The names of all queues that the token may see, sorted. */
export async function queueNames(signal: AbortSignal): Promise<string[]> {
  const names = new Set<string>();
  let cursor: string | null | undefined;
  do {
    const query = queryOf({ size: 1_000, cursor: cursor ?? undefined });
    const page: types.QueuePage = await send(`api/v1/queues${query}`, { signal, commands: 3 });
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
  const found: types.Overviews = await send(`api/v1/overview${query}`, { signal });
  spend(
    found.queues.reduce(
      (sum, queue) => sum + ("code" in queue ? 1 : queue.partitions * countCommands(queue)),
      0,
    ),
  );
  return found;
}

/** What the queue has done in the last 24 hours. */
export const history = async (queue: string, signal: AbortSignal) =>
  (
    await send<{ readonly history: types.History }>(
      pathOf(queue, "statistics") + queryOf({ history: true }),
      {
        signal,
        commands: 3,
      },
    )
  ).history;

export const groups = (queue: string, cursor: Cursor, signal: AbortSignal): Promise<types.GroupPage> =>
  send(pageOf(queue, "groups", cursor), { signal, commands: 20 });

/** The first groups that are stopped, by name. */
export const stoppedGroups = (queue: string, signal: AbortSignal): Promise<types.StoppedGroups> =>
  send(pathOf(queue, "stopped-groups"), { signal, commands: 4 });

/** A group by its name, also without tasks. */
export const group = (queue: string, name: string, signal?: AbortSignal): Promise<types.Group> =>
  send(pathOf(queue, "groups", name), { signal, commands: 5 });

/** The partitions of a queue, with the tasks in each. */
export async function partitions(queue: string, signal: AbortSignal): Promise<types.Partitions> {
  const found: types.Partitions = await send(pathOf(queue, "partitions"), { signal, commands: 1 });
  spend(found.partitions.reduce((sum, one) => sum + countCommands(one), 0));
  return found;
}

/**
 * Pauses or resumes a queue.
 * @param length how long a pause lasts; empty if until the queue is resumed
 */
export const turn = (queue: string, action: "pause" | "resume", length: string) =>
  send(pathOf(queue, action), {
    method: "POST",
    commands: 8,
    body: length === "" ? undefined : { for: length },
  });

/** Returns what holds now. */
export const changeSettings = (queue: string, body: types.SettingsChanges): Promise<types.Settings> =>
  send(pathOf(queue, "settings"), { method: "PATCH", body, commands: 8 });

/** Returns what holds now. */
export const changeGroup = (
  queue: string,
  group: string,
  body: types.GroupChanges,
): Promise<types.GroupSettings> =>
  send(pathOf(queue, "groups", group), { method: "PATCH", body, commands: 8 });

/** The events of a queue, as they happen. Each connection costs a command; the browser makes a new one at its end. */
export function eventsOf(queue: string): EventSource {
  const events = new EventSource(`${location.pathname.replace(/\/$/, "")}/${pathOf(queue, "events")}`);
  events.addEventListener("open", () => spend(1, 1));
  return events;
}
