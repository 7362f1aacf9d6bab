import { linked } from "../../src/features/linked/index.ts";
import type { Transport } from "../../src/index.ts";

/**
 * With `SLUICE_EDITION=linked` in the environment, a transport that sends all scripts in their linked edition. It does
 * all that the plain edition does, so tests of that hold for both.
 */
export const inEdition = (transport: Transport): Transport =>
  process.env["SLUICE_EDITION"] === "linked" ? linked(transport) : transport;
