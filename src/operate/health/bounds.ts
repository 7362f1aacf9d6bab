/** The longest time for which a queue may be stuck, ms: statistics are kept for an hour. */
export const LONGEST_STUCK = 3_540_000;
