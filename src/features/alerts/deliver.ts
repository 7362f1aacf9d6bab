import { messageOf } from "../../errors.ts";
import { alertFailed } from "../../log/lines.ts";
import type { Log } from "../../log/logger.ts";
import type { Alert, AlertChannel, AlertReceiver, Delivery, DeliveryOptions } from "./types.ts";

/** How long a pass sends, ms: less than a claim lasts. */
const SEND_TIME = 15_000;

/** How long a function may take for one alert, ms. */
const FUNCTION_TIME = 5_000;

/** An alert, and the positions of the receivers that are to get it. */
export interface Outgoing {
  readonly alert: Alert;
  readonly to: readonly number[];
}

/**
 * Sends alerts to all their receivers at once. Logs a line for each that a receiver does not get. Never throws.
 * @returns by the id of the alert, the positions of the receivers to try again
 */
export async function deliver(
  outgoing: readonly Outgoing[],
  channels: readonly AlertChannel[],
  { within, signal, log }: DeliveryOptions & { readonly log: Log },
): Promise<Map<string, number[]>> {
  const left = new Map<string, number[]>();
  const options = { within: Math.min(within, SEND_TIME), signal };
  const send = async (channel: AlertChannel, position: number) => {
    const alerts = outgoing.filter(({ to }) => to.includes(position)).map(({ alert }) => alert);
    if (alerts.length === 0) return;
    const deliveries = await channel.deliver(alerts, options);
    for (const [i, alert] of alerts.entries()) {
      const delivery = deliveries[i] ?? new Error("not sent");
      if (delivery === "delivered") continue;
      const failed = delivery === "gone" ? "given up: HTTP 410" : delivery.message;
      log(alertFailed({ alert: alert.rule, queue: alert.queue, receiver: channel.name, failed }));
      if (delivery !== "gone") left.set(alert.id, [...(left.get(alert.id) ?? []), position]);
    }
  };
  await Promise.all(channels.map(send));
  return left;
}

/** A receiver as a channel. A function gets one alert after the other. */
export function channelOf(receiver: AlertReceiver): AlertChannel {
  if (typeof receiver !== "function") return receiver;
  const call = async (alert: Alert): Promise<Delivery> => {
    await receiver(alert);
    return "delivered";
  };
  return {
    name: receiver.name === "" ? "function" : receiver.name,
    deliver: (alerts, options) =>
      eachInTurn(alerts, 1, options, (alert, within) => inTime(call(alert), within)),
  };
}

/**
 * Sends each alert by itself.
 * @param abreast how many at once
 * @param send gets the time that is left, ms
 */
export async function eachInTurn(
  alerts: readonly Alert[],
  abreast: number,
  { within, signal }: DeliveryOptions,
  send: (alert: Alert, within: number) => Promise<Delivery>,
): Promise<Delivery[]> {
  const end = performance.now() + within;
  const deliveries: Delivery[] = [];
  const rest = alerts.entries();
  const work = async () => {
    for (const [i, alert] of rest) {
      const time = end - performance.now();
      if (time <= 0 || signal?.aborted) deliveries[i] = new Error("there was no time left to send it");
      else deliveries[i] = await send(alert, time).catch((error: unknown) => new Error(messageOf(error)));
    }
  };
  await Promise.all(Array.from({ length: abreast }, work));
  return deliveries;
}

async function inTime(work: Promise<Delivery>, within: number): Promise<Delivery> {
  const ms = Math.min(within, FUNCTION_TIME);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Delivery>((resolve) => {
    timer = setTimeout(() => resolve(new Error(`did not end within ${Math.round(ms)} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
