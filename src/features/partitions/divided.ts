import type { Adds } from "../../kernel/store.ts";
import type { Partitions } from "./partitions.ts";

/** The partitions of a queue that has some, or is to get some, and the store over them. */
export interface Divided<S extends Adds> {
  readonly partitions: Partitions;
  readonly store: S;
}

/** A store whose queue may have partitions, or get some. */
export interface MaybeDivided {
  /** Loads what works on the partitions as a whole. */
  readonly divided: () => Promise<Pick<Divided<Adds>, "partitions">>;
}
