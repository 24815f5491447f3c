// Makes gen/: TypeScript for our own messages and for Envoy's, out of the protos that @grpc/grpc-js-xds ships.
// Runs at `npm ci` (prepare) and does nothing when its inputs are those of the last run.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";

const root = new URL("..", import.meta.url).pathname;
const shipped = join(root, "node_modules/@grpc/grpc-js-xds/deps");
const staged = join(root, ".cache/proto");
const stamp = join(root, "gen/.inputs");

/** Fields of Envoy's API that are younger than the package, each added to our staged copy of its message. */
const youngerFields = [
  {
    file: "envoy-api/envoy/config/cluster/v3/circuit_breaker.proto",
    anchor: /\nimport "google\/protobuf\/wrappers\.proto";/,
    field: '\nimport "google/protobuf/duration.proto";\n',
  },
  {
    file: "envoy-api/envoy/config/cluster/v3/circuit_breaker.proto",
    anchor: /\n {6}type\.v3\.Percent budget_percent = 1;/,
    field: "\n      google.protobuf.Duration budget_interval = 3;\n",
  },
  {
    file: "envoy-api/envoy/config/cluster/v3/cluster.proto",
    anchor: /\n {2}google\.protobuf\.Duration dns_refresh_rate = 16/,
    field: "\n  google.protobuf.Duration dns_jitter = 58;\n",
  },
  {
    file: "envoy-api/envoy/type/tracing/v3/custom_tag.proto",
    anchor: /\n {4}Metadata metadata = 5;/,
    field: "\n    string value = 6;\n",
  },
  {
    file: "envoy-api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto",
    anchor: /\n {4}google\.protobuf\.BoolValue spawn_upstream_span = 10;/,
    field: "\n    string operation = 11;\n    string upstream_operation = 12;\n    bool no_context_propagation = 13;\n",
  },
  {
    file: "envoy-api/envoy/config/trace/v3/zipkin.proto",
    anchor: /\nimport "google\/protobuf\/wrappers\.proto";/,
    field: '\nimport "envoy/config/core/v3/http_service.proto";\n',
  },
  {
    file: "envoy-api/envoy/config/trace/v3/zipkin.proto",
    anchor: /\n {2}\/\/ The cluster manager cluster that hosts/,
    field: `
  enum TraceContextOption {
    USE_B3 = 0;
    USE_B3_WITH_W3C_PROPAGATION = 1;
  }
  TraceContextOption trace_context_option = 8;
  core.v3.HttpService collector_service = 9;
`,
  },
  {
    file: "envoy-api/envoy/extensions/wasm/v3/wasm.proto",
    anchor: /\nmessage PluginConfig \{/,
    field: `
enum FailurePolicy {
  UNSPECIFIED = 0;
  FAIL_RELOAD = 1;
  FAIL_CLOSED = 2;
  FAIL_OPEN = 3;
}
`,
  },
  {
    file: "envoy-api/envoy/extensions/wasm/v3/wasm.proto",
    anchor: /\n {2}CapabilityRestrictionConfig capability_restriction_config = 6;/,
    field: "\n  FailurePolicy failure_policy = 7;\n",
  },
  {
    file: "envoy-api/envoy/extensions/transport_sockets/tls/v3/common.proto",
    anchor: /\n {2}enum TlsProtocol \{/,
    field: `
  enum CompliancePolicy {
    FIPS_202205 = 0;
  }
  repeated CompliancePolicy compliance_policies = 6 [(validate.rules).repeated = {max_items: 1}];
`,
  },
  {
    file: "envoy-api/envoy/extensions/upstreams/http/v3/http_protocol_options.proto",
    anchor: /\nimport "envoy\/config\/core\/v3\/extension\.proto";/,
    field: '\nimport "envoy/config/common/matcher/v3/matcher.proto";\n',
  },
  {
    file: "envoy-api/envoy/extensions/upstreams/http/v3/http_protocol_options.proto",
    anchor: /\n {2}config\.core\.v3\.TypedExtensionConfig header_validation_config = 7/,
    field: `
  message OutlierDetection {
    config.common.matcher.v3.MatchPredicate error_matcher = 1;
  }
  OutlierDetection outlier_detection = 8;
`,
  },
  {
    file: "envoy-api/envoy/extensions/load_balancing_policies/client_side_weighted_round_robin/v3/client_side_weighted_round_robin.proto",
    anchor: /\n {2}google\.protobuf\.FloatValue error_utilization_penalty = 6/,
    field: "\n  repeated string metric_names_for_computing_utilization = 7;\n",
  },
];

/** Constraints of the package's API that Envoy has lifted since, by message and field. A test asks Envoy about all that are left. */
const liftedConstraints = {
  "envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig": ["resolvers"],
  "envoy.config.trace.v3.ZipkinConfig": ["collectorCluster", "collectorEndpoint"],
};

function inputsHash() {
  const hash = createHash("sha256");
  const add = (path) => hash.update(path.slice(root.length)).update(readFileSync(path));
  const walk = (dir) => {
    for (const entry of readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) walk(path);
      else add(path);
    }
  };
  walk(join(root, "proto"));
  for (const file of [
    "buf.yaml",
    "buf.gen.yaml",
    "scripts/generate.mjs",
    "node_modules/@grpc/grpc-js-xds/package.json",
  ]) {
    add(join(root, file));
  }
  add(join(root, "node_modules/@bufbuild/protoc-gen-es/package.json"));
  return hash.digest("hex");
}

function stage() {
  rmSync(staged, { recursive: true, force: true });
  mkdirSync(staged, { recursive: true });
  for (const module of ["envoy-api", "xds", "googleapis"]) {
    cpSync(join(shipped, module), join(staged, module), { recursive: true });
  }
  for (const { file, anchor, field } of youngerFields) {
    const path = join(staged, file);
    const text = readFileSync(path, "utf8");
    if (!anchor.test(text)) throw new Error(`${file}: no place for a younger field; has the package grown it?`);
    writeFileSync(
      path,
      text.replace(anchor, (match) => field + match),
    );
  }
}

/**
 * The constraints that Envoy's protos carry beside types (`validate.rules`), by message and by the name of the field in JSON. In a file of
 * their own: within the descriptors everybody would carry them, the front at the edge too.
 */
function writeConstraints() {
  const [{ paths, types }] = load(readFileSync(join(root, "buf.gen.yaml"), "utf8")).inputs;
  const image = join(staged, "constraints.json");
  const wanted = [...paths.flatMap((path) => ["--path", path]), ...types.flatMap((type) => ["--type", type])];
  execFileSync(join(root, "node_modules/.bin/buf"), ["build", ".", "--exclude-source-info", ...wanted, "-o", image], {
    cwd: root,
    stdio: "inherit",
  });
  const found = {};
  const visit = (prefix, message) => {
    const name = `${prefix}.${message.name}`;
    const all = message.field ?? [];
    const rules = all.flatMap((field) => {
      const rule = field.options?.["[validate.rules]"];
      const isLifted = liftedConstraints[name]?.includes(field.jsonName) === true;
      return rule === undefined || isLifted ? [] : [[field.jsonName, rule]];
    });
    const oneofs = (message.oneofDecl ?? []).flatMap((oneof, at) =>
      oneof.options?.["[validate.required]"] === true
        ? [{ name: oneof.name, fields: all.filter((field) => field.oneofIndex === at).map((field) => field.jsonName) }]
        : [],
    );
    if (rules.length + oneofs.length > 0) found[name] = { fields: Object.fromEntries(rules), oneofs };
    for (const nested of message.nestedType ?? []) visit(name, nested);
  };
  for (const file of JSON.parse(readFileSync(image, "utf8")).file)
    for (const message of file.messageType ?? []) visit(file.package, message);
  const text = JSON.stringify(Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1))));
  writeFileSync(join(root, "gen/constraints.ts"), `export const constraintsText = ${JSON.stringify(text)};\n`);
}

const hash = inputsHash();
if (existsSync(stamp) && readFileSync(stamp, "utf8") === hash) process.exit(0);
stage();
console.log("portolan: generating types from Envoy's protos, about 20 s");
const bin = join(root, "node_modules/.bin");
execFileSync(join(bin, "buf"), ["generate"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
});
writeConstraints();
writeFileSync(stamp, hash);
