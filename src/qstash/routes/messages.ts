import type { Dialect, DialectApp } from "./dialect.ts";

export function messageRoutes(_app: DialectApp, _dialect: Dialect): void {}
