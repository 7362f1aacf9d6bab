import * as v from "valibot";
import { scopes } from "../auth/tokens.ts";
import { count, described, instant } from "./values.ts";

export const token = v.object({
  grants: described(
    v.array(
      v.object({
        scopes: v.array(v.picklist(scopes)),
        queues: described(v.string(), "The pattern of the queues for which it has the scopes."),
        payloads: v.exactOptional(
          described(
            v.literal("hidden"),
            "Replies leave out payloads, results, progress and headers. Absent if they are shown.",
          ),
        ),
      }),
    ),
    "What the token may do, one entry for each of its entries in `SLUICE_TOKENS`.",
  ),
});

const orUnknown = <Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  described(
    v.nullable(schema),
    `${meaning}; null if this Redis does not report it, or, of the database, if the token is not for all queues.`,
  );

export const database = v.object({
  now: instant("Redis's time"),
  roundTrip: described(count, "How long a script call to Redis took, ms."),
  version: orUnknown(v.string(), "The version of Redis"),
  evictionPolicy: orUnknown(v.string(), "What Redis does if its memory is full. It must be `noeviction`"),
  usedMemory: orUnknown(count, "Memory in use, in bytes"),
  maxMemory: orUnknown(count, "The limit of memory in bytes, 0 for none"),
  appendOnly: orUnknown(v.boolean(), "Whether Redis writes an append-only file"),
});

export const queue = v.object({
  queue: v.string(),
  fields: described(count, "Fields of the hash that holds the tasks."),
  bytes: orUnknown(count, "Size of that hash, in bytes, estimated from a thousand fields"),
  valid: described(
    v.nullable(v.boolean()),
    "True if all entries were checked and are valid. False if there is a fault, a later release wrote some of them, or they cannot be read: the deep sweep finds out, and repairs. Null if there are too many for one check, or if the server has not turned on the deep sweep.",
  ),
  entries: described(count, "How many entries were checked."),
});
