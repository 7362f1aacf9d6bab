import { invalidArgument } from "../../errors.ts";
import { readRegistry, type Where } from "../../features/endpoints/index.ts";
import { encodePayload } from "../../kernel/record/codec.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import { matchesWords, WORDS } from "../../kernel/names/word-pattern.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS, requestKey } from "../../kernel/options/validation.ts";
import { slicesOf } from "../../kernel/slices.ts";
import type { OpenQueue } from "../opening.ts";

/** An event for endpoints. */
export interface EventOfEndpoints {
  /** Such as `orders.paid`: words of letters, digits, `_` and `-`, with dots between. */
  readonly type: string;
  /** The body of each delivery: anything that JSON can express, or a `Uint8Array`. */
  readonly payload: unknown;
  /**
   * Its id: an event with the same id is sent once. 1 to 80 visible ASCII characters without braces, beginning with a
   * letter or digit.
   * @default a generated one, or one that derives from the idempotency key
   */
  readonly id?: string | undefined;
}

/** The deliveries of an event. */
export interface Sent {
  /** The id of the event. */
  readonly id: string;
  readonly deliveries: readonly {
    readonly endpoint: string;
    /** The id of the task, and of the webhook. */
    readonly id: string;
    /** False if the event was sent before. */
    readonly created: boolean;
  }[];
}

const EVENT = /^[A-Za-z0-9](?:(?![{}])[!-~]){0,79}$/;

/** Most bytes of one request, and of what a task has beside its payload. */
const MOST_BYTES = 9_000_000;
const OVERHEAD = 500;

/** Sends an event: see `Endpoints.send`. */
export async function sendEvent(
  where: Where,
  open: OpenQueue,
  event: EventOfEndpoints,
  options: RequestOptions,
): Promise<Sent> {
  onlyOptions(event, ["type", "payload", "id"]);
  onlyOptions(options, REQUEST_OPTIONS);
  const { type, payload } = event;
  if (typeof type !== "string" || !WORDS.test(type))
    throw invalidArgument(
      "type",
      "must be words of A-Z a-z 0-9 _ - with dots between, of at most 128 characters",
    );
  const id = event.id === undefined ? await newId(type, options) : checkedId(event.id);
  const size = encodePayload(payload, "payload", open.options.offload?.maxBytes).length;
  const { signal } = options;
  const { endpoints } = await readRegistry(where, { signal });
  const matching = [...endpoints.values()].filter(({ record }) =>
    record.types.some((pattern) => matchesWords(pattern, type)),
  );
  const queue = open.queue();
  const deliveries: Sent["deliveries"][number][] = [];
  for (const slice of slicesOf(matching, Math.max(1, Math.floor(MOST_BYTES / (size + OVERHEAD))))) {
    const tasks = slice.map((endpoint) => ({ payload, id: deliveryId(id, endpoint.id), group: endpoint.id }));
    const added = await queue.enqueueMany(tasks, { signal });
    for (const [i, { id: own, created }] of added.entries())
      deliveries.push({ endpoint: slice[i]?.id ?? "", id: own, created });
  }
  return { id, deliveries };
}

/** In a queue with partitions the braces put all deliveries of an endpoint into one, as its group. */
const deliveryId = (event: string, endpoint: string) => `${event}.{${endpoint}}`;

async function newId(type: string, options: RequestOptions): Promise<string> {
  const key = requestKey(options);
  return key === undefined ? newTaskId() : derivedName("event", type, key);
}

function checkedId(id: unknown): string {
  if (typeof id === "string" && EVENT.test(id)) return id;
  throw invalidArgument(
    "id",
    "must be 1 to 80 visible ASCII characters without braces, beginning with a letter or a digit",
  );
}
