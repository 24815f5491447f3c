import { jsonResponse } from "../kubernetes/fake-api-server.ts";

interface Entry {
  readonly id: string;
  readonly passing: boolean;
}

/**
 * A Consul agent in memory, with blocking queries as the real one has them: the catalogue's wakes for instances and not for checks,
 * that of all checks for checks.
 */
export class FakeConsul {
  readonly #services = new Map<string, readonly Entry[]>();
  #waiting: (() => void)[] = [];
  index = 10;
  healthIndex = 10;
  /** Answers instead of its own, each once. */
  readonly answers: ((url: URL) => Response | undefined)[] = [];
  readonly requests: URL[] = [];
  /** Queries that were under way at once, at most. */
  most = 0;
  #underWay = 0;

  set(name: string, entries: readonly Entry[]): void {
    const before = this.#services.get(name) ?? [];
    if (entries.length === 0) this.#services.delete(name);
    else this.#services.set(name, entries);
    this.healthIndex += 1;
    if (idsOf(before) !== idsOf(entries)) this.index += 1;
    this.wake();
  }

  /** Forgets everything, and counts from the beginning. */
  restart(): void {
    this.#services.clear();
    this.index = 1;
    this.healthIndex = 1;
    this.wake();
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    this.requests.push(url);
    this.#underWay += 1;
    this.most = Math.max(this.most, this.#underWay);
    try {
      return await this.#answer(url, init?.signal ?? undefined);
    } finally {
      this.#underWay -= 1;
    }
  };

  async #answer(url: URL, signal: AbortSignal | undefined): Promise<Response> {
    const isHealth = url.pathname.startsWith("/v1/health/");
    const asked = Number(url.searchParams.get("index") ?? 0);
    if (asked === 0) await new Promise((resolve) => setImmediate(resolve));
    while (asked > 0 && asked === (isHealth ? this.healthIndex : this.index) && this.answers.length === 0) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve);
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    }
    const prepared = this.answers.shift()?.(url);
    if (prepared !== undefined) return prepared;
    const response = jsonResponse(this.#body(url.pathname, isHealth));
    response.headers.set("x-consul-index", String(isHealth ? this.healthIndex : this.index));
    response.headers.set("x-consul-knownleader", "true");
    return response;
  }

  #body(path: string, isHealth: boolean): unknown {
    if (path === "/v1/catalog/services")
      return Object.fromEntries([...this.#services.keys()].map((name) => [name, []]));
    if (path === "/v1/health/state/any") {
      return [...this.#services.values()].flat().map(({ id, passing }) => ({ ServiceID: id, Status: status(passing) }));
    }
    const name = path.split("/").at(-1) ?? "";
    return (this.#services.get(name) ?? []).map(({ id, passing }) =>
      isHealth
        ? {
            Node: { Node: "n", Address: "10.0.0.1", Datacenter: "dc1" },
            Service: { ID: id, Service: name, Port: 80 },
            Checks: [{ Status: status(passing) }],
          }
        : { Node: "n", Address: "10.0.0.1", Datacenter: "dc1", ServiceID: id, ServiceName: name, ServicePort: 80 },
    );
  }
}

const status = (passing: boolean): string => (passing ? "passing" : "critical");
const idsOf = (entries: readonly Entry[]): string => entries.map(({ id }) => id).join();
