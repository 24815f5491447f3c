import { z } from "zod";
import { securityFailures } from "../config/fail-closed/closed-object.ts";
import { repositoriesSchema } from "../config/repository-settings.ts";
import { maxCaHours, maxHoldLimitMs, sourceNameForm, sourceNameRule } from "../config/setting-values.ts";

/** What the reference says of a field beside its type. */
interface About {
  /** Variables of the environment that say the same; the first that is set counts, and counts more than the file. */
  readonly env?: readonly string[];
  /** Its name among a Worker's variables. */
  readonly worker?: string;
  /** What counts where nobody says anything, for people. */
  readonly usual?: string;
  /** Never shown. */
  readonly isSecret?: boolean;
  /** `@FILE` takes what stands in a file; of every secret that is a text too. */
  readonly takesFile?: boolean;
}

/** A field that may be left out. */
function field<T extends z.ZodType>(
  schema: T,
  text: string,
  { env, worker, usual, isSecret, takesFile = isSecret }: About = {},
) {
  return z.exactOptional(
    schema.meta({
      description: text,
      ...(env === undefined ? {} : { "x-env": env }),
      ...(worker === undefined ? {} : { "x-worker": worker }),
      ...(usual === undefined ? {} : { "x-usual": usual }),
      ...(isSecret === true ? { "x-secret": true } : {}),
      ...(takesFile === true ? { "x-file": true } : {}),
    }),
  );
}

const wholeNumber = (least: number, most: number) => {
  const rule = `must be a whole number from ${least} to ${most}`;
  return z.int({ error: rule }).min(least, rule).max(most, rule);
};
const text = () => z.string().min(1, "must not be empty");
const port = () => wholeNumber(0, 65_535);
const sourceName = () => z.string().regex(sourceNameForm, `must be ${sourceNameRule}`);

const front = z.strictObject({
  host: field(text(), "Where the front listens; another address than loopback needs `authentication`.", {
    env: ["HOST"],
    usual: "127.0.0.1",
  }),
  port: field(port(), "Its port for HTTP; 0 takes any.", { env: ["PORT"], usual: "8080" }),
  hosts: field(
    z.array(text()),
    "Names that a request's `Host` may have besides those of loopback. They count where the front listens on loopback without authentication.",
    { env: ["PORTOLAN_HOSTS"], usual: "`portolan`, the cluster of generated bootstraps" },
  ),
  grpcPort: field(port(), "Its port for streams over gRPC (ADS).", {
    env: ["PORTOLAN_GRPC_PORT"],
    usual: "no streams",
  }),
  tlsPort: field(port(), "Its port for the same with TLS, as istiod's 15012 (docs/certificates.md).", {
    env: ["PORTOLAN_TLS_PORT"],
    usual: "none",
  }),
  tlsNames: field(z.array(text()), "DNS names for which the CA makes the certificate of `tlsPort`.", {
    env: ["PORTOLAN_TLS_NAMES"],
    usual: "those of the service `istiod` in `istio-system`",
  }),
  tlsCertificate: field(text(), "A file with that certificate instead, PEM; it is read again when it changes.", {
    env: ["PORTOLAN_TLS_CERTIFICATE"],
    usual: "the CA makes one",
  }),
  tlsKey: field(text(), "A file with its private key, PEM.", { env: ["PORTOLAN_TLS_KEY"], usual: "the CA makes one" }),
  ca: field(z.enum(["on", "off"]), "`on`: sign workloads' certificates with the CA in the store; needs `secretsKey`.", {
    env: ["PORTOLAN_CA"],
    worker: "CA",
    usual: "off",
  }),
  caMaxHours: field(wholeNumber(1, maxCaHours), "Longest validity of a certificate.", {
    env: ["PORTOLAN_CA_MAX_HOURS"],
    worker: "CA_MAX_HOURS",
    usual: "24",
  }),
  workers: field(wholeNumber(1, 256), "Processes that serve as one front.", {
    env: ["PORTOLAN_WORKERS"],
    usual: "one for each core that there is memory for",
  }),
  maxHoldMs: field(wholeNumber(0, maxHoldLimitMs), "Longest time to hold a poll that has nothing new; 0 never holds.", {
    env: ["PORTOLAN_MAX_HOLD_MS"],
    worker: "MAX_HOLD_MS",
    usual: "25000; 0 on Lambda",
  }),
  authentication: field(
    z.union([z.record(z.string(), z.unknown()), text()]),
    "Authentication of readers (docs/security.md): `off`, an object, or `@FILE`.",
    {
      env: ["PORTOLAN_AUTHENTICATION"],
      worker: "AUTHENTICATION",
      usual: "no authentication, on loopback only",
      isSecret: true,
    },
  ),
  confirmations: field(
    z.enum(["own", "store"]),
    "`store`: several fronts tell one another which clusters nodes have.",
    {
      env: ["PORTOLAN_CONFIRMATIONS"],
      usual: "own",
    },
  ),
  name: field(text(), "This front's name among several on one store, which then share what their nodes have.", {
    env: ["PORTOLAN_FRONT_NAME"],
    usual: "none",
  }),
  compileUrl: field(text(), "The compile function that is called when a node needs a class.", {
    env: ["PORTOLAN_COMPILE_URL"],
    usual: "the one beside it, if there is one",
  }),
  compileSecret: field(text(), "Signs what is asked of it: its `compile.webhook.frontSecret`.", {
    env: ["PORTOLAN_COMPILE_SECRET"],
    usual: "`PORTOLAN_WEBHOOK_SECRET`; of the one beside it, one of its own",
    isSecret: true,
  }),
  moves: field(z.enum(["on", "off"]), "`on`: operators may move HEAD in the console; needs `authentication`.", {
    env: ["PORTOLAN_MOVES"],
    usual: "off",
  }),
  wanted: field(z.boolean(), "On Lambda: the front may write down which classes nodes want.", {
    env: ["PORTOLAN_WANTED"],
    usual: "false",
  }),
});

