import { mkdirSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pollBody } from "../front/fixtures.ts";
import { lacks } from "../skip.ts";
import { browserPath, startBrowser } from "./browser.ts";
import { largeMesh } from "./large-mesh.ts";
import { type Shop, startShop } from "./shop.ts";

const pictures = new URL("../../dist/console-pictures/", import.meta.url).pathname;
const shops: Shop[] = [];
let browser: Browser;

beforeAll(async () => {
  if (browserPath === undefined) return;
  mkdirSync(pictures, { recursive: true });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  for (const shop of shops) await shop.close();
});

async function started(...how: Parameters<typeof startShop>): Promise<Shop> {
  const shop = await startShop(...how);
  shops.push(shop);
  return shop;
}

async function opened({ url }: Shop, place: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(25_000);
  await page.goto(`${url}/${place}`);
  return page;
}

/** How many of these a person can see at once, and of which pairs one covers the other. */
const inSight = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) => {
    const boxes = all.map((one) => one.getBoundingClientRect()).filter(({ top, bottom }) => bottom > 0 && top < 900);
    const covered = boxes.filter((a, i) =>
      boxes.some(
        (b, j) => j < i && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1,
      ),
    );
    return { seen: boxes.length, covered: covered.length };
  });

describe.skipIf(lacks(browserPath !== undefined, "Chromium: apt-get install chromium, or set CHROMIUM to one"))(
  "the console where there is little to show, or much",
  { timeout: 90_000 },
  () => {
    it("says of nobody that all is well, and does once somebody has asked", async () => {
      const shop = await started();
      const page = await opened(shop, "#/nodes");
      await page.getByText("No node has connected to this front yet.").waitFor();
      expect(await page.getByText("All connected nodes match a class").count()).toBe(0);
      const node = { id: "router~127.0.0.11~istio-ingressgateway-1.bookshop~bookshop.svc.cluster.local", cluster: "" };
      const poll = (version?: string) =>
        fetch(`${shop.url}/v3/discovery:clusters`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: pollBody("clusters", { ...node, metadata: {} }, version === undefined ? {} : { version }),
        });
      const { version_info: version } = Object(await (await poll()).json());
      await (await poll(version)).text();
      await page.getByText("All connected nodes match a class").waitFor();
      await page.close();
    });

    it("says of an empty store how it is filled, and shows the first version by itself", async () => {
      const shop = await started({}, 0);
      const page = await opened(shop, "#/");
      await page.getByRole("heading", { name: "Nothing is published yet" }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.screenshot({ path: `${pictures}empty.png` });
      await shop.publish(await shop.compile());
      await page.getByText("Generation 1", { exact: false }).first().waitFor();
      await page.close();
    });

    it("has nothing to compare a first version with, and compares as soon as there is a second", async () => {
      const shop = await started({}, 1);
      const page = await opened(shop, "#/diff");
      await page.getByRole("heading", { name: "There is one version so far" }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await shop.publish(
        await shop.compile((text) => text.replace("weight: 90", "weight: 70").replace("weight: 10", "weight: 30")),
      );
      await page.getByText("http.10080").first().waitFor();
      await page.close();
    });

    it("follows a request itself where the front follows none, as at the edge, and says what to type", async () => {
      const shop = await started({ loadTracer: undefined, moves: undefined });
      const asked = "#/trace?node=istio-ingressgateway-1.bookshop&url=http://shop.example.com:10080/catalog/it's";
      const page = await opened(shop, asked);
      const command = "portolan trace istio-ingressgateway-1.bookshop 'http://shop.example.com:10080/catalog/it'\\''s'";
      await page.getByText(`${command} --server ${shop.url}`).waitFor();
      await page.getByText("to the endpoints of").first().waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      const here = await page.locator(".way, .ways").allInnerTexts();
      await page.screenshot({ path: `${pictures}trace-edge.png` });
      const served = await started();
      await page.goto(`${served.url}/${asked}`);
      await page.getByText("to the endpoints of").first().waitFor();
      expect(here.length).toBeGreaterThan(1);
      expect(await page.locator(".way, .ways").allInnerTexts()).toEqual(here);
      await page.goto(`${shop.url}/#/trace?node=nobody.shop&url=http://a/`);
      await page.getByRole("alert").getByText('there is no node or class "nobody.shop"').waitFor();
      await page.goto(`${shop.url}/#/rollout`);
      await page.getByText("portolan rollback --to 1").waitFor();
      await page.close();
      const stale = await browser.newPage();
      await stale.route("**/follow-*", (route) => route.abort());
      await stale.goto(`${shop.url}/${asked}`);
      await stale.getByRole("alert").getByText("reload the page").waitFor();
      await stale.close();
    });

    it("draws 1,000 services so that nothing covers anything, and leads to one of them by search and keys", async () => {
      const shop = await started({}, 0);
      await shop.publish(largeMesh());
      const page = await opened(shop, "#/mesh");
      await page.getByRole("button", { name: /^sidecars of team-0/ }).waitFor();
      const beganMs = Date.now();
      await page.reload();
      await page.getByRole("button", { name: /^sidecars of team-19/ }).waitFor();
      const drawnMs = Date.now() - beganMs;
      console.log(`1,000 services: asked for and drawn in ${drawnMs} ms`);
      expect(drawnMs).toBeLessThan(10_000);
      await page.screenshot({ path: `${pictures}mesh-1000.png` });
      const whole = await inSight(page, ".picture .item");
      expect(whole.seen).toBeGreaterThan(15);
      expect(whole.covered).toBe(0);
      // Who sees everything has one line, the others three each: no wall of lines.
      expect(await page.locator(".picture path").count()).toBeLessThanOrEqual(1 + 20 * 3);

      await page.keyboard.press("/");
      await page.keyboard.type("app-205");
      await page.getByRole("button", { name: /^app-205 team-4/ }).press("Enter");
      await page.getByText("Seen by").waitFor();
      for (const neighbour of [
        /^gateways of istio-system/,
        /^sidecars of team-4/,
        /^sidecars of team-3/,
        /^app-205 v1/,
        /^app-205 v2/,
      ])
        await page.getByRole("button", { name: neighbour }).waitFor();
      expect(await page.getByRole("button", { name: /^sidecars of team-9/ }).count()).toBe(0);
      expect((await page.locator(".picture text").allTextContents()).toSorted()).toEqual(["10 %", "90 %"]);
      await page.screenshot({ path: `${pictures}mesh-1000-one.png` });
      await page.getByRole("button", { name: "All of it" }).press("Enter");
      await page.getByRole("button", { name: /^sidecars of team-9/ }).waitFor();
      await page.close();
    });
  },
);
