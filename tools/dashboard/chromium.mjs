// Chromium, or Chrome, which GitHub's runners have.

import { ensureFolder, ensureProgram, findProgram } from "../setup.mjs";

/** The first draws pages only. With a browser that has windows the tests take twice as long. */
const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/** @returns {string | undefined} its path, if it is on the PATH */
export function findChromium() {
  return NAMES.map(findProgram).find((path) => path !== undefined);
}

/** Makes sure that it is there, with a font. As root on Debian, it installs the packages if necessary. */
export function ensureChromium() {
  if (findChromium() === undefined) {
    ensureProgram("chromium-headless-shell", "chromium-headless-shell", "Chromium or Chrome serves as well.");
  }
  // Without a font it draws empty boxes. Debian has fc-list where it has fonts.
  if (findProgram("apt-get") !== undefined && findProgram("fc-list") === undefined) {
    ensureFolder("/usr/share/fonts/truetype/dejavu", "fonts-dejavu-core");
  }
}
