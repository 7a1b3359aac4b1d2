// Queries in one logical partition, which the service answers by itself, and the ways of reading their pages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, freshContainer, freshDatabase, plain, refused } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);
const container = await freshContainer(database, { partitionKey: { paths: ["/pk"], version: 2 } });
const values = [undefined, null, false, true, -1, 0, 2.5, 10, "", "10", "B", "a", [], [1], { a: 1 }, {}];
for (const [i, x] of values.entries()) await container.items.create({ id: `v${i}`, pk: "mixed", i, x });
for (let i = 0; i < 50; i++) await container.items.create({ id: `n${i}`, pk: "many", i, text: `word${i % 5}` });
for (let i = 0; i < 30; i++) await container.items.create({ id: `o${i}`, pk: `other${i}`, i });

const rows = async (query, partitionKey) => (await container.items.query(query, { partitionKey }).fetchAll()).resources;

test("ORDER BY puts types in the service's order", async () => {
  const ordered = await rows("SELECT VALUE c.i FROM c ORDER BY c.x", "mixed");
  assert.deepEqual(ordered.slice(0, 12), [...Array(12).keys()]);
  assert.deepEqual(ordered.slice(12).sort((a, b) => a - b), [12, 13, 14, 15]);
  assert.deepEqual((await rows("SELECT VALUE c.i FROM c WHERE IS_PRIMITIVE(c.x) ORDER BY c.x DESC", "mixed")), [...Array(11).keys()].map((i) => 11 - i));
});

test("what is undefined is told from null", async () => {
  assert.deepEqual(await rows("SELECT VALUE c.i FROM c WHERE c.x = null", "mixed"), [1]);
  assert.deepEqual(await rows("SELECT VALUE c.i FROM c WHERE NOT IS_DEFINED(c.x)", "mixed"), [0]);
  assert.deepEqual(await rows("SELECT c.x FROM c WHERE c.i < 2 ORDER BY c.i", "mixed"), [{}, { x: null }]);
  assert.deepEqual(await rows("SELECT VALUE c.x FROM c WHERE c.i < 2", "mixed"), [null]);
});

test("the service aggregates, groups and limits by itself", async () => {
  assert.deepEqual(await rows("SELECT VALUE COUNT(1) FROM c", "many"), [50]);
  const sums = await rows("SELECT c.text, SUM(c.i) AS s FROM c GROUP BY c.text", "many");
  assert.deepEqual(sums.sort((a, b) => a.s - b.s), Array.from({ length: 5 }, (_, i) => ({ text: `word${i}`, s: 225 + 10 * i })));
  assert.deepEqual(await rows("SELECT DISTINCT VALUE c.text FROM c ORDER BY c.text OFFSET 1 LIMIT 2", "many"), ["word1", "word2"]);
  assert.deepEqual(await rows("SELECT TOP 3 VALUE c.i FROM c ORDER BY c.i DESC", "many"), [49, 48, 47]);
});

test("parameters may be any JSON", async () => {
  for (const [i, x] of values.entries()) {
    if (x === undefined) continue;
    assert.deepEqual(await rows({ query: "SELECT VALUE c.i FROM c WHERE c.x = @x", parameters: [{ name: "@x", value: x }] }, "mixed"), [i], JSON.stringify(x));
  }
});

test("pages go on by continuation and end", async () => {
  const sizes = [];
  let continuationToken;
  do {
    const page = await container.items.query("SELECT VALUE c.i FROM c ORDER BY c.i", { partitionKey: "many", maxItemCount: 20, continuationToken }).fetchNext();
    sizes.push(page.resources.length);
    continuationToken = page.continuationToken;
  } while (continuationToken);
  assert.deepEqual(sizes, [20, 20, 10]);
});

test("a continuation belongs to its query", async () => {
  const page = await container.items.query("SELECT VALUE c.i FROM c ORDER BY c.i", { partitionKey: "many", maxItemCount: 20 }).fetchNext();
  const other = container.items.query("SELECT VALUE c.text FROM c ORDER BY c.text", { partitionKey: "many", maxItemCount: 20, continuationToken: page.continuationToken });
  await refused(other.fetchNext(), 400);
  await refused(container.items.query("SELECT * FROM c", { partitionKey: "many", continuationToken: "nonsense" }).fetchNext(), 400);
});

