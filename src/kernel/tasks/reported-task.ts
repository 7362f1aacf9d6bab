/** What an event says of each of its tasks. */
import type { SluiceError, SluiceErrorCode } from "../../errors.ts";
import { errorText } from "../errors/error-text.ts";
import type { RejectReason } from "../options/types.ts";
import { unescaped } from "../options/validation.ts";
import { decodeValue } from "../record/codec.ts";
import { isEnvelope, isReference } from "../record/envelope.ts";
import { openErrorText } from "../values/open-task.ts";
import type { Values } from "../values/values.ts";

/** A task in an event. Only an event that concerns one attempt has it. */
export interface ReportedTask {
  readonly id: string;
  /** Which delivery the event is of, from 1. */
  readonly attempt: number;
  /** Of `completed`: what the handler returned, if anything. */
  readonly result?: unknown;
  /** Of `progress`: what the holder reported. */
  readonly progress?: unknown;
  /**
   * Of `requeued` and `rejected`: the error of the attempt, if it had one, as text of at most 200 characters; if the
   * queue leaves values encrypted, bytes.
   */
  readonly error?: string | Uint8Array | undefined;
  /** Of `rejected`: why. */
  readonly reason?: Exclude<RejectReason, "cancelled"> | undefined;
  /** Of `requeued`: when the task is due again, epoch ms; absent if at once. */
  readonly dueAt?: number | undefined;
  /**
   * Why the result, progress or error is not here: it is too long for an event (`too_large`), cannot be decrypted
   * (`undecryptable`), or is invalid (`unexpected_reply`). `get` reads it.
   */
  readonly withheld?: SluiceErrorCode | undefined;
  /** Over HTTP, if the token hides payloads: result and progress are left out, whether there are any or not. */
  readonly payloadsHidden?: true | undefined;
}

/** The value that an event has of each of its tasks, if any. */
const KINDS = new Map([
  ["completed", "result"],
  ["requeued", "error"],
  ["rejected", "error"],
  ["reclaimed", ""],
  ["progress", "progress"],
] as const);

/**
 * Reads the line of an event with the details of a task.
 * @returns the task, with its value as it is stored; undefined if the event has no details, or the line is invalid
 */
export function readDetails(event: string, id: string, line: string | undefined): ReportedTask | undefined {
  const kind = KINDS.get(event as never);
  const [, attempt, due, reason, text = ""] =
    /^(\d{1,16}) (\d{1,16}) ([a-z_]*) (.*)$/s.exec(line ?? "") ?? [];
  if (kind === undefined || attempt === undefined) return undefined;
  const task = {
    id,
    attempt: Number(attempt),
    ...(event === "rejected" && { reason: reason as NonNullable<ReportedTask["reason"]> }),
    ...(due !== "0" && { dueAt: Number(due) }),
  };
  if (text === "" || kind === "") return task;
  // In place of a long value.
  if (text === "+") return { ...task, withheld: "too_large" };
  try {
    const value = decodeValue(kind === "progress" ? unescaped(text) : text);
    return { ...task, [kind]: kind === "error" && !isEnvelope(value) ? errorText(value) : value };
  } catch {
    return { ...task, withheld: "unexpected_reply" };
  }
}

/** Opens the value of a task in an event. Never throws: a value that cannot be opened is left out. */
export async function openReported(values: Values, task: ReportedTask): Promise<ReportedTask> {
  const { result, progress, error, ...rest } = task;
  const { id } = task;
  // A listener does not fetch objects.
  if (isReference(result)) return { ...rest, withheld: "too_large" };
  try {
    if (error !== undefined) return { ...task, error: (await openErrorText(values, error, id)) as string };
    const kind = progress === undefined ? "result" : "progress";
    return task[kind] === undefined ? task : { ...task, [kind]: await values.open({ kind, id }, task[kind]) };
  } catch (thrown) {
    return { ...rest, withheld: (thrown as SluiceError).code };
  }
}
