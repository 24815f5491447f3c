import { testEdge } from "./edge-suite.ts";
import { lambdaEdge, nodeEdge } from "./edges.ts";

testEdge("Lambda handlers and S3", lambdaEdge);
testEdge("Node and files, with held polls", nodeEdge);
