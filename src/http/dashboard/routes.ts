import { routePath } from "hono/route";
import { respond } from "../../respond.ts";
import { Problem, problemResponse } from "../problems/problem.ts";
import { allowHeader, methodNotAllowed } from "../request/methods.ts";
import { propsOf, type RequestContext, waitUntilOf } from "../services.ts";
import { operations } from "../operations/index.ts";
import { dashboardHeaders } from "./headers.ts";
import { type Answers, applicationLogin, type Login, tokenLogin } from "./login.ts";
import type { Dashboard, DashboardServer } from "./mount.ts";
import { requireOwnOrigin } from "./origin.ts";

/** The page, and the files that it loads. */
export interface DashboardPage {
  /** Its links are relative to `/dashboard`, so that they are right wherever the app is mounted. */
  readonly html: string;
  /** Their names have a hash of their content. */
  readonly files: readonly { readonly name: string; readonly type: string; readonly text: string }[];
}

/** Makes the dashboard of a page. */
export function createDashboard({ html, files }: DashboardPage): Dashboard {
  const byName = new Map(files.map((file) => [file.name, file]));

  const asset = (name: string) => {
    const file = byName.get(name);
    if (!file) throw new Problem("no_route");
    const headers = { "content-type": file.type, "cache-control": "public, max-age=31536000, immutable" };
    return respond(file.text, 200, headers);
  };
  const page = () =>
    respond(html, 200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });

  const logins = new WeakMap<DashboardServer, Login>();

  const route = async (c: RequestContext, login: Login): Promise<Response> => {
    const parts = partsBelow(c);
    const [first, second = "", ...more] = parts;
    if (first === undefined)
      return forMethods(c, { GET: async () => (await login.inPlaceOfPage(c)) ?? page() });
    // The links of the page are relative to the address without the slash.
    if (first === "" && parts.length === 1)
      return forMethods(c, { GET: () => respond(null, 308, { location: "../dashboard" }) });
    if (first === "assets" && more.length === 0) return forMethods(c, { GET: () => asset(second) });
    if (first === "session" && second === "") return forMethods(c, login.session(c));
    if (first !== "api" || second !== "v1" || more.length === 0) throw new Problem("no_route");
    requireOwnOrigin(c);
    return callApi(c, login, `/v1/${more.join("/")}`);
  };

  return {
    operations,
    async answer(c, server) {
      const login =
        logins.get(server) ??
        (this.authorize ? applicationLogin(server, this.authorize) : tokenLogin(server));
      logins.set(server, login);
      const response = await route(c, login).catch((error: unknown) =>
        problemResponse(server.reportedProblem(error, c)),
      );
      return withHeaders(response);
    },
  };
}

/**
 * The parts of the path below `/dashboard`, as they are in the URL. The URL has no `..` any more, and an encoded
 * part stays encoded.
 * @throws {Problem} `no_route` if `dashboard` itself is encoded
 */
function partsBelow(c: RequestContext): string[] {
  // Such as `/dashboard/*`, or `/queue/dashboard/*` below a base path.
  const at = routePath(c).split("/").length - 2;
  const [name, ...parts] = new URL(c.req.url).pathname.split("/").slice(at);
  if (name !== "dashboard") throw new Problem("no_route");
  return parts;
}

/** Answers by the method. Whatever is not a GET must come from the own origin. */
async function forMethods(c: RequestContext, answers: Answers): Promise<Response> {
  const methods = [...Object.keys(answers), ...(answers.GET ? ["HEAD"] : [])];
  const { method } = c.req;
  if (method === "OPTIONS") return respond(null, 204, { allow: allowHeader(methods) });
  const answer = answers[(method === "HEAD" ? "GET" : method) as keyof typeof answers];
  if (!answer) throw methodNotAllowed(methods);
  if (method !== "GET" && method !== "HEAD") requireOwnOrigin(c);
  return answer();
}

/** Calls a route of the HTTP interface as the viewer. What the request itself says of its sender is not passed on. */
async function callApi(c: RequestContext, login: Login, path: string): Promise<Response> {
  return login.callAs(c, async (app, authorization) => {
    const { origin, search } = new URL(c.req.url);
    const request = new Request(`${origin}${path}${search}`, c.req.raw);
    request.headers.delete("cookie");
    request.headers.set("authorization", authorization);
    const waitUntil = waitUntilOf(c);
    const context = waitUntil && { waitUntil, passThroughOnException: () => {}, props: propsOf(c) };
    return app.fetch(request, c.env, context);
  });
}

/** Copies a response, and adds the headers of the dashboard. Its own `cache-control` stays. */
function withHeaders({ body, status, headers: own }: Response): Response {
  // Not by entries of an object: it may set several cookies.
  const headers = new Headers(own);
  for (const [name, value] of Object.entries(dashboardHeaders)) {
    if (name !== "cache-control" || !headers.has(name)) headers.set(name, value);
  }
  return new Response(body, { status, headers });
}
