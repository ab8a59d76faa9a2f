// Answers with a number: the share of the last ten calls that had been asked for before. Limits are found for it here:
//   whenstop tune RUNS --guard mine='node score.ts' --signal guard:mine.score --limits 0.2..0.9
import { createInterface } from "node:readline";

let asked: [string, boolean][] = [];

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const event: any = JSON.parse(line);
  let answer: object = { answer: "continue" };
  if (event.type === "hello") {
    answer = { protocol: 1, points: ["after_tools"], answers: ["reading"], rules: ["score"] };
  } else if (event.type === "run") {
    asked = [];
  } else if (event.type === "message" && event.role === "assistant" && !event.lane) {
    for (const call of event.tool_calls ?? []) {
      const same = JSON.stringify([call.name, call.arguments]);
      asked.push([same, asked.some(([before]) => before === same)]);
    }
  } else if (event.type === "point") {
    answer = { answer: "reading", reading: asked.slice(-10).filter(([, isKnown]) => isKnown).length / 10 };
  }
  if (event.id) process.stdout.write(JSON.stringify({ id: event.id, ...answer }) + "\n");
});
