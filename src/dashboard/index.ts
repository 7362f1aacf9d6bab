import type { Dashboard } from "../http/dashboard/mount.ts";
import { createDashboard } from "../http/dashboard/routes.ts";
import { files, html } from "./page.gen.ts";

export type { Access, Authorize } from "../http/dashboard/authorize.ts";
export type { Dashboard } from "../http/dashboard/mount.ts";

/**
 * The dashboard: a page for browsers, and its sign-in. Deployments and `serve` load it with `dashboard: true`.
 * @example createApp({ transport, tokens, dashboard })
 */
export const dashboard: Dashboard = createDashboard({ html, files });
