import { type Command, Help } from "commander";

/** The commands by task, each with a line for `portolan --help`; `portolan COMMAND --help` has the whole description. */
export const helpGroups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Try it and run it:": {
    dev: "compile a folder, serve it and follow every saved file",
    serve: "run the front, the compiler and collectors of a settings file",
    settings: "check a settings file",
    collect: "keep a source equal to a cluster, Consul, an MCP server or a folder",
    install: "install Portolan in a cluster in istiod's place, or remove it",
    resolve: "fetch key sets and addresses that the configuration names",
  },
  "Check configuration:": {
    validate: "check files; exit code 1 if an object is refused",
    admission: "print webhooks and policies for an API server",
    analyze: "find configuration that does not fit together",
    impact: "list the proxies and resources that a file, or an edit, touches",
  },
  "Publish, compare, roll back:": {
    push: "fill a source with a folder and publish the result",
    recompile: "compile the stored sources again and publish the result",
    diff: "show what differs between two versions, or a version and a folder",
    history: "list publications, newest first",
    status: "show what is served and what holds it back",
    rollback: "serve an earlier configuration again",
    unpin: "end a rollback's pin and serve the newest version",
    canary: "give a version to a part of the nodes",
    promote: "give the canary's version to all nodes",
    abort: "end the canary",
  },
  "Edit single objects:": {
    apply: "create or replace the objects of files",
    create: "create the objects of files",
    replace: "replace the objects of files",
    get: "list objects",
    describe: "show an object with its messages and history",
    delete: "delete objects",
  },
  "Find out why:": {
    trace: "follow a request through a proxy, with the reason for each step",
    explain: "show the objects and rules behind a resource of a proxy",
    "proxy-status": "list the proxies: up to date, behind, refused or gone",
    "proxy-config": "show clusters, listeners, routes, endpoints and secrets of a proxy",
    doctor: "check a deployment from outside",
  },
  "Run proxies:": {
    inject: "add proxies to the pods of manifests, or remove them",
    bootstrap: "print the bootstrap of an Envoy or a proxyless gRPC client",
    "bootstrap-v1": "print the start-up file of an Envoy with the REST v1 API",
    agent: "run an Envoy and serve it over a local socket",
    intercept: "print the script that redirects a workload's traffic to its Envoy",
  },
  "Keys, tokens and secrets:": {
    ca: "manage the certificate authority of workloads",
    keys: "manage the keys that sign tokens and versions",
    token: "issue tokens for nodes and operators",
    secret: "manage encrypted certificates and keys of gateways",
    sign: "sign HEAD as it is",
  },
  "Look after a store:": {
    gc: "delete what is no longer used",
    fsck: "verify a store",
    recover: "rebuild a lost HEAD",
    replicate: "copy a store to another region",
    export: "copy what is served into a folder",
    import: "publish an exported folder",
    cost: "estimate what a fleet costs on each platform",
  },
  "Other:": {
    completion: "print the completion script of a shell",
  },
};

/** Shows the commands of a program in their groups. @throws Error for one that has none */
export function groupHelp(program: Command): void {
  const order = Object.values(helpGroups).flatMap((names) => Object.keys(names));
  for (const command of program.commands) {
    const name = command.name();
    const [group, names] = Object.entries(helpGroups).find(([, lines]) => Object.hasOwn(lines, name)) ?? [];
    if (group === undefined) throw new Error(`lib/cli/help-groups.ts has no group for ${name}`);
    command.helpGroup(group).summary(names?.[name] ?? "");
  }
  const place = (command: Command) => (order.indexOf(command.name()) + order.length + 1) % (order.length + 1);
  program.configureHelp({
    ...program.configureHelp(),
    visibleCommands: (of) =>
      new Help().visibleCommands(of).toSorted((a, b) => (of === program ? place(a) - place(b) : 0)),
    // Commander orders groups by when their first command was added; here by the table above. Its own `help` has no group.
    groupItems: (_all, visible, groupOf) =>
      Map.groupBy(visible, (one) => (groupOf(one) === "Commands:" ? "Other:" : groupOf(one))),
  });
}
