import { consumers } from "./laws/consumers.ts";
import { debounce } from "./laws/debounce.ts";
import { dequeue } from "./laws/dequeue.ts";
import { endpoints } from "./laws/endpoints.ts";
import { enqueue } from "./laws/enqueue.ts";
import { flows } from "./laws/flows.ts";
import { groups } from "./laws/groups.ts";
import { handOver } from "./laws/hand-over.ts";
import { network } from "./laws/network.ts";
import { operate } from "./laws/operate.ts";
import { order } from "./laws/order.ts";
import { partitions } from "./laws/partitions.ts";
import { qstash } from "./laws/qstash.ts";
import { repair } from "./laws/repair.ts";
import { settle } from "./laws/settle.ts";
import { sweep } from "./laws/sweep.ts";
import { topics } from "./laws/topics.ts";

/** The mutants that break a law or an invariant, by subject. */
export const lawMutants = {
  enqueue,
  dequeue,
  settle,
  sweep,
  topics,
  operate,
  order,
  flows,
  groups,
  partitions,
  qstash,
  repair,
  network,
  consumers,
  handOver,
  debounce,
  endpoints,
};
