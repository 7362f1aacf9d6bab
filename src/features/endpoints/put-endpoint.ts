import { SluiceError } from "../../errors.ts";
import { run, scriptCall } from "../../kernel/call.ts";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import { endpointsKey } from "../../kernel/names/keys.ts";
import { testNowOf } from "../../kernel/queue-ref.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import { readState, type EndpointRecord, writeEndpoint } from "./endpoint-record.ts";
import { noteAppliedScript, putEndpointScript } from "./endpoint-scripts.ts";
import { forgetRegistry, readOne, type Registered, type Where } from "./registry.ts";

/** How often a change is tried while others change endpoints too. */
const TRIES = 10;

/** What to write in place of an endpoint. */
export interface Change {
  /** Null removes it. */
  readonly record: EndpointRecord | null;
  /** See the script. @default it is as it was */
  readonly state?: string | undefined;
}

/**
 * Changes an endpoint. Two requests, and two more each time another call changes endpoints meanwhile.
 * @param change decides, by what the endpoint is, what to write; undefined: nothing
 * @returns the endpoint as it now is, or undefined if nothing was written or it was removed
 * @throws {SluiceError} `too_large` if there are too many endpoints
 */
export async function changeEndpoint(
  where: Where,
  id: string,
  change: (known: Registered | undefined) => Promise<Change | undefined> | Change | undefined,
  options: SendOptions,
): Promise<Registered | undefined> {
  for (let tries = 0; tries < TRIES; tries++) {
    const { version, endpoint } = await readOne(where, id, options);
    const next = await change(endpoint);
    if (!next) return undefined;
    const { record, state = "" } = next;
    const text = record ? writeEndpoint(record) : "";
    const args = { testNow: testNowOf(where), id, version, record: text, state, most: String(MAX_BATCH) };
    const keys = { endpoints: endpointsKey(where.prefix) };
    const reply = await run(where.transport, scriptCall(putEndpointScript, keys, args), options);
    if (reply.status !== "ok") {
      if (reply.status === "changed") continue;
      throw new SluiceError("too_large", `there are ${MAX_BATCH} endpoints; more are not possible`);
    }
    forgetRegistry(where, reply.version);
    return record ? { id, record, circuit: readState(reply.state) } : undefined;
  }
  throw new SluiceError("redis_error", "other calls have changed endpoints again and again; try again");
}

/**
 * Notes that the group of an endpoint has what the endpoint says.
 * @param changed as its state had it
 * @returns whether it has not changed since
 */
export async function noteIsApplied(
  where: Where,
  id: string,
  changed: string,
  options: SendOptions = {},
): Promise<boolean> {
  const keys = { endpoints: endpointsKey(where.prefix) };
  const call = scriptCall(noteAppliedScript, keys, {}, [{ id, changed }]);
  return (await run(where.transport, call, options))[0] === true;
}
