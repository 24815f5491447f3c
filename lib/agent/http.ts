/**
 * Node's HTTP. An import of the module by its name would load what `fetch` and `WebSocket` need besides, since it reads every
 * member: 8 MB that an agent holds for nothing.
 */
const { Agent, createServer, request } = process.getBuiltinModule("node:http");

export { Agent as HttpAgent, createServer as createHttpServer, request as httpRequest };
