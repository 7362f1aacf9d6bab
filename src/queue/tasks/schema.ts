import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument } from "../../errors.ts";
import { cut } from "../core/codec.ts";

/** @throws {SluiceError} `invalid_argument` for what is no Standard Schema */
export function checkedSchema<In, Out>(
  schema: StandardSchemaV1<In, Out> | undefined,
  path = "schema",
): StandardSchemaV1<In, Out> | undefined {
  if (schema !== undefined && typeof schema?.["~standard"]?.validate !== "function") {
    throw invalidArgument(path, "must be a Standard Schema, as zod, valibot and arktype make them");
  }
  return schema;
}

/** How much is kept of a path, and of a message: ten of both have room in an error, whatever their characters. */
const PATH_LENGTH = 60;
const MESSAGE_LENGTH = 200;

/** Why a payload does not fit, in the schema's own words, which may quote it. */
export interface Misfit {
  /** Such as `to.address`; empty for the payload as a whole. */
  readonly path: string;
  readonly message: string;
}

type Fit<Out> = { readonly payload: Out } | { readonly misfits: readonly Misfit[] };

/** What a schema makes of a payload. */
export async function fit<In, Out>(schema: StandardSchemaV1<In, Out>, payload: unknown): Promise<Fit<Out>> {
  const result = await schema["~standard"].validate(payload);
  if (result.issues === undefined) return { payload: result.value };
  const misfits = result.issues.slice(0, 10).map(({ path = [], message }) => ({
    path: cut(path.map((part) => String(typeof part === "object" ? part.key : part)).join("."), PATH_LENGTH),
    message: cut(message, MESSAGE_LENGTH),
  }));
  return { misfits };
}

/**
 * A payload that is to be enqueued, as it is; without a schema every payload fits. What the schema makes of it is made at dequeue, for that may be a value
 * that JSON cannot carry, such as a `Date`.
 * @throws {SluiceError} `invalid_argument` where it does not fit
 */
export async function fitting<In, Out>(
  schema: StandardSchemaV1<In, Out> | undefined,
  payload: In,
  path: string,
): Promise<In> {
  if (schema === undefined) return payload;
  const result = await fit(schema, payload);
  if (!("misfits" in result)) return payload;
  const at = [path, result.misfits[0]?.path].filter(Boolean).join(".");
  // The schema's own words may quote the payload; they are kept with dead letters only.
  throw invalidArgument(at, "does not fit the schema of the queue");
}

/** What a dead letter says that did not fit at dequeue. */
export function misfitError(misfits: readonly Misfit[]) {
  return { name: "SchemaError", message: "the payload does not fit the schema of the queue", misfits };
}
