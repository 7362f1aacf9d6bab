import type { AppOptions } from "../../src/http/app.ts";
import { dashboard } from "../../src/dashboard/index.ts";
import { type Answer, type CallOptions, secrets, serve } from "./served.ts";

export const ORIGIN = "https://sluice.test";

export type Fetch = (request: Request) => Response | Promise<Response>;

/** Sends a request as the page does: from its own origin, with a cookie if one is given. */
export function browser(fetch: Fetch, base = "") {
  return async (
    method: string,
    path: string,
    {
      cookie,
      json,
      headers = {},
      origin = ORIGIN,
    }: Pick<CallOptions, "json" | "headers"> & {
      readonly cookie?: string;
      /** Of the address. @default https://sluice.test */
      readonly origin?: string;
    } = {},
  ): Promise<Answer & { readonly text: string }> => {
    const response = await fetch(
      new Request(`${origin}${base}${path}`, {
        method,
        headers: {
          ...(method !== "GET" && method !== "HEAD" && { origin }),
          "sec-fetch-site": "same-origin",
          ...(cookie !== undefined && { cookie }),
          ...(json !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      }),
    );
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text ? JSON.parse(text) : text,
      text,
    };
  };
}

/** The cookie that a browser sends with that token. */
export const cookieOf = (token: string) => `sluice_session=${encodeURIComponent(token)}`;

/** The app with its dashboard, over a real Redis. */
export async function serveDashboard(options: Partial<AppOptions> = {}) {
  const served = await serve({ dashboard, ...options });
  const fetch: Fetch = (request) => served.app.fetch(request);
  return {
    ...served,
    fetch,
    visit: browser(fetch),
    admin: cookieOf(secrets.admin),
    view: cookieOf(secrets.view),
  };
}
