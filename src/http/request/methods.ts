import { invalid, Problem } from "../problems/problem.ts";

/** Whether the path is one of the route, such as `/v1/queues/:queue`. */
function fits(pattern: string, path: string): boolean {
  const want = pattern.split("/");
  const have = path.split("/");
  return (
    want.length === have.length &&
    want.every((part, at) => (part.startsWith(":") ? have[at] !== "" : part === have[at]))
  );
}

type Routes = readonly { readonly method: string; readonly path: string }[];

/** The methods that some route answers to on that path; none where there is no such path. */
export function methodsOf(routes: Routes, path: string): string[] {
  const methods = new Set<string>();
  for (const route of routes) {
    if (route.method === "ALL" || !fits(route.path, path)) continue;
    methods.add(route.method);
    // A GET that sweeps is not safe, so it has no HEAD.
    if (route.method === "GET" && route.path !== "/v1/sweep") methods.add("HEAD");
  }
  return [...methods].toSorted();
}

export function methodNotAllowed(allowed: readonly string[]): Problem {
  const allow = allowHeader(allowed);
  return new Problem("method_not_allowed", { detail: `Allowed here: ${allow}.`, headers: { allow } });
}

/** OPTIONS is answered everywhere. */
export const allowHeader = (methods: readonly string[]) => [...methods, "OPTIONS"].join(", ");

/** The route that the path belongs to, without the names in it; undefined where there is none. */
export function routeOf(routes: Routes, path: string): string | undefined {
  return routes.find((route) => route.method !== "ALL" && fits(route.path, path))?.path;
}

/**
 * Refuses a path whose percent-encoding is broken: what it names could only be guessed.
 * @throws {Problem} invalid_request
 */
export function requireReadablePath(url: string): void {
  if (!url.includes("%")) return;
  try {
    decodeURIComponent(new URL(url).pathname);
  } catch {
    throw invalid("path", "must be percent-encoded UTF-8");
  }
}
