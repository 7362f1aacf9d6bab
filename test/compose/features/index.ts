import type { FeatureName } from "../table.ts";
import * as delivery from "./delivery.ts";
import type { Feature } from "./feature.ts";
import * as flowing from "./flows.ts";
import * as operating from "./operating.ts";
import * as storage from "./storage.ts";
import { endpoints } from "./endpoints.ts";
import { topics } from "./topics.ts";

export const features: Readonly<Record<FeatureName, Feature>> = {
  ...storage,
  ...delivery,
  ...flowing,
  ...operating,
  topics,
  endpoints,
};
