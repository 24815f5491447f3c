import { describe, expect, it } from "vitest";
import { createTrouble } from "../../lib/collect/trouble.ts";

const away = (path: string) => `the watch of ${path} broke: connect ECONNREFUSED 127.0.0.1:6443`;

describe("what is told of parts that cannot be read", () => {
  it("is one line for all that fail together, while some fail sooner and others recover", () => {
    const trouble = createTrouble();
    const failures = new Map([["Service", away("/api/v1/services?watch=true")]]);
    const first = trouble.of(failures);
    expect(first).toBe(`Service: ${away("/api/v1/services?watch=true")}`);
    failures.set("Pod", away("/api/v1/pods?watch=true"));
    expect(trouble.of(failures)).toBe(first);
    failures.delete("Service");
    expect(trouble.of(failures)).toBe(first);
    failures.delete("Pod");
    expect(trouble.of(failures)).toBe("");
  });

  it("names the server where it refuses connections, whichever part was asked for", () => {
    const refused = new Map([["AuthorizationPolicy", "connect ECONNREFUSED 127.0.0.1:20059"]]);
    expect(createTrouble().of(refused)).toBe(
      "AuthorizationPolicy: the server at 127.0.0.1:20059 refuses connections (ECONNREFUSED)",
    );
  });

  it("is another when the reason is another, of whichever part comes first by name", () => {
    const trouble = createTrouble();
    trouble.of(new Map([["Service", away("/api/v1/services")]]));
    const failures = new Map([
      ["Service", "403 Forbidden"],
      ["Pod", "401 Unauthorized"],
    ]);
    expect(trouble.of(failures)).toBe("Pod: 401 Unauthorized");
    failures.delete("Pod");
    expect(trouble.of(failures)).toBe("Service: 403 Forbidden");
  });
});
