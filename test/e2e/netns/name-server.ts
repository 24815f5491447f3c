/**
 * A name server for pods, as a program in a namespace: `node name-server.ts ADDRESS ZONE`. The file ZONE is JSON, name → address or, ending with a
 * dot, the name that it stands for; it is read for each question.
 */
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { type Answer, decode, encode } from "dns-packet";

const [address = "", zone = ""] = process.argv.slice(2);
const ttl = 1;
const noSuchName = 3;

/** A name with those that it stands for, as a cluster's DNS answers for a Service of type ExternalName. */
function answersFor(name: string, names: Readonly<Record<string, string>>): Answer[] {
  const data = names[name];
  if (data === undefined) return [];
  if (!data.endsWith(".")) return [{ type: "A", name, ttl, data }];
  const target = data.slice(0, -1);
  return [{ type: "CNAME", name, ttl, data: target }, ...answersFor(target, names)];
}

const socket = createSocket("udp4");
socket.on("message", (message, from) => {
  const { id = 0, questions = [] } = decode(message);
  const [question] = questions;
  if (question === undefined) return;
  const all = answersFor(question.name.toLowerCase(), JSON.parse(readFileSync(zone, "utf8")));
  const answers = all.filter(({ type }) => type === question.type || type === "CNAME");
  const flags = all.length === 0 ? noSuchName : 0;
  socket.send(encode({ type: "response", id, flags, questions, answers }), from.port, from.address);
});
socket.bind(53, address);
