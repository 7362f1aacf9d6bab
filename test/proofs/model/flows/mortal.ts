import { SluiceError, type Transport } from "../../../../src/index.ts";

/** A transport whose caller may have died: then no request is sent. */
export const mortal = (transport: Transport, isAlive: () => boolean): Transport => ({
  ...transport,
  send: async (commands, options) => {
    if (!isAlive()) throw new SluiceError("redis_unreachable", "the caller has died");
    return transport.send(commands, options);
  },
});
