// The change feed's pull model: where it starts, what it follows, and that it goes on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeFeedMode, ChangeFeedRetentionTimeSpan, ChangeFeedStartFrom } from "@azure/cosmos";
import { connect, freshContainer, freshDatabase, growTo, plain, refused } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);
const wide = { throughput: 30_000, partitionKey: { paths: ["/pk"], version: 2 } };

const feed = (container, changeFeedStartFrom, options = {}) => container.items.getChangeFeedIterator({ changeFeedStartFrom, maxItemCount: 5, ...options });

/** Reads until nothing new comes: an iterator over several ranges answers 304 when all of them have nothing new. */
async function drain(iterator) {
  const found = [];
  let token;
  while (iterator.hasMoreResults) {
    const response = await iterator.readNext();
    token = response.continuationToken;
    if (response.statusCode === 304) break;
    found.push(...response.result);
  }
  return { found, token };
}

const write = async (container, ids, extra = {}) => {
  for (const id of ids) await container.items.upsert({ id, pk: `k${id}`, ...extra });
};
const names = (n, prefix = "") => Array.from({ length: n }, (_, i) => `${prefix}${i}`);
const sortedIds = (items) => items.map((d) => d.id).sort();

test("from the beginning every item comes once, in its latest state", async () => {
  const container = await freshContainer(database, wide);
  await write(container, names(30));
  await write(container, names(10), { again: true });
  const { found } = await drain(feed(container, ChangeFeedStartFrom.Beginning()));
  assert.deepEqual(sortedIds(found), names(30).sort());
  assert.equal(found.filter((d) => d.again).length, 10);
  assert.ok(found.every((d) => d._lsn > 0));
});

test("an empty container has nothing to tell", async () => {
  const container = await freshContainer(database);
  const response = await feed(container, ChangeFeedStartFrom.Beginning()).readNext();
  assert.equal(response.statusCode, 304);
  assert.equal(response.count, 0);
});

test("from now only what comes after", async () => {
  const container = await freshContainer(database, wide);
  await write(container, names(10));
  const iterator = feed(container, ChangeFeedStartFrom.Now());
  assert.deepEqual((await drain(iterator)).found, []);
  await write(container, names(12, "new"));
  assert.deepEqual(sortedIds((await drain(iterator)).found), names(12, "new").sort());
});

test("from a time what was written since", async () => {
  const container = await freshContainer(database, wide);
  await write(container, names(10));
  const second = () => Math.floor(Date.now() / 1000);
  for (const start = second(); second() < start + 2; ) await new Promise((resolve) => setTimeout(resolve, 50));
  const since = new Date(second() * 1000);
  await write(container, names(8, "later"));
  const { found } = await drain(feed(container, ChangeFeedStartFrom.Time(since)));
  assert.deepEqual(sortedIds(found), names(8, "later").sort());
});

test("of one logical partition, in order", async () => {
  const container = await freshContainer(database, wide);
  for (let i = 0; i < 12; i++) await container.items.create({ id: `${i}`, pk: i % 2 ? "odd" : "even" });
  const { found } = await drain(feed(container, ChangeFeedStartFrom.Beginning("odd")));
  assert.deepEqual(found.map((d) => d.id), ["1", "3", "5", "7", "9", "11"]);
});

test("of a prefix of a hierarchical key", async () => {
  const container = await freshContainer(database, { throughput: 30_000, partitionKey: { paths: ["/t", "/u"], kind: "MultiHash", version: 2 } });
  for (let i = 0; i < 24; i++) await container.items.create({ id: `${i}`, t: `t${i % 3}`, u: i });
  const { found } = await drain(feed(container, ChangeFeedStartFrom.Beginning(["t1"])));
  assert.deepEqual(sortedIds(found), names(24).filter((i) => i % 3 === 1).sort());
  const full = await drain(feed(container, ChangeFeedStartFrom.Beginning(["t1", 4])));
  assert.deepEqual(sortedIds(full.found), ["4"]);
});

test("feed ranges share the items out between them", async () => {
  const container = await freshContainer(database, wide);
  await write(container, names(60));
  const ranges = await container.getFeedRanges();
  assert.ok(ranges.length >= 3);
  const shares = [];
  for (const range of ranges) shares.push((await drain(feed(container, ChangeFeedStartFrom.Beginning(range)))).found);
  assert.deepEqual(sortedIds(shares.flat()), names(60).sort());
  assert.ok(shares.every((share) => share.length > 0));
});

test("a continuation goes on in a client of its own", async () => {
  const container = await freshContainer(database, wide);
  await write(container, names(20));
  const first = await drain(feed(container, ChangeFeedStartFrom.Beginning()));
  assert.equal(first.found.length, 20);
  await write(container, names(7, "new"));
  const other = connect().database(database.id).container(container.id);
  const second = await drain(feed(other, ChangeFeedStartFrom.Continuation(first.token)));
  assert.deepEqual(sortedIds(second.found), names(7, "new").sort());
});

test("a continuation stays good over a split", async () => {
  const container = await freshContainer(database, wide);
  await write(container, names(20));
  const first = await drain(feed(container, ChangeFeedStartFrom.Beginning()));
  await growTo(container, 8);
  await write(container, names(30, "new"));
  const other = connect().database(database.id).container(container.id);
  const second = await drain(feed(other, ChangeFeedStartFrom.Continuation(first.token)));
  assert.deepEqual(sortedIds(second.found), names(30, "new").sort());
});

test("an iterator goes on over a split", async () => {
  const container = await freshContainer(database, wide);
  await write(container, names(40));
  const iterator = feed(container, ChangeFeedStartFrom.Beginning());
  const early = [...(await iterator.readNext()).result];
  await growTo(container, 8);
  const { found } = await drain(iterator);
  assert.deepEqual(sortedIds([...early, ...found]), names(40).sort());
});

test("deleted items don't appear", async () => {
  const container = await freshContainer(database);
  await write(container, ["1", "2"]);
  await container.item("1", "k1").delete();
  const { found } = await drain(feed(container, ChangeFeedStartFrom.Beginning()));
  assert.deepEqual(found.map(plain), [{ id: "2", pk: "k2" }]);
});

test("all versions and deletes come in the order in which they happened", async () => {
  const container = await freshContainer(database, { partitionKey: { paths: ["/pk"], version: 2 }, changeFeedPolicy: { retentionDuration: ChangeFeedRetentionTimeSpan.fromMinutes(10).getRetentionInMinutes() } });
  const iterator = feed(container, ChangeFeedStartFrom.Now("a"), { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes });
  assert.equal((await iterator.readNext()).statusCode, 304);
  await container.items.create({ id: "1", pk: "a", n: 1 });
  await container.item("1", "a").replace({ id: "1", pk: "a", n: 2 });
  await container.item("1", "a").delete();
  const { found } = await drain(iterator);
  assert.deepEqual(found.map((c) => c.metadata.operationType), ["create", "replace", "delete"]);
  assert.deepEqual(found.slice(0, 2).map((c) => plain(c.current)), [{ id: "1", pk: "a", n: 1 }, { id: "1", pk: "a", n: 2 }]);
  await refused(feed(container, ChangeFeedStartFrom.Beginning("a"), { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes }).readNext(), 400);
});

test("the older iterator reads the feed of a partition", async () => {
  const container = await freshContainer(database);
  await container.items.create({ id: "1", pk: "a" });
  const iterator = container.items.changeFeed("a", { startFromBeginning: true });
  assert.deepEqual((await iterator.fetchNext()).result.map(plain), [{ id: "1", pk: "a" }]);
  assert.equal((await iterator.fetchNext()).statusCode, 304);
});
