const own = new WeakMap<Request, unknown>();

/** Keeps the request of a framework, such as Express, for the request that was made of it. */
export function keepOwnRequest(request: Request, ofFramework: unknown): void {
  own.set(request, ofFramework);
}

/** The request of the framework; undefined if there is none. */
export function ownRequestOf(request: Request): unknown {
  return own.get(request);
}