const bySource = () => z.record(z.string(), text());

const webhook = z.strictObject({
  host: field(text(), "Where signed requests to fill a source, and to compile, are answered.", { usual: "127.0.0.1" }),
  port: field(port(), "Its port; 0 takes any.", { usual: "any, for the front beside it" }),
  audience: field(
    z.array(text()).min(1, "must name one host at least"),
    "Hosts, with their ports where these are not the scheme's own, that requests may be signed for. Name them where a proxy changes the host, or two functions share a secret.",
    { env: ["PORTOLAN_WEBHOOK_AUDIENCE"], usual: "the host that a request is sent to" },
  ),
  secret: field(text(), "Signs requests for every source; two with a blank between them while it is changed.", {
    env: ["PORTOLAN_WEBHOOK_SECRET"],
    usual: "none: no request is taken",
    isSecret: true,
  }),
  frontSecret: field(text(), "Signs what fronts ask for, a compile; good for nothing else. Two as above.", {
    env: ["PORTOLAN_FRONT_SECRET"],
    usual: "none",
    isSecret: true,
  }),
  sourceSecrets: field(bySource(), "Secrets that are good for one source, by its name.", {
    env: ["PORTOLAN_SOURCE_SECRETS"],
    usual: "none",
    isSecret: true,
  }),
  githubSecrets: field(bySource(), "Secrets of GitHub's webhooks, by source.", {
    env: ["PORTOLAN_GITHUB_SECRETS"],
    usual: "none",
    isSecret: true,
  }),
  gitlabSecrets: field(bySource(), "Secrets of GitLab's webhooks, by source.", {
    env: ["PORTOLAN_GITLAB_SECRETS"],
    usual: "none",
    isSecret: true,
  }),
  repositories: field(
    repositoriesSchema,
    "The repository that a source is filled from at a push, by source: `host` (`github`, `gitlab`), `repository`, `branch`, `path`, `api` (docs/git-to-mesh.md).",
    { env: ["PORTOLAN_REPOSITORIES"], worker: "PORTOLAN_REPOSITORIES", usual: "none: a push only compiles" },
  ),
  repositoryTokens: field(bySource(), "Tokens that read these repositories, by source.", {
    env: ["PORTOLAN_REPOSITORY_TOKENS"],
    worker: "PORTOLAN_REPOSITORY_TOKENS",
    usual: "none: public repositories alone",
    isSecret: true,
  }),
});

