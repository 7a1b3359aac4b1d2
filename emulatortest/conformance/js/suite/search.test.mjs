// Search by vectors and by full text: the SDK asks for a plan, sums up the statistics of all partitions, runs the
// components and fuses their ranks.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { connect, freshContainer, freshDatabase, growTo, refused } from "./support.mjs";

const client = connect();
const database = await freshDatabase(client);

const policies = (distanceFunction) => ({
  partitionKey: { paths: ["/pk"], version: 2 },
  indexingPolicy: {
    includedPaths: [{ path: "/*" }],
    fullTextIndexes: [{ path: "/text" }],
    vectorIndexes: [{ path: "/embedding", type: "flat" }],
  },
  fullTextPolicy: { defaultLanguage: "en-US", fullTextPaths: [{ path: "/text", language: "en-US" }] },
  vectorEmbeddingPolicy: { vectorEmbeddings: [{ path: "/embedding", dataType: "float32", dimensions: 2, distanceFunction }] },
});

const rides = [
  { id: "one", pk: "a", text: "blue bicycle", embedding: [0, 0] },
  { id: "two", pk: "b", text: "red bicycle bicycle", embedding: [0.2, 0] },
  { id: "three", pk: "c", text: "blue mountain bicycle", embedding: [0.5, 0.1] },
  { id: "four", pk: "d", text: "red skateboard", embedding: [1, 0] },
];

const parameters = [
  { name: "@term", value: "bicycle" },
  { name: "@second", value: "blue" },
  { name: "@vector", value: [0, 0] },
];

const ranked = [
  ["SELECT TOP 3 c.id FROM c ORDER BY RANK FullTextScore(c.text, @term)", "two one three"],
  ["SELECT TOP 9 c.id FROM c ORDER BY RANK FullTextScore(c.text, @term)", "two one three four"],
  ["SELECT c.id FROM c ORDER BY RANK FullTextScore(c.text, @term) OFFSET 1 LIMIT 2", "one three"],
  ["SELECT TOP 3 c.id FROM c ORDER BY RANK FullTextScore(c.text, 'red', 'bicycle')", "two four one"],
  ["SELECT TOP 1 c.id FROM c ORDER BY RANK FullTextScore(c.text, 'mountain bicycle')", "three"],
  ["SELECT TOP 3 c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, @term), FullTextScore(c.text, @second), [2, 1])", "two one three"],
  ["SELECT TOP 3 c.id FROM c ORDER BY RANK RRF(VectorDistance(c.embedding, @vector), FullTextScore(c.text, @term), [2, 1])", "one two three"],
  ["SELECT TOP 2 c.id FROM c ORDER BY RANK RRF(VectorDistance(c.embedding, @vector), FullTextScore(c.text, @term), [-1, -1])", "four three"],
];

async function filled(distanceFunction, split) {
  const container = await freshContainer(database, policies(distanceFunction));
  await Promise.all(rides.map((d) => container.items.create(d)));
  if (split) await growTo(container, split);
  return container;
}

for (const split of [0, 5]) {
  describe(split ? `split into ${split}` : "the partitions of a new container", () => {
    let container;
    before(async () => {
      container = await filled("euclidean", split);
    });
    for (const [query, want] of ranked) {
      for (const [manner, options] of Object.entries({
        "all at once": {},
        "a plan forced": { forceQueryPlan: true },
        "plans with sort keys": { disableHybridSearchQueryPlanOptimization: true },
      })) {
        test(`${query}, ${manner}`, async () => {
          const { resources } = await container.items
            .query({ query, parameters }, { allowUnboundedNonStreamingQueries: true, ...options })
            .fetchAll();
          assert.equal(resources.map((r) => r.id).join(" "), want);
        });
      }
    }
  });
}

for (const [distanceFunction, want] of [["euclidean", "three two"], ["cosine", "three"], ["dotproduct", "four three"]]) {
  for (const split of [0, 5]) {
    test(`vectors by ${distanceFunction}, ${split || "no"} splits`, async () => {
      const container = await filled(distanceFunction, split);
      const top = want.split(" ").length;
      const query = `SELECT TOP ${top} c.id, VectorDistance(c.embedding, @v) AS score FROM c ORDER BY VectorDistance(c.embedding, @v)`;
      const { resources } = await container.items.query({ query, parameters: [{ name: "@v", value: [0.5, 0.1] }] }).fetchAll();
      assert.equal(resources.map((r) => r.id).join(" "), want);
      const scores = resources.map((r) => r.score);
      const rising = distanceFunction === "euclidean" ? 1 : -1;
      assert.deepEqual(scores, scores.toSorted((a, b) => rising * (a - b)));
    });
  }
}

test("words and phrases filter", async () => {
  const container = await filled("cosine", 5);
  const { resources } = await container.items
    .query("SELECT VALUE c.id FROM c WHERE FullTextContainsAll(c.text, 'BLUE', 'bicycle') AND NOT FullTextContains(c.text, 'mountain bicycle')")
    .fetchAll();
  assert.deepEqual(resources, ["one"]);
});

test("policies that the service refuses", async () => {
  const withIndex = (index) => freshContainer(database, { ...policies("cosine"), indexingPolicy: { vectorIndexes: [index] } });
  const error = await refused(withIndex({ path: "/vector1", type: "flat" }), 400);
  assert.match(error.message, /vector1 not matching in Embedding's path/);
  assert.match((await refused(withIndex({ path: "/embedding", type: "notFlat" }), 400)).message, /Index Type::notFlat is invalid/);
  await refused(freshContainer(database, policies("handMeasured")), 400);
});
