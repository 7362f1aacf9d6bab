export { type AppOptions, createApp } from "./app.ts";
export type { Dashboard } from "./dashboard/mount.ts";
export type { Scope, TokenEntry } from "./auth/tokens.ts";
export { type ProblemCode, problems } from "./problems/codes.ts";
export type { LoggedError } from "./problems/error-log.ts";
export type { DeadLetter } from "../queue/core/dead-letter.ts";
export type { ErrorSummary } from "../queue/core/error-summary.ts";
export type { FieldError } from "./problems/problem.ts";
export type { App } from "./services.ts";
