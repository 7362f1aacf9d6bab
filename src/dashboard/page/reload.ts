/** The page loads itself again at most this often, ms, so that it cannot do so for ever. */
const RELOAD_EVERY = 60_000;

const KEY = "sluice reloaded";

/**
 * Loads the page again: the application that does not know the viewer any more may lead to its login instead. Without
 * storage the viewer has to do it.
 */
export function reloadUnlessRecent(): void {
  try {
    if (Date.now() - Number(sessionStorage.getItem(KEY)) < RELOAD_EVERY) return;
    sessionStorage.setItem(KEY, String(Date.now()));
  } catch {
    return;
  }
  location.reload();
}
