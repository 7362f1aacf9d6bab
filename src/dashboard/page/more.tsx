/** What the browser loads when it is shown first. */
import { later } from "./parts/later.tsx";

const screens = () => import("./screens.tsx");

export const CostsScreen = later(async () => (await screens()).CostsScreen);
export const EndpointsScreen = later(async () => (await screens()).EndpointsScreen);
export const FlowScreen = later(async () => (await screens()).FlowScreen);
export const Groups = later(async () => (await screens()).Groups);
export const Partitions = later(async () => (await screens()).Partitions);
export const Schedules = later(async () => (await screens()).Schedules);
export const SearchScreen = later(async () => (await screens()).SearchScreen);
export const Workers = later(async () => (await screens()).Workers);
export const WaitsFor = later(async () => (await screens()).WaitsFor);