test("items written between pages don't disturb those that come", async () => {
  const own = await freshContainer(database);
  for (let i = 0; i < 20; i++) await own.items.create({ id: `${i}`, pk: "a", i: 2 * i });
  const iterator = own.items.query("SELECT VALUE c.i FROM c WHERE c.i % 2 = 0 ORDER BY c.i", { partitionKey: "a", maxItemCount: 7 });
  const seen = [...(await iterator.fetchNext()).resources];
  for (let i = 0; i < 20; i++) await own.items.create({ id: `odd${i}`, pk: "a", i: 2 * i + 1 });
  await own.item("0", "a").delete();
  while (iterator.hasMoreResults()) seen.push(...((await iterator.fetchNext()).resources ?? []));
  assert.deepEqual(seen, Array.from({ length: 20 }, (_, i) => 2 * i));
});

test("every way of iterating gives the same", async () => {
  const looped = [];
  for await (const { resources } of container.items.query("SELECT VALUE c.i FROM c", { partitionKey: "many", maxItemCount: 9 }).getAsyncIterator()) looped.push(...resources);
  const all = (await container.items.query("SELECT VALUE c.i FROM c", { partitionKey: "many" }).fetchAll()).resources;
  assert.deepEqual(looped.sort((a, b) => a - b), all.sort((a, b) => a - b));
  assert.equal(all.length, 50);
});

test("everything can be read without a query", async () => {
  const total = values.length + 50 + 30;
  assert.equal((await container.items.readAll().fetchAll()).resources.length, total);
  const paged = [];
  for await (const { resources } of container.items.readAll({ maxItemCount: 11 }).getAsyncIterator()) paged.push(...(resources ?? []));
  assert.equal(new Set(paged.map((r) => r.id)).size, total);
  assert.deepEqual(plain(paged.find((r) => r.id === "n7")), { id: "n7", pk: "many", i: 7, text: "word2" });
});

test("query metrics and charges tell what a query cost", async () => {
  const page = await container.items.query("SELECT * FROM c WHERE c.i < 10", { partitionKey: "many", populateQueryMetrics: true }).fetchNext();
  assert.ok(page.requestCharge > 0);
  const metrics = JSON.stringify(page.queryMetrics ?? page.headers);
  assert.match(metrics, /retrievedDocumentCount/);
  const across = await container.items.query("SELECT * FROM c WHERE c.i < 10", { populateQueryMetrics: true, forceQueryPlan: true }).fetchAll();
  assert.ok(across.requestCharge > 0);
  assert.match(JSON.stringify(across.queryMetrics), /outputDocumentCount|retrievedDocumentCount/);
});

test("index metrics name the paths that a query used", async () => {
  const page = await container.items.query("SELECT * FROM c WHERE c.text = 'word1'", { partitionKey: "many", populateIndexMetrics: true }).fetchNext();
  assert.match(JSON.stringify(page.indexMetrics), /text/);
});

test("a query across partitions must be allowed by a plan or a filter", async () => {
  const { resources } = await container.items.query("SELECT VALUE c.i FROM c WHERE c.pk = 'other3'").fetchAll();
  assert.deepEqual(resources, [3]);
  const plan = await container.getQueryPlan("SELECT TOP 5 * FROM c ORDER BY c.i");
  assert.deepEqual(plan.result.queryInfo.orderBy, ["Ascending"]);
  assert.equal(plan.result.queryInfo.top, 5);
});

test("mistakes in a query are 400", async () => {
  for (const query of ["SELECT", "SELECT * FROM c WHERE", "SELECT * FROM c ORDER BY", "SELECT x.a FROM c", "SELECT NOSUCH(c.a) FROM c", "SELECT TOP -1 * FROM c", "SELECT ABS() FROM c"]) {
    await refused(container.items.query(query, { partitionKey: "many" }).fetchAll(), 400);
  }
});

test("functions of every family answer", async () => {
  for (const [expression, want] of [
    ["ABS(-1.5) + FLOOR(2.9) + POWER(2, 3)", 11.5],
    ["CONCAT(UPPER('a'), REPLACE('b-c', '-', ''), SUBSTRING('xyz', 1, 1))", "Abcy"],
    ["ARRAY_LENGTH(ARRAY_CONCAT([1], [2, 3]))", 3],
    ["REGEXMATCH('Hello', '^h', 'i')", true],
    ["StringToObject('{\"a\":[1]}').a[0]", 1],
    ["DateTimeDiff('day', '2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z')", 59],
    ["ST_DISTANCE({'type':'Point','coordinates':[0,0]}, {'type':'Point','coordinates':[0,0]})", 0],
    ["IIF(IS_NUMBER(1), 'n', 'x')", "n"],
    ["5 & 3 | 8", 9],
    ["'a' || 'b' LIKE '_b'", true],
  ]) {
    assert.deepEqual(await rows(`SELECT VALUE ${expression}`, "many"), [want], expression);
  }
});
