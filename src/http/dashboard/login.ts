import { json, respond } from "../../respond.ts";
import { type Authenticating, Grants } from "../auth/authenticator.ts";
import { Problem } from "../problems/problem.ts";
import type { App, RequestContext } from "../services.ts";
import { type Authorize, decide } from "./authorize.ts";
import type { DashboardServer } from "./mount.ts";
import { cookieForToken, grantsOfSession, noCookie, tokenOfCookie } from "./session.ts";

type Answer = () => Response | Promise<Response>;

/** What answers each method. */
export type Answers = Readonly<Partial<Record<"GET" | "POST" | "DELETE", Answer>>>;

/** How the dashboard knows its viewers. */
export interface Login {
  /** What is answered in place of the page, if anything is. */
  inPlaceOfPage(c: RequestContext): Promise<Response | null>;
  /** The methods of `/dashboard/session`. */
  session(c: RequestContext): Answers;
  /** Which app answers a call of the page, and with which `Authorization`. */
  callAs<T>(c: RequestContext, call: (app: App, authorization: string) => Promise<T>): Promise<T>;
}

/** Viewers sign in with a token, which a cookie then has. */
export const tokenLogin = (server: DashboardServer): Login => ({
  inPlaceOfPage: async () => null,
  session: (c) => ({
    GET: async () => json({ grants: await grantsOfSession(c, server) }),
    POST: async () => respond(null, 204, { "set-cookie": await cookieForToken(c, server) }),
    DELETE: () => respond(null, 204, { "set-cookie": noCookie(c) }),
  }),
  callAs: (c, call) => call(server.app, `Bearer ${tokenOfCookie(c)}`),
});

/** Viewers are those whom the application lets in. */
export function applicationLogin(server: DashboardServer, authorize: Authorize): Login {
  const passes = new Passes();
  let app: App | undefined;
  const grantsOf = async (c: RequestContext): Promise<Grants | null> => {
    const decided = await decide(authorize, c);
    return decided instanceof Grants ? decided : null;
  };
  return {
    async inPlaceOfPage(c) {
      const decided = await decide(authorize, c);
      return decided instanceof Grants ? null : decided;
    },
    session: (c) => ({
      GET: async () => json({ grants: (await grantsOf(c))?.ofToken() ?? null, login: "application" }),
    }),
    async callAs(c, call) {
      const grants = await grantsOf(c);
      if (!grants)
        throw new Problem("unauthorized", { detail: "The application does not let the viewer in." });
      app ??= server.newApp(passes);
      return passes.during(grants, (pass) => call(app as App, pass));
    },
  };
}

/**
 * Knows each call of the page by a pass of its own. The app that accepts passes accepts no tokens, and only the
 * dashboard calls it: the routes of `/v1` never see it.
 */
class Passes implements Authenticating {
  readonly #grants = new Map<string, Grants>();

  isConfiguredFor(): boolean {
    return true;
  }

  async authenticate(authorization: string | undefined): Promise<Grants> {
    const grants = this.#grants.get(authorization ?? "");
    if (!grants) throw new Problem("unauthorized");
    return grants;
  }

  /** Accepts a pass until the call ends. */
  async during<T>(grants: Grants, call: (pass: string) => Promise<T>): Promise<T> {
    const pass = `Pass ${crypto.randomUUID()}`;
    this.#grants.set(pass, grants);
    try {
      return await call(pass);
    } finally {
      this.#grants.delete(pass);
    }
  }
}
