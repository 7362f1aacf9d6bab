import { invalidArgument, SluiceError } from "../../errors.ts";
import type { DeliveryOutcome, Endpoint } from "../../features/push/index.ts";
import { onlyOptions } from "../../kernel/options/validation.ts";
import type { QueueOrName } from "../../open/definition.ts";
import {
  BEHAVIOUR,
  checkBehaviour,
  DELIVERIES,
  type EndpointInfo,
  Endpoints,
  type EndpointsBehaviour,
} from "../../open/endpoints/index.ts";
import { type Open, opening } from "../../open/opening.ts";
import type { Queue } from "../../open/queue.ts";
import type { CurrentSweep } from "../../sweep/part.ts";
import type { RegistryPage } from "../../sweep/registry.ts";
import type { AppPart } from "../app-part.ts";

/** What the hook of a disabled endpoint gets beside it. */
export interface EndpointTools {
  /** A queue of the deployment. */
  readonly queue: <In = unknown, Out = In>(queue: QueueOrName<In, Out>) => Queue<In, Out>;
}

/** Options of the endpoints of a deployment. */
export interface EndpointsPartOptions extends Omit<EndpointsBehaviour, "onEndpointDisabled"> {
  /** The queue of the deliveries: its name, or a queue that `defineQueue` made. @default "deliveries" */
  readonly queue?: string | { readonly name: string; readonly options: object } | undefined;
  /**
   * Called with an endpoint that was disabled because its deliveries failed, or because it asked for it. In rare cases
   * it is called twice. If it fails, a later sweep calls it again.
   * @default none
   */
  readonly onEndpointDisabled?: ((endpoint: EndpointInfo, tools: EndpointTools) => unknown) | undefined;
}

/** A delivery, as `push` has it. */
interface DeliveryOf {
  readonly task: { readonly group?: string | undefined };
  readonly tools: object;
}

/** The endpoints of a deployment. `push({ endpoints })` takes it. */
export interface EndpointsPart extends AppPart {
  /** The name of the queue of the deliveries. */
  readonly queue: string;
  /** Opens the endpoints. */
  readonly open: (open: Open) => Endpoints;
  /**
   * The endpoints, by the tools that handlers and `fetch` get.
   * @throws {SluiceError} `invalid_argument` if the deployment does not have this part
   * @example await endpoints.in(tools).send({ type: "orders.paid", payload: { order: 17 } });
   */
  readonly in: (tools: object) => Endpoints;
  readonly tools: (open: Open) => { readonly endpoints: Endpoints };
  readonly find: (delivery: DeliveryOf) => Promise<Endpoint | undefined>;
  readonly report: (outcome: DeliveryOutcome, delivery: DeliveryOf) => Promise<void>;
}

/** @param routes makes the routes of the part */
export function endpointsPart(
  options: EndpointsPartOptions,
  routes: (part: EndpointsPart) => AppPart["routes"],
): EndpointsPart {
  onlyOptions(options, ["queue", ...BEHAVIOUR]);
  const { queue = DELIVERIES, onEndpointDisabled, ...behaviour } = options;
  checkBehaviour({
    ...behaviour,
    onEndpointDisabled: onEndpointDisabled as EndpointsBehaviour["onEndpointDisabled"],
  });
  const part: EndpointsPart = {
    queue: typeof queue === "string" ? queue : queue.name,
    paths: ["/v1/endpoints", "/v1/endpoints/*"],
    routes: { mount: () => {} },
    sweepPart: (sweep) => ({ after: (page) => upkeep(part, sweep, page) }),
    open(open) {
      const { definition, options: ofQueue } = open(queue as QueueOrName<unknown, unknown>);
      const tools: EndpointTools = { queue: (other) => open(other).queue() };
      const hook = onEndpointDisabled && ((endpoint: EndpointInfo) => onEndpointDisabled(endpoint, tools));
      return new Endpoints(definition, { ...ofQueue, ...behaviour, onEndpointDisabled: hook });
    },
    in(tools) {
      const { endpoints } = (tools ?? {}) as { readonly endpoints?: Endpoints };
      if (endpoints) return endpoints;
      throw invalidArgument("tools", "must be those of a deployment with endpoints: sluice({ endpoints })");
    },
    tools(open) {
      let made: Endpoints | undefined;
      return {
        get endpoints() {
          return (made ??= part.open(open));
        },
      };
    },
    find: ({ task, tools }) => part.in(tools).find({ task }),
    report: (outcome, { task, tools }) => part.in(tools).report(outcome, { task, tools }),
  };
  return Object.assign(part, { routes: routes(part) });
}

/** Costs nothing while the queue of the deliveries is not in use. */
async function upkeep(part: EndpointsPart, sweep: CurrentSweep, { queues }: RegistryPage): Promise<void> {
  const { queue: name } = part;
  if (!sweep.isWanted(name) || !queues.some((one) => one.name.split("/")[0] === name)) return;
  const { transport, options } = sweep;
  const { prefix, now, wake, signal } = options;
  try {
    await part.open(opening({ transport, prefix, now, wake })).upkeep({ signal });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    sweep.failedParts.set(name, error.code);
  }
}
