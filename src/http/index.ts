export { type AppOptions, createApp } from "./app.ts";
export type { Scope, TokenEntry } from "./authenticator.ts";
export type { App } from "./context.ts";
export { type FieldFault, type ProblemCode, problems } from "./problem.ts";
export type { Fault } from "./error-log.ts";
