import type { EnqueueOptions } from "../../src/index.ts";

/** Tasks with payloads 0, 1, 2 …, and ids that are generated. */
export const many = (count: number, options: EnqueueOptions = {}) =>
  Array.from({ length: count }, (_, i) => ({ payload: i, ...options }));

/** The same with ids: a letter and the number. */
export const numbered = (count: number, options: Omit<EnqueueOptions, "id"> = {}, letter = "t") =>
  Array.from({ length: count }, (_, i) => ({ payload: i, id: `${letter}${i}`, ...options }));

/** Tasks with those ids, which are their payloads too. */
export const named = (ids: readonly string[], options: Omit<EnqueueOptions, "id"> = {}) =>
  ids.map((id) => ({ id, payload: id, ...options }));

/** Ids in an order that is also theirs by name. */
export const sortedIds = (count: number) =>
  Array.from({ length: count }, (_, i) => `t${String(i).padStart(4, "0")}`);