const compile = z.strictObject({
  sources: field(
    z.array(sourceName()).min(1, "must name one source at least"),
    "Sources in order, the primary first.",
    {
      env: ["PORTOLAN_SOURCES"],
      worker: "SOURCES",
      usual: "main",
    },
  ),
  everySeconds: field(wholeNumber(5, 86_400), "How often it compiles without a request.", { usual: "60" }),
  certificates: field(z.enum(["sds", "files"]), "Where proxies get their certificates.", {
    env: ["PORTOLAN_CERTIFICATES"],
    worker: "CERTIFICATES",
    usual: "sds",
  }),
  pollDelayMs: field(wholeNumber(1, 99_999), "How long Envoys wait between polls.", {
    env: ["PORTOLAN_POLL_DELAY_MS"],
    worker: "POLL_DELAY_MS",
    usual: "1000",
  }),
  securityFailure: field(
    z.enum(securityFailures),
    "A security object is refused and no valid form of it is known: `close` closes what it selects, `open` leaves it out, `refuse` publishes nothing.",
    { env: ["PORTOLAN_SECURITY_FAILURE"], worker: "SECURITY_FAILURE", usual: "close" },
  ),
  binaryForms: field(z.boolean(), "Store protobuf's binary forms too, for streams, Connect and gRPC.", {
    env: ["PORTOLAN_BINARY_FORMS"],
    worker: "BINARY_FORMS",
    usual: "false; true beside a front with `grpcPort` or `tlsPort`",
  }),
  legacyApi: field(z.boolean(), "Compile the answers of the REST v1 API too.", {
    env: ["PORTOLAN_LEGACY_API"],
    worker: "LEGACY_API",
    usual: "false",
  }),
  legacyRelease: field(z.enum(["0.7", "0.8"]), "The same, as this release gave them.", {
    env: ["PORTOLAN_LEGACY_RELEASE"],
    worker: "LEGACY_RELEASE",
    usual: "0.8",
  }),
  debounceMs: field(wholeNumber(0, 60_000), "A compile begins when there was no request for so long,", {
    env: ["PORTOLAN_DEBOUNCE_MS"],
    worker: "DEBOUNCE_MS",
    usual: "100",
  }),
  debounceMaxMs: field(wholeNumber(0, 300_000), "or when it has waited so long for that.", {
    env: ["PORTOLAN_DEBOUNCE_MAX_MS"],
    worker: "DEBOUNCE_MAX_MS",
    usual: "10000",
  }),
  leaseSeconds: field(
    wholeNumber(5, 900),
    "A process that compiles and gives no sign of life for so long counts as dead.",
    {
      env: ["PORTOLAN_LEASE_SECONDS"],
      worker: "LEASE_SECONDS",
      usual: "60",
    },
  ),
  compileSeconds: field(wholeNumber(10, 900), "A compile that is not done by then is given up.", {
    env: ["PORTOLAN_COMPILE_SECONDS"],
    worker: "COMPILE_SECONDS",
    usual: "240",
  }),
  workers: field(
    wholeNumber(1, 64),
    "Threads of a compile. With two, the second writes to the store while the first compiles, in a compile that reuses nothing. With more, each compiles a slice of a large mesh.",
    { env: ["PORTOLAN_COMPILE_WORKERS"], usual: "1" },
  ),
  slices: field(
    wholeNumber(1, 256),
    "At most so many slices: more than there are threads take more time and less memory. Lambda sends them to a queue, which it needs then. A Worker cuts a large mesh by itself.",
    {
      env: ["PORTOLAN_COMPILE_SLICES"],
      usual: "as many as `workers`; of two, and without a bound of memory, one",
    },
  ),
  sliceQueueUrl: field(text(), "On Lambda: the queue that slices are sent to.", {
    env: ["PORTOLAN_SLICE_QUEUE_URL"],
    usual: "none",
  }),
  sqsEndpoint: field(text(), "An SQS server other than AWS's.", { env: ["PORTOLAN_SQS_ENDPOINT"], usual: "AWS" }),
  sliceMemoryMib: field(wholeNumber(64, 65_536), "Heap of such a thread; a slice that needs more fails.", {
    env: ["PORTOLAN_COMPILE_SLICE_MEMORY_MIB"],
    usual: "what Node gives a thread",
  }),
  webhook: z.exactOptional(webhook),
});

