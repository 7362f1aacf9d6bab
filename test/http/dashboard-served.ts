import { dashboard } from "../../src/dashboard/index.ts";
import { type Answer, type CallOptions, read, secrets, useServed } from "./served.ts";

export const ORIGIN = "https://sluice.test";

export type Fetch = (request: Request) => Response | Promise<Response>;

interface Visit extends Pick<CallOptions, "json" | "headers"> {
  readonly cookie?: string;
  /** Of the address. @default https://sluice.test */
  readonly origin?: string;
}

/** Sends a request as the page does: from its own origin, with a cookie if one is given. */
export function browser(fetch: Fetch, base = "") {
  return async (
    method: string,
    path: string,
    { cookie, json, headers = {}, origin = ORIGIN }: Visit = {},
  ): Promise<Answer & { readonly text: string }> => {
    const request = new Request(`${origin}${base}${path}`, {
      method,
      headers: {
        ...(method !== "GET" && method !== "HEAD" && { origin }),
        "sec-fetch-site": "same-origin",
        ...(cookie !== undefined && { cookie }),
        ...(json !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const response = await fetch(request);
    const text = await response.clone().text();
    return { ...(await read(response)), text };
  };
}

/** The cookie that a browser sends with that token. */
export const cookieOf = (token: string) => `sluice_session=${encodeURIComponent(token)}`;

/** The app with its dashboard, over a real Redis of the test file's own. */
export function useDashboard() {
  const served = useServed({ dashboard });
  const fetch: Fetch = (request) => served.app.fetch(request);
  return Object.assign(served, {
    fetch,
    visit: browser(fetch),
    /** A browser at another app over the same Redis. */
    visiting: (options: Parameters<typeof served.make>[0]) => {
      const app = served.make(options);
      return browser((request) => app.fetch(request));
    },
    admin: cookieOf(secrets.admin),
    view: cookieOf(secrets.view),
  });
}
