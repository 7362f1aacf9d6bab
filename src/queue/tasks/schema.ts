import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument, type PayloadIssue, SluiceError } from "../../errors.ts";
import { cut } from "../core/codec.ts";

/** @throws {SluiceError} `invalid_argument` if it is not a Standard Schema */
export function checkedSchema<In, Out>(
  schema: StandardSchemaV1<In, Out> | undefined,
  path = "schema",
): StandardSchemaV1<In, Out> | undefined {
  if (schema !== undefined && typeof schema?.["~standard"]?.validate !== "function") {
    throw invalidArgument(path, "must be a Standard Schema, as zod, valibot and arktype make them");
  }
  return schema;
}

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
 * Checks a payload before it is enqueued, and returns it unchanged. The schema transforms it at dequeue only,
 * because the result may be a value that JSON cannot express, such as a `Date`.
 * @param path names the payload in the error
 * @throws {SluiceError} `invalid_argument` with the schema's `issues`, if it does not match the schema
 */
export async function checkedPayload<In, Out>(
  schema: StandardSchemaV1<In, Out> | undefined,
  payload: In,
  path: string,
): Promise<In> {
  if (schema === undefined) return payload;
  const result = await validatePayload(schema, payload);
  if (!("issues" in result)) return payload;
  const { issues } = result;
  const at = pathOf(issues, path);
  throw new SluiceError("invalid_argument", `${at} ${RULE}${wordsOf(issues)}`, at, issues);
}

/**
 * The error of a dead letter whose payload was invalid at dequeue. Its message is logged, so it does not have the
 * schema's words, which may quote the payload.
 */
export function schemaError(issues: readonly PayloadIssue[]) {
  return { name: "SchemaError", message: `${pathOf(issues, "payload")} ${RULE}`, issues };
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
