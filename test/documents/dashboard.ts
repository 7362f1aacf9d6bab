// The code of docs/dashboard.md, so that it is type checked. configurations.test.ts compares it.

import type { Transport } from "sluice-queue";

declare const transport: Transport;
declare const tokens: readonly [];

import { sluice } from "sluice-queue/cloudflare";

export default sluice({ dashboard: true });

import { createApp } from "sluice-queue/http";

const app = createApp({
  transport,
  tokens,
  dashboard: async () => (await import("sluice-queue/dashboard")).dashboard,
});

import { Hono } from "hono";

const site = new Hono().route("/internal/queue", app); // the dashboard is at /internal/queue/dashboard

export { site };
