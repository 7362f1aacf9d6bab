import * as v from "valibot";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import { readReceipt } from "../../kernel/names/receipt.ts";
import { fromPaddedBase64 } from "../../base64.ts";
import { IN_SECONDS, isInSeconds, SECONDS } from "../../kernel/options/instants.ts";
import { QUEUE_PATTERN, queuePatternForm } from "../../kernel/names/queue-pattern.ts";
import { ID, QUEUE } from "../../kernel/options/validation.ts";
import { maxErrors } from "../request/validate.ts";

/** The most items in one request. */
export const bounds = {
  tasks: MAX_BATCH,
  settlements: MAX_BATCH,
  receipts: MAX_BATCH,
  pull: 100,
} as const;

const integerForm = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;

export const integer = (from: number, to: number) => {
  const message = integerForm(from, to);
  return v.pipe(v.number(message), v.integer(message), v.minValue(from, message), v.maxValue(to, message));
};

/** An instant, epoch ms. Those in seconds are refused. */
export const instant = (last: number) => {
  const { first: firstSecond, last: lastSecond } = SECONDS;
  const ranges = [integer(0, firstSecond - 1), integer(lastSecond + 1, last)];
  const form = ({ input }: { readonly input: unknown }) =>
    typeof input === "number" && Number.isInteger(input) && isInSeconds(input)
      ? IN_SECONDS
      : integerForm(0, last);
  return v.union(ranges, form);
};

const idForm = "must be 1 to 128 visible ASCII characters, the first a letter or digit";
export const taskId = v.pipe(v.string(idForm), v.regex(ID, idForm));

const queueForm = "must be 1 to 128 characters of A-Z, a-z, 0-9, _, . and -, the first not a dot";
export const queueName = v.pipe(v.string(queueForm), v.regex(QUEUE, queueForm));

/** The name of a group, worker, incarnation or key. It has the form of an id. */
export const name = v.pipe(v.string(idForm), v.regex(ID, idForm));

const digits = (from: number, to: number) =>
  v.pipe(v.string(), v.regex(/^\d{1,16}$/, integerForm(from, to)), v.transform(Number));

const rateForm = "must be a number from 0.001 to 1000000";

/** How many tasks a second. */
export const perSecond = v.pipe(
  v.number(rateForm),
  v.minValue(0.001, rateForm),
  v.maxValue(1_000_000, rateForm),
);

/** A whole number in a query. */
const integerText = (from: number, to: number) => v.pipe(digits(from, to), integer(from, to));

/** An instant in a query, as {@link instant}. */
export const instantText = (last: number) => v.pipe(digits(0, last), instant(last));

/** A boolean in a query. */
export const flagText = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((text) => text === "true"),
  v.boolean(),
);

/** Names of queues, with `*` for any characters. */
export const queuePattern = v.pipe(v.string(), v.regex(QUEUE_PATTERN, queuePatternForm));

export const cursor = v.pipe(v.string(), v.minLength(1, "must be the `cursor` of the previous page"));

/** The size of a page. */
export const size = integerText(1, MAX_BATCH);

/** Headers of a task: texts by name. A record schema would drop names such as `constructor`. */
export const headers = v.pipe(
  v.custom<Record<string, string>>(
    (input) => typeof input === "object" && input !== null && !Array.isArray(input),
    "must be an object of strings",
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const input = dataset.value;
    const faults = Object.entries<unknown>(input).filter(([, value]) => typeof value !== "string");
    for (const [key, value] of faults.slice(0, maxErrors)) {
      addIssue({
        message: "must be a string",
        path: [{ type: "object", origin: "value", input, key, value }],
      });
    }
  }),
);

export const encoding = v.literal("base64", 'must be "base64", or left out');

/** Each alternative of a union, without these keys. */
type Without<Body, Key extends PropertyKey> = Body extends unknown ? Omit<Body, Key> : never;

/** Decodes the value that `encoding` describes, the first of `keys`, and removes `encoding`. */
export const decodeBytes = <Body extends Record<string, unknown>>(...keys: string[]) =>
  v.rawTransform<Body, Without<Body, "encoding">>(({ dataset, addIssue, NEVER }) => {
    if (dataset.value["encoding"] === undefined) return dataset.value as Without<Body, "encoding">;
    const body: Record<string, unknown> = { ...dataset.value };
    delete body["encoding"];
    // The body without that key; the compiler cannot infer it.
    const rest = body as Without<Body, "encoding">;
    const refuse = (key: string, message: string) => {
      addIssue({
        message,
        path: [{ type: "object", origin: "value", input: body, key, value: body[key] }],
      });
      return NEVER;
    };
    const key = keys.find((name) => Object.hasOwn(body, name));
    if (key === undefined) return refuse("encoding", `must be sent with ${keys.join(" or ")}`);
    const text = body[key];
    const bytes = typeof text === "string" ? fromPaddedBase64(text) : undefined;
    if (!bytes) return refuse(key, "must be base64 with its padding, because `encoding` is base64");
    body[key] = bytes;
    return rest;
  });

const receiptForm = "must be a receipt from a pull";

/** Receipts are checked here, not only in the queue, so that the error names the field of the request. */
function isReceipt(text: string): boolean {
  try {
    readReceipt(text, "receipt");
    return true;
  } catch {
    return false;
  }
}

export const receipt = v.pipe(v.string(receiptForm), v.check(isReceipt, receiptForm));
