/** What a queue remembers of the keys of enqueues, as lua/debounce.md describes it. */
import type { KeyedOutcome, KeyOptions } from "../../../../src/features/debounce/types.ts";
import { RESEND_WINDOW, type QueueState, type Rate, type Used } from "../state.ts";

/** A call that has not created a task. */
interface RememberedCall {
  /** The producer's token, as the model has it. */
  readonly token: string;
  /** The length of the token in Redis. */
  readonly length: number;
  /** What happened; a capital says that a task became ready. */
  readonly letter: string;
  /** Of the task concerned. */
  readonly id: string;
}

export interface ModelKey {
  /** Its task; empty if it has none. */
  readonly id: string;
  /** When that task was enqueued. */
  readonly enqueuedAt?: number | undefined;
  /** Of a throttled key: the turn of the last task. */
  readonly lastAt?: number | undefined;
  readonly rate?: Rate | undefined;
  /** The turns of its tasks. */
  readonly used?: Used | undefined;
  /** The last one first. */
  readonly calls: readonly RememberedCall[];
}

/** Most bytes of the calls that a key remembers. */
export const CALL_BYTES = 2_000;
export const CALL_BYTES_OF_LISTS = 64_000;

const OUTCOMES: Readonly<Record<string, KeyedOutcome>> = { r: "replaced", d: "dropped", a: "appended" };

/** The field of a key. */
export function fieldOf({ debounce, throttle, singleton }: KeyOptions, id: string): string {
  if (debounce) return `~D:${debounce.key}`;
  if (throttle) return `~T:${throttle.key}`;
  return singleton ? `~S:${singleton.key}` : `~I:${id}`;
}

export const keyIn = ({ keys }: QueueState, field: string): ModelKey =>
  keys.get(field) ?? { id: "", calls: [] };

/** Stores a key. @param until for how long it is known at least */
export function storeKey(queue: QueueState, now: number, field: string, key: ModelKey, until = now): void {
  queue.keys.set(field, key);
  queue.expiry.set(field, Math.max(until, now + RESEND_WINDOW));
}

/** The calls of a key with one more. The oldest ones that do not fit into so many bytes are dropped. */
export function remembering(
  { calls }: ModelKey,
  call: RememberedCall,
  bytes: number,
): readonly RememberedCall[] {
  const all = [call, ...calls];
  const ends: number[] = [];
  for (const { length, id } of all) ends.push((ends.at(-1) ?? 0) + length + id.length + 3);
  if ((ends.at(-1) ?? 0) <= bytes) return all;
  return all.filter((_, i) => (ends[i] as number) < bytes);
}

/** Whether another call with the same idempotency key has a token. */
export const isReused = (token: string, own: { readonly producer: string; readonly token: string }) =>
  token !== own.token && token.startsWith(`${own.producer} `);

/** The answer to an earlier copy of a call; "reused" if another call had the same idempotency key. */
export function recalled(
  { calls }: ModelKey,
  own: { readonly producer: string; readonly token: string },
): { readonly outcome: KeyedOutcome; readonly id: string; readonly isReady: boolean } | "reused" | undefined {
  const call = calls.find(({ token }) => token === own.token || isReused(token, own));
  if (!call) return undefined;
  if (call.token !== own.token) return "reused";
  const { letter, id } = call;
  const isReady = letter === letter.toUpperCase();
  return { outcome: OUTCOMES[letter.toLowerCase()] as KeyedOutcome, id, isReady };
}

/** Forgets a key. Returns whether it was known, now or when an earlier copy of the call ran. */
export function forgetKey(queue: QueueState, now: number, name: string, token: string, length: number) {
  const fields = [`~D:${name}`, `~T:${name}`, `~S:${name}`] as const;
  const [first] = fields;
  const before = keyIn(queue, first);
  const earlier = before.calls.find((call) => call.token === token);
  if (earlier) return earlier.id === "1";
  const isKnown = fields.some((field) => keyIn(queue, field).id !== "" || keyIn(queue, field).used);
  for (const field of fields) {
    const { calls } = keyIn(queue, field);
    if (queue.keys.has(field)) storeKey(queue, now, field, { id: "", calls });
  }
  const call = { token, length, letter: "f", id: isKnown ? "1" : "0" };
  storeKey(queue, now, first, { id: "", calls: remembering(before, call, CALL_BYTES_OF_LISTS) });
  return isKnown;
}

/** The fields of the keys, without the tokens of the calls. */
export function keyNotes({ keys }: QueueState): Record<string, string> {
  return Object.fromEntries([...keys].map(([field, key]) => [field, textOf(key)]));
}

function textOf({ id, enqueuedAt, lastAt, rate, used, calls }: ModelKey): string {
  const turns = used && [...used].toSorted(([one], [other]) => one - other);
  const values = {
    e: enqueuedAt,
    l: lastAt,
    r: rate && `${rate.most}/${rate.per}`,
    u: turns?.map(([tenth, count]) => `${tenth}:${count}`).join(","),
  };
  const letters = Object.entries(values).flatMap(([letter, value]) =>
    value === undefined ? [] : [`;${letter}=${value}`],
  );
  const said = calls.map((call) => ` ${call.letter}${call.id}`).join("");
  return `1${letters.join("") || ";"} ${id}${said}`;
}

/** A field of a key in Redis in the same form. */
export const keyNoteOf = (text: string) => text.replaceAll(/ [^ =]+=([a-zA-Z]\S*)/g, " $1");
