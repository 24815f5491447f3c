import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const waitMs = 40_000;

/**
 * Runs `portolan dev` on a copy of the sample, edits a weight when it serves, and waits for the version that follows.
 *
 * @param {string} root of the repository
 * @param {string} folder holds the copy as `mesh`
 * @returns {Promise<{url: string, frames: readonly (readonly [number, string])[], end: () => Promise<unknown>}>} what it wrote, with seconds
 *   since the start; it goes on serving until its end
 */
export async function recordDev(root, folder) {
  const child = spawn(process.execPath, [join(root, "functions/portolan.mjs"), "dev", "mesh", "--port", "0"], {
    cwd: folder,
    env: { ...process.env, FORCE_COLOR: "1", NO_COLOR: undefined },
    // Its standard output is a bootstrap for Envoy, which goes to a file here.
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  const startMs = Date.now();
  /** @type {[number, string][]} */
  const frames = [];
  let told = "";
  /** @type {() => void} */
  let heard = () => {};
  child.stderr.on("data", (data) => {
    told += data;
    frames.push([(Date.now() - startMs) / 1000, String(data).replaceAll("\n", "\r\n")]);
    heard();
  });
  /** @param {RegExp} pattern */
  const says = async (pattern) => {
    const timer = setTimeout(() => {
      child.kill();
      throw new Error(`portolan dev did not say ${pattern} within ${waitMs} ms, but:\n${told}`);
    }, waitMs);
    while (!pattern.test(told)) await new Promise((resolve) => (heard = () => resolve(undefined)));
    clearTimeout(timer);
  };
  await says(/generation 1[^\d][\s\S]*plain text, at once/);
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(told) ?? [];
  const catalog = join(folder, "mesh/catalog.yaml");
  frames.push([(Date.now() - startMs) / 1000, edited]);
  writeFileSync(
    catalog,
    readFileSync(catalog, "utf8").replace("weight: 90", "weight: 50").replace("weight: 10", "weight: 50"),
  );
  await says(/generation 2[^\d].*\n/);
  return {
    url,
    frames,
    end: () => {
      child.kill("SIGTERM");
      return exit;
    },
  };
}

/** What somebody did meanwhile, in another window. */
const edited =
  "\r\n\u001b[2m# in another window: sed -i 's/weight: [19]0/weight: 50/' mesh/catalog.yaml\u001b[22m\r\n\r\n";
