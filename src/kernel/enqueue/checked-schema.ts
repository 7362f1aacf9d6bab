import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument } from "../../errors.ts";

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
