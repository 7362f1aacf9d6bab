import type { Answer } from "./response.ts";
import type { Fault, FaultHandle, Faults } from "./faults.ts";
import type { Meter } from "./usage.ts";

/** The paths of the gateway itself; no Redis command is called `-`. */
export const isAdminPath = (path: string): boolean => path === "/-" || path.startsWith("/-/");

/**
 * | route | does |
 * |---|---|
 * | `GET /-/usage` | what was counted |
 * | `DELETE /-/usage` | starts counting anew |
 * | `GET /-/faults` | all faults, with how often they hit |
 * | `POST /-/faults` | adds the fault in the body |
 * | `POST /-/faults/:id/release` | runs what a `hold` keeps, answers what a `stall` does, and answers when it has run |
 * | `DELETE /-/faults`, `DELETE /-/faults/:id` | removes all, or one |
 */
export async function answerAdmin(
  method: string,
  path: string,
  body: Buffer,
  meter: Meter,
  faults: Faults,
): Promise<Answer> {
  const [, , what, id, verb, ...rest] = path.split("/");
  const handle = id === undefined ? undefined : faults.find(Number(id));
  const route = `${method} ${[what, id && ":id", verb, ...rest].filter((part) => part !== undefined).join("/")}`;
  if (id !== undefined && !handle) return json(404, { error: `there is no fault ${id}` });
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
      return json(404, { error: `there is no ${method} ${path}` });
  }
}

function addFault(body: Buffer, faults: Faults): Answer {
  try {
    return json(201, describe(faults.add(JSON.parse(body.toString()) as Fault)));
  } catch (error) {
    return json(400, { error: error instanceof TypeError ? error.message : "the body is not JSON" });
  }
}

const describe = ({ id, matched, hits, held }: FaultHandle) => ({ id, matched, hits, held });
const json = (status: number, value: unknown): Answer => ({ status, body: JSON.stringify(value) });
