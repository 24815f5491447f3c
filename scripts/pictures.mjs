// `npm run pictures`: makes README's pictures of a real session anew. docs/terminal.cast is what `portolan dev` wrote, docs/terminal.svg its
// picture, docs/console.png a request that its console follows, in the system's Chromium (or CHROMIUM).

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { recordDev } from "./pictures/record.mjs";
import { terminalSvg } from "./pictures/terminal-svg.mjs";

const root = new URL("..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "portolan-pictures-"));
cpSync(join(root, "samples/bookshop"), join(folder, "mesh"), { recursive: true });
const session = await recordDev(root, folder);
try {
  const typed = "\u001b[2m$\u001b[22m npx portolan dev mesh > envoy.yaml\r\n";
  const whole = session.frames.map(([, text]) => text).join("");
  const cast = [{ version: 2, width: 98, height: 40, title: "npx portolan dev mesh > envoy.yaml" }, [0, "o", typed]];
  const lines = [...cast, ...session.frames.map(([at, text]) => [at, "o", text])];
  writeFileSync(join(root, "docs/terminal.cast"), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  const shown = whole.replaceAll(session.url, "http://127.0.0.1:8080");
  const title = "portolan dev compiles a folder, serves it, and publishes the next version when a weight is edited";
  writeFileSync(join(root, "docs/terminal.svg"), await terminalSvg(title, [[0, typed + shown]]));
  await pictureOf(session.url);
} finally {
  await session.end();
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} url */
async function pictureOf(url) {
  const { CHROMIUM: executablePath = "/usr/bin/chromium" } = process.env;
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
  const page = await browser.newPage({ viewport: { width: 1180, height: 860 } });
  const asked = { node: "istio-ingressgateway-1.bookshop", url: "http://shop.example.com:10080/catalog" };
  await page.goto(`${url}/#/trace?${new URLSearchParams(asked)}`);
  await page.getByText("50 %").first().waitFor();
  await page.screenshot({ path: join(root, "docs/console.png") });
  await browser.close();
}
