// Measures one server through @azure/cosmos: documents made, point reads, a query of one logical partition of 20 documents,
// and the queries of BenchmarkIndex over the whole container, one page of each, in containers of several sizes. Eight reads are on
// their way at a time, and one query. It prints one JSON line for each size; what the server refuses, or doesn't answer within the SDK's
// minute, is told instead of a figure.
//
//   node bench.mjs NAME ENDPOINT SIZE...

import { readFileSync } from "node:fs";
import { CosmosClient } from "@azure/cosmos";

const [name, endpoint, ...sizes] = process.argv.slice(2);
const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const manyLanes = 8;
const perPartition = 20;
// The key that Microsoft publishes for its emulators; the other server takes any.
const key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

// The other server names an https address of its own even over plain HTTP; discovery off keeps to the endpoint given.
const client = new CosmosClient({ endpoint, key, connectionPolicy: { enableEndpointDiscovery: false } });
const { database } = await client.databases.create({ id: "bench" });

const partitionOf = (i) => `p${Math.floor(i / perPartition)}`;
const document = (i) => ({ id: `d${i}`, pk: partitionOf(i), n: i % perPartition, a: i, few: i % 100, name: `name-${String(i).padStart(6, "0")}`, title: `Document ${i}`, text: "Lorem ipsum dolor sit amet. ".repeat(16), tags: ["a", "b", `t${i % 10}`] });

/** Runs work in so many lanes, each with the next number, until next says undefined; gives the time in seconds. */
async function lanes(count, next, work) {
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: count }, async () => {
      for (let i = next(); i !== undefined; i = next()) await work(i);
    }),
  );
  return (performance.now() - begin) / 1000;
}

/** The server's processor time so far in milliseconds, as Linux tells it; elsewhere nothing is known. */
function serverCPU() {
  try {
    const fields = readFileSync(`/proc/${process.env.SERVER_PID}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10; // user and system, in ticks of 10 ms
  } catch {
    return NaN;
  }
}

/** Work a second, the median latency, and the server's processor time for each in milliseconds, over a few seconds. */
async function rate(count, work) {
  const until = (ms) => {
    const end = performance.now() + ms;
    let i = 0;
    return () => (performance.now() < end ? i++ : undefined);
  };
  await lanes(count, until(1000), work); // warms the compilers and the connections up
  const latencies = [];
  const cpu = serverCPU();
  const elapsed = await lanes(count, until(seconds * 1000), async (i) => {
    const begin = performance.now();
    await work(i);
    latencies.push(performance.now() - begin);
  });
  const used = (serverCPU() - cpu) / latencies.length;
  latencies.sort((a, b) => a - b);
  const round = (x) => Number(x.toPrecision(3));
  return { perSecond: round(latencies.length / elapsed), medianMs: round(latencies[latencies.length >> 1]), serverMs: round(used) };
}

/** A number that walks over 0 to n without a pattern that a cache could like. */
const scattered = (i, n) => (i * 7919) % n;

/** Queries over all partitions with the number of rows of their first page of ten or, of groups, which the SDK holds back, of all. */
const wholeQueries = [
  ["SELECT * FROM c WHERE c.a = 77", 1],
  ["SELECT * FROM c WHERE c.a >= 70 AND c.a < 75", 5],
  ["SELECT * FROM c WHERE STARTSWITH(c.name, 'name-00000')", 10],
  ["SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, 't7')", 10],
  ["SELECT TOP 10 * FROM c ORDER BY c.a DESC", 10],
  ["SELECT VALUE COUNT(1) FROM c WHERE c.few < 50", 1],
  ["SELECT VALUE MAX(c.a) FROM c", 1],
  ["SELECT DISTINCT VALUE c.few FROM c", 10],
  ["SELECT c.few, COUNT(1) AS n FROM c GROUP BY c.few", 100],
];

for (const size of sizes.map(Number)) {
  const { container } = await database.containers.create({ id: `c${size}`, partitionKey: { paths: ["/pk"] } });
  let made = 0;
  const elapsed = await lanes(manyLanes, () => (made < size ? made++ : undefined), (i) => container.items.create(document(i)));
  const reads = await rate(manyLanes, async (i) => {
    const n = scattered(i, size);
    const { resource } = await container.item(`d${n}`, partitionOf(n)).read();
    if (resource?.id !== `d${n}`) throw new Error(`read of d${n} gave ${resource?.id}`);
  });
  const queries = await rate(1, async (i) => {
    const partitionKey = partitionOf(scattered(i, size));
    // The key is in the WHERE clause too, because the other server doesn't look at the one in the header.
    const query = { query: "SELECT * FROM c WHERE c.pk = @pk AND c.n >= 10", parameters: [{ name: "@pk", value: partitionKey }] };
    const { resources } = await container.items.query(query, { partitionKey }).fetchAll();
    if (resources.length !== perPartition / 2) throw new Error(`query of ${partitionKey} gave ${resources.length} documents`);
  }).catch((error) => ({ failed: `${error.code ?? error.name}: ${error.message}` }));
  const whole = {};
  for (const [query, rows] of wholeQueries) {
    whole[query] = await rate(1, async () => {
      const pages = container.items.query(query, { maxItemCount: 10 });
      const { resources } = await (query.includes("GROUP BY") ? pages.fetchAll() : pages.fetchNext());
      if (resources?.length !== rows) throw new Error(`${resources?.length} rows instead of ${rows}`);
    }).catch((error) => ({ failed: `${error.code ?? error.name}: ${error.message}`.slice(0, 100) }));
  }
  console.log(JSON.stringify({ name, size, createsPerSecond: Math.round(size / elapsed), reads, queries, whole }));
}
