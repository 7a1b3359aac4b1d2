// What the suite's files share: the account under test, containers of their own, and how a refusal is checked.

import assert from "node:assert/strict";
import { after } from "node:test";
import { CosmosClient } from "@azure/cosmos";

// The key that Microsoft publishes for its emulators.
const publishedKey = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

export const endpoint = process.env.COSMOS_ENDPOINT;
export const key = process.env.COSMOS_KEY ?? publishedKey;

if (!endpoint) {
  throw new Error("COSMOS_ENDPOINT is not set: start cosmosemu and name its address, or use the script `run`");
}

/** A client of the account under test; options go over the defaults. */
export function connect(options = {}) {
  return new CosmosClient({ endpoint, key, ...options });
}

/** A database of the calling file, which is deleted when the file's tests are over. */
export async function freshDatabase(client) {
  const { database } = await client.databases.create({ id: `js-${process.pid}-${unique()}` });
  after(() => database.delete());
  return database;
}

let sequence = 0;

/** A name that no other test of this file has. */
export function unique() {
  sequence += 1;
  return `c${sequence}`;
}

/** A container of the calling test's own, with the key /pk unless the definition names another. */
export async function freshContainer(database, definition = {}, options = undefined) {
  const { container } = await database.containers.create({ id: unique(), partitionKey: "/pk", ...definition }, options);
  return container;
}

/** Checks that a request is refused with a status and, when one is named, a substatus, and gives the error. */
export async function refused(promise, code, substatus) {
  let reason;
  try {
    await promise;
  } catch (error) {
    reason = error;
  }
  assert.ok(reason, `the request went through; want status ${code}`);
  assert.equal(reason.code, code, `status of: ${reason.message ?? reason}`);
  if (substatus !== undefined) {
    assert.equal(Number(reason.substatus ?? reason.headers?.["x-ms-substatus"] ?? 0), substatus, `substatus of: ${reason.message}`);
  }
  return reason;
}

/** Raises a container's throughput so that the service splits it into so many physical partitions, and waits for them. */
export async function growTo(container, ranges) {
  const { resource: offer } = await container.readOffer();
  const content = { ...offer.content, offerThroughput: ranges * 10_000 };
  await container.database.client.offer(offer.id).replace({ ...offer, content });
  assert.equal(await countRanges(container), ranges);
}

/** The number of physical partitions that a container has now. */
export async function countRanges(container) {
  const { resources } = await container.readPartitionKeyRanges().fetchAll();
  return resources.length;
}

/** An item without the properties that the service adds. */
export function plain(item) {
  const { _rid, _self, _etag, _attachments, _ts, _lsn, ...rest } = item;
  return rest;
}
