import { Option } from "commander";
import type { ListedQueues } from "../client/client.ts";
import { SluiceError } from "../errors.ts";
import type { QueueDiagnostics } from "../operate/diagnostics.ts";
import { EXIT, exitCodeOf, Refusal } from "./exit.ts";
import { nearestName } from "../nearest-name.ts";
import type { Session } from "./session.ts";
import { pathOf } from "./tasks.ts";

/** A queue that does not exist. */
export interface UnknownQueue {
  /** `; did you mean …?`, or empty. */
  readonly meant: string;
}

/**
 * Refuses a queue that does not exist: a misspelt one looks like an empty one, and a change would create it.
 * @throws {Refusal} with the queue of the most similar name
 */
export async function refuseUnknownQueue(session: Session, queue: string): Promise<void> {
  const unknown = await unknownQueue(session, queue);
  if (unknown) throw refusal(session, queue, unknown, "");
}

/** The option of commands that may create a queue. Those that enqueue create it without it. */
export const newOption = () => new Option("--new", "create the queue if it does not exist");

/**
 * Refuses a queue that does not exist, unless the option `--new` is given.
 * @returns for {@link noteNewQueue}
 * @throws {Refusal} with the queue of the most similar name
 */
export async function knownOrNewQueue(
  session: Session,
  queue: string,
  isNew: boolean | undefined,
): Promise<UnknownQueue | undefined> {
  const unknown = await unknownQueue(session, queue);
  if (unknown && !isNew) throw refusal(session, queue, unknown, " To create it: --new.");
  return unknown;
}

const refusal = ({ where }: Session, queue: string, { meant }: UnknownQueue, advice: string) =>
  new Refusal(`there is no queue ${queue}${meant || "."}${advice} To list all: sluice queues${where}`);

/** Says that a command has created a queue. @param unknown what {@link unknownQueue} returned before */
export function noteNewQueue({ out }: Session, queue: string, unknown: UnknownQueue | undefined): void {
  if (unknown) out.note(`${queue} is a new queue${unknown.meant || "."}`);
}

/**
 * A queue exists if the registry lists it, or if anything of it is kept, such as a setting, a record or a schedule: the
 * registry leaves out queues that have been empty for an hour.
 * @returns undefined if the queue exists, or if that cannot be seen: what is asked next then has its own error
 */
export async function unknownQueue({ api }: Session, queue: string): Promise<UnknownQueue | undefined> {
  const names: string[] = [];
  try {
    const pages = api.pages<ListedQueues>("/v1/queues", "queues", { size: 1_000 });
    for await (const { queues } of pages) {
      for (const { name } of queues) names.push(name);
      if (names.includes(queue)) return undefined;
    }
    const kept: QueueDiagnostics = await api.get(pathOf(queue, "diagnostics"), "fields");
    if (kept.fields > 0) return undefined;
    const { schedules }: { schedules: unknown[] } = await api.get(pathOf(queue, "schedules"), "schedules");
    if (schedules.length > 0) return undefined;
  } catch (error) {
    // Such as a deployment without routes for operators, or keys that are of something else.
    if (isRefusal(error)) return undefined;
    throw error;
  }
  const nearest = nearestName(queue, names);
  return { meant: nearest === undefined ? "" : `; did you mean ${nearest}?` };
}

const isRefusal = (error: unknown) =>
  error instanceof SluiceError && (error.code === "unauthorized" || exitCodeOf(error) === EXIT.failed);