const resolver = z.strictObject({
  run: field(
    z.enum(["on", "off"]),
    "`off`: nothing is looked up. Rules whose keys are at a `jwksUri` refuse every token, and modules of Wasm are not fetched.",
    {
      env: ["PORTOLAN_RESOLVER"],
      worker: "RESOLVER",
      usual: "on",
    },
  ),
  allowedHosts: field(
    z.array(text()),
    "Hosts that may be in a private network, and may be asked in clear text (docs/network-inputs.md).",
    { env: ["PORTOLAN_RESOLVER_ALLOWED_HOSTS"], worker: "RESOLVER_ALLOWED_HOSTS", usual: "none" },
  ),
  caBundle: field(text(), "Certificates in PEM that are trusted besides those of Node.", {
    env: ["PORTOLAN_RESOLVER_CA_BUNDLE"],
    usual: "none",
    takesFile: true,
  }),
  dnsServers: field(
    z.array(text()),
    "Name servers for host names of network gateways, as `10.0.0.2` or `10.0.0.2:53`.",
    {
      env: ["PORTOLAN_RESOLVER_DNS_SERVERS"],
      usual: "those of the system",
    },
  ),
  dnsOverHttps: field(text(), "URL that is asked for such names instead, with answers in `application/dns-json`.", {
    env: ["PORTOLAN_RESOLVER_DNS_OVER_HTTPS"],
    worker: "RESOLVER_DNS_OVER_HTTPS",
    usual: "none; in a Worker `https://cloudflare-dns.com/dns-query`",
  }),
});

const admission = z.strictObject({
  host: field(text(), "Where the webhooks of an API server are answered.", { usual: "127.0.0.1" }),
  port: field(port(), "Their port, for HTTPS; 0 takes any.", { usual: "8443" }),
  certificate: field(text(), "A file with the certificate to show, PEM; read again when it changes.", {
    usual: "none: it needs `tlsNames`",
  }),
  key: field(text(), "A file with its private key, PEM.", { usual: "none: it needs `tlsNames`" }),
  tlsNames: field(
    z.array(text()).min(1, "must have one name at least"),
    "DNS names for which the CA in the store makes the certificate instead; needs `secretsKey`.",
    { usual: "none: it needs `certificate` and `key`" },
  ),
  webhooks: field(
    z.array(
      z.string().regex(/^(?:validating|mutating)\/[a-z0-9.-]{1,253}$/, "must be validating/NAME or mutating/NAME"),
    ),
    "With `tlsNames`: webhook configurations, `validating/NAME` or `mutating/NAME`, in which `caBundle` is kept equal to the CA's roots.",
    { usual: "none" },
  ),
  rootCert: field(
    z.boolean(),
    "With `tlsNames`: write the CA's roots into every namespace, as ConfigMap `istio-ca-root-cert`, which pods mount.",
    { usual: "false" },
  ),
  clientAuthority: field(
    text(),
    "A file with the authorities, PEM, of which one must have signed the client certificate of the API server.",
    { usual: "none: no client certificate is asked for" },
  ),
  token: field(text(), "What the API server has to show, as a bearer token or as the last segment of the path.", {
    env: ["PORTOLAN_ADMISSION_TOKEN"],
    worker: "PORTOLAN_ADMISSION_TOKEN",
    usual: "none: on Lambda and in a Worker nothing is answered",
    isSecret: true,
  }),
  workloads: field(
    z.enum(["allow", "refuse"]),
    "`refuse`: a change of a security object that would close or open workloads is refused.",
    { env: ["PORTOLAN_ADMISSION_WORKLOADS"], worker: "ADMISSION_WORKLOADS", usual: "allow" },
  ),
  world: field(z.enum(["on", "off"]), "`on`: an object is analysed together with what the store holds.", {
    env: ["PORTOLAN_ADMISSION_WORLD"],
    worker: "ADMISSION_WORLD",
    usual: "on",
  }),
  injection: field(
    z.record(z.string(), z.unknown()),
    "Answers `/admission/inject` too: values as Istio's charts have them (docs/injection.md).",
    { env: ["PORTOLAN_ADMISSION_INJECTION"], worker: "ADMISSION_INJECTION", usual: "none: no proxy is injected" },
  ),
});

