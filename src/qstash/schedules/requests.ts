import { newToken } from "../../kernel/names/ids.ts";
import { atOnce } from "../at-once.ts";
import type { Schedule, Schedules } from "../../features/schedules/index.ts";
import { badRequest, notFound } from "../failure.ts";
import { type LowerHeaders, readHeaders } from "../publish/headers.ts";
import { messages, type Publication } from "../message.ts";
import { checkPublish } from "../publish/requests.ts";
import { queueNameOf } from "../kept/queues.ts";
import { statesOf } from "./states.ts";
import type { Session } from "../session.ts";
import { shownRequest } from "../lists/shown.ts";

/** A request that creates a schedule. */
export interface ScheduleRequest {
  readonly destination: string;
  readonly headers: LowerHeaders;
  readonly body?: string | undefined;
  readonly isBase64?: true | undefined;
  readonly callerIp?: string | undefined;
}

/** What of a request is not about its messages, or would make the next occurrence a duplicate of this one. */
const OWN =
  /^upstash-(?:cron|schedule-id|queue-name|deduplication-id|content-based-deduplication|telemetry-.*)$/;

/** Most schedules of a page. */
const PAGE = 500;

/**
 * Creates a schedule, or replaces the one with its id. What it publishes is checked now, and published as a request
 * would be at each occurrence.
 * @returns its id
 * @throws {Failure} 400; 404 if the URL group does not exist
 */
export async function createSchedule(session: Session, request: ScheduleRequest): Promise<string> {
  const { destination, headers, body, isBase64, callerIp } = request;
  const id = headers["upstash-schedule-id"] || `scd_${newToken()}`;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/.test(id))
    throw badRequest(
      `invalid Upstash-Schedule-Id: ${id}; it must be 1 to 80 of A-Z a-z 0-9 . _ -, and begin with a letter or a digit`,
    );
  const queue = headers["upstash-queue-name"] ? queueNameOf(headers["upstash-queue-name"]) : undefined;
  const kept = Object.entries(headers).filter(
    ([name]) => /^(?:content-type$|upstash-)/.test(name) && !OWN.test(name),
  );
  const publish = { destination, queue, headers: Object.fromEntries(kept), body, isBase64, callerIp };
  await checkPublish(session, publish);
  const payload = { publish, scheduleId: id };
  await schedulesOf(session).put(id, {
    ...readCron(headers["upstash-cron"]),
    payload: JSON.parse(JSON.stringify(payload)) as Publication,
  });
  return id;
}

/** A cron expression of QStash, which may begin with its time zone: `CRON_TZ=Europe/Berlin 0 9 * * *`. */
function readCron(text: string | undefined): { cron: string; timeZone: string } {
  if (!text) throw badRequest("Upstash-Cron is required, such as */5 * * * *");
  const [, timeZone = "UTC", cron = ""] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/s.exec(text.trim()) ?? [];
  return { cron, timeZone };
}

/** @throws {Failure} 404 */
export async function readSchedule(session: Session, id: string) {
  const schedule = await schedulesOf(session).get(id);
  if (!schedule) throw notFound(`schedule ${id}`);
  const [only] = await withStates(session, [schedule]);
  return only;
}

/** All schedules, by id. */
export async function listSchedules(session: Session) {
  const schedules = schedulesOf(session);
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await schedules.list({ cursor, size: PAGE });
    names.push(...page.schedules.map(({ name }) => name));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  const found = await atOnce(session, [...new Set(names)].toSorted(), (open, name) =>
    schedulesOf({ open }).get(name),
  );
  return withStates(
    session,
    found.flatMap((schedule) => schedule ?? []),
  );
}

/** Schedules as QStash shows them, with what has become of their last messages. */
async function withStates(session: Session, schedules: readonly Schedule<Publication>[]) {
  const begun = schedules.filter(({ lastAt }) => lastAt !== null);
  const states = await statesOf(
    session,
    begun.map(({ name, lastAt, payload }) => ({ id: `${name}.${lastAt}`, publish: payload.publish })),
  );
  return Promise.all(
    schedules.map(async (schedule) => {
      return { ...(await shown(schedule)), lastScheduleStates: states[begun.indexOf(schedule)] };
    }),
  );
}

/** @throws {Failure} 404 */
export async function removeSchedule(session: Session, id: string): Promise<void> {
  found(id, await schedulesOf(session).remove(id));
}

/** @throws {Failure} 404 */
export async function pauseSchedule(session: Session, id: string): Promise<void> {
  found(id, await schedulesOf(session).pause(id));
}

/** @throws {Failure} 404 */
export async function resumeSchedule(session: Session, id: string): Promise<void> {
  found(id, await schedulesOf(session).resume(id));
}

function found(id: string, { ok }: { readonly ok: boolean }): void {
  if (!ok) throw notFound(`schedule ${id}`);
}

const schedulesOf = ({ open }: Pick<Session, "open">) => open(messages).schedules() as Schedules<Publication>;

/** A schedule as QStash shows it. */
async function shown(schedule: Schedule<Publication>) {
  const { name, payload, createdAt, paused, lastAt, nextAt } = schedule;
  const { destination, queue, headers, body, isBase64, callerIp } = payload.publish;
  const { message, options } = readHeaders(headers);
  const {
    maxRetries,
    url: _,
    ...request
  } = await shownRequest({
    ...message,
    url: destination,
    body,
    isBase64,
    queueName: queue,
    callerIp,
  });
  const cron = "cron" in schedule ? schedule : { cron: "", timeZone: "UTC" };
  return {
    ...request,
    scheduleId: name,
    cron: cron.timeZone === "UTC" ? cron.cron : `CRON_TZ=${cron.timeZone} ${cron.cron}`,
    createdAt,
    destination,
    retries: maxRetries,
    delay: options.delay === undefined ? undefined : options.delay / 1_000,
    isPaused: paused,
    lastScheduleTime: lastAt ?? undefined,
    nextScheduleTime: nextAt ?? undefined,
  };
}
