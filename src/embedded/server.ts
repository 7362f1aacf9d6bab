import type { Bytes } from "./bytes.ts";
import { Client, type ClientEvents } from "./client.ts";
import { matches } from "./commands/pattern.ts";
import type { ScriptRunner } from "./scripts.ts";
import { Store } from "./store.ts";

/** How often a command ran, was refused before it ran, and replied with an error. */
export interface CommandCounts {
  calls: number;
  rejected: number;
  failed: number;
}

/** What all clients of a database share. */
export class Server {
  readonly store = new Store();
  readonly scripts: ScriptRunner;
  /** The clock of keys and scripts, epoch ms. */
  readonly now: () => number;
  readonly clients = new Set<Client>();
  /** How many commands have run that may have changed data. */
  writes = 0;
  /** By name of a command. */
  readonly counts = new Map<string, CommandCounts>();
  /** Whether commands that may need memory are refused, as by a Redis that has reached `maxmemory`. */
  isFull = false;
  /** The commands that the only user, `default`, may not run. */
  readonly denied = new Set<string>();

  constructor(scripts: ScriptRunner, now: () => number) {
    this.scripts = scripts;
    this.now = now;
  }

  connect(events: ClientEvents, address = "127.0.0.1:0"): Client {
    const client = new Client(events, address);
    this.clients.add(client);
    return client;
  }

  disconnect(client: Client): void {
    client.channels.clear();
    client.patterns.clear();
    client.isMonitor = false;
    this.clients.delete(client);
  }

  /** @returns how many subscriptions got the message */
  publish(channel: Bytes, message: Bytes): number {
    let receivers = 0;
    for (const client of this.clients) {
      if (client.channels.has(channel)) {
        client.push(["message", channel, message]);
        receivers += 1;
      }
      for (const pattern of client.patterns) {
        if (!matches(pattern)(channel)) continue;
        client.push(["pmessage", pattern, channel, message]);
        receivers += 1;
      }
    }
    return receivers;
  }

  count(name: string, outcome: "rejected" | "failed" | "ok"): void {
    let counts = this.counts.get(name);
    if (!counts) this.counts.set(name, (counts = { calls: 0, rejected: 0, failed: 0 }));
    if (outcome === "rejected") counts.rejected += 1;
    else counts.calls += 1;
    if (outcome === "failed") counts.failed += 1;
  }
}
