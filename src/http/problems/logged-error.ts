import type { LoggedError as AnyLoggedError } from "../../log/lines.ts";
import type { ProblemCode } from "./codes.ts";

/** A failure of this server or of Redis, not of the caller. */
export type LoggedError = AnyLoggedError<ProblemCode>;
