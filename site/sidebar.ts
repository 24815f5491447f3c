import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** A page of the site. */
export interface Entry {
  readonly text: string;
  /** Path from the repository's root. */
  readonly page: string;
}

/** What stands together in the sidebar. */
export interface Group {
  readonly text: string;
  /** Folded until one of its pages is read. */
  readonly isFolded: boolean;
  readonly entries: readonly Entry[];
}

const open = (text: string, entries: Readonly<Record<string, string>>): Group => group(text, false, entries);
const folded = (text: string, entries: Readonly<Record<string, string>>): Group => group(text, true, entries);

/** @param entries page → what the sidebar calls it; the page by its path in `docs/`, without its ending */
function group(text: string, isFolded: boolean, entries: Readonly<Record<string, string>>): Group {
  return {
    text,
    isFolded,
    entries: Object.entries(entries).map(([page, name]) => ({ text: name, page: pathOf(page) })),
  };
}

const pathOf = (page: string): string => (page.startsWith("/") ? `${page.slice(1)}.md` : `docs/${page}.md`);

/** All pages of a folder, in the order of their names, by their headings; its README first. */
function folder(text: string, path: string): Group {
  const pages = readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .sort((a, b) => Number(b === "README.md") - Number(a === "README.md") || (a < b ? -1 : 1))
    .map((name) => `${path}/${name}`);
  return { text, isFolded: true, entries: pages.map((page) => ({ text: headingOf(page), page })) };
}

const headingOf = (page: string): string =>
  (/^# (.+)$/m.exec(readFileSync(join(root, page), "utf8"))?.[1] ?? page).replaceAll("`", "");

/** Every page, in an order for whoever begins. `test/docs/site.test.ts` tells of a page of `docs/` that is not in it. */
export function sidebar(): readonly Group[] {
  return [
    open("Begin", {
      "/README": "What Portolan is",
      "getting-started": "Five minutes",
      concepts: "Concepts",
      README: "All pages, by task",
    }),
    open("Coming from", {
      "from-istio": "Istio",
      "from-envoy-gateway": "Envoy Gateway",
      "from-go-control-plane": "go-control-plane",
    }),
    open("Run it", {
      "run-on-one-machine": "On one machine",
      "deploy-cloudflare": "On Cloudflare",
      "deploy-aws": "On AWS",
      install: "In Kubernetes",
      "how-platforms-behave": "How platforms behave",
      settings: "Settings",
      stores: "Stores",
      agent: "Beside an Envoy: the agent",
      operations: "Operations",
      limits: "Limits",
      observability: "Metrics and alerts",
      console: "The console",
      cost: "What it costs",
    }),
    open("Configure it", {
      folders: "Folders",
      sources: "Live sources",
      "network-inputs": "Inputs that need the network",
      admission: "Checked when it is applied",
      injection: "Injected proxies",
      "git-to-mesh": "Git to mesh",
      "gateway-api": "The Gateway API",
      "review-bot": "On pull requests",
      differences: "Differences from Istio",
      releases: "Releases of Istio",
    }),
    open("Trust it", {
      security: "Security model",
      certificates: "Certificates",
      "/SECURITY": "Threats, and how to report",
      benchmarks: "Measured",
    }),
    open("Look it up", {
      cli: "Commands, by theme",
      "reference/cli": "Every command",
      "reference/api": "HTTP API",
      "reference/settings": "Every setting",
      "reference/limits": "Limits of requests",
      library: "Library",
      "diagnostics/README": "Messages",
      "diagnostics/reading": "Messages of reading",
      "diagnostics/registries": "Messages of what runs",
      "diagnostics/mesh": "Messages of the mesh",
      "diagnostics/xds": "Messages of what Envoy gets",
      "diagnostics/analysis": "Messages of analyze",
    }),
    folded("How it works inside", {
      architecture: "Architecture",
      config: "Configuration",
      proxies: "Proxies",
      policies: "Policies",
      "/CONTRIBUTING": "Contributing",
      "contributing/three-changes": "Three changes",
      releasing: "Releasing",
    }),
    folder("Samples", "samples"),
    folder("Decisions", "docs/decisions"),
    folder("How Istio does it", "docs/how-istio-does-it"),
  ];
}
