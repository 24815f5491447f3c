import { type Fields, fieldsOf, textOf } from "../../../lib/base/untyped.ts";
import type { ApiClient } from "../../../lib/registry/kubernetes/api/client.ts";

/** The objects of an API server, as far as single ones are read and written under the condition of their version. */
export class FakeObjects {
  readonly objects = new Map<string, Fields>();
  /** `PUT /path`, in order. */
  readonly writes: string[] = [];
  /** Answers instead of it, with this status. */
  failing: number | undefined;
  /** Called before each write is looked at: somebody else may be faster. */
  before: (path: string) => void = () => {};
  private version = 0;

  /** What somebody else writes. */
  set(path: string, object: Fields): void {
    this.version += 1;
    const metadata = { ...fieldsOf(object.metadata), resourceVersion: String(this.version) };
    this.objects.set(path, { ...object, metadata });
  }

  readonly client: ApiClient = {
    baseUrl: "https://api.test",
    fetch: async (url, init) => {
      const { pathname } = new URL(url);
      const { method = "GET" } = init;
      if (this.failing !== undefined) return refusal(this.failing, "Failing");
      if (pathname.endsWith("/v1"))
        return Response.json({ kind: "APIResourceList", resources: [{ name: "httproutes" }] });
      const path = pathname.replace(/\/status$/, "");
      if (method === "GET") {
        const found = this.objects.get(path);
        return found === undefined ? refusal(404, "NotFound") : Response.json(found);
      }
      this.before(path);
      this.writes.push(`${method} ${pathname}`);
      const body = fieldsOf(JSON.parse(textOf(init.body)));
      const { name, resourceVersion } = fieldsOf(body.metadata);
      if (method === "POST") return this.write(`${path}/${textOf(name)}`, undefined, body);
      return this.write(path, textOf(resourceVersion), body);
    },
  };

  private write(path: string, version: string | undefined, body: Fields): Response {
    const there = this.objects.get(path);
    const current = there === undefined ? undefined : textOf(fieldsOf(there.metadata).resourceVersion);
    if (current !== version) return refusal(409, "Conflict");
    this.set(path, body);
    return Response.json(this.objects.get(path));
  }
}

const refusal = (status: number, reason: string): Response => Response.json({ kind: "Status", reason }, { status });