const collector = z.strictObject({
  kind: z
    .enum(["dir", "kube", "consul", "mcp"])
    .meta({ description: "What is followed, as `portolan collect` has it." }),
  source: field(sourceName(), "The source that it fills.", { usual: "main, kubernetes, consul or mcp" }),
  folder: field(text(), "Of `dir`: the folder."),
  context: field(text(), "Of `kube`: a context of the kubeconfig.", { usual: "the current one; in a pod its cluster" }),
  cluster: field(text(), "Of `kube`: id of the cluster, as its proxies know it.", { usual: "Kubernetes" }),
  secretNames: field(z.boolean(), "Of `kube`: collect the names of TLS secrets, never their values.", {
    usual: "false",
  }),
  workloadEntries: field(
    z.boolean(),
    "Of `kube`: write WorkloadEntries into the cluster for VMs that register themselves.",
    { usual: "false" },
  ),
  address: field(text(), "Of `consul` and `mcp`: where it answers.", { usual: "of Consul that of `consul.address`" }),
  datacenters: field(z.array(text()), "Of `consul`: datacentres to read through it.", { usual: "its own" }),
  health: field(z.enum(["any", "passing"]), "Of `consul`: leave out what does not pass, or nothing.", { usual: "any" }),
  kinds: field(z.array(text()), "Of `mcp`: kinds to ask for.", { usual: "all that the protocol has" }),
  tls: field(z.boolean(), "Of `mcp`: speak TLS; `ca` and `certificate` imply it.", { usual: "false" }),
  tokenFile: field(text(), "Of `mcp`: a file with the bearer token, read again for each stream.", { usual: "none" }),
  ca: field(text(), "Of `mcp`: a file with the authorities to trust, PEM.", { usual: "those of Node" }),
  certificate: field(text(), "Of `mcp`: a file with the certificate to show, PEM.", { usual: "none" }),
  key: field(text(), "Of `mcp`: a file with its private key, PEM.", { usual: "none" }),
  serverName: field(text(), "Of `mcp`: the name that the server's certificate must have.", { usual: "the address's" }),
  allowEmpty: field(
    z.boolean(),
    "Continue when the origin is empty, and delete objects of kinds that it no longer serves.",
    { usual: "false" },
  ),
  takeOver: field(z.boolean(), "Fill the source although another origin has filled it.", { usual: "false" }),
});

