import type { EnqueueOptions } from "../../src/index.ts";

/** Tasks with payloads 0, 1, 2 …, and generated ids. */
export const many = (count: number, options: EnqueueOptions = {}) =>
  Array.from({ length: count }, (_, i) => ({ payload: i, ...options }));

/** The same with ids of a letter and the number. */
export const numbered = (count: number, options: Omit<EnqueueOptions, "id"> = {}, letter = "t") =>
  Array.from({ length: count }, (_, i) => ({ payload: i, id: `${letter}${i}`, ...options }));

/** Tasks with those ids, which are also their payloads. */
export const named = (ids: readonly string[], options: Omit<EnqueueOptions, "id"> = {}) =>
  ids.map((id) => ({ id, payload: id, ...options }));

/** Ids `t0000`, `t0001` …, which also sort in this order. */
export const sortedIds = (count: number) =>
  Array.from({ length: count }, (_, i) => `t${String(i).padStart(4, "0")}`);
