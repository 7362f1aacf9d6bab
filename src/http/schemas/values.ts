import * as v from "valibot";
import { MAX_ENQUEUE } from "../../queue/tasks/producer.ts";
import { MAX_DEQUEUE } from "../../queue/tasks/dequeue.ts";
import { MAX_RECEIPTS, readReceipt } from "../../queue/core/receipt.ts";
import { fromStrictBase64 } from "../request/base64.ts";
import { ID, QUEUE } from "../../queue/core/validation.ts";
import { maxErrors } from "../request/validate.ts";

/** The bounds that the HTTP interface adds to those of the queue. */
export const bounds = {
  tasks: MAX_ENQUEUE,
  settlements: MAX_DEQUEUE,
  receipts: MAX_RECEIPTS,
  pull: 100,
} as const;

export const described = <Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  v.pipe(schema, v.description(meaning));

const integerWords = (from: number, to: number) => `must be a whole number from ${from} to ${to}`;

export const integer = (from: number, to: number) => {
  const message = integerWords(from, to);
  return v.pipe(v.number(message), v.integer(message), v.minValue(from, message), v.maxValue(to, message));
};

export const whole = (from: number, to: number, meaning: string) => described(integer(from, to), meaning);

const idWords = "must be 1 to 128 visible ASCII characters, the first a letter or digit";
export const taskId = v.pipe(v.string(idWords), v.regex(ID, idWords));

const queueWords = "must be 1 to 128 of A-Z a-z 0-9 _ . -, not beginning with a dot";
export const queueName = v.pipe(v.string(queueWords), v.regex(QUEUE, queueWords));

/** What a group, worker, incarnation or key is called: of the same form as an id. */
export const name = v.pipe(v.string(idWords), v.regex(ID, idWords));

/** A whole number as a query has it. */
export const wholeText = (from: number, to: number, meaning: string) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,16}$/, integerWords(from, to)),
    v.transform(Number),
    whole(from, to, meaning),
  );

/** True or false as a query has it. */
export const flagText = (meaning: string) =>
  v.pipe(
    v.picklist(["true", "false"], "must be true or false"),
    v.transform((text) => text === "true"),
    v.boolean(),
    v.description(meaning),
  );

export const cursor = v.pipe(
  v.string(),
  v.minLength(1, "must be the `cursor` of the page before"),
  v.description("Where to go on: the `cursor` of the page before."),
);

/** How many a page has. */
export const size = (meaning: string) => wholeText(1, 1_000, `${meaning} a page. Default 100.`);

/** Texts by name. A record schema would drop names such as `constructor`. */
export const headers = v.pipe(
  v.custom<Record<string, string>>(
    (input) => typeof input === "object" && input !== null && !Array.isArray(input),
    "must be an object of texts",
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

export const encoding = v.pipe(
  v.literal("base64", 'must be "base64" where it is given'),
  v.description("Says that the value beside it is bytes, in base64."),
);

/** Each alternative of a union without these keys. */
type Without<Body, Key extends PropertyKey> = Body extends unknown ? Omit<Body, Key> : never;

/** Turns the value that stands beside `encoding` into bytes. */
export const bytesWhereSaid = <Body extends Record<string, unknown>>(...keys: string[]) =>
  v.rawTransform<Body, Without<Body, "encoding">>(({ dataset, addIssue, NEVER }) => {
    if (dataset.value["encoding"] === undefined) return dataset.value as Without<Body, "encoding">;
    const body: Record<string, unknown> = { ...dataset.value };
    delete body["encoding"];
    // What is left is the body without that key, which the compiler cannot follow.
    const rest = body as Without<Body, "encoding">;
    const refuse = (key: string, message: string) => {
      addIssue({
        message,
        path: [{ type: "object", origin: "value", input: body, key, value: body[key] }],
      });
      return NEVER;
    };
    const key = keys.find((name) => Object.hasOwn(body, name));
    if (key === undefined) return refuse("encoding", `needs ${keys.join(" or ")} beside it`);
    const text = body[key];
    const bytes = typeof text === "string" ? fromStrictBase64(text) : undefined;
    if (!bytes) return refuse(key, "must be base64, with its padding, as `encoding` says");
    body[key] = bytes;
    return rest;
  });

const receiptWords = "must be a receipt as pull gave it";

/** Looked at here, so that a receipt which is none is told of in the words of this interface. */
function isReceipt(text: string): boolean {
  try {
    readReceipt(text, "receipt");
    return true;
  } catch {
    return false;
  }
}

export const receipt = v.pipe(v.string(receiptWords), v.check(isReceipt, receiptWords));
