import { HttpAgent, httpRequest } from "../http.ts";

/** The admin interface of an Envoy, as far as the agent asks. */
export interface EnvoyAdmin {
  /** `LIVE`, `INITIALIZING`, `PRE_INITIALIZING`, `DRAINING`; undefined when nobody answers. */
  state(): Promise<string | undefined>;
  /** @returns whether it was answered well */
  post(path: string): Promise<boolean>;
  /** Text of a page; undefined when nobody answers. */
  page(path: string): Promise<string | undefined>;
  /** A page as it comes, which may be long; undefined when nobody answers. Who does not read on ends it. */
  pieces(path: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  close(): void;
}

const timeoutMs = 5_000;

/** Longest page that is read. */
const maxPageBytes = 64 * 1024 * 1024;

/** @param address `host:port`, as Envoy writes it into the file of `--admin-address-path` */
export function envoyAdmin(address: string): EnvoyAdmin {
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 4 });
  const base = new URL(`http://${address}`);

  const ask = (path: string, method: "GET" | "POST") =>
    new Promise<{ readonly status: number; readonly body: string } | undefined>((resolve) => {
      const begun = httpRequest(new URL(path, base), { method, agent, timeout: timeoutMs }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxPageBytes) begun.destroy();
          else chunks.push(chunk);
        });
        response.once("error", () => resolve(undefined));
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
        );
      });
      begun.once("timeout", () => begun.destroy());
      begun.once("error", () => resolve(undefined));
      begun.once("close", () => resolve(undefined));
      begun.end();
    });
  const page = async (path: string) => {
    const answer = await ask(path, "GET");
    return answer?.status === 200 ? answer.body : undefined;
  };

  return {
    async state() {
      // Answers 503 with the state until it is live.
      const answer = await ask("/ready", "GET");
      return answer?.body.trim();
    },
    post: async (path) => (await ask(path, "POST"))?.status === 200,
    page,
    pieces: (path) =>
      new Promise((resolve) => {
        const begun = httpRequest(new URL(path, base), { agent, timeout: timeoutMs }, (response) => {
          if (response.statusCode === 200) return resolve(response);
          response.resume();
          resolve(undefined);
        });
        begun.once("timeout", () => begun.destroy());
        begun.once("error", () => resolve(undefined));
        begun.end();
      }),
    close: () => agent.destroy(),
  };
}
