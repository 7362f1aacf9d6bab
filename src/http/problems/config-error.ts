import { SluiceError } from "../../errors.ts";
import { Problem, problemResponse } from "./problem.ts";

/**
 * The response to every request while the configuration is invalid.
 * @param error from reading the configuration
 * @throws the error itself if it is not about the configuration
 */
export function configErrorResponse(error: unknown): Response {
  if (error instanceof SluiceError && error.code === "invalid_argument") {
    return problemResponse(new Problem("misconfigured", { detail: `${error.message}.` }));
  }
  throw error;
}
