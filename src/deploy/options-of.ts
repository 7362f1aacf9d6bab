import type { ServiceOptions } from "./service.ts";

/** The property of an app that holds its options, for tests. Global, because an app may come from another bundle. */
const OPTIONS = Symbol.for("sluice-queue.options");

/** An app of a deployment whose handlers get that environment. */
export interface AppWith<Env extends object> {
  /** Has the type of the environment; never a value. */
  readonly types?: { readonly env: Env } | undefined;
}

/** Attaches to a platform's app the options that it was made with. */
export function withOptions<App extends object, Env extends object>(
  app: App,
  options: ServiceOptions<Env>,
): App & AppWith<Env> {
  return Object.defineProperty(app, OPTIONS, { value: options });
}

/** The options that an app was made with; undefined if it is no app. */
export function optionsOf<Env extends object>(app: object): ServiceOptions<Env> | undefined {
  return (app as { readonly [OPTIONS]?: ServiceOptions<Env> })?.[OPTIONS];
}
