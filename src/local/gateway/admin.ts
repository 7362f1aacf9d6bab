import type { GatewayResponse } from "./response.ts";
import type { Fault, FaultHandle, Faults } from "./faults.ts";
import type { Meter } from "./usage.ts";

/** The paths of the gateway itself. No Redis command is named `-`. */
export const isAdminPath = (path: string): boolean => path === "/-" || path.startsWith("/-/");

/**
 * Handles the gateway's own routes:
 *
 * | route | does |
 * |---|---|
 * | `GET /-/usage` | returns the counts |
 * | `DELETE /-/usage` | resets the counts |
 * | `GET /-/faults` | lists all faults, with their hits |
 * | `POST /-/faults` | adds the fault in the body |
 * | `POST /-/faults/:id/release` | runs the requests that a `hold` keeps, or responds to those that a `stall` keeps |
 * | `DELETE /-/faults`, `DELETE /-/faults/:id` | removes all faults, or one |
 */
export async function handleAdmin(
  method: string,
  path: string,
  body: Buffer,
  meter: Meter,
  faults: Faults,
): Promise<GatewayResponse> {
  const [, , what, id, verb, ...rest] = path.split("/");
  const handle = id === undefined ? undefined : faults.find(Number(id));
  const route = `${method} ${[what, id && ":id", verb, ...rest].filter((part) => part !== undefined).join("/")}`;
  if (id !== undefined && !handle) return json(404, { error: `unknown fault ${id}` });
  switch (route) {
    case "GET usage":
      return json(200, meter.read());
    case "DELETE usage":
      meter.reset();
      return json(200, meter.read());
    case "GET faults":
      return json(
        200,
        faults.list().map((one) => ({ ...one.fault, ...describe(one) })),
      );
    case "POST faults":
      return addFault(body, faults);
    case "DELETE faults":
      faults.clear();
      return json(200, []);
    case "POST faults/:id/release":
      await handle?.release();
      return json(200, describe(handle as FaultHandle));
    case "DELETE faults/:id":
      handle?.remove();
      return json(200, describe(handle as FaultHandle));
    default:
      return json(404, { error: `unknown route ${method} ${path}` });
  }
}

function addFault(body: Buffer, faults: Faults): GatewayResponse {
  try {
    return json(201, describe(faults.add(JSON.parse(body.toString()) as Fault)));
  } catch (error) {
    return json(400, { error: error instanceof TypeError ? error.message : "the body must be JSON" });
  }
}

const describe = ({ id, matched, hits, held }: FaultHandle) => ({ id, matched, hits, held });
const json = (status: number, value: unknown): GatewayResponse => ({ status, body: JSON.stringify(value) });
