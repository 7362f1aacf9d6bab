/** The behaviour of an endpoint. Real endpoints show all of them. */
export type Behaviour = "healthy" | "slow" | "flaky" | "down" | "gone";

/** Each tenant has one endpoint, which receives the webhooks of its events. */
export interface Tenant {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** Its share of the events, in percent. */
  readonly share: number;
}

export const tenants: readonly Tenant[] = [
  { name: "atlas-books", behaviour: "healthy", share: 26 },
  { name: "brightside-clinic", behaviour: "healthy", share: 20 },
  { name: "cobalt-cms", behaviour: "slow", share: 14 },
  { name: "delta-freight", behaviour: "flaky", share: 17 },
  { name: "ember-games", behaviour: "down", share: 8 },
  { name: "fjord-mobile", behaviour: "healthy", share: 12 },
  { name: "garnet-travel", behaviour: "gone", share: 3 },
];

export const behaviourWords: Readonly<Record<Behaviour, string>> = {
  healthy: "responds at once",
  slow: "slow, at times 3 s",
  flaky: "500 to one in five",
  down: "breaks connections",
  gone: "always 410 Gone",
};
