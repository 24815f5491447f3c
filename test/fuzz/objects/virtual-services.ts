import type { Dice } from "./dice.ts";
import {
  destinationHost,
  duration,
  exportTo,
  gatewayNames,
  headerName,
  labels,
  type Manifest,
  manifest,
  ports,
  ruleHost,
  stringMatch,
  subsetNames,
  workloadNamespaces,
} from "./vocabulary.ts";

const virtualServiceType = ["networking.istio.io/v1", "VirtualService"] as const;
const gateways = ["mesh", ...gatewayNames.flatMap((name) => [`istio-system/${name}`, `istio-system/${name}`, name])];

/** A VirtualService of any shape; an HTTP route may delegate to the one that `randomDelegate` makes. */
export function randomVirtualService(dice: Dice, name: string): Manifest {
  const bound = dice.chance(60) ? dice.some(gateways, 1, 2) : undefined;
  const shape = dice.int(10);
  return manifest(dice, virtualServiceType, [dice.pick(workloadNamespaces), name], {
    spec: {
      hosts: dice.some([ruleHost(dice), ruleHost(dice), dice.pick(["www.example.com", "*"])], 1, 2),
      ...(bound === undefined ? {} : { gateways: bound }),
      ...exportTo(dice),
      ...(shape < 8 ? { http: dice.list(1, 3, () => httpRoute(dice, bound ?? ["mesh"], true)) } : {}),
      ...(shape >= 7 ? { tls: dice.list(1, 2, () => tlsRoute(dice, bound ?? ["mesh"])) } : {}),
      ...(shape === 5 || shape === 9 ? { tcp: dice.list(1, 2, () => tcpRoute(dice, bound ?? ["mesh"])) } : {}),
    },
  });
}

const delegateNames = ["delegate-a", "delegate-b"] as const;

export function randomDelegate(dice: Dice): Manifest {
  return manifest(dice, virtualServiceType, [dice.pick(workloadNamespaces), dice.pick(delegateNames)], {
    spec: { http: dice.list(1, 2, () => httpRoute(dice, undefined, false)), ...exportTo(dice) },
  });
}

const destination = (dice: Dice): object => ({
  host: destinationHost(dice),
  ...dice.maybe(60, () => ({ port: { number: dice.pick(ports) } })),
  ...dice.maybe(30, () => ({ subset: dice.pick(subsetNames) })),
});

/** Destinations whose weights say something: one without, or several that share. */
function weighted(dice: Dice, more: () => object): object[] {
  const first = dice.pick([10, 50, 99, 0]);
  return dice.chance(60)
    ? [{ destination: destination(dice), ...more() }]
    : [
        { destination: destination(dice), weight: first, ...more() },
        { destination: destination(dice), weight: 100 - first, ...more() },
      ];
}

function httpRoute(dice: Dice, bound: readonly string[] | undefined, mayDelegate: boolean): object {
  const match = dice.maybe(70, () => ({ match: dice.list(1, 2, () => httpMatch(dice, bound)) }));
  const name = dice.maybe(30, () => ({ name: dice.pick(["first", "second"]) }));
  if (mayDelegate && dice.chance(8)) {
    const simple = dice.maybe(70, () => ({ match: [{ uri: { prefix: "/d" } }] }));
    return {
      ...name,
      ...simple,
      delegate: { name: dice.pick(delegateNames), namespace: dice.pick(workloadNamespaces) },
    };
  }
  return { ...name, ...match, ...httpAction(dice) };
}

function httpMatch(dice: Dice, bound: readonly string[] | undefined): object {
  return {
    ...dice.maybe(20, () => ({ name: "m" })),
    ...dice.maybe(60, () => ({ uri: stringMatch(dice, dice.pick(["/", "/api", "/api/v1/", "/d/x"])) })),
    ...dice.maybe(10, () => ({ scheme: stringMatch(dice, "http") })),
    ...dice.maybe(20, () => ({ method: stringMatch(dice, dice.pick(["GET", "POST"])) })),
    ...dice.maybe(15, () => ({ authority: stringMatch(dice, "www.example.com") })),
    ...dice.maybe(25, () => ({
      headers: { [headerName(dice)]: dice.pick([stringMatch(dice, "v"), {}]), ...dice.maybe(20, claims) },
    })),
    ...dice.maybe(15, () => ({ withoutHeaders: { [headerName(dice)]: dice.pick([stringMatch(dice, "n"), {}]) } })),
    ...dice.maybe(15, () => ({
      queryParams: { q: dice.pick([{ exact: "1" }, { prefix: "a" }, { regex: ".+" }, { exact: "" }]) },
    })),
    ...dice.maybe(10, () => ({ port: dice.pick(ports) })),
    ...dice.maybe(10, () => ({ sourceLabels: labels(dice) })),
    ...dice.maybe(10, () => ({ sourceNamespace: dice.pick(workloadNamespaces) })),
    ...(bound === undefined ? {} : dice.maybe(10, () => ({ gateways: [dice.pick(bound)] }))),
    ...dice.maybe(10, () => ({ ignoreUriCase: true })),
    ...dice.maybe(10, () => ({ statPrefix: "my.stats" })),
  };
}

const claims = (): object => ({ "@request.auth.claims.groups": { exact: "admin" } });

