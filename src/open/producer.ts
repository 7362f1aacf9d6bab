import { Producer as KernelProducer, type ProducerParts } from "../kernel/producer.ts";
import { checkedTracing } from "../features/tracing/types.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import type { QueueOrName } from "./definition.ts";
import { checkedSchema } from "../kernel/enqueue/checked-schema.ts";
import { type Opened, opened, type ProducerOptions, QUEUE_OPTIONS, valuesOf } from "./options.ts";
import { addsOf } from "./adds.ts";

/** Adds tasks to a queue. `Queue` also consumes them; a bundle with `Producer` alone is smaller. */
export class Producer<In = unknown, Out = In> extends KernelProducer<In, Out> {
  /**
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @param given options; those of a declared queue are the defaults
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<In, Out>, given: ProducerOptions<In, Out>) {
    const own = opened(queue, given);
    super({ ...producerParts(own), store: addsOf(own) });
    checkedTracing(own.options.tracing)?.traceCalls(this, false);
  }
}

/** @throws {SluiceError} `invalid_argument` */
export function producerParts<In, Out>(
  own: Opened<ProducerOptions<In, Out>>,
): Omit<ProducerParts<In, Out>, "store"> {
  const { options } = own;
  onlyOptions(options, QUEUE_OPTIONS);
  const { lease, maxAttempts, resultTtl, deadTtl, delay, unique } = options;
  return {
    values: valuesOf(own),
    defaults: { lease, maxAttempts, resultTtl, deadTtl, delay, unique },
    schema: checkedSchema(options.schema),
  };
}
