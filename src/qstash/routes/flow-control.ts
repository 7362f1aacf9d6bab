import type { Dialect, DialectApp } from "./dialect.ts";

export function flowControlRoutes(_app: DialectApp, _dialect: Dialect): void {}
