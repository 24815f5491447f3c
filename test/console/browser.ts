import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The browser that the console is tried in: `CHROMIUM`, or one of the system's; undefined where there is none. */
export const browserPath = [process.env.CHROMIUM, ...places].find((path) => path !== undefined && existsSync(path));

/** As root, as in most containers, Chromium does not run in its sandbox. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
