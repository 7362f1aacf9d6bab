import { counted } from "../counted.ts";
import type { Session } from "./session.ts";

/** How long one request may work, ms. */
const BUDGET = 10_000;

export interface Rounds {
  readonly path: string;
  /** The field of the reply that counts what the request did. */
  readonly field: "redriven" | "purged" | "replayed";
  readonly body: object;
  /** Most tasks in all. @default all */
  readonly limit: number | undefined;
  /** What the tasks are, such as `dead letter`. */
  readonly noun: string;
}

type Report<Field extends string> = Readonly<Record<Field, number>> & {
  readonly unreadable: number;
  readonly cursor: string | null;
};

/**
 * Redrives or purges in several requests, until no task is left. If a request fails, a note says how many were done.
 * @returns how many
 */
export async function inRounds(
  session: Session,
  { path, field, body, limit, noun }: Rounds,
): Promise<number> {
  const { api, out, fail } = session;
  const most = limit ?? Number.POSITIVE_INFINITY;
  let done = 0;
  let unreadable = 0;
  let cursor: string | undefined;
  try {
    do {
      const left = limit === undefined ? undefined : limit - done;
      const request = { ...body, limit: left, cursor, budget: BUDGET };
      const report: Report<typeof field> = await api.send("POST", path, field, request, BUDGET);
      done += report[field];
      unreadable += report.unreadable;
      cursor = report.cursor ?? undefined;
      out.progress(`${done} ${field}`);
    } while (cursor !== undefined && done < most);
  } catch (error) {
    if (done > 0)
      out.note(
        `Done before this error: ${counted(done, noun)} ${field}. The last request may have ${field} more.`,
      );
    throw error;
  } finally {
    out.progress("");
  }
  if (unreadable > 0) {
    out.note(`${counted(unreadable, noun)} cannot be read, and stay: run sluice doctor --repair.`);
    fail();
  }
  return done;
}
