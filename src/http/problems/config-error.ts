import { SluiceError } from "../../errors.ts";
import { Problem, problemResponse } from "./problem.ts";

/**
 * What an entry answers to every request while its configuration is not valid.
 * @param error what reading the configuration threw; anything but a fault of the configuration is thrown again
 */
export function misconfigured(error: unknown): Response {
  if (error instanceof SluiceError && error.code === "invalid_argument") {
    return problemResponse(new Problem("misconfigured", { detail: `${error.message}.` }));
  }
  throw error;
}
