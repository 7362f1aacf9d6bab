import type { Dialect, DialectApp } from "./dialect.ts";

export function dlqRoutes(_app: DialectApp, _dialect: Dialect): void {}
