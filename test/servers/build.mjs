// Builds the real servers that test/servers runs against, from the Go module registry: kube-apiserver, etcd and Consul, Istio's pilot-agent and
// istioctl, Helm, each once for its version, and local-kms, which answers as AWS KMS, into the ignored folder .cache/servers, a link into the
// user's cache; beside them go the Gateway API's released
// CustomResourceDefinitions. Does nothing when they are there. Without Go, one line says so, and the tests that need them are skipped.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linkToCache } from "../../scripts/test-cache.mjs";

const here = new URL(".", import.meta.url).pathname;
const folder = new URL("../../.cache/servers", import.meta.url).pathname;

/** One is built: the newest, or that which `KUBERNETES` names (test/servers/server-binaries.ts). */
const version = process.env.KUBERNETES ?? "1.37.2";
const [major, minor] = version.split(".");
const kubernetes = "k8s.io/component-base/version";
const istio = "eed52ebb66ad";
const servers = [
  {
    name: "kube-apiserver",
    version,
    module: `kubernetes-${major}.${minor}`,
    program: "k8s.io/kubernetes/cmd/kube-apiserver",
    // Without them it says that it is 0.0.0, and refuses its own flags.
    flags: `-X ${kubernetes}.gitVersion=v${version} -X ${kubernetes}.gitMajor=${major} -X ${kubernetes}.gitMinor=${minor}`,
  },
  { name: "etcd", version: "3.6.5", module: "kubernetes-1.35", program: "go.etcd.io/etcd/server/v3", flags: "" },
  { name: "consul", version: "1.15.4", module: "consul", program: "github.com/hashicorp/consul", flags: "" },
  // By the commit of the module's version: Istio's releases are no Go modules.
  { name: "pilot-agent", version: istio, module: "istio", program: "istio.io/istio/pilot/cmd/pilot-agent", flags: "" },
  { name: "istioctl", version: istio, module: "istio", program: "istio.io/istio/istioctl/cmd/istioctl", flags: "" },
];

linkToCache(".cache/servers", "all");
for (const { name, version, module, program, flags } of servers) {
  const target = join(folder, `${name}-${version}`);
  if (existsSync(target)) continue;
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
  } catch {
    console.error(
      "portolan: no Go to build kube-apiserver, etcd, Consul and Istio's programs with; install Go 1.26 or newer",
    );
    break;
  }
  console.log(`portolan: building ${name} ${version}, once; most take some minutes`);
  // One after the other, and after everybody else: both need gigabytes.
  const build = ["go", "build", "-p", "2", "-trimpath", "-ldflags", `-s -w ${flags}`, "-o", `${target}.new`, program];
  execFileSync("nice", build, { cwd: join(here, module), stdio: "inherit" });
  renameSync(`${target}.new`, target);
}

// What the agent makes Envoy's bootstrap of; in Istio's image it stands beside the agent.
const bootstrap = join(folder, `istio-bootstrap-${istio}.json`);
if (!existsSync(bootstrap)) {
  try {
    const listed = ["list", "-m", "-f", "{{.Dir}}", "istio.io/istio"];
    const module = execFileSync("go", listed, { cwd: join(here, "istio"), encoding: "utf8" }).trim();
    cpSync(join(module, "tools/packaging/common/envoy_bootstrap.json"), bootstrap);
  } catch {
    console.error("portolan: no Go to fetch the template of Istio's bootstrap with");
  }
}

const programs = [
  { name: "helm", version: "3.22.0", program: "helm.sh/helm/v3/cmd/helm@v3.22.0" },
  // It has no releases; the version is its commit's.
  {
    name: "local-kms",
    version: "20260228",
    program: "github.com/nsmithuk/local-kms@v0.0.0-20260228092603-2a5e92d09ab6",
  },
];
for (const { name, version, program } of programs) {
  const target = join(folder, `${name}-${version}`);
  if (existsSync(target)) continue;
  const made = join(folder, `${name}.new`);
  try {
    console.log(`portolan: building ${name} ${version}, once; it takes some minutes`);
    const install = ["go", "install", "-p", "2", "-trimpath", program];
    execFileSync("nice", install, { env: { ...process.env, GOBIN: made }, stdio: "inherit" });
    renameSync(join(made, name), target);
    rmSync(made, { recursive: true });
  } catch {
    console.error(`portolan: no Go to build ${name} with; install Go 1.26 or newer`);
  }
}

// From the modules' archives: none is built, and the newest release asks for a newer Go than some have.
for (const version of ["1.5.1", "1.6.0", "1.7.0"]) {
  const target = join(folder, `gateway-api-${version}`);
  if (existsSync(target)) continue;
  const module = `sigs.k8s.io/gateway-api@v${version}`;
  const made = `${target}.new`;
  try {
    // Outside of any module, whose own versions would count. It fails after the download where Go is older than the module asks for.
    const { stdout } = spawnSync("go", ["mod", "download", "-json", module], { cwd: tmpdir(), encoding: "utf8" });
    execFileSync("python3", ["-m", "zipfile", "-e", JSON.parse(stdout).Zip, made]);
    renameSync(join(made, module, "config/crd/experimental"), target);
  } catch {
    const needed = "it needs Go, Python and the Go module proxy";
    console.error(`portolan: the Gateway API's definitions ${version} could not be fetched; ${needed}`);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
