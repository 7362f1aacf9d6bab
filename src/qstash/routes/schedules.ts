import type { Dialect, DialectApp } from "./dialect.ts";

export function scheduleRoutes(_app: DialectApp, _dialect: Dialect): void {}
