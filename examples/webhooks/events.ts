import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** One line of events.jsonl. */
export interface WebhookEvent {
  /** Also the id of its task, so that enqueuing it twice makes one task. */
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly createdAt: string;
  /** Do not deliver earlier than this many seconds after it was enqueued. */
  readonly delaySeconds?: number;
  readonly data: unknown;
}

/** What the queue carries: which endpoint gets what. */
export interface WebhookTask {
  readonly tenant: string;
  /** The body of the webhook. */
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown };
}

/** @param count at most so many, from the first on */
export function readEvents(file: string | URL, count = Number.POSITIVE_INFINITY): WebhookEvent[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.slice(0, count).map((line) => JSON.parse(line) as WebhookEvent);
}

export const eventsFile = new URL("events.jsonl", import.meta.url);

export function taskOf({ tenant, type, createdAt, data }: WebhookEvent): WebhookTask {
  return { tenant, body: { type, timestamp: createdAt, data } };
}

/** Tells whether a body arrived as it was meant. */
export const digest = (body: string) => createHash("sha256").update(body).digest("hex").slice(0, 16);
