import type { Dialect, DialectApp } from "./dialect.ts";

export function urlGroupRoutes(_app: DialectApp, _dialect: Dialect): void {}
