import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { worldOf } from "../snapshot/worlds.ts";
import { browserPath, startBrowser } from "./browser.ts";
import { type Shop, startShop } from "./shop.ts";

const pictures = new URL("../../dist/console-pictures/", import.meta.url).pathname;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let shop: Shop;
let browser: Browser;

beforeAll(async () => {
  if (browserPath === undefined) return;
  mkdirSync(pictures, { recursive: true });
  [shop, browser] = await Promise.all([startShop(), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await shop?.close();
});

type Scheme = "light" | "dark";

/** A page of the console, and all that its browser complains of. */
async function open(place: string, { scheme = "light" as Scheme, url = shop.url } = {}) {
  // What axe is put into a page by, the console's own policy forbids.
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width: 1280, height: 900 },
    bypassCSP: false,
  });
  context.setDefaultTimeout(8_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => complaints.push(`a dialog says ${dialog.message()}`));
  await page.goto(`${url}/${place}`);
  await page.locator("h1").first().waitFor();
  await page.waitForLoadState("networkidle");
  return { page, complaints, close: () => context.close() };
}

/** What axe finds wrong, by rule and element. Its text runs in a world of its own, past the policy of the page. */
async function violations(page: Page): Promise<readonly string[]> {
  const { readFileSync } = await import("node:fs");
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { contextId: executionContextId, expression: readFileSync(axe, "utf8") });
  const { result } = await session.send("Runtime.evaluate", {
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
    expression:
      "axe.run().then(({violations, passes}) => passes.length < 5 ? ['axe has looked at nothing'] : violations.flatMap(({id, nodes}) => nodes.map(({target, failureSummary}) => [id, target, failureSummary].join(' '))))",
  });
  return result.value;
}

const pages = [
  ["overview", "#/"],
  ["history", "#/history"],
  ["diagnostics", "#/diagnostics"],
  ["classes", "#/classes"],
  ["resources", "#/resources?q=catalog"],
] as const;

describe.skipIf(browserPath === undefined)("the console in a browser", () => {
  describe.each(["light", "dark"] as const)("%s", (scheme) => {
    it.each(pages)("shows %s without a complaint of the browser's or of axe's", async (name, place) => {
      const { page, complaints, close } = await open(place, { scheme });
      await page.screenshot({ path: `${pictures}${name}-${scheme}.png` });
      expect(await violations(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });
  });

  it("leads from a class to a resource and the objects that it was made from", async () => {
    const { page, complaints, close } = await open("#/classes");
    await page.getByRole("link", { name: /^router-/ }).click();
    await page.getByRole("link", { name: "routes" }).first().click();
    await page.getByRole("link", { name: /^http\./ }).click();
    await page.getByText("VirtualService/bookshop/catalog").waitFor();
    await page.getByText('"weight": 70').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it("finds by a part of a name, and keeps what was searched in the address", async () => {
    const { page, close } = await open("#/resources");
    await page.keyboard.press("/");
    await page.keyboard.type("reviews");
    await page.waitForURL(/q=reviews/);
    await page
      .getByRole("link", { name: /reviews/ })
      .first()
      .waitFor();
    await page.getByText("BlackHoleCluster").waitFor({ state: "detached" });
    await close();
  });

  it("goes from page to page by keys alone, and says which there are", async () => {
    const { page, close } = await open("#/");
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("heading", { name: "Classes of proxies" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await close();
  });

  it("shows what a hostile object is called, and runs none of it", async () => {
    const evil = await startShop();
    const name = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
    const world = worldOf({ web: { clusters: { [name]: name } } });
    await evil.publish({
      ...world,
      nodes: [{ keys: [`${name.replaceAll("/", "")}.x`], classId: "web" }],
      diagnostics: [
        {
          code: "unknown-field",
          severity: "error",
          origin: { key: { group: "", kind: name, namespace: name, name }, file: "javascript:alert(3)", line: 1 },
          path: [name],
          message: name,
          hint: name,
        },
      ],
    });
    for (const place of [
      "#/classes",
      "#/diagnostics",
      "#/resources",
      "#/class/web",
      `#/resource?class=web&name=${encodeURIComponent(name)}`,
    ]) {
      const { page, complaints, close } = await open(place, { url: evil.url });
      await page.getByText("<img src=x").filter({ visible: true }).first().waitFor();
      expect(await page.locator("img, script:not([src])").count()).toBe(0);
      expect(complaints).toEqual([]);
      await close();
    }
    await evil.close();
  });
});
