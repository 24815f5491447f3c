// Builds the real servers that test/servers runs against, from the Go module registry: kube-apiserver, etcd and Consul, and Helm, each once
// for its version, into the ignored folder .cache/servers, which is a link into the user's cache; beside them go the Gateway API's released
// CustomResourceDefinitions. Does nothing when they are there. Without Go, one line says so, and the tests that need them are skipped.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { linkToCache } from "../../scripts/test-cache.mjs";

const here = new URL(".", import.meta.url).pathname;
const folder = new URL("../../.cache/servers", import.meta.url).pathname;

const kubernetes = "k8s.io/component-base/version";
const servers = [
  {
    name: "kube-apiserver",
    version: "1.35.4",
    module: "kubernetes",
    program: "k8s.io/kubernetes/cmd/kube-apiserver",
    // Without them it says that it is 0.0.0, and refuses its own flags.
    flags: `-X ${kubernetes}.gitVersion=v1.35.4 -X ${kubernetes}.gitMajor=1 -X ${kubernetes}.gitMinor=35`,
  },
  { name: "etcd", version: "3.6.5", module: "kubernetes", program: "go.etcd.io/etcd/server/v3", flags: "" },
  { name: "consul", version: "1.15.4", module: "consul", program: "github.com/hashicorp/consul", flags: "" },
];

linkToCache(".cache/servers", "all");
for (const { name, version, module, program, flags } of servers) {
  const target = join(folder, `${name}-${version}`);
  if (existsSync(target)) continue;
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
  } catch {
    console.error("portolan: no Go to build kube-apiserver, etcd and Consul with; install Go 1.25 or newer");
    break;
  }
  console.log(`portolan: building ${name} ${version}, once; kube-apiserver and Consul take some minutes each`);
  // One after the other, and after everybody else: both need gigabytes.
  const build = ["go", "build", "-p", "2", "-trimpath", "-ldflags", `-s -w ${flags}`, "-o", `${target}.new`, program];
  execFileSync("nice", build, { cwd: join(here, module), stdio: "inherit" });
  renameSync(`${target}.new`, target);
}

const helm = { version: "3.22.0", target: join(folder, "helm-3.22.0") };
if (!existsSync(helm.target)) {
  const made = join(folder, "helm.new");
  try {
    console.log(`portolan: building Helm ${helm.version}, once; it takes some minutes`);
    const install = ["go", "install", "-p", "2", "-trimpath", `helm.sh/helm/v3/cmd/helm@v${helm.version}`];
    execFileSync("nice", install, { env: { ...process.env, GOBIN: made }, stdio: "inherit" });
    renameSync(join(made, "helm"), helm.target);
    rmSync(made, { recursive: true });
  } catch {
    console.error("portolan: no Go to build Helm with; install Go 1.25 or newer");
  }
}

const definitions = join(folder, "gateway-api-1.5.1");
if (!existsSync(definitions)) {
  const download = ["mod", "download", "-json", "sigs.k8s.io/gateway-api@v1.5.1"];
  try {
    const { Dir: module } = JSON.parse(execFileSync("go", download, { encoding: "utf8" }));
    cpSync(join(module, "config/crd/experimental"), `${definitions}.new`, { recursive: true });
    renameSync(`${definitions}.new`, definitions);
  } catch {
    console.error(
      "portolan: no Go to fetch the Gateway API's definitions with; tests make do with some that take anything",
    );
  }
}