/** A settings file: one for every way of running Portolan. */
export const settingsSchema = z.strictObject({
  store: field(
    text(),
    "Where snapshots and sources are stored: a folder, `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX` or `az://ACCOUNT/CONTAINER/PREFIX` (docs/stores.md).",
    {
      env: ["PORTOLAN_STORE"],
      usual: ".portolan/store",
    },
  ),
  storeCopy: field(
    text(),
    "A copy of it in another region, which fronts read where the first does not answer, or is older; on Lambda too.",
    {
      env: ["PORTOLAN_STORE_COPY"],
      usual: "none",
    },
  ),
  s3Endpoint: field(text(), "An S3 server other than AWS's.", { env: ["PORTOLAN_S3_ENDPOINT"], usual: "AWS" }),
  bucket: field(text(), "On Lambda: the bucket, in place of `store`.", { env: ["PORTOLAN_BUCKET"] }),
  prefix: field(z.string(), "On Lambda and in a Worker: the part of the bucket that this mesh lives in.", {
    env: ["PORTOLAN_PREFIX"],
    worker: "PREFIX",
    usual: "all of it",
  }),
  author: field(text(), "The author in the history.", {
    env: ["PORTOLAN_AUTHOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILDKITE_BUILD_CREATOR", "CIRCLE_USERNAME"],
    usual: "user@host",
  }),
  secretsKey: field(text(), "Key to the secrets in the store, or `aws-kms:<ARN or alias>`.", {
    env: ["PORTOLAN_SECRETS_KEY"],
    worker: "PORTOLAN_SECRETS_KEY",
    usual: "none are served",
    isSecret: true,
  }),
  trust: z.exactOptional(
    z.strictObject({
      signingKey: field(text(), "Private key that signs HEAD, as `portolan keys` prints it.", {
        env: ["PORTOLAN_SIGNING_KEY"],
        worker: "PORTOLAN_SIGNING_KEY",
        usual: "HEAD is not signed",
        isSecret: true,
      }),
      trustedKeys: field(text(), "Public keys of which one must have signed HEAD.", {
        env: ["PORTOLAN_TRUSTED_KEYS"],
        worker: "TRUSTED_KEYS",
        usual: "any HEAD is followed",
        takesFile: true,
      }),
      generations: field(
        text(),
        "A folder, not in the store, where fronts that trust keys remember the newest HEAD: none follows an older one after a restart.",
        { env: ["PORTOLAN_GENERATIONS"], usual: ".portolan/generations" },
      ),
      keyring: field(text(), "The file with the private keys that commands sign with.", {
        env: ["PORTOLAN_KEYRING"],
        usual: ".portolan/keys.json",
      }),
    }),
  ),
  front: z.exactOptional(front),
  compile: z.exactOptional(compile),
  resolver: z.exactOptional(resolver),
  admission: z.exactOptional(admission),
  collectors: z.exactOptional(z.array(collector)),
  consul: z.exactOptional(
    z.strictObject({
      address: field(text(), "An agent or server of Consul.", {
        env: ["CONSUL_HTTP_ADDR"],
        usual: "http://127.0.0.1:8500",
      }),
      token: field(text(), "ACL token.", { env: ["CONSUL_HTTP_TOKEN"], usual: "none", isSecret: true }),
      tokenFile: field(text(), "A file with it, read again for each query.", {
        env: ["CONSUL_HTTP_TOKEN_FILE"],
        usual: "none",
      }),
      ca: field(text(), "A file with the authorities to trust, PEM.", { env: ["CONSUL_CACERT"] }),
      certificate: field(text(), "A file with the certificate to show, PEM.", { env: ["CONSUL_CLIENT_CERT"] }),
      key: field(text(), "A file with its private key, PEM.", { env: ["CONSUL_CLIENT_KEY"] }),
    }),
  ),
  kubernetes: z.exactOptional(
    z.strictObject({
      kubeconfig: field(text(), "Files of kubectl's contexts, separated as a PATH is.", {
        env: ["KUBECONFIG"],
        usual: "~/.kube/config; in a pod its account",
      }),
    }),
  ),
  agent: z.exactOptional(
    z.strictObject({
      envoy: field(text(), "The Envoy that `portolan agent` starts.", { env: ["ENVOY"], usual: "envoy" }),
      locality: field(text(), "Where the agent's pod is: region/zone/subzone.", {
        env: ["PORTOLAN_LOCALITY"],
        usual: "none",
      }),
    }),
  ),
  collectingWorker: z.exactOptional(
    z.strictObject({
      source: field(sourceName(), "The source that a collecting Worker fills.", {
        worker: "SOURCE",
        usual: "kubernetes",
      }),
      cluster: field(text(), "Id of its cluster, as proxies know it.", { worker: "CLUSTER", usual: "Kubernetes" }),
      api: field(text(), "Address of the cluster's API server, `https://host:port`.", { worker: "KUBE_API" }),
      token: field(text(), "Bearer token for it.", { worker: "PORTOLAN_KUBE_TOKEN", isSecret: true }),
      runSeconds: field(wholeNumber(1, 900), "How long one invocation follows.", {
        worker: "RUN_SECONDS",
        usual: "50",
      }),
      takeOver: field(z.boolean(), "Fill the source although another origin has filled it.", {
        worker: "TAKE_OVER",
        usual: "false",
      }),
    }),
  ),
  gc: z.exactOptional(
    z.strictObject({
      everyMinutes: field(
        wholeNumber(0, 44_640),
        "How often `serve` deletes what nothing names any more, where it compiles; 0 never does.",
        { usual: "60" },
      ),
      keepPublications: field(
        wholeNumber(1, 100_000),
        "So many versions that were served can still be rolled back to.",
        { env: ["PORTOLAN_GC_KEEP"], worker: "GC_KEEP", usual: "50" },
      ),
      cron: field(
        text(),
        "In a Worker: the line of `crons` in wrangler.compile.toml at which garbage is collected; empty never does.",
        { worker: "GC_CRON", usual: "once a day in wrangler.compile.toml; none without it" },
      ),
    }),
  ),
  health: z.exactOptional(
    z.strictObject({
      host: field(text(), "Where `serve` answers /livez, /readyz and /metrics of what compiles and collects.", {
        usual: "127.0.0.1",
      }),
      port: field(port(), "Its port; 0 takes any.", { usual: "not at all" }),
      staleAfterSeconds: field(wholeNumber(1, 86_400), "A source that is older is not ready.", { usual: "60" }),
    }),
  ),
  telemetry: z.exactOptional(
    z.strictObject({
      endpoint: field(text(), "OpenTelemetry's collector, which gets a span for each compile.", {
        env: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
        usual: "no spans",
      }),
      tracesEndpoint: field(text(), "The same, for spans alone.", { env: ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] }),
      exporter: field(z.enum(["otlp", "none"]), "`none` sends no spans.", {
        env: ["OTEL_TRACES_EXPORTER"],
        usual: "otlp",
      }),
      disabled: field(z.boolean(), "`true` sends no spans either.", { env: ["OTEL_SDK_DISABLED"], usual: "false" }),
      serviceName: field(text(), "How spans call this.", { env: ["OTEL_SERVICE_NAME"], usual: "portolan-compile" }),
    }),
  ),
});

export type Settings = z.output<typeof settingsSchema>;
export type CollectorSettings = NonNullable<Settings["collectors"]>[number];
export type AdmissionSettings = NonNullable<Settings["admission"]>;
