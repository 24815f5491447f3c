import type { AttackClass } from "./attack-class.ts";

const get = (path: string) => ({ method: "GET", path });
const json = { "content-type": "application/json" };
const node = "sidecar~127.0.0.14~storefront-1.bookshop~bookshop.svc.cluster.local";

export const legacyAttacks: readonly AttackClass[] = [
  {
    name: "questions as Envoy asks them",
    transport: "v1",
    share: 40,
    ends: ["200"],
    send: (clients, random) => {
      const paths = [
        `/v1/clusters/c/${node}`,
        `/v1/listeners/c/${node}`,
        `/v1/routes/80/c/${node}`,
        "/v1/registration",
      ];
      return clients.http(get(paths[random(paths.length)] ?? ""));
    },
  },
  {
    name: "long URLs, always others",
    transport: "v1",
    share: 60,
    ends: ["200", "404", "414", "503"],
    send: (clients, random) => {
      const query = `${random(2 ** 30)}${"q".repeat(random(6_000))}`;
      const paths = [`/v1/clusters/c/${node}`, `/v1/listeners/c${random(1_000)}/${node}`, "/v1/registration"];
      return clients.http(get(`${paths[random(paths.length)]}?${query}`));
    },
  },
  {
    name: "one port 500 times",
    transport: "v1",
    share: 20,
    ends: ["200"],
    send: (clients, random) => {
      const host = `s${random(400)}.example`;
      const labels = Array.from({ length: 100 }, (_, at) => `a=${at}`).join(";");
      const more = random(2) === 0 ? "" : `|${labels}`;
      return clients.http(get(`/v1/registration/${host}%7C${"http,".repeat(500)}http${encodeURIComponent(more)}`));
    },
  },
  {
    name: "nodes and keys that are none",
    transport: "v1",
    share: 30,
    ends: ["200", "301", "400", "404", "405", "406", "414", "503"],
    send: (clients, random) => {
      const odd = [
        "constructor",
        "__proto__",
        "%",
        "%ff",
        "~~~",
        "sidecar~::1~a~b",
        "a%7Cb%7Cc=d",
        "x".repeat(random(8_000)),
        "/",
        "%00",
      ];
      const one = () => odd[random(odd.length)] ?? "";
      const kinds = ["clusters", "listeners", "az", "registration", "routes"];
      return clients.http(get(`/v1/${kinds[random(kinds.length)]}/${one()}/${one()}`));
    },
  },
  {
    name: "counters",
    transport: "v1",
    share: 2,
    ends: ["200"],
    send: (clients, random) =>
      clients.http(random(4) === 0 ? { path: "/cache_stats_delete", headers: json } : get("/cache_stats")),
  },
];
