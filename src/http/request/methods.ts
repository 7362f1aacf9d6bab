import { invalid, Problem } from "../problems/problem.ts";

/** Whether the path matches the route's pattern, such as `/v1/queues/:queue`. */
function matchesRoute(pattern: string, path: string): boolean {
  const expected = pattern.split("/");
  const given = path.split("/");
  return (
    expected.length === given.length &&
    expected.every((part, at) => (part.startsWith(":") ? given[at] !== "" : part === given[at]))
  );
}

type Routes = readonly { readonly method: string; readonly path: string }[];

/** The methods of all routes with this path; empty if the path does not exist. */
export function methodsOf(routes: Routes, path: string): string[] {
  const methods = new Set<string>();
  for (const route of routes) {
    if (route.method === "ALL" || !matchesRoute(route.path, path)) continue;
    methods.add(route.method);
    // A GET that sweeps is not safe, so it has no HEAD.
    if (route.method === "GET" && route.path !== "/v1/sweep") methods.add("HEAD");
  }
  return [...methods].toSorted();
}

/** @param hint what to know beside the methods. @default nothing */
export function methodNotAllowed(allowed: readonly string[], hint = ""): Problem {
  const allow = allowHeader(allowed);
  const detail = `This route allows ${allow}. ${hint}`.trim();
  return new Problem("method_not_allowed", { detail, headers: { allow } });
}

/** Every route supports OPTIONS. */
export const allowHeader = (methods: readonly string[]) => [...methods, "OPTIONS"].join(", ");

/** The pattern of the route that the path matches, such as `/v1/queues/:queue`; undefined if none matches. */
export function routeOf(routes: Routes, path: string): string | undefined {
  return routes.find((route) => route.method !== "ALL" && matchesRoute(route.path, path))?.path;
}

/**
 * Refuses a path with invalid percent-encoding, because the name in it is ambiguous.
 * @throws {Problem} `invalid_request`
 */
export function requireReadablePath(url: string): void {
  if (!url.includes("%")) return;
  try {
    decodeURIComponent(new URL(url).pathname);
  } catch {
    throw invalid("path", "must be percent-encoded UTF-8");
  }
}
