import { withLinksBelow } from "./problem-links.ts";

/** The parameters of a route, as Next.js passes them. That of a catch-all has the segments that it matched. */
export type RouteParams = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What Next.js passes to the handlers of a route. */
export interface RouteContext {
  readonly params: Promise<RouteParams>;
}

/**
 * A handler of requests, for a route of Next.js too. Its type check takes the last of the overloads, and refuses an
 * optional context.
 */
export interface RouteHandler<Context extends object> {
  (request: Request, context?: Context): Promise<Response>;
  (request: Request, context: RouteContext): Promise<Response>;
}

/** The handlers of a route, one for each method. */
export const everyMethod = <Handler>(handle: Handler) => ({
  GET: handle,
  HEAD: handle,
  OPTIONS: handle,
  POST: handle,
  PUT: handle,
  PATCH: handle,
  DELETE: handle,
});

/**
 * Answers a request to a catch-all route, such as `app/api/queue/[[...path]]`, at any path.
 * @param answer gets the request with the path below the route: `/v1/sweep` of `/api/queue/v1/sweep`
 */
export async function belowCatchAll(
  request: Request,
  params: RouteParams,
  answer: (below: Request) => Promise<Response>,
): Promise<Response> {
  const url = new URL(request.url);
  const route = url.pathname.split("/").at(-1);
  const { path, below } = divided(url.pathname, params);
  url.pathname = below;
  for (const [name, value] of Object.entries(params)) dropParameter(url.searchParams, name, value);
  const response = await withLinksBelow(path, await answer(new Request(url, request)));
  const location = response.headers.get("location") ?? "";
  // Browsers resolve it against the address of the route, which has no slash at its end.
  if (url.pathname !== "/" || !route || !/^\w+$/.test(location)) return response;
  return new Response(null, { status: response.status, headers: { location: `${route}/${location}` } });
}

/**
 * The path of the route, and the path below it, as it is in the URL. If a rewrite changed that part, it is as in the
 * parameter, and the path of the route is unknown: empty.
 */
function divided(pathname: string, params: RouteParams): { path: string; below: string } {
  const matched = Object.values(params).find((value) => Array.isArray(value)) ?? [];
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const last = segments.splice(segments.length - matched.length);
  if (last.map(decoded).join("/") !== matched.map(decoded).join("/")) {
    return { path: "", below: `/${matched.map(encodeURIComponent).join("/")}` };
  }
  return { path: segments.map((segment) => `/${segment}`).join(""), below: `/${last.join("/")}` };
}

/** Removes a parameter of the route that the router has added to the query, also by the name that Vercel gives it. */
function dropParameter(query: URLSearchParams, name: string, value: RouteParams[string]): void {
  for (const added of [name, `nxtP${name}`]) {
    if (query.getAll(added).join("/") === [value].flat().join("/")) query.delete(added);
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
