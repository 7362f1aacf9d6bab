import type { Dialect, DialectApp } from "./dialect.ts";

export function queueRoutes(_app: DialectApp, _dialect: Dialect): void {}
