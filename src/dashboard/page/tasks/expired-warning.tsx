/** Warns before a redrive of tasks that all ended because their leases expired. */
export const ExpiredWarning = () => (
  <p class="bad">
    Their leases expired: they may have killed or hung their process, and may do so again. Redrive one first.
  </p>
);
