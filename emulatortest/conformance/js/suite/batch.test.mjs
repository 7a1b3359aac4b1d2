// Transactional batches, and bulk execution over many keys.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, freshContainer, freshDatabase, growTo, plain } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);
const statuses = (response) => response.result.map((r) => r.statusCode);
const ids = async (container, partitionKey) =>
  (await container.items.query("SELECT VALUE c.id FROM c", { partitionKey }).fetchAll()).resources.sort();

test("a batch does everything in one transaction", async () => {
  const container = await freshContainer(database);
  for (const id of ["read", "replace", "delete", "patch"]) await container.items.create({ id, pk: "a", n: 1 });
  const response = await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "create", pk: "a" } },
      { operationType: "Upsert", resourceBody: { id: "upsert", pk: "a" } },
      { operationType: "Read", id: "read" },
      { operationType: "Replace", id: "replace", resourceBody: { id: "replace", pk: "a", n: 2 } },
      { operationType: "Delete", id: "delete" },
      { operationType: "Patch", id: "patch", resourceBody: { operations: [{ op: "incr", path: "/n", value: 5 }] } },
      { operationType: "Replace", id: "create", resourceBody: { id: "create", pk: "a", seen: true } },
    ],
    "a",
  );
  assert.equal(response.code, 200);
  assert.deepEqual(statuses(response), [201, 201, 200, 200, 204, 200, 200]);
  assert.deepEqual(plain(response.result[2].resourceBody), { id: "read", pk: "a", n: 1 });
  assert.equal(response.result[5].resourceBody.n, 6);
  assert.equal(response.result[3].eTag, response.result[3].resourceBody._etag);
  assert.ok(response.result.every((r) => r.requestCharge > 0));
  assert.deepEqual(await ids(container, "a"), ["create", "patch", "read", "replace", "upsert"]);
});

test("one failure fails all", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  const create = (id) => ({ operationType: "Create", resourceBody: { id, pk: "a" } });
  for (const [failing, status] of [
    [create("1"), 409],
    [{ operationType: "Delete", id: "nothing" }, 404],
    [{ operationType: "Replace", id: "1", ifMatch: '"stale"', resourceBody: { id: "1", pk: "a" } }, 412],
    [{ operationType: "Create", resourceBody: { id: "x", pk: "other" } }, 400],
    [{ operationType: "Patch", id: "1", resourceBody: { condition: "from c where c.n = 9", operations: [{ op: "set", path: "/n", value: 1 }] } }, 412],
  ]) {
    const response = await container.items.batch([create("2"), failing, create("3")], "a");
    assert.equal(response.code, 207);
    assert.deepEqual(statuses(response), [424, status, 424]);
    assert.deepEqual(await ids(container, "a"), ["1"]);
  }
});

test("a batch holds at most 100 operations and 2 MB", async () => {
  const container = await freshContainer(database);
  const creates = (n, text) => Array.from({ length: n }, (_, i) => ({ operationType: "Create", resourceBody: { id: `${i}`, pk: "a", text } }));
  await assert.rejects(container.items.batch(creates(101), "a"), /100 operations/); // the SDK's own check
  await assert.rejects(container.items.batch(creates(3, "x".repeat(800_000)), "a"), /Request size is too large/); // 413, whose code the SDK drops
  assert.deepEqual(await ids(container, "a"), []);
  assert.equal((await container.items.batch(creates(100), "a")).code, 200);
});

test("a batch can leave the bodies out", async () => {
  const container = await freshContainer(database);
  const response = await container.items.batch([{ operationType: "Create", resourceBody: { id: "1", pk: "a" } }], "a", { contentResponseOnWriteEnabled: false });
  assert.equal(response.result[0].statusCode, 201);
  assert.equal(response.result[0].resourceBody, undefined);
});

test("a batch works under a hierarchical key", async () => {
  const container = await freshContainer(database, { partitionKey: { paths: ["/t", "/u"], kind: "MultiHash", version: 2 } });
  const response = await container.items.batch([{ operationType: "Create", resourceBody: { id: "1", t: "a", u: 1 } }], ["a", 1]);
  assert.equal(response.code, 200);
  assert.equal((await container.item("1", ["a", 1]).read()).statusCode, 200);
});

test("bulk operations stand alone, each with its own answer", async () => {
  const container = await freshContainer(database, { throughput: 30_000 });
  for (let i = 0; i < 20; i++) await container.items.create({ id: "old", pk: `k${i}`, n: i });
  const operations = Array.from({ length: 20 }, (_, i) => {
    const partitionKey = `k${i}`;
    return [
      { operationType: "Create", partitionKey, resourceBody: { id: "new", pk: partitionKey } },
      { operationType: "Create", partitionKey, resourceBody: { id: "old", pk: partitionKey } },
      { operationType: "Read", partitionKey, id: "old" },
      { operationType: "Upsert", partitionKey, resourceBody: { id: "up", pk: partitionKey } },
      { operationType: "Patch", partitionKey, id: "old", resourceBody: { operations: [{ op: "incr", path: "/n", value: 100 }] } },
      { operationType: "Delete", partitionKey, id: "nothing" },
    ];
  }).flat();
  const results = await container.items.executeBulkOperations(operations);
  const named = (o) => [o.operationType, o.id ?? o.resourceBody.id, `${o.partitionKey}`]; // the SDK makes arrays of the keys
  assert.deepEqual(results.map((r) => named(r.operationInput)), operations.map(named));
  results.forEach((r, i) => {
    assert.equal(r.response?.statusCode ?? r.error.code, [201, 409, 200, 201, 200, 404][i % 6], JSON.stringify(r.operationInput));
  });
  const { resources } = await container.items.query("SELECT VALUE SUM(c.n) FROM c").fetchAll();
  assert.deepEqual(resources, [20 * 100 + 190]);
});

test("the older form of bulk works too", async () => {
  const container = await freshContainer(database, { throughput: 30_000 });
  const response = await container.items.bulk(Array.from({ length: 100 }, (_, i) => ({ operationType: "Create", partitionKey: `k${i}`, resourceBody: { id: "1", pk: `k${i}` } })));
  assert.deepEqual(response.map((r) => r.statusCode), Array(100).fill(201));
});

test("bulk finds the partitions again after a split", async () => {
  const container = await freshContainer(database, { partitionKey: { paths: ["/pk"], version: 2 } });
  const bulk = connect().database(database.id).container(container.id);
  const upserts = Array.from({ length: 200 }, (_, i) => ({ operationType: "Upsert", partitionKey: `k${i}`, resourceBody: { id: "1", pk: `k${i}` } }));
  const first = await bulk.items.executeBulkOperations(upserts);
  assert.deepEqual(first.filter((r) => r.response?.statusCode !== 201), []);
  await growTo(container, 7);
  const second = await bulk.items.executeBulkOperations(upserts);
  assert.deepEqual(second.filter((r) => r.response?.statusCode !== 200), []);
});
