/** Decrypts values when they are read. */
import { SluiceError } from "../../errors.ts";
import { ENVELOPE_BASE64, isEnvelope, isReference, keyIdOf } from "../record/envelope.ts";
import { errorText } from "../errors/error-text.ts";
import type { AttemptError, TaskInfo } from "../record/task-info.ts";
import type { Encryption, MaybeEncryption, ValueContext, ValuesQueue } from "./encryption.ts";
import { withoutOffload } from "./offload.ts";
import { asUnreadable } from "../record/unreadable.ts";

/**
 * Decrypts an envelope, and returns any other value as it is. Without encryption the result is not a promise.
 * @throws {SluiceError} `undecryptable`; `offload_failed` for a reference that was not read before
 */
export function decryptValue(encryption: MaybeEncryption, value: unknown, context: ValueContext): unknown {
  if (isReference(value)) throw asUnreadable(withoutOffload());
  if (encryption) return decrypted(encryption, value, context);
  const isEncrypted =
    context.kind === "progress"
      ? typeof value === "string" && value.startsWith(ENVELOPE_BASE64)
      : isEnvelope(value);
  if (encryption === null || !isEncrypted) return value;
  throw asUnreadable(undecryptable(context, `it is ${describeKey(value)}, and this queue has no encryption`));
}

async function decrypted(encryption: Encryption, value: unknown, context: ValueContext): Promise<unknown> {
  try {
    return await encryption.decrypt(value, context);
  } catch (error) {
    throw (error as SluiceError).code === "undecryptable" ? asUnreadable(error as SluiceError) : error;
  }
}

/**
 * Decrypts the values of a task. Reads its payload from the object store if it is there.
 * @param id the id for which the task was requested: an untrusted server may reply with another one
 * @throws {SluiceError} `undecryptable`, `offload_failed`
 */
export async function decryptTask<T extends TaskInfo>(
  values: ValuesQueue,
  stored: T,
  id: string,
): Promise<T> {
  const { name: queue, encryption, offload } = values;
  const payload = offload ? await offload.read(values, id, stored.payload) : stored.payload;
  const task = { ...stored, ...(payload !== undefined && { payload }) };
  const decrypted: Record<string, unknown> = {};
  for (const kind of ["payload", "result", "error", "progress"] as const) {
    if (task[kind] !== undefined)
      decrypted[kind] = await decryptValue(encryption, task[kind], { kind, queue, id });
  }
  const errors: AttemptError[] = [];
  for (const one of task.errors)
    errors.push({ ...one, error: await decryptErrorText(queue, encryption, one, id) });
  return { ...task, ...decrypted, errors };
}

async function decryptErrorText(
  queue: string,
  encryption: MaybeEncryption,
  { error }: AttemptError,
  id: string,
): Promise<AttemptError["error"]> {
  if (!(error instanceof Uint8Array)) return error;
  const value = await decryptValue(encryption, error, { kind: "error", queue, id });
  return isEnvelope(value) ? (value as Uint8Array) : errorText(value);
}

/** Describes how a value is encrypted, for errors. */
export function describeKey(envelope: unknown): string {
  const id = envelope instanceof Uint8Array ? keyIdOf(envelope) : undefined;
  return id === undefined ? "encrypted" : `encrypted with the key "${id}"`;
}

/** The error for a value that cannot be decrypted. It does not quote the value. */
export function undecryptable({ kind }: ValueContext, why: string): SluiceError {
  const what = kind === "schedule" ? "payload" : kind;
  return new SluiceError("undecryptable", `the ${what} cannot be decrypted: ${why}`);
}
