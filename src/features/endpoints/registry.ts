import { commandCall, run } from "../../kernel/call.ts";
import { redisTime } from "../../kernel/clock.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import { endpointsKey } from "../../kernel/names/keys.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import { type CircuitState, type EndpointRecord, readEndpoint, readState } from "./endpoint-record.ts";

/** How often a function instance looks whether endpoints have changed, ms. */
const LOOK_EVERY = 10_000;

/** Where endpoints are. */
export type Where = Pick<QueueRef, "transport" | "prefix" | "now">;

/** An endpoint with its id. */
export interface Registered {
  readonly id: string;
  /** @throws {SluiceError} `newer_schema` */
  readonly record: EndpointRecord;
  /** @throws {SluiceError} `newer_schema` */
  readonly circuit: CircuitState;
}

/** All endpoints. */
export interface Registry {
  /** The number of changes so far. */
  readonly version: string;
  readonly endpoints: ReadonlyMap<string, Registered>;
  /** Whether all records are of this release. */
  readonly isReadable: boolean;
}

interface Remembered {
  readonly registry: Registry;
  readonly readAt: number;
}

const memory = new InstanceMemory<Remembered>();

/**
 * Reads the endpoints. An instance does so at most every ten seconds: one command, and one more if they have changed.
 * @param how.fresh reads them now, by one command
 * @param how.look looks now whether they have changed
 */
export async function readRegistry(
  where: Where,
  how: SendOptions & { readonly fresh?: boolean; readonly look?: boolean } = {},
): Promise<Registry> {
  const { fresh = false, look = false, ...options } = how;
  const key = endpointsKey(where.prefix);
  const now = timeOf(where);
  const known = fresh ? undefined : memory.get(where.transport, key);
  const age = known ? now - known.readAt : LOOK_EVERY;
  if (known && !look && age >= 0 && age < LOOK_EVERY) return known.registry;
  if (known) {
    const version = commandCall(["HGET", key, "~version"], (reply) => String(reply ?? 0));
    if ((await run(where.transport, version, options)) === known.registry.version) {
      memory.set(where.transport, key, { ...known, readAt: now });
      return known.registry;
    }
  }
  const all = commandCall(["HGETALL", key], (reply) => registryOf(reply as readonly string[]));
  const registry = await run(where.transport, all, options);
  // What this release cannot read is read again, so that it is known as soon as it can.
  if (registry.isReadable) memory.set(where.transport, key, { registry, readAt: now });
  return registry;
}

/** Makes the instance read the endpoints again, if they have changed since it read them. */
export function forgetRegistry({ transport, prefix }: Where, version: number): void {
  const key = endpointsKey(prefix);
  if (memory.get(transport, key)?.registry.version !== String(version)) memory.delete(transport, key);
}

/** Redis's time, as nearly as this instance knows it, epoch ms. */
export const timeOf = ({ transport, now }: Where): number => now?.() ?? Math.floor(redisTime(transport));

function registryOf(fields: readonly string[]): Registry {
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < fields.length; i += 2) found.set(fields[i] as string, fields[i + 1] as string);
  const ids = [...found.keys()].filter((field) => /^[A-Za-z0-9]/.test(field)).toSorted();
  return {
    version: found.get("~version") ?? "0",
    isReadable: ids.every((id) => found.get(id)?.startsWith("1;")),
    endpoints: new Map(
      ids.map((id) => [id, registered(id, found.get(id) ?? "", found.get(`.${id}`) ?? "1;")]),
    ),
  };
}

/** Reads the records at their first use, so that one of a later release concerns no other endpoint. */
function registered(id: string, record: string, state: string): Registered {
  let read: EndpointRecord | undefined;
  let circuit: CircuitState | undefined;
  return {
    id,
    get record() {
      return (read ??= readEndpoint(record));
    },
    get circuit() {
      return (circuit ??= readState(state));
    },
  };
}

/**
 * Reads one endpoint now. One command.
 * @returns it, if there is one, and the number of changes so far
 */
export async function readOne(
  where: Where,
  id: string,
  options: SendOptions = {},
): Promise<{ readonly version: string; readonly endpoint: Registered | undefined }> {
  const fields = ["~version", id, `.${id}`] as const;
  const call = commandCall(["HMGET", endpointsKey(where.prefix), ...fields], (reply) => {
    const [version, record, state] = reply as readonly (string | null)[];
    return { version: version ?? "0", endpoint: record ? registered(id, record, state ?? "1;") : undefined };
  });
  return run(where.transport, call, options);
}
