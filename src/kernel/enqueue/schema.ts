import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type PayloadIssue, SluiceError } from "../../errors.ts";
import { cut, decodeValue, encodePayload } from "../record/codec.ts";

/** Longest path, and longest message, that an error keeps, in characters: ten of both and one path always fit. */
const PATH_LENGTH = 60;
const MESSAGE_LENGTH = 200;

type Validated<Out> = { readonly payload: Out } | { readonly issues: readonly PayloadIssue[] };

/** Validates a payload: returns it as the schema transforms it, or at most ten issues. */
export async function validatePayload<In, Out>(
  schema: StandardSchemaV1<In, Out>,
  payload: unknown,
): Promise<Validated<Out>> {
  const result = await schema["~standard"].validate(payload);
  if (result.issues === undefined) return { payload: result.value };
  const issues = result.issues.slice(0, 10).map(({ path = [], message }) => ({
    path: cut(path.map((part) => String(typeof part === "object" ? part.key : part)).join("."), PATH_LENGTH),
    message: cut(message, MESSAGE_LENGTH),
  }));
  return { issues };
}

/**
 * Encodes a payload for an enqueue. A schema checks it in the form that a dequeue will have, after JSON, and the
 * payload stays as it was given: the schema transforms it at dequeue only, because the result may be a value that
 * JSON cannot express, such as a `Date`.
 * @param path names the payload in errors
 * @param limit of the payload, bytes. @default 1 MiB
 * @throws {SluiceError} `invalid_argument`, with the schema's `issues` if it does not match the schema; `too_large`
 */
export async function encodeChecked<In, Out>(
  schema: StandardSchemaV1<In, Out> | undefined,
  payload: In,
  path: string,
  limit?: number,
): Promise<string> {
  const encoded = encodePayload(payload, path, limit);
  if (schema === undefined) return encoded;
  const result = await validatePayload(schema, isBytes(encoded) ? payload : decodeValue(encoded));
  if (!("issues" in result)) return encoded;
  const { issues } = result;
  const at = pathOf(issues, path);
  const words = wordsOf(issues);
  const before = await validatePayload(schema, payload);
  // Such as a `Date` for `z.date()`, which a dequeue gets as a text.
  const form = "issues" in before ? "" : ", as JSON has it";
  throw new SluiceError("invalid_argument", `${at} ${RULE}${form}${words}`, at, issues);
}

const isBytes = (encoded: string): boolean => encoded.startsWith("b");

/**
 * The error of a dead letter whose payload was invalid at dequeue. Its message is logged, so it has no more of the
 * payload than the name of a field: neither the schema's words nor the keys of a record, which may quote it.
 * @param isEncrypted whether the payload was: then it does not have the field either
 */
export function schemaError(issues: readonly PayloadIssue[], isEncrypted: boolean) {
  const [, field] = (!isEncrypted && /^([A-Za-z_$][\w$]{0,39})(?:\.|$)/.exec(issues[0]?.path ?? "")) || [];
  return { name: "SchemaError", message: `payload${field ? `.${field}` : ""} ${RULE}`, issues };
}

const RULE = "must match the schema of the queue";

/** The path of the first issue. */
function pathOf([first]: readonly PayloadIssue[], path: string): string {
  return [path, first?.path].filter(Boolean).join(".");
}

/** What the schema says of the first issue, and how many others there are. */
function wordsOf([first, ...others]: readonly PayloadIssue[]): string {
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  return `: ${first?.message ?? "it does not"}${more}`;
}
