import { endable } from "../../endable.ts";
import { SluiceError } from "../../errors.ts";
import { reopened } from "../../reopened.ts";
import { redisTime } from "../clock.ts";
import { commandCall, run } from "../call.ts";
import { queueKeys } from "../names/keys.ts";
import { readSettings } from "../record/settings-record.ts";
import type { Store } from "../store.ts";
import type { SendOptions } from "../transport.ts";
import type { Values } from "../values/values.ts";
import { noteNoEvents } from "./no-events.ts";
import { openReported, readDetails, type ReportedTask } from "./reported-task.ts";

/** The kinds of a queue's events, which its statistics count. */
export const queueEvents = [
  "enqueued",
  "dequeued",
  "completed",
  "requeued",
  "rejected",
  "cancelled",
  "cancelRequested",
  "reclaimed",
  "redriven",
  "released",
  "deleted",
] as const;

export type QueueEvent = (typeof queueEvents)[number];

/** An event of one or more tasks that one call caused. */
export interface PublishedEvent {
  /** `gap`: the connection was lost, and is back; events in between are missing. */
  readonly event: QueueEvent | "progress" | "gap";
  /** When, epoch ms. Of a `gap`: when the connection was back, by the clock of the listener. */
  readonly at: number;
  /** Ids of the tasks, at most 1,000; only `*` if the queue was deleted; none of a `gap`. */
  readonly ids: readonly string[];
  /**
   * Of `completed`, `requeued`, `rejected`, `reclaimed` and `progress`: what happened to each of the tasks, in the order
   * of `ids`.
   */
  readonly tasks?: readonly ReportedTask[] | undefined;
}

export interface EventsOptions extends SendOptions {
  /**
   * Whether to look, two seconds after the connection is opened, if the queue's setting `events` is on, and otherwise to write
   * one line to the console. It costs a request, for which no event waits.
   * @default true
   */
  readonly warn?: boolean | undefined;
}

/** Subscribes to a queue's events; see `Queue.events`. */
export async function subscribeTo(
  store: Store,
  values: Values,
  { warn = true, ...options }: EventsOptions,
): Promise<AsyncIterable<PublishedEvent>> {
  const { name, prefix, transport } = store.queue;
  const subscribe = transport.subscribe?.bind(transport);
  if (subscribe === undefined) {
    throw new SluiceError(
      "unsupported",
      "this transport cannot subscribe; use sluice-queue/upstash or sluice-queue/resp",
    );
  }
  const channel = queueKeys(name, prefix).tasks.replace(/tasks$/, "events");
  const ending = new AbortController();
  const signals = [options.signal, transport.closing, ending.signal];
  const until = AbortSignal.any(signals.filter((signal) => signal !== undefined));
  const isOn = () => {
    const { tasks } = store.shard(0).keys;
    const call = commandCall(
      ["HGET", tasks, "~set"],
      (found) => readSettings(String(found ?? "")).events === "1",
    );
    return run(transport, call, { signal: until });
  };
  const note = noteNoEvents(name, () => store.over(isOn, { signal: until }), until);
  const open = async () => {
    const messages = await subscribe(channel, { ...options, signal: until });
    if (warn) note();
    return messages;
  };
  const messages = reopened(await open(), {
    open,
    mayPass: (error) => error instanceof SluiceError && error.code === "redis_unreachable",
    gap: () => ({ event: "gap", at: Math.floor(redisTime(transport)), ids: [] }) as const,
    until,
  });
  return endable(read(messages, values), () => ending.abort());
}

/** Reads events, and ignores other messages on the channel. */
async function* read(
  messages: AsyncIterable<string | PublishedEvent>,
  values: Values,
): AsyncGenerator<PublishedEvent, void> {
  for await (const message of messages) {
    if (typeof message !== "string") {
      yield message;
      continue;
    }
    const [first, ...lines] = message.split("\n") as [string, ...string[]];
    const [event, at = "", ...ids] = first.split(" ") as [string, ...string[]];
    if (!isEvent(event) || !/^\d{1,16}$/.test(at) || ids.length === 0) continue;
    const details = ids.flatMap((id, i) => readDetails(event, id, lines[i]) ?? []);
    const tasks = await Promise.all(details.map((task) => openReported(values, task)));
    yield { event, at: Number(at), ids, ...(tasks.length > 0 && { tasks }) };
  }
}

function isEvent(word: string): word is QueueEvent | "progress" {
  return word === "progress" || (queueEvents as readonly string[]).includes(word);
}
