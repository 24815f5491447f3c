/**
 * A gRPC program that speaks xDS itself, with the client and the server of gRPC for Node: `serve ADDRESS NAME` or `call TARGET`. Its bootstrap is
 * what `GRPC_XDS_BOOTSTRAP` names. A client makes the calls that its parent asks for, and tells it what came of each.
 */
import {
  type CallOptions,
  Client,
  credentials,
  type handleUnaryCall,
  Metadata,
  ServerCredentials,
  status,
} from "@grpc/grpc-js";
import { register, XdsChannelCredentials, XdsServer, XdsServerCredentials } from "@grpc/grpc-js-xds";

/** What a client is asked for. */
export interface CallOrder {
  readonly id: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const toBytes = (text: string): Buffer => Buffer.from(text);
const toText = (bytes: Buffer): string => bytes.toString();

/** Answers with its name. */
function serve(address: string, name: string): void {
  const answer: handleUnaryCall<string, string> = (_call, callback) => callback(null, name);
  const server = new XdsServer();
  const method = {
    requestStream: false,
    responseStream: false,
    requestSerialize: toBytes,
    requestDeserialize: toText,
    responseSerialize: toBytes,
    responseDeserialize: toText,
  } as const;
  server.addService(
    {
      say: { ...method, path: "/shop.Echo/Say" },
      sayAll: { ...method, path: "/shop.Echo/SayAll" },
    },
    { say: answer, sayAll: answer },
  );
  const security = new XdsServerCredentials(ServerCredentials.createInsecure());
  server.bindAsync(address, security, (cause) => process.send?.({ bound: cause?.message ?? "" }));
}

/** Calls as it is told to. */
function call(target: string): void {
  const client = new Client(target, new XdsChannelCredentials(credentials.createInsecure()));
  process.on("message", ({ id, path, headers }: CallOrder) => {
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
    const options: CallOptions = { deadline: Date.now() + 15_000 };
    client.makeUnaryRequest(path, toBytes, toText, "hello", metadata, options, (cause, text) => {
      process.send?.({ id, outcome: cause === null ? text : `${status[cause.code]}: ${cause.details}` });
    });
  });
  process.send?.({ bound: "" });
}

if (import.meta.main) {
  register();
  const [what = "", where = "", name = ""] = process.argv.slice(2);
  process.on("disconnect", () => process.exit());
  if (what === "serve") serve(where, name);
  else call(where);
}
