// Writes events.jsonl: the same file every time. Usage: node examples/webhooks/make-events.ts

import { writeFileSync } from "node:fs";
import { tenants } from "./endpoints.ts";
import { eventsFile, type WebhookEvent } from "./events.ts";

const count = 2_400;

/** Mulberry32, a small generator of pseudo-random numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = generator(20_261_121);
const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
const one = <T>(items: readonly T[]) => items[whole(0, items.length - 1)] as T;
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz".split("");
const id = (kind: string, length = 14) => `${kind}_${Array.from({ length }, () => one(digits)).join("")}`;

const people = [
  { name: "Ama Boateng", email: "ama@example.com" },
  { name: "Łukasz Żółć", email: "lukasz@example.org" },
  { name: "María-José Peña", email: "mj.pena@example.com" },
  { name: "佐藤 花子", email: "hanako@example.jp" },
  { name: "Зоя Иванова", email: "zoya@example.net" },
  { name: "نور حداد", email: "nour@example.com" },
  { name: "Søren O’Brien", email: "soren@example.dk" },
];
const goods = [
  "Étui 📷",
  "Kaffee, 1 kg",
  "Tea ☕ “Earl Grey”",
  "notebook\tA5",
  "Lampe «Ö»",
  "地図",
  "socks 🧦 (3×)",
];
const notes = [
  "Bitte beim Nachbarn abgeben.",
  "Gate code 0042 #",
  'He said "leave it at the door"\nand then the line broke.',
  "🎁 gift wrap, no price tag",
  "C:\\orders\\2026 – see sheet",
];

const address = () => ({
  line1: `${whole(1, 240)} ${one(["Rue de l’Église", "Hauptstraße", "Calle Mayor", "Main St", "Øvre gate"])}`,
  postcode: String(whole(1_000, 99_999)).padStart(5, "0"),
  country: one(["FR", "DE", "ES", "US", "NO", "JP"]),
});

const lines = (most: number) =>
  Array.from({ length: whole(1, most) }, () => ({
    sku: id("sku", 6),
    name: one(goods),
    quantity: whole(1, 9),
    unitPrice: whole(99, 24_999),
  }));

/** By type: how often it comes, and what it says. */
const kinds: readonly [type: string, weight: number, data: () => unknown][] = [
  [
    "order.created",
    26,
    () => ({ order: id("ord"), customer: one(people), lines: lines(4), note: one([null, ...notes]) }),
  ],
  [
    "order.shipped",
    14,
    () => ({ order: id("ord"), carrier: one(["DHL", "UPS", "Posten"]), tracking: id("trk", 18) }),
  ],
  [
    "invoice.paid",
    20,
    () => ({ invoice: id("inv"), amount: whole(0, 2_000_000), currency: one(["EUR", "USD", "JPY"]) }),
  ],
  ["invoice.overdue", 6, () => ({ invoice: id("inv"), days: whole(1, 90), reminders: whole(0, 3) })],
  ["user.created", 12, () => ({ user: id("usr"), ...one(people), address: address() })],
  ["user.deleted", 6, () => ({ user: id("usr"), reason: one([null, "", "requested", "inactive"]) })],
  ["payment.refunded", 8, () => ({ payment: id("pay"), amount: whole(1, 90_000), partial: random() < 0.3 })],
  [
    "comment.posted",
    6,
    () => ({ comment: id("cmt"), author: one(people).name, text: one(notes).repeat(whole(1, 12)) }),
  ],
  // Now and then a large one.
  ["catalog.synced", 2, () => ({ catalog: id("cat"), lines: lines(40), checksum: id("sum", 40) })],
];

function pick<T>(items: readonly T[], weight: (item: T) => number): T {
  let left = random() * items.reduce((sum, item) => sum + weight(item), 0);
  for (const item of items) {
    left -= weight(item);
    if (left < 0) return item;
  }
  return items.at(-1) as T;
}

let clock = Date.UTC(2026, 10, 20, 9);
const events: WebhookEvent[] = Array.from({ length: count }, () => {
  clock += whole(5, 900);
  const [type, , data] = pick(kinds, ([, weight]) => weight);
  const tenant = pick(tenants, ({ share }) => share).name;
  const delaySeconds = random() < 0.08 ? whole(1, 20) : undefined;
  return {
    id: id("evt", 20),
    tenant,
    type,
    createdAt: new Date(clock).toISOString(),
    ...(delaySeconds !== undefined && { delaySeconds }),
    data: data(),
  };
});

writeFileSync(eventsFile, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
