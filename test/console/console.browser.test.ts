import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readAuthentication } from "../../lib/front/auth/settings.ts";
import { createToken } from "../../lib/front/auth/token.ts";
import { setCanary } from "../../lib/snapshot/head/head-operations.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { pollBody } from "../front/fixtures.ts";
import { lacks } from "../skip.ts";
import { worldOf } from "../snapshot/worlds.ts";
import { browserPath, startBrowser } from "./browser.ts";
import { type Shop, startShop } from "./shop.ts";

const pictures = new URL("../../dist/console-pictures/", import.meta.url).pathname;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let shop: Shop;
let browser: Browser;
let refusing: ReturnType<typeof setInterval> | undefined;

beforeAll(async () => {
  if (browserPath === undefined) return;
  mkdirSync(pictures, { recursive: true });
  [shop, browser] = await Promise.all([startShop(), startBrowser()]);
  await refuse();
  // One that asks no more refuses nothing any more.
  refusing = setInterval(() => refuse().catch(() => {}), 1_000);
});

const gateway = "router~127.0.0.11~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local";

/** A gateway that takes nothing, and a node that nobody knows. */
async function refuse(): Promise<void> {
  const poll = (id: string) => {
    const node = { id, cluster: "", metadata: {} };
    const body = pollBody("listeners", node, { version: "an-older-one" });
    return fetch(`${shop.url}/v3/discovery:listeners`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
  };
  for (const id of [gateway, gateway, gateway, "sidecar~10.9.9.9~lost.nowhere~nowhere.svc.cluster.local"])
    await (await poll(id)).text();
}

afterAll(async () => {
  clearInterval(refusing);
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
  context.setDefaultTimeout(25_000);
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
  ["diff", "#/diff?before=1&after=2"],
  ["mesh", "#/mesh"],
  ["mesh-services", "#/mesh?caller=router/bookshop&namespace=bookshop"],
  ["trace", "#/trace?node=istio-ingressgateway-1.bookshop&url=http://shop.example.com:10080/catalog"],
  ["nodes", "#/nodes"],
  ["inputs", "#/inputs"],
  ["rollout", "#/rollout"],
] as const;

describe.skipIf(lacks(browserPath !== undefined, "Chromium: apt-get install chromium, or set CHROMIUM to one"))(
  "the console in a browser",
  { timeout: 90_000 },
  () => {
    describe.each(["light", "dark"] as const)("%s", (scheme) => {
      it.each(pages)("shows %s without a complaint of the browser's or of axe's", async (name, place) => {
        const { page, complaints, close } = await open(place, { scheme });
        await page.screenshot({ path: `${pictures}${name}-${scheme}.png` });
        expect(await violations(page)).toEqual([]);
        expect(complaints).toEqual([]);
        await close();
      });
    });

    it("scrolls its tables on a narrow screen, and breaks no word into letters", async () => {
      const { page, close } = await open("#/history");
      await page.setViewportSize({ width: 400, height: 850 });
      const badge = await page.locator("td .badge").first().boundingBox();
      expect(badge?.height).toBeLessThan(30);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
      await page.goto(`${shop.url}/#/classes`);
      const who = await page.getByRole("cell", { name: "istio-ingressgateway-1.bookshop" }).boundingBox();
      expect(who?.width).toBeGreaterThan(100);
      await close();
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

    it("says which node refuses what, and what it may be about", async () => {
      const { page, close } = await open("#/nodes");
      await page.getByText("does not take listeners").waitFor();
      await page.getByText("lost.nowhere").first().waitFor();
      await page.getByText("an-older-one").first().waitFor();
      await close();
    });

    it("begins with what needs a look, and says of nothing that is refused that all is well", async () => {
      const { page, close } = await open("#/");
      const attention = page.getByRole("region", { name: "Needs attention" });
      await attention.getByText("1 proxy rejects its configuration").waitFor();
      await attention.getByText("1 node has no matching class").waitFor();
      await attention.getByText("istio-ingressgateway-1.bookshop").waitFor();
      const text = (await page.locator("main").textContent()) ?? "";
      expect(text.indexOf("Needs attention")).toBeLessThan(text.indexOf("Served"));
      expect(text).toContain("1 proxy");
      expect(text).toContain("1 active NACK for it");
      // Above every page: the worst, and what is served.
      const status = page.getByRole("region", { name: "What is served" });
      expect(await status.textContent()).toMatch(/1 refused.*serves \w{12} generation \d/);
      expect(text).not.toMatch(/No error|everybody has the newest|runs? what is served/);
      await close();
    });

    it("follows a request to the endpoints of both versions, and names the objects that decided it", async () => {
      const { page, close } = await open("#/trace");
      await page.getByLabel(/^Node/).fill("istio-ingressgateway-1.bookshop");
      await page.getByLabel("URL").fill("http://shop.example.com:10080/catalog");
      await page.getByRole("button", { name: "Trace request" }).click();
      await page.getByText("70 %").first().waitFor();
      await page.getByText("30 %").first().waitFor();
      await page.getByText("VirtualService/bookshop/catalog").first().waitFor();
      // The picture: what all requests pass, then a branch for each version.
      const stops = (list: string) => page.getByRole("list", { name: list }).locator(".step").allTextContents();
      expect(await stops("What every request passes")).toEqual([
        "listener",
        "filter chain",
        "route table",
        "virtual host",
      ]);
      const branches = page.getByRole("list", { name: "Where requests go" });
      expect(await branches.getByRole("meter").count()).toBe(2);
      expect(await branches.locator(".end .name").allTextContents()).toEqual(["127.0.0.11:9080", "127.0.0.12:9080"]);
      expect(await violations(page)).toEqual([]);
      await page.screenshot({ path: `${pictures}trace.png` });
      await close();
    });

    it("shows where two versions differ, place by place", async () => {
      const { page, complaints, close } = await open("#/diff?before=1&after=2");
      await page.getByText("http.10080").first().click();
      await page.locator("del", { hasText: "90" }).first().waitFor();
      await page.locator("ins", { hasText: "70" }).first().waitFor();
      await page.screenshot({ path: `${pictures}diff-open.png` });
      expect(await violations(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });

    it("leads everybody back when it is meant, and lets go again", async () => {
      const own = await startShop();
      const { page, complaints, close } = await open("#/rollout", { url: own.url });
      await page.getByRole("button", { name: "Roll back to generation 1" }).click();
      const dialog = page.getByRole("dialog");
      const act = dialog.getByRole("button", { name: "Roll back" });
      await dialog.getByLabel(/^Reason/).fill("checkout is down");
      expect(await act.isDisabled()).toBe(true);
      await dialog.getByLabel(/to confirm/).fill((await dialog.locator("label code").innerText()).trim());
      await page.screenshot({ path: `${pictures}rollback.png` });
      expect(await violations(page)).toEqual([]);
      await act.click();
      await page.getByText(/Generation 3 serves/).waitFor();
      await page.getByText("checkout is down").first().waitFor();
      await page.getByRole("button", { name: "Unpin…" }).click();
      await dialog.getByLabel(/^Reason/).fill("mended");
      await dialog.getByLabel(/to confirm/).fill((await dialog.locator("label code").innerText()).trim());
      await dialog.getByRole("button", { name: "Unpin" }).click();
      await page.getByText(/Generation 4 serves/).waitFor();
      expect(complaints).toEqual([]);
      await close();
      await own.close();
    });

    it("moves nothing that somebody else has moved meanwhile", async () => {
      const own = await startShop();
      const { entries } = Object(await (await fetch(`${own.url}/api/history`)).json());
      await setCanary(own.store, { root: entries[1].root, percent: 10, labels: {} });
      const { page, close } = await open("#/rollout", { url: own.url });
      await page.getByRole("button", { name: "Promote…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel(/^Reason/).fill("all well");
      await dialog.getByLabel(/to confirm/).fill((await dialog.locator("label code").innerText()).trim());
      await own.publish(
        await own.compile((text) => text.replace("weight: 90", "weight: 50").replace("weight: 10", "weight: 50")),
      );
      await dialog.getByRole("button", { name: "Promote the canary" }).click();
      await dialog.getByText(/has moved on to generation/).waitFor();
      await close();
      await own.close();
    });

    it("asks for a token where the front wants one, and keeps it in the tab", async () => {
      const key = await makeSigningKey("tokens");
      const tokens = { tokens: { keys: [publicPart(key)] } };
      const own = await startShop({ authentication: readAuthentication(JSON.stringify(tokens)) });
      const { page, close } = await open("#/classes", { url: own.url });
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.screenshot({ path: `${pictures}token.png` });
      await page
        .getByLabel("An operator's token")
        .fill(await createToken(key, { scope: "operator" }, { subject: "a test", nowMs: Date.now(), ttlSeconds: 60 }));
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("link", { name: /^sidecar-/ }).waitFor();
      await page.reload();
      await page.getByRole("link", { name: /^sidecar-/ }).waitFor();
      await close();
      await own.close();
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
  },
);
