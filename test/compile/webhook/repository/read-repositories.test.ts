import { describe, expect, it } from "vitest";
import { readRepositories } from "../../../../lib/compile/webhook/repository/read-repositories.ts";

const read = (settings: unknown, tokens?: unknown) =>
  readRepositories({
    REPOSITORIES: typeof settings === "string" ? settings : JSON.stringify(settings),
    REPOSITORY_TOKENS: tokens === undefined ? undefined : typeof tokens === "string" ? tokens : JSON.stringify(tokens),
  });

describe("readRepositories", () => {
  it("reads a repository of each host, with what is usual where nothing is said", () => {
    const settings = {
      main: { host: "github", repository: "shop/mesh" },
      lab: {
        host: "gitlab",
        repository: "group/sub/mesh",
        branch: "release/1",
        path: "mesh/prod",
        api: "https://git.example.com/api/v4/",
      },
    };
    expect(read(settings, { main: "t" })).toEqual(
      new Map([
        [
          "main",
          { host: "github", name: "shop/mesh", branch: "main", path: "", api: "https://api.github.com", token: "t" },
        ],
        [
          "lab",
          {
            host: "gitlab",
            name: "group/sub/mesh",
            branch: "release/1",
            path: "mesh/prod",
            api: "https://git.example.com/api/v4",
            token: undefined,
          },
        ],
      ]),
    );
  });

  it("has none where nothing is said", () => {
    expect([read(""), readRepositories({})]).toEqual([new Map(), new Map()]);
  });

  const good = { host: "github", repository: "shop/mesh" };
  it.each([
    ["no JSON", "{", "PORTOLAN_REPOSITORIES: "],
    ["a list", [], "PORTOLAN_REPOSITORIES: "],
    ["a source that is none", { "Main Source": good }, "Main Source"],
    ["a host that is not known", { main: { ...good, host: "gitea" } }, "main.host"],
    ["no repository", { main: { host: "github" } }, "main.repository"],
    ["a repository that leads elsewhere", { main: { ...good, repository: "shop/../other" } }, "main.repository"],
    ["a repository with a query", { main: { ...good, repository: "shop/mesh?x" } }, "main.repository"],
    ["a repository of GitHub's in a group", { main: { ...good, repository: "a/b/c" } }, "is OWNER/NAME"],
    ["a branch with blanks", { main: { ...good, branch: "a b" } }, "main.branch"],
    ["a path that leads out", { main: { ...good, path: "../other" } }, "main.path"],
    ["a path with a slash at its end", { main: { ...good, path: "mesh/" } }, "without a slash at its ends"],
    ["a typo", { main: { ...good, brnach: "main" } }, "brnach"],
    ["an API in clear text", { main: { ...good, api: "http://git.example.com" } }, "must begin with https://"],
    [
      "an API with a password",
      { main: { ...good, api: "https://a:sesame@git.example.com" } },
      "neither a user nor a query",
    ],
    ["an API that is no address", { main: { ...good, api: "git.example.com" } }, "must be the address"],
  ])("says what is wrong: %s", (_what, settings, told) => {
    expect(() => read(settings)).toThrow(told);
    expect(() => read(settings)).not.toThrow("sesame");
  });

  it.each(["sesame", '["sesame"]', '{"main": 1}', '{"main": "sesame open"}', '{"main": "sesame\\r\\nx: y"}'])(
    "takes no tokens that are none, and never says what stands there",
    (tokens) => {
      expect(() => read("", tokens)).toThrow("PORTOLAN_REPOSITORY_TOKENS is not JSON of the form");
      expect(() => read("", tokens)).not.toThrow("sesame");
    },
  );
});
