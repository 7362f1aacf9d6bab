import type { AppRoutes } from "../app-part.ts";

/** The routes of topics. They are loaded at the first request to one of them. */
export const topicRoutes: AppRoutes = {
  mount() {},
};
