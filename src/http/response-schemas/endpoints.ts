import * as v from "valibot";
import { count, described, instant, nextCursor } from "./values.ts";

const orNull = (meaning: string) => described(v.nullable(count), meaning);

export const endpoint = v.object({
  id: v.string(),
  url: v.string(),
  types: described(
    v.array(v.string()),
    "The types of the events that it gets: names, and patterns in which `*` is one word and `#` any number.",
  ),
  description: v.nullable(v.string()),
  rate: described(
    v.nullable(v.object({ most: count, per: described(count, "Milliseconds.") })),
    "The most deliveries (`most`) in any period of the length `per`; null: no limit.",
  ),
  maxWorking: orNull("The most deliveries at the same time; null: no limit."),
  order: described(
    v.nullable(v.literal("strict")),
    "Whether deliveries follow each other in the order of the events; null: in no order.",
  ),
  headers: described(v.array(v.string()), "The names of the headers of its deliveries."),
  secrets: described(
    v.array(
      v.object({
        endsWith: described(v.string(), "The last four characters."),
        validUntil: orNull("Until when it signs, epoch ms; null for the current one."),
      }),
    ),
    "The secrets that sign its deliveries.",
  ),
  createdAt: instant("When it was added"),
  state: described(
    v.picklist(["active", "failing", "open", "disabled"]),
    "`failing`: the last delivery failed. `open`: deliveries pause because they fail, and are tried one at a time.",
  ),
  disabledReason: described(
    v.nullable(v.picklist(["operator", "failures", "gone"])),
    "By an operator; because deliveries failed for days; because the endpoint asked for it. Null: it is not disabled.",
  ),
  disabledAt: orNull("When it was disabled, epoch ms; null if it is not."),
  failingSince: orNull(
    "When the first delivery failed since the last one that did not, epoch ms; else null.",
  ),
  retryAt: orNull("Of an open one, when a delivery is tried again, epoch ms; else null."),
});

export const endpoints = v.object({
  queue: described(v.string(), "The queue of the deliveries."),
  endpoints: v.array(endpoint),
  cursor: nextCursor,
});

export const endpointWithSecret = v.object({
  ...endpoint.entries,
  secret: described(v.string(), "The secret that signs deliveries. It is shown this once."),
});

export const endpointAdded = v.object({
  ...endpoint.entries,
  created: described(v.boolean(), "False if there was an endpoint with this id. It was not changed."),
  secret: v.exactOptional(
    described(v.string(), "Of a new one, the secret that signs deliveries. It is shown this once."),
  ),
});

export const endpointRemoved = v.object({ id: v.string(), removed: v.literal(true) });

export const replayed = v.object({
  replayed: described(count, "Deliveries that wait again."),
  cursor: described(v.nullable(v.string()), "To continue; null if nothing is left to do."),
  unreadable: described(count, "Deliveries that were skipped, because their records are invalid or newer."),
});

export const sent = v.object({
  id: described(v.string(), "The id of the event."),
  deliveries: v.array(
    v.object({
      endpoint: v.string(),
      id: described(v.string(), "The id of the task, and of the webhook."),
      created: described(v.boolean(), "False if the event was sent before."),
    }),
  ),
});
