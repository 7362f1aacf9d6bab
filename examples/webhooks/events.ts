import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** One line of events.jsonl. */
export interface WebhookEvent {
  /** Also the id of its task, so that enqueuing it twice makes one task. */
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly createdAt: string;
  /** How long after the enqueue to deliver, s. @default at once */
  readonly delaySeconds?: number;
  readonly data: unknown;
}

/** The payload of a task: the tenant whose endpoint gets the webhook, and the body. */
export interface WebhookTask {
  readonly tenant: string;
  /** The body of the webhook. */
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: unknown };
}

/** @param count the most events to read */
export function readEvents(file: string | URL, count = Number.POSITIVE_INFINITY): WebhookEvent[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.slice(0, count).map((line) => JSON.parse(line) as WebhookEvent);
}

export const eventsFile = new URL("events.jsonl", import.meta.url);

export function taskOf({ tenant, type, createdAt, data }: WebhookEvent): WebhookTask {
  return { tenant, body: { type, timestamp: createdAt, data } };
}

/** A short digest, to compare bodies. */
export const digest = (body: string) => createHash("sha256").update(body).digest("hex").slice(0, 16);
