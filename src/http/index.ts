export { type AppOptions, createApp } from "./app.ts";
export type { Scope, TokenEntry } from "./auth/authenticator.ts";
export type { App } from "./request/context.ts";
export { type FieldFault, type ProblemCode, problems } from "./problems/problem.ts";
export type { Fault } from "./problems/error-log.ts";
