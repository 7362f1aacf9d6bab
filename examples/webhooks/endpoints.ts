/** How an endpoint behaves. Real ones do all of this. */
export type Behaviour = "healthy" | "slow" | "flaky" | "down" | "gone";

/** Each tenant has one endpoint, to which the webhooks of its events go. */
export interface Tenant {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** Its part of the events, in percent. */
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
  healthy: "answers at once",
  slow: "slow, at times 3 s",
  flaky: "500 to one in five",
  down: "breaks connections",
  gone: "always 410 Gone",
};
