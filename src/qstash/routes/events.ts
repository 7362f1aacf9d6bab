import type { Dialect, DialectApp } from "./dialect.ts";

export function eventRoutes(_app: DialectApp, _dialect: Dialect): void {}
