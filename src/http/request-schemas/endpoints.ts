import * as v from "valibot";
import { LAST_INSTANT } from "../../kernel/options/instants.ts";
import { fields, list } from "../request/validate.ts";
import { budget, duration, positiveDuration } from "./durations.ts";
import { cursor, decodeBytes, encoding, headers, instant, integer, perSecond, size } from "./values.ts";
import { topicName, topicPattern } from "./words.ts";

const idForm = "must be 1 to 40 of A-Z a-z 0-9 _ -, beginning with a letter or a digit";
const endpointId = v.pipe(v.string(idForm), v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/, idForm));

/** The endpoint in the path. */
export const endpointInPath = fields({ endpoint: endpointId });

/** The query of the list of endpoints. */
export const endpointsQuery = fields({ cursor: v.exactOptional(cursor), size: v.exactOptional(size) });

/** A limit that null removes. */
const limit = <Schema extends v.GenericSchema>(schema: Schema) => v.exactOptional(v.nullable(schema));

const settings = {
  types: v.exactOptional(v.pipe(list(topicPattern, 100, "must have at most 100 types"), v.minLength(1))),
  headers: v.exactOptional(headers),
  rate: limit(fields({ most: integer(1, 1_000_000), per: positiveDuration })),
  maxWorking: limit(integer(1, 1_000_000)),
  order: limit(v.literal("strict", 'must be "strict"')),
  description: limit(v.pipe(v.string(), v.maxLength(500, "must have at most 500 characters"))),
};

export const newEndpoint = fields({
  id: v.exactOptional(endpointId),
  url: v.string(),
  secret: v.exactOptional(v.string()),
  ...settings,
});

export const endpointChanges = fields({ url: v.exactOptional(v.string()), ...settings });

export const rotation = fields({ secret: v.exactOptional(v.string()), keep: v.exactOptional(duration) });

export const replay = fields({
  since: instant(LAST_INSTANT),
  until: v.exactOptional(instant(LAST_INSTANT)),
  limit: v.exactOptional(integer(1, 1_000_000_000)),
  rate: v.exactOptional(perSecond),
  budget: v.exactOptional(budget),
  cursor: v.exactOptional(cursor),
  dryRun: v.exactOptional(v.boolean()),
});

const eventForm = "must be 1 to 80 visible ASCII characters without braces, the first a letter or digit";

export const newEvent = v.pipe(
  fields({
    type: topicName,
    id: v.exactOptional(v.pipe(v.string(eventForm), v.regex(/^[A-Za-z0-9][!-z|~]{0,79}$/, eventForm))),
    payload: v.unknown(),
    encoding: v.exactOptional(encoding),
  }),
  decodeBytes("payload"),
);