function httpAction(dice: Dice): object {
  const which = dice.int(10);
  const shared = {
    ...dice.maybe(20, () => ({ headers: headerRules(dice) })),
    ...dice.maybe(15, () => ({ corsPolicy: cors(dice) })),
  };
  if (which === 0) return { redirect: redirect(dice), ...shared };
  if (which === 1) {
    return {
      directResponse: {
        status: dice.pick([200, 404, 503]),
        ...dice.maybe(60, () => ({ body: dice.pick([{ string: "hello" }, { bytes: "aGVsbG8=" }]) })),
      },
      ...shared,
    };
  }
  return {
    route: weighted(dice, () => dice.maybe(20, () => ({ headers: headerRules(dice) }))),
    ...shared,
    ...dice.maybe(25, () => ({ timeout: dice.pick(["0s", duration(dice)]) })),
    ...dice.maybe(25, () => ({ retries: retries(dice) })),
    ...dice.maybe(20, () => ({ fault: fault(dice) })),
    ...dice.maybe(20, () => ({ rewrite: rewrite(dice) })),
    ...dice.maybe(15, () => ({
      mirror: destination(dice),
      ...dice.maybe(60, () => ({ mirrorPercentage: { value: 12.5 } })),
    })),
    ...dice.maybe(10, () => ({
      mirrors: dice.list(1, 2, () => ({
        destination: destination(dice),
        ...dice.maybe(50, () => ({ percentage: { value: 0.01 } })),
      })),
    })),
  };
}

const redirect = (dice: Dice): object => ({
  ...dice.pick([{ uri: "/elsewhere" }, { authority: "other.example.com" }, { scheme: "https" }]),
  ...dice.maybe(30, () => ({ scheme: dice.pick(["http", "https"]) })),
  ...dice.maybe(30, () =>
    dice.pick([{ port: 8443 }, { derivePort: "FROM_REQUEST_PORT" }, { derivePort: "FROM_PROTOCOL_DEFAULT" }]),
  ),
  ...dice.maybe(40, () => ({ redirectCode: dice.pick([301, 302, 303, 307, 308]) })),
});

const rewrite = (dice: Dice): object =>
  dice.pick([
    { uri: "/new" },
    { uri: "/" },
    { authority: "new.example.com" },
    { uri: "/new/", authority: "new.example.com" },
    { uriRegexRewrite: { match: "^/api/(.*)$", rewrite: "/\\1" } },
  ]);

const retries = (dice: Dice): object => ({
  attempts: dice.int(4),
  ...dice.maybe(50, () => ({ perTryTimeout: duration(dice) })),
  ...dice.maybe(50, () => ({
    retryOn: dice.pick(["5xx", "gateway-error,503", "connect-failure,refused-stream", "429,reset"]),
  })),
  ...dice.maybe(30, () => ({ retryRemoteLocalities: dice.chance(50) })),
  ...dice.maybe(20, () => ({ retryIgnorePreviousHosts: dice.chance(50) })),
  ...dice.maybe(20, () => ({ backoff: duration(dice) })),
});

const fault = (dice: Dice): object => {
  const delay = {
    fixedDelay: duration(dice),
    ...dice.maybe(70, () => ({ percentage: { value: dice.pick([0, 0.1, 50, 100]) } })),
  };
  const abort = {
    ...dice.pick([{ httpStatus: 503 }, { grpcStatus: "UNAVAILABLE" }]),
    ...dice.maybe(70, () => ({ percentage: { value: dice.pick([0.5, 20, 100]) } })),
  };
  return dice.pick([{ delay }, { abort }, { delay, abort }]);
};

const cors = (dice: Dice): object => ({
  ...dice.maybe(70, () => ({ allowOrigins: dice.list(1, 2, () => stringMatch(dice, "https://example.com")) })),
  ...dice.maybe(50, () => ({ allowMethods: ["GET", "PUT"] })),
  ...dice.maybe(40, () => ({ allowHeaders: ["x-one", "x-two"] })),
  ...dice.maybe(30, () => ({ exposeHeaders: ["x-three"] })),
  ...dice.maybe(40, () => ({ maxAge: "24h" })),
  ...dice.maybe(40, () => ({ allowCredentials: dice.chance(50) })),
  ...dice.maybe(30, () => ({ unmatchedPreflights: dice.pick(["FORWARD", "IGNORE"]) })),
});

const operations = (dice: Dice): object => ({
  ...dice.maybe(60, () => ({ set: { "x-set": "1", ...dice.maybe(20, () => ({ "x-dyn": "%REQ(x-one)%" })) } })),
  ...dice.maybe(50, () => ({ add: { "x-add": "two words" } })),
  ...dice.maybe(50, () => ({ remove: ["x-gone"] })),
});

const headerRules = (dice: Dice): object => ({
  request: { ...operations(dice), ...dice.maybe(10, () => ({ set: { host: "set.example.com" } })) },
  ...dice.maybe(60, () => ({ response: operations(dice) })),
});

const sni = ["www.example.com", "api.example.com", "*.example.com", "a.ns1.svc.cluster.local"] as const;

function layerFourMatch(dice: Dice, bound: readonly string[]): object {
  return {
    ...dice.maybe(50, () => ({ port: dice.pick(ports) })),
    ...dice.maybe(15, () => ({ destinationSubnets: dice.some(["10.0.0.0/8", "192.168.1.1", "2001:db8::/32"], 1, 2) })),
    ...dice.maybe(10, () => ({ sourceLabels: labels(dice) })),
    ...dice.maybe(10, () => ({ sourceNamespace: dice.pick(workloadNamespaces) })),
    ...dice.maybe(15, () => ({ gateways: [dice.pick(bound)] })),
  };
}

const tlsRoute = (dice: Dice, bound: readonly string[]): object => ({
  match: dice.list(1, 2, () => ({ sniHosts: dice.some(sni, 1, 2), ...layerFourMatch(dice, bound) })),
  route: weighted(dice, () => ({})),
});

const tcpRoute = (dice: Dice, bound: readonly string[]): object => ({
  ...dice.maybe(70, () => ({ match: dice.list(1, 2, () => layerFourMatch(dice, bound)) })),
  route: weighted(dice, () => ({})),
});
