import { PortolanError } from "../../base/diagnostic.ts";
import type { Settings } from "../../settings/schema.ts";
import { usualAdmissionPort } from "./admission-server.ts";
import type { Part, Rule } from "./rule.ts";

/** Something that listens. */
interface Listener {
  readonly section: readonly string[];
  readonly name: "port" | "grpcPort" | "tlsPort";
  /** The part of `serve` that it belongs to; absent: to whichever runs. */
  readonly part?: Part;
  readonly host: string | undefined;
  /** 0 takes any. */
  readonly port: number;
}

/** What one `serve` runs needs ports of its own. */
export function equalPortRules(settings: Settings): readonly Rule[] {
  const listeners = listenersOf(settings).filter(({ port }) => port !== 0);
  return listeners.flatMap((later, index) =>
    listeners
      .slice(0, index)
      .filter((earlier) => earlier.port === later.port && isSameHost(earlier.host, later.host))
      .map((earlier) => ruleOf(earlier, later)),
  );
}

/** With what `serve` takes where nobody says anything. */
function listenersOf({ front = {}, compile, admission, health = {} }: Settings): readonly Listener[] {
  const { port = 8080, grpcPort = 0, tlsPort = 0, host } = front;
  const { webhook = {} } = compile ?? {};
  return [
    { section: ["front"], name: "port", part: "front", host, port },
    { section: ["front"], name: "grpcPort", part: "front", host, port: grpcPort },
    { section: ["front"], name: "tlsPort", part: "front", host, port: tlsPort },
    { section: ["compile", "webhook"], name: "port", part: "compile", host: webhook.host, port: webhook.port ?? 0 },
    {
      section: ["admission"],
      name: "port",
      part: "admission",
      host: admission?.host,
      port: admission === undefined ? 0 : (admission.port ?? usualAdmissionPort),
    },
    { section: ["health"], name: "port", host: health.host, port: health.port ?? 0 },
  ];
}

function isSameHost(one = "localhost", other = "localhost"): boolean {
  const [a, b] = [addressOf(one), addressOf(other)];
  const holds = (all: string, host: string) => all === "::" || (all === "0.0.0.0" && !host.includes(":"));
  return a === b || holds(a, b) || holds(b, a);
}

const addressOf = (host: string): string => (host === "localhost" ? "127.0.0.1" : host);

function ruleOf(earlier: Listener, later: Listener): Rule {
  const fieldOf = ({ section, name }: Listener) => [...section, name].join(".");
  return {
    path: [...later.section, later.name],
    parts: [earlier, later].flatMap(({ part }) => part ?? []),
    reads: [fieldOf(earlier), ...[earlier, later].map(({ section }) => [...section, "host"].join("."))],
    check: () => {
      throw new PortolanError(`is ${later.port}, as ${fieldOf(earlier)} is: only one can listen there`);
    },
  };
}
