// Stops a run whose last three steps asked for the same calls. Node 22.18 or later runs it as it is:
//   whenstop compare RUNS --guard mine='node guard.ts'
import { createInterface } from "node:readline";

const LIMIT = 3;
let streak = 0;
let last = "[]";

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const event: any = JSON.parse(line);
  let answer: object = { answer: "continue" };
  if (event.type === "hello") {
    answer = { protocol: 1, points: ["after_tools"], answers: ["stop"], rules: ["same call"] };
  } else if (event.type === "run") {
    [streak, last] = [0, "[]"];
  } else if (event.type === "message" && event.role === "assistant" && !event.lane) {
    const calls: any[] = event.tool_calls ?? [];
    const asked = JSON.stringify(calls.map((call) => [call.name, call.arguments]));
    streak = asked === last && calls.length > 0 ? streak + 1 : Math.min(calls.length, 1);
    last = asked;
  } else if (event.type === "point") {
    answer = { answer: streak >= LIMIT ? "stop" : "continue", reading: streak, limit: LIMIT };
  }
  if (event.id) process.stdout.write(JSON.stringify({ id: event.id, ...answer }) + "\n");
});
